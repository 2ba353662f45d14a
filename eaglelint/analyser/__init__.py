"""The libcst analyser of Python: abstract execution that tells what code captures, saves, loads, names and concatenates."""
