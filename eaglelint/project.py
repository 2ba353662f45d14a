"""Which files a project has, of which kind, and their text.

The walk follows no symbolic link out of the project, reads nothing but regular files, and leaves out what `.gitignore`
files and the configuration leave out. What can not be looked into is said (`Project.unreadable`), never raised.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import stat
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from eaglelint import watch
from eaglelint.errors import UnreadableSource, UsageError
from eaglelint.evidence import speaks_of_eagle
from eaglelint.facts import Unreadable
from eaglelint.ignoring import NEVER_OWN, Ignores, ignores_above, patterns
from eaglelint.kinds import kind_of, kind_of_script
from eaglelint.location import LineMap, Location, MappedText
from eaglelint.opening import open_regular
from eaglelint.settings import Settings

_MIB = 1 << 20
#: The largest files that are read as text, in bytes; a tensor index or a notebook with pictures may be larger.
_LARGEST = {
    "json": 32 * _MIB,
    "notebook": 32 * _MIB,
    "patch": 16 * _MIB,
    "binary": 256 * _MIB,
    **dict.fromkeys(("shell", "dockerfile", "makefile"), 1 * _MIB),
}
_LARGEST_OTHER = 8 * _MIB
#: How much of a larger file is searched for a word about EAGLE-3.
_GLANCE = 1 * _MIB


@dataclass(frozen=True)
class Source:
    """One file of the project.

    `path` is relative to the current directory, with forward slashes; `kind` as in `kinds.py`. `content` stands in for
    the bytes of a file that is not on disk (an editor's buffer, a test).
    """

    path: str
    kind: str
    file: Path
    content: bytes | None = field(default=None, repr=False)

    @property
    def data(self) -> bytes:
        """The bytes of the file; raises UnreadableSource when they can not be had."""
        if self.content is not None:
            return self.content
        limit = _LARGEST.get(self.kind, _LARGEST_OTHER)
        try:
            with open_regular(self.file) as stream:
                data = stream.read(limit + 1)
        except OSError as error:
            raise UnreadableSource(Location(self.path), _why(error)) from None
        if len(data) > limit:
            raise UnreadableSource(Location(self.path), f"larger than the {limit // _MIB} MiB that are read")
        return data

    def open(self) -> BinaryIO:
        """The file, to read parts of it whatever its size; raises UnreadableSource when it can not be opened."""
        if self.content is not None:
            return io.BytesIO(self.content)
        try:
            return open_regular(self.file)
        except OSError as error:
            raise UnreadableSource(Location(self.path), _why(error)) from None

    @cached_property
    def text(self) -> MappedText:
        """The decoded text; raises UnreadableSource with the place of the first byte that is no text."""
        return MappedText.whole(self.path, _decode(self.data, self.path, self.kind))


@dataclass(frozen=True)
class Project:
    """The files to look at, sorted by path, and what could not be looked at.

    `links` are symbolic links to files and folders that are in the project under another name: (link, real path). Their
    targets are read once, under their real path.
    """

    root: Path
    sources: tuple[Source, ...]
    unreadable: tuple[Unreadable, ...] = ()
    links: tuple[tuple[str, str], ...] = ()


def discover(paths: Sequence[str], *, root: Path | None = None, settings: Settings | None = None) -> Project:
    """The files under `paths` (files and folders), each once.

    `root` is the project that no symbolic link may leave; without one it is the current directory, or what the paths
    have in common where they lie outside it. A path that is named is never ignored by a `.gitignore`. Raises UsageError
    for a path that does not exist or is neither file nor folder.
    """
    named = [os.path.abspath(path) for path in paths or ["."]]
    modes = [_mode(path, given) for path, given in zip(named, paths or ["."], strict=True)]
    top = os.path.abspath(root) if root is not None else _common_root(named)
    walk = _Walk(top, settings or Settings())
    for path, mode in zip(named, modes, strict=True):
        if not stat.S_ISDIR(mode):
            walk.add_named(path)
    for path, mode in zip(named, modes, strict=True):
        if stat.S_ISDIR(mode):
            walk.add_folder(path)
    walk.follow_links()
    return Project(
        Path(top),
        tuple(sorted(walk.sources.values(), key=lambda source: source.path)),
        tuple(sorted(walk.unreadable, key=lambda fact: fact.where.path)),
        tuple(sorted(walk.aliases)),
    )


class _Walk:
    """One discovery: what was found so far, by real path."""

    def __init__(self, top: str, settings: Settings) -> None:
        self.sources: dict[str, Source] = {}
        self.unreadable: list[Unreadable] = []
        self.aliases: list[tuple[str, str]] = []
        self._top = top
        self._roots = [os.path.realpath(top)]
        self._settings = settings
        self._exclude = patterns(settings.exclude) if settings.exclude else None
        self._include = patterns(settings.include) if settings.include else None
        self._here = os.getcwd()
        self._seen: set[str] = set()
        self._folders: dict[str, str] = {}
        self._left_out = watch.listener().left_out
        self._links: list[tuple[str, Ignores]] = []

    def add_named(self, path: str) -> None:
        """A file that was named: read whatever it is called, also where a `.gitignore` leaves it out."""
        if not self._excluded(path, False):
            self._add(path, os.path.realpath(path), kind_of(path) or _sniff(path, "text"))

    def add_folder(self, path: str) -> None:
        """A folder that was named, with everything below it."""
        real = os.path.realpath(path)
        self._roots.append(real)
        self._descend(path, real, ignores_above(path, self._top))

    def follow_links(self) -> None:
        """The links that were met: inside the project they are other names, or the only way to what they lead to."""
        while self._links:
            links, self._links = sorted(self._links), []
            for path, ignores in links:
                real = os.path.realpath(path)
                if real in self._folders or real in self.sources:
                    name = self._folders.get(real) or self.sources[real].path
                    self.aliases.append((self._shown(path), name))
                    self._left_out(path, f"a link to {name}, which is read under that name")
                elif not self._is_own(real):
                    self._left_out(path, "a link that leads out of the project")
                elif os.path.isdir(real):
                    self._descend(path, real, ignores)
                elif os.path.isfile(real):
                    kind = kind_of(path)
                    if kind == "":
                        kind = _sniff(real, "")
                    if kind:
                        self._add(path, real, kind)

    def _descend(self, folder: str, real: str, ignores: Ignores) -> None:
        waiting = [(folder, real, ignores)]
        while waiting:
            path, real, ignores = waiting.pop()
            if real in self._folders:
                continue
            self._folders[real] = self._shown(path)
            try:
                with os.scandir(path) as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except OSError as error:
                self.unreadable.append(
                    Unreadable(Location(self._shown(path)), f"the folder can not be listed: {_why(error)}")
                )
                continue
            if path != folder and any(entry.name in ("pyvenv.cfg", "conda-meta") for entry in entries):
                self._left_out(path, "a virtual environment")
                continue
            ignores = ignores.inside(path) if any(entry.name == ".gitignore" for entry in entries) else ignores
            for entry in entries:
                if entry.name in NEVER_OWN:
                    self._left_out(entry.path, "never a project's own")
                    continue
                if entry.is_symlink():
                    if not ignores.ignores(entry.path, False) and not ignores.ignores(entry.path, True):
                        self._links.append((entry.path, ignores))
                elif entry.is_dir(follow_symlinks=False):
                    if ignores.ignores(entry.path, True):
                        self._left_out(entry.path, "a .gitignore leaves it out")
                    elif not self._excluded(entry.path, True):
                        waiting.append((entry.path, os.path.join(real, entry.name), ignores))
                elif entry.is_file(follow_symlinks=False):
                    self._consider(entry, os.path.join(real, entry.name), ignores)

    def _consider(self, entry: os.DirEntry[str], real: str, ignores: Ignores) -> None:
        kind = kind_of(entry.path.replace(os.sep, "/"))
        if kind is None:
            self._left_out(entry.path, "of no kind that is read")
        elif ignores.ignores(entry.path, False):
            self._left_out(entry.path, "a .gitignore leaves it out")
        elif not self._excluded(entry.path, False):
            kind = kind or _sniff(entry.path, "")
            if kind:
                self._add(entry.path, real, kind)
            else:
                self._left_out(entry.path, "of no kind that is read")

    def _add(self, path: str, real: str, kind: str) -> None:
        if real in self._seen:
            return
        self._seen.add(real)
        shown = self._shown(path)
        limit = _LARGEST.get(kind, _LARGEST_OTHER)
        try:
            size = os.stat(path).st_size
            if size > limit and kind != "binary":
                with open_regular(path) as stream:
                    evidence = speaks_of_eagle(stream.read(_GLANCE))
                reason = f"{size // _MIB} MiB large, more than the {limit // _MIB} MiB that are read"
                self.unreadable.append(Unreadable(Location(shown), reason, evidence))
                return
        except OSError as error:
            self.unreadable.append(Unreadable(Location(shown), _why(error)))
            return
        self.sources[real] = Source(shown, kind, Path(path))

    def _is_own(self, real: str) -> bool:
        """Whether a real path lies in the project and in none of the folders that are never a project's own."""
        return any(
            real == root
            or (real.startswith(root.rstrip(os.sep) + os.sep) and not NEVER_OWN & set(real[len(root) :].split(os.sep)))
            for root in self._roots
        )

    def _excluded(self, path: str, is_folder: bool) -> bool:
        """Whether the configuration leaves a path out."""
        if self._exclude is None and self._include is None:
            return False
        inside = self._settings.inside(path)
        if self._exclude is not None and self._exclude.match_file(inside + "/" if is_folder else inside):
            self._left_out(path, "the configuration excludes it")
            return True
        if self._include is None or is_folder or self._include.match_file(inside):
            return False
        self._left_out(path, "it is not among what the configuration includes")
        return True

    def _shown(self, path: str) -> str:
        """A path as it stands in messages: relative to the current directory, forward slashes, printable."""
        if path.startswith(self._here + os.sep):
            relative = path[len(self._here) + 1 :]
        else:
            relative = os.path.relpath(path, self._here)
        return relative.replace(os.sep, "/").encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _mode(path: str, given: str) -> int:
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise UsageError(f"no such file or folder: {given}") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"can not look at {given}: {_why(error)}") from None
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise UsageError(f"neither a file nor a folder: {given}")
    return mode


def _common_root(named: Iterable[str]) -> str:
    here = os.getcwd()
    try:
        common = os.path.commonpath([here, *named])
        return here if common == here else os.path.commonpath(list(named))
    except ValueError:  # paths on several drives
        return here


def _sniff(path: str, otherwise: str) -> str:
    """The kind of a file whose name does not tell."""
    try:
        with open_regular(path) as stream:
            head = stream.read(512)
    except OSError:
        return otherwise
    return kind_of_script(head) or ("binary" if otherwise and b"\0" in head else otherwise)


def _why(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()


def _decode(data: bytes, path: str, kind: str) -> str:
    """The text of a file: UTF-8, or for Python what its coding line says; raises UnreadableSource.

    A byte order mark is no part of the text, except in JSON, whose readers refuse it.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnreadableSource(Location(path), "UTF-16, not UTF-8")
    encoding = "utf-8" if kind == "json" else "utf-8-sig"
    if kind == "python":
        try:
            encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
            if codecs.lookup(encoding).name in ("idna", "punycode"):  # for names of hosts; their time is quadratic
                raise SyntaxError(f"unknown encoding for a source file: {encoding}")
        except SyntaxError as error:
            if "unknown encoding" in str(error):
                raise UnreadableSource(_coding_line(data, path), str(error)) from None
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        before = LineMap(path, error.object[: error.start].decode(error.encoding, "replace") + " ")
        where = before.location(before.length - 1, before.length)
        byte = error.object[error.start]
        raise UnreadableSource(where, f"not {error.encoding.upper()}: byte 0x{byte:02x}") from None
    except (LookupError, ValueError) as error:  # a codec that is not for text
        raise UnreadableSource(_coding_line(data, path), str(error)) from None


def _coding_line(data: bytes, path: str) -> Location:
    """The line that names the encoding of a Python file."""
    lines = data.decode("latin-1").splitlines(keepends=True)[:2]
    row = next((row for row, line in enumerate(lines) if re.match(r"[ \t\f]*#.*?coding[:=]", line)), 0)
    start = sum(map(len, lines[:row]))
    return LineMap(path, "".join(lines)).location(start, start + len("".join(lines[row : row + 1]).rstrip()))
