"""Places in files, and text that remembers where each of its characters came from.

Offsets count characters (code points) of the decoded file, from 0. Lines and columns are 1-based; columns count
characters. Code inside a string literal, a heredoc, a diff hunk or a block scalar becomes a `MappedText`, in which each
character knows its offset in the outermost file, so that a finding always points into the file that a person edits.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Location(NamedTuple):
    """A stretch of one file: `start` and `end` are character offsets (end exclusive), lines and columns are 1-based."""

    path: str
    line: int = 1
    column: int = 1
    end_line: int = 1
    end_column: int = 1
    start: int = 0
    end: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class LineMap:
    """Offset <-> line and column for the text of one file. Lines end at \\n, \\r\\n or a lone \\r."""

    __slots__ = ("_starts", "length", "path")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.length = len(text)
        self._starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column of an offset; offsets past the end give the end."""
        offset = max(0, min(offset, self.length))
        row = bisect_right(self._starts, offset)
        return row, offset - self._starts[row - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """The offset of a 1-based line and column, clipped to the file."""
        row = max(1, min(line, len(self._starts)))
        return max(0, min(self._starts[row - 1] + column - 1, self.length))

    def span(self, line: int) -> tuple[int, int]:
        """The offsets at which a 1-based line begins and ends, line break included; lines are clipped to the file."""
        row = max(1, min(line, len(self._starts)))
        return self._starts[row - 1], self._starts[row] if row < len(self._starts) else self.length

    def location(self, start: int, end: int) -> Location:
        """The location of the offsets `start` to `end`."""
        line, column = self.position(start)
        end_line, end_column = self.position(max(start, end))
        return Location(self.path, line, column, end_line, end_column, start, max(start, end))


class MappedText:
    """A text and, for each of its characters, the offset of that character in the outermost file.

    `origin` has one entry more than `text` has characters: the last is where the text ends in the outer file. For text
    that is a plain slice of the file it is a `range` and costs nothing.
    """

    __slots__ = ("lines", "origin", "text")

    def __init__(self, text: str, origin: Sequence[int], lines: LineMap) -> None:
        if len(origin) != len(text) + 1:
            raise ValueError("origin must have one entry for each character and one for the end")
        self.text = text
        self.origin = origin
        self.lines = lines

    @classmethod
    def whole(cls, path: str, text: str) -> MappedText:
        """The whole text of the file `path`."""
        return cls(text, range(len(text) + 1), LineMap(path, text))

    def __len__(self) -> int:
        return len(self.text)

    def __getitem__(self, part: slice) -> MappedText:
        start, stop, _ = part.indices(len(self.text))
        stop = max(start, stop)
        return MappedText(self.text[start:stop], self.origin[start : stop + 1], self.lines)

    def location(self, start: int, end: int) -> Location:
        """Where the characters `start` to `end` of this text stand in the outermost file."""
        start = max(0, min(start, len(self.text)))
        end = max(start, min(end, len(self.text)))
        first = self.origin[start]
        last = self.origin[end - 1] + 1 if end > start else first
        return self.lines.location(first, max(first, last))

    def replace_text(self, text: str) -> MappedText:
        """Another text of the same length at the same places (placeholders that keep positions)."""
        return MappedText(text, self.origin, self.lines)


def join(parts: Iterable[MappedText]) -> MappedText:
    """The concatenation of several mapped texts of one file; raises ValueError when there are none."""
    pieces = list(parts)
    if not pieces:
        raise ValueError("nothing to join")
    if len(pieces) == 1:
        return pieces[0]
    origin: list[int] = []
    for piece in pieces:
        origin.extend(piece.origin[: len(piece.text)])
    origin.append(pieces[-1].origin[-1])
    return MappedText("".join(piece.text for piece in pieces), origin, pieces[0].lines)
