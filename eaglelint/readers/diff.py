"""Unified diffs: what each hunk says the code was and becomes, with every character at its place in the patch.

Patches are edited by hand, mailed, indented in heredocs and written by models, so the line counts of a hunk are only a
hint: a hunk ends where no line can belong to it. Combined diffs (`@@@`) and context diffs are skipped.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from eaglelint.location import Location, MappedText, join

_GIT = re.compile(r'diff --git (?P<old>"(?:[^"\\]|\\.)*"|\S.*?) (?P<new>"(?:[^"\\]|\\.)*"|\S+)$')
_HUNK = re.compile(r"@@ -(?P<old>\d+)(?:,(?P<olds>\d+))? \+(?P<new>\d+)(?:,(?P<news>\d+))? @@(?P<context>.*)$")
_UPDATE = re.compile(r"\*\*\* (?:Update|Add) File: (?P<path>.+)$")
_FIRST = re.compile(r"^(?P<indent>[ \t]*)(?:diff --git |--- .*\n[ \t]*\+\+\+ |@@ -\d)", re.MULTILINE)
_TIMESTAMP = re.compile(r"(?:\t.*| +\d{4}-\d\d-\d\d[ T].*)$")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_CONTROL = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}


class Hunk(NamedTuple):
    """One hunk: `pre` is the code before, `post` the code after it.

    `added` are the stretches of `post` that are new lines, `removed` those of `pre` that go. `context` is the text
    after the second `@@`, usually the line of the enclosing function or class. `old_start` and `new_start` are the
    1-based line numbers in the files, 0 when the hunk does not say. `where` is the header of the hunk.
    """

    pre: MappedText
    post: MappedText
    added: tuple[tuple[int, int], ...]
    removed: tuple[tuple[int, int], ...]
    context: str
    old_start: int
    new_start: int
    where: Location


class FilePatch(NamedTuple):
    """The hunks for one file. A path is "" when the file is not there before or after, or when no header names it.

    Prefixes `a/` and `b/` of git and timestamps are left out of the paths. `where` is the first line of the header.
    """

    old_path: str
    new_path: str
    hunks: tuple[Hunk, ...]
    where: Location

    @property
    def path(self) -> str:
        """The path after the patch, that before it for a deleted file."""
        return self.new_path or self.old_path


def read_diff(text: MappedText) -> list[FilePatch]:
    """The patches in a text, in order; text between them (mail, prose) is skipped. Empty when there are none."""
    return _Reader(text).read()


class _Line(NamedTuple):
    """A line without its indentation and line end: from `start` to `end`; the next one begins at `after`."""

    start: int
    end: int
    after: int
    text: str


class _Reader:
    """Goes through the lines of a patch once."""

    def __init__(self, text: MappedText) -> None:
        self.text = text
        self.lines = _lines(text.text)
        self.at = 0
        self.patches: list[FilePatch] = []
        self.hunks: list[Hunk] = []
        self.header: tuple[str, str, Location] | None = None
        self.from_git = False

    def read(self) -> list[FilePatch]:
        while self.at < len(self.lines):
            line = self.lines[self.at].text
            git, update = _GIT.match(line), _UPDATE.match(line)
            if self._is_file_header(self.at):
                self._start(_path(line[4:]), _path(self.lines[self.at + 1].text[4:]), from_git=False)
                self.at += 2
            elif git is not None:
                self._start(_path(git["old"]), _path(git["new"]), from_git=True)
                self.at += 1
            elif update is not None:
                self._start(update["path"].strip(), update["path"].strip(), from_git=False)
                self.at += 1
            elif _HUNK.match(line) or (self.header is not None and re.match(r"@@(?!@)", line)):
                self._hunk()
            else:
                self.at += 1
        self._finish()
        return self.patches

    def _is_file_header(self, index: int) -> bool:
        """Whether a line and the next are the names of the two files."""
        if not self.lines[index].text.startswith("--- ") or index + 1 == len(self.lines):
            return False
        return self.lines[index + 1].text.startswith("+++ ")

    def _start(self, old: str, new: str, *, from_git: bool) -> None:
        """Begin the patch of a file; the names after a `diff --git` line belong to that line's file."""
        where = self._location(self.at)
        if self.from_git and not from_git and self.header is not None and not self.hunks:
            where = self.header[2]
        else:
            self._finish()
        self.header, self.from_git = (old, new, where), from_git

    def _finish(self) -> None:
        if self.header is not None or self.hunks:
            old, new, where = self.header or ("", "", self.hunks[0].where)
            self.patches.append(FilePatch(old, new, tuple(self.hunks), where))
        self.header, self.hunks = None, []

    def _location(self, index: int) -> Location:
        return self.text.location(self.lines[index].start, self.lines[index].end)

    def _hunk(self) -> None:
        """Read the hunk whose header is the current line."""
        header, where = self.lines[self.at], self._location(self.at)
        found = _HUNK.match(header.text)
        counts: list[int] | None = None
        old_start = new_start = 0
        if found is None:
            # Models write `@@ ... @@`, `@@ def forward @@` or a lone `@@`.
            parts = [part.strip(" .") for part in header.text.split("@@")]
            context = parts[-1] or parts[1]
        else:
            counts = [int(found[group] or 1) for group in ("olds", "news")]
            old_start, new_start, context = int(found["old"]), int(found["new"]), found["context"].strip()
        self.at += 1
        pre, post = _Side(self.text[header.end : header.end]), _Side(self.text[header.end : header.end])
        sides: tuple[_Side, ...] = ()
        while self.at < len(self.lines) and self._belongs(counts):
            line = self.lines[self.at]
            kind = line.text[:1] or " "
            if kind == "\\":
                for side in sides:
                    side.drop_line_end()
            else:
                part = self.text[min(line.start + 1, line.end) : line.after]
                sides = {" ": (pre, post), "-": (pre,), "+": (post,)}[kind]
                for side in sides:
                    side.add(part, kind != " ")
                if counts is not None:
                    counts[0] -= kind != "+"
                    counts[1] -= kind != "-"
            self.at += 1
        added, removed = tuple(post.marked), tuple(pre.marked)
        self.hunks.append(Hunk(pre.text, post.text, added, removed, context, old_start, new_start, where))

    def _belongs(self, counts: list[int] | None) -> bool:
        """Whether the current line is part of a hunk of which `counts` (old, new) lines are still to come."""
        line = self.lines[self.at].text
        following = self.lines[self.at + 1].text if self.at + 1 < len(self.lines) else ""
        wanted = counts is not None and max(counts) > 0
        if line.startswith("\\"):
            return True
        if not line:  # a context line whose space an editor took away
            return wanted or (counts is None and following[:1] in (" ", "+", "-") and following != "")
        if line[0] not in " +-":
            return False
        if self._is_file_header(self.at):
            after = self.lines[self.at + 2].text if self.at + 2 < len(self.lines) else ""
            # Such lines may also be a removed "-- x" and an added "++ y", when the counts ask for just these.
            return counts == [1, 1] or (wanted and not after.startswith("@@"))
        if line.rstrip() == "--":  # the signature of a mail
            return wanted and re.match(r"\d+\.\d", following) is None
        return True


class _Side:
    """One side of a hunk as it is put together: its lines and which stretches of them are marked `+` or `-`."""

    def __init__(self, empty: MappedText) -> None:
        self.empty = empty
        self.parts: list[MappedText] = []
        self.marked: list[tuple[int, int]] = []
        self.length = 0

    @property
    def text(self) -> MappedText:
        return join(self.parts) if self.parts else self.empty

    def add(self, part: MappedText, marked: bool) -> None:
        start, self.length = self.length, self.length + len(part)
        self.parts.append(part)
        if marked and self.marked and self.marked[-1][1] == start:
            self.marked[-1] = (self.marked[-1][0], self.length)
        elif marked:
            self.marked.append((start, self.length))

    def drop_line_end(self) -> None:
        """The last line has no line end: the one in the patch is only the patch's."""
        last = self.parts.pop()
        kept = last[: len(last.text.rstrip("\r\n"))]
        self.parts.append(kept)
        self.length -= len(last) - len(kept)
        if self.marked and self.marked[-1][1] > self.length:
            self.marked[-1] = (self.marked[-1][0], self.length)


def _lines(text: str) -> list[_Line]:
    """The lines of a patch, without the indentation that the whole patch has."""
    first = _FIRST.search(text)
    indent = first["indent"] if first is not None else ""
    lines: list[_Line] = []
    start = 0
    while start < len(text):
        newline = text.find("\n", start)
        after = newline + 1 if newline >= 0 else len(text)
        end = newline if newline >= 0 else len(text)
        if end > start and text[end - 1] == "\r":
            end -= 1
        if indent and text.startswith(indent, start):
            start += len(indent)
        start = min(start, end)
        lines.append(_Line(start, end, after, text[start:end]))
        start = after
    return lines


def _path(written: str) -> str:
    """A path of a header without quotes, prefix and timestamp; "" for /dev/null."""
    written = written[:4096].strip()
    if written.startswith('"'):
        quoted = re.match(r'"((?:[^"\\]|\\.)*)"', written)
        path = _unquote(quoted[1]) if quoted is not None else written
    else:
        path = _TIMESTAMP.sub("", written).strip()
    if path == "/dev/null":
        return ""
    return path[2:] if re.match(r"[abciow]/", path) else path


def _unquote(quoted: str) -> str:
    """The path that git quoted because of unusual characters: bytes of UTF-8 as octal escapes."""
    data = bytearray()
    start = 0
    for found in _ESCAPE.finditer(quoted):
        data += quoted[start : found.start()].encode()
        escape = found[1]
        data.append(int(escape, 8) & 0xFF if escape.isdigit() else _CONTROL.get(escape, ord(escape) & 0xFF))
        start = found.end()
    return (data + quoted[start:].encode()).decode("utf-8", "replace")
