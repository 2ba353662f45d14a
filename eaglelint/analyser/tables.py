"""Tables in code: displays of thousands of numbers or strings, which choose no layers and take gigabytes as a tree.

libcst makes some ten nodes of every entry: a file of 300 kB with Hadamard matrices would be a tree of more than 1 GB.
"""

from __future__ import annotations

import re

from eaglelint.analyser.scanner import TOKEN
from eaglelint.location import MappedText

#: Entries from which on a display is a table.
_MANY = 2_000
#: A row of entries as tables have it: only where one stands is it worth while to look for tables.
_ROW = re.compile(r"(?:[-+]?(?:\d[\w.]*|\"[^\"\\\n]*\"|'[^'\\\n]*')\s*[,:][\s\[\](){}]*){40}")
#: Words after which a bracket begins a value: after any other word it is a call or a subscript.
_BEFORE_VALUES = frozenset(
    {"return", "in", "yield", "is", "not", "and", "or", "else", "if", "lambda", "assert", "await"}
)
_CONSTANTS = frozenset({"None", "True", "False"})


def without_tables(text: MappedText) -> MappedText:
    """The text with `(...)` and spaces in the place of each table, so that everything else keeps its place."""
    if text.text.count(",") < _MANY or _ROW.search(text.text) is None:
        return text
    pieces: list[str] = []
    done = 0
    for start, end in _tables(text.text):
        blank = re.sub(r"[^\r\n]", " ", text.text[start + 1 : end - 1])
        if "   " in blank:
            pieces += [text.text[done:start], "(", blank.replace("   ", "...", 1), ")"]
            done = end
    return text.replace_text("".join([*pieces, text.text[done:]])) if pieces else text


class _Display:
    """An open bracket: where it stands, whether it may be a display, and what stands in it so far."""

    __slots__ = ("constant", "entries", "may", "start")

    def __init__(self, start: int, may: bool) -> None:
        self.start = start
        self.may = may
        self.entries = 0
        self.constant = True


def _tables(text: str) -> list[tuple[int, int]]:
    """The offsets of the outermost displays of many constants."""
    found: list[tuple[int, int]] = []
    outside = _Display(0, False)
    opened = [outside]
    before = ""
    for match in TOKEN.finditer(text):
        kind = match.lastgroup
        if kind in ("space", "comment", "newline"):
            continue
        token = match[0]
        if kind == "open":
            callee = before.isidentifier() and before not in _BEFORE_VALUES
            opened.append(_Display(match.start(), not callee and before[-1:] not in tuple(")]}\"'")))
        elif kind == "close":
            if len(opened) > 1:
                _close(opened, match.end(), found)
        elif kind == "other":
            opened[-1].entries += token == ","
            opened[-1].constant &= token in ",.+-:"
        elif kind == "word":
            opened[-1].constant &= token[0].isdigit() or token in _CONSTANTS
        else:  # a string
            opened[-1].constant &= "f" not in token[: token.index(token[-1])].lower()
        before = token
    return found


def _close(opened: list[_Display], end: int, found: list[tuple[int, int]]) -> None:
    closed = opened.pop()
    around = opened[-1]
    around.entries += closed.entries
    around.constant &= closed.constant and closed.may
    if closed.constant and closed.may and closed.entries >= _MANY:
        while found and found[-1][0] > closed.start:
            found.pop()
        found.append((closed.start, end))
