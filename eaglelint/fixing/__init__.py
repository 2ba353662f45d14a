"""What `--fix` does: the edits of findings, proven to change nothing else, made together or not at all.

`planning` chooses the edits of a pass, `guarding` proves that a changed file says the same everywhere else, `session`
repeats until nothing is left to fix and keeps only what makes a finding go away, `writing` replaces files.
"""
