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

    Text can be put together from several files (a constant that another module defines). `lines` is the file of the
    first character; `runs` lists, in order, each index at which another file goes on. It is empty for text of one file.
    Operations that keep these maps (replace, dedent, format, ...) are functions of `eaglelint.mapped`.
    """

    __slots__ = ("lines", "origin", "runs", "text")

    def __init__(
        self, text: str, origin: Sequence[int], lines: LineMap, runs: tuple[tuple[int, LineMap], ...] = ()
    ) -> None:
        if len(origin) != len(text) + 1:
            raise ValueError("origin must have one entry for each character and one for the end")
        self.text = text
        self.origin = origin
        self.lines = lines
        self.runs = runs

    @classmethod
    def whole(cls, path: str, text: str) -> MappedText:
        """The whole text of the file `path`."""
        return cls(text, range(len(text) + 1), LineMap(path, text))

    def __len__(self) -> int:
        return len(self.text)

    def __repr__(self) -> str:
        return f"MappedText({self.text!r}, {self.location(0, len(self.text))})"

    def __getitem__(self, part: slice) -> MappedText:
        start, stop, step = part.indices(len(self.text))
        if step != 1:
            raise ValueError("a mapped text can be sliced in its own order only")
        stop = max(start, stop)
        runs: tuple[tuple[int, LineMap], ...] = ()
        if self.runs:
            runs = tuple((index - start, lines) for index, lines in self.runs if start < index <= stop)
        return MappedText(self.text[start:stop], self.origin[start : stop + 1], self.file_at(start), runs)

    def file_at(self, index: int) -> LineMap:
        """The file that the character at `index` (or the end of the text) comes from."""
        found = self.lines
        for start, lines in self.runs:
            if start > index:
                break
            found = lines
        return found

    def location(self, start: int, end: int) -> Location:
        """Where the characters `start` to `end` of this text stand in the outermost file.

        When they come from several files, it is the part of them that stands in the file of the first character.
        """
        start = max(0, min(start, len(self.text)))
        end = max(start, min(end, len(self.text)))
        lines = self.lines
        if self.runs:
            lines = self.file_at(start)
            end = next((index for index, _ in self.runs if start < index < end), end)
        first = last = self.origin[start]
        if end > start:
            last = self.origin[end - 1]
            if self.origin[end] != last:  # else it is inserted text, which stands before a character but covers none
                last += 1
        return lines.location(first, max(first, last))

    def replace_text(self, text: str) -> MappedText:
        """Another text of the same length at the same places (placeholders that keep positions)."""
        return MappedText(text, self.origin, self.lines, self.runs)

    def pick(self, text: str, indices: Sequence[int]) -> MappedText:
        """Another text whose i-th character stands where the character `indices[i]` of this one stands.

        `indices` has one entry more than `text` has characters: the place of the end.
        """
        origin = [self.origin[index] for index in indices]
        if not self.runs:
            return MappedText(text, origin, self.lines)
        files = [self.file_at(index) for index in indices]
        return MappedText(text, origin, files[0], _runs(files))


def _runs(files: Sequence[LineMap]) -> tuple[tuple[int, LineMap], ...]:
    """Where the file changes in a list of the file of each character."""
    return tuple((index, files[index]) for index in range(1, len(files)) if files[index] is not files[index - 1])


def join(parts: Iterable[MappedText]) -> MappedText:
    """The concatenation of several mapped texts; raises ValueError when there are none."""
    pieces = list(parts)
    if not pieces:
        raise ValueError("nothing to join")
    if len(pieces) == 1:
        return pieces[0]
    text = "".join(piece.text for piece in pieces)
    lines = next((piece for piece in pieces if piece.text), pieces[-1]).lines
    contiguous = _contiguous(pieces)
    if contiguous is not None:
        return MappedText(text, contiguous, lines)
    origin: list[int] = []
    runs: list[tuple[int, LineMap]] = []
    current = lines
    for number, piece in enumerate(pieces):
        begin = len(origin)
        end = len(piece.text)
        if number == len(pieces) - 1:
            end += 1  # the end of the last piece is the end of the whole
        origin.extend(piece.origin[:end])
        for index, file in ((0, piece.lines), *piece.runs):
            if index < end and file is not current:
                runs.append((begin + index, file))
                current = file
    return MappedText(text, origin, lines, tuple(runs))


def _contiguous(pieces: Sequence[MappedText]) -> range | None:
    """The range of offsets that the pieces cover when they follow each other in one file, else None."""
    start = stop = -1
    for piece in pieces:
        origin = piece.origin
        if not isinstance(origin, range) or origin.step != 1 or piece.runs or piece.lines is not pieces[0].lines:
            return None
        if stop < 0:
            start = stop = origin.start
        if origin.start != stop:
            return None
        stop += len(piece.text)
    return range(start, stop + 1)
