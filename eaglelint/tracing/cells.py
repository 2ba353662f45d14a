"""Text for a terminal of some width: padding, folding and wrapping by the columns that characters take."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from eaglelint.report.excerpt import display_width

#: Where a word that is too long may be broken: after a sign that joins parts of a name.
_JOINTS = re.compile(r"(?<=[/_.,:=\-])(?=[^/_.,:=\-])")


def padded(text: str, width: int) -> str:
    """A text with spaces after it up to `width` columns."""
    return text + " " * max(0, width - display_width(text))


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines of at most `width` columns: broken between words, within names, at worst between characters."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        grown = f"{line} {word}" if line else word
        if display_width(grown) <= width:
            line = grown
            continue
        if line:
            lines.append(line)
        *full, line = _broken(word, width)
        lines += full
    return [*lines, line] if line or not lines else lines


def _broken(word: str, width: int) -> list[str]:
    """A word in pieces of at most `width` columns."""
    if display_width(word) <= width:
        return [word]
    pieces: list[str] = []
    for part in _JOINTS.split(word):
        if pieces and display_width(pieces[-1] + part) <= width:
            pieces[-1] += part
        else:
            pieces += _cut(part, width)
    return pieces


def _cut(part: str, width: int) -> Iterator[str]:
    piece = ""
    for character in part:
        if piece and display_width(piece + character) > max(width, 2):
            yield piece
            piece = ""
        piece += character
    yield piece


def hanging(head: str, text: str, width: int) -> list[str]:
    """A text after a head, its further lines below its beginning; the head alone where there is no room beside it."""
    room = width - display_width(head)
    if room < 24:
        indent = " " * (len(head) - len(head.lstrip(" ")) + 2)
        place, *more = wrapped(head.strip(" "), width - len(indent))
        lines = [*more, *wrapped(text, max(width - len(indent), 8))]
        return [indent[2:] + place, *(indent + line for line in lines)]
    first, *rest = wrapped(text, room)
    indent = " " * display_width(head)
    return [(head + first).rstrip(" "), *(indent + line for line in rest)]


def widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """The columns that each cell of a table needs."""
    return [max(display_width(cell) for cell in cells) for cells in zip(*rows, strict=True)]
