"""Values of the domain that have to do with files: paths, texts being patched, what was saved and is read back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eaglelint.analyser.values import V
from eaglelint.location import Location, MappedText

if TYPE_CHECKING:
    from eaglelint.analyser.scope import Spot


@dataclass(frozen=True, slots=True)
class PathV:
    """A pathlib.Path; holes stand for unknown parts."""

    text: str
    note: str = ""


@dataclass(eq=False, slots=True)
class FileText:
    """The text of a file that is not known, and the edits that were made to it: code being patched.

    Each edit is (kind, old text, new text): "replace", "insert", "append". `text` is the text itself when the file is
    in scope.
    """

    path: str
    edits: tuple[tuple[str, V, V], ...] = ()
    text: MappedText | None = None
    note: str = ""


@dataclass(eq=False, slots=True)
class Saved:
    """Something written to a file: the path (with holes), the format, the value at that time and the place."""

    path: str
    format: str
    value: V
    where: Location | Spot
    script: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several values read back from files; using it narrows the choice."""

    options: tuple[V, ...]
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Files:
    """The file names that a glob or listing gives: a path with holes; `bare` when they come without their folder."""

    path: str
    bare: bool = False


@dataclass(eq=False, slots=True)
class FileHandle:
    """An open file: its path (with holes) and mode."""

    path: V
    mode: str = "r"
