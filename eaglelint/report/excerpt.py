"""Lines of source as a terminal shows them: control characters made visible, tabs and wide characters measured."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from eaglelint.location import Location, MappedText

#: Columns of the terminal that a line of source may take; longer ones are cut around the place that is marked.
MAX_WIDTH = 160
_TAB = 4
_CUT = "..."
_COMMAND, _NO_COMMAND = "##[", "##\\x5b"

#: Characters that change the direction of text or are read as line breaks by terminals and editors.
_INVISIBLE = frozenset(
    map(chr, (0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0xFEFF, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))
)


class Excerpt(NamedTuple):
    """One line ready to be shown, and where the marked part stands in it, in columns of the terminal."""

    text: str
    offset: int
    width: int


def visible(text: str) -> str:
    """A text that can be sent to a terminal: every control character is written as an escape, tabs as a space.

    So is the bracket of `##[`, which begins a command wherever it stands in the log of a GitHub workflow.
    """
    text = text.replace(_COMMAND, _NO_COMMAND)
    if text.isprintable() and text.isascii():
        return text
    return "".join(" " if character == "\t" else _shown(character) for character in text)


def at_line_start(text: str) -> str:
    """A visible text that begins a line: `::` there begins a command in the log of a GitHub workflow."""
    bare = text.lstrip()
    return text if not bare.startswith("::") else f"{text[: len(text) - len(bare)]}\\x3a{bare[1:]}"


def one_line(text: str) -> str:
    """A message as one line: line breaks become spaces, other control characters escapes."""
    return visible(" ".join(text.split()))


def line_of(text: MappedText, line: int) -> str:
    """A line (from 1) of a whole file, without its line break."""
    start, end = text.lines.span(line)
    return text.text[start:end].rstrip("\r\n")


def excerpt(text: MappedText, where: Location, *, indented: bool = True) -> Excerpt:
    """The line on which a place begins; the marked part ends with the line when the place goes on below it.

    Without `indented`, the white space at the start of the line is left out.
    """
    line = line_of(text, where.line)
    first = min(max(where.column - 1, 0), len(line))
    last = where.end_column - 1 if where.end_line == where.line else len(line)
    last = min(max(last, first), len(line))
    skip = 0 if indented else min(len(line) - len(line.lstrip()), first)
    start, stop = max(skip, first - MAX_WIDTH), min(len(line), first + MAX_WIDTH)
    cells: list[tuple[str, int]] = []
    column = offset = end = 0
    for index, character in enumerate(line[start:stop], start):
        if index == first:
            offset = column
        if index == last:
            end = column
        cell = " " * (_TAB - column % _TAB) if character == "\t" else _shown(character)
        if character == "[" and line[index - 2 : index + 1] == _COMMAND:
            cell = _NO_COMMAND[2:]
        cells.append((cell, column))
        column += display_width(cell)
    offset = column if first == stop else offset
    end = column if last >= stop else end
    return _cut(cells, offset, max(end - offset, 1), before=start > skip, after=stop < len(line))


def _cut(cells: list[tuple[str, int]], offset: int, width: int, *, before: bool, after: bool) -> Excerpt:
    """A line of at most MAX_WIDTH columns that holds the marked part, or at least its beginning.

    `cells` are what is shown for each character and the column it begins at; `before` and `after` say that more of the
    line was left out already.
    """
    total = cells[-1][1] + display_width(cells[-1][0]) if cells else 0
    if total <= MAX_WIDTH and not before and not after:
        return Excerpt("".join(cell for cell, _ in cells).rstrip(" "), offset, width)
    room = MAX_WIDTH - 2 * len(_CUT)
    start = max(0, min(offset - room // 4, total - room))
    kept = [
        (cell, column) for cell, column in cells if start <= column and column + display_width(cell) <= start + room
    ]
    begin = kept[0][1] if kept else offset
    length = sum(display_width(cell) for cell, _ in kept)
    head = _CUT if before or begin > 0 else ""
    tail = _CUT if after or begin + length < total else ""
    text = head + "".join(cell for cell, _ in kept) + tail
    return Excerpt(text, len(head) + offset - begin, max(1, min(width, begin + length - offset)))


def _shown(character: str) -> str:
    code = ord(character)
    if code < 0x20 or 0x7F <= code < 0xA0:
        return f"\\x{code:02x}"
    if code < 0x7F:
        return character
    if character in _INVISIBLE or 0xD800 <= code <= 0xDFFF:
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return character


def display_width(cell: str) -> int:
    """Columns that a terminal gives to some characters."""
    if cell.isascii():
        return len(cell)
    return sum(_columns(character) for character in cell)


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
