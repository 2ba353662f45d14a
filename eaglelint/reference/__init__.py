"""The conventions as a person asks for them: what an engine does, ids of one reader for another, published drafters.

All of it is computed from `eaglelint.conventions`; `eaglelint engines`, `convert`, `drafters` and `matrix` print it.
"""
