"""Checks: small pure generators from a pipeline, or all facts, to findings. One module a group of the catalogue."""
