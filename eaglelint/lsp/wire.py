"""Places of eaglelint (code points, from 1) as places of the protocol (units of the agreed encoding, from 0)."""

from __future__ import annotations

from lsprotocol import types as lsp

from eaglelint.location import Location, MappedText

_SIZES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
_CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


def _units(text: str, encoding: str) -> int:
    """The length of a text in units of an encoding."""
    return len(text.encode(_CODECS[encoding], "surrogatepass")) // _SIZES[encoding]


def position(text: MappedText | None, line: int, column: int, encoding: str) -> lsp.Position:
    """A 1-based line and column; columns can only be counted in units where the text is at hand."""
    if text is None:
        return lsp.Position(max(line - 1, 0), max(column - 1, 0))
    start, end = text.lines.span(line)
    before = text.text[start : min(start + column - 1, end)]
    return lsp.Position(max(line - 1, 0), _units(before, encoding))


def span(text: MappedText | None, where: Location, encoding: str) -> lsp.Range:
    """A location; an empty one stands for the character that follows."""
    end_line, end_column = where.end_line, where.end_column
    if (end_line, end_column) < (where.line, where.column):
        end_line, end_column = where.line, where.column
    return lsp.Range(position(text, where.line, where.column, encoding), position(text, end_line, end_column, encoding))


def between(text: MappedText, start: int, end: int, encoding: str) -> lsp.Range:
    """The range of two offsets."""
    return span(text, text.lines.location(start, end), encoding)


def offset(text: MappedText, place: lsp.Position, encoding: str) -> int:
    """The offset of a position, clipped to its line."""
    start, end = text.lines.span(place.line + 1)
    line = text.text[start:end]
    units = 0
    for index, character in enumerate(line):
        if units >= place.character:
            return start + index
        units += _units(character, encoding)
    return end
