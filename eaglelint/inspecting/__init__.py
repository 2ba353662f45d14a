"""A drafter's folder as each engine would see it: what it holds, and what a release makes of it."""

FORMATS = ("text", "json")
