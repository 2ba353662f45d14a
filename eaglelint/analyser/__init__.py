"""The libcst analyser of Python: abstract execution tells what code captures, saves, loads, names, concatenates."""
