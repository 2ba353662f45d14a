"""Which names code gives to what it stores in samples: a look at the functions that write files."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from eaglelint.errors import UnreadableError
from eaglelint.fingerprints.following import Follower
from eaglelint.fingerprints.named_values import Writer, known
from eaglelint.project import Source

_MARKS = (b"save(", b"save_file(", b"savez", b"dump(")


def writers(sources: Sequence[Source]) -> Iterator[Writer]:
    """Every call in the Python files of a project that writes tensors or arrays."""
    for source in sources:
        if source.kind != "python":
            continue
        try:
            if not any(mark in source.data for mark in _MARKS):
                continue
            text = source.text.text
            yield from _distinct(Follower(source.path, text, ast.parse(text)).follow())
        except (UnreadableError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # the reader of Python says what is wrong with it


def _distinct(found: Sequence[Writer]) -> list[Writer]:
    """Each call once: a function is followed by itself and where it is called, and what knows most names counts."""
    best: dict[tuple[int, str], Writer] = {}
    for writer in found:
        key = (writer.where.start, writer.path)
        if key not in best or known(best[key].value) < known(writer.value):
            best[key] = writer
    return list(best.values())
