"""Which lines have changed since a commit, and which findings touch them.

git only says which commit is meant and gives the old text of files; what has changed in them is worked out here. So
nothing that a repository can configure is run: no hook, no filter, no external diff, no file system monitor, and
nothing is fetched from anywhere.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import cached_property

from eaglelint.errors import UsageError
from eaglelint.findings import Finding
from eaglelint.location import Location

#: Seconds that git may take for one answer.
_PATIENCE = 60
#: Pairs of lines that are compared exactly; in larger changes a line is new when the old text has none like it.
_EXACT = 1_000_000
#: Bytes of the largest files whose lines are compared; of larger ones only the size.
_LARGEST = 32 << 20
#: What stands in a repository for a file that Git LFS keeps elsewhere.
_POINTER = b"version https://git-lfs.github.com/spec/"
#: Settings of git by which a repository could name programs to run.
_SAFE = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.pager=cat", "--no-pager")


class Changes:
    """The lines that differ from those of the commit `base` (its full name), in the repository at `root`."""

    def __init__(self, root: str, base: str) -> None:
        self.root = root
        self.base = base
        self._files: dict[str, frozenset[int] | None] = {}

    def touches(self, where: Location) -> bool:
        """Whether one of the lines of a place has changed; for a place that is a whole file, any of its lines."""
        if where.path not in self._files:
            self._files[where.path] = self._changed(where.path)
        lines = self._files[where.path]
        if lines is None:
            return True
        if where.line == 1 and where.start == where.end == 0:
            return bool(lines)
        return any(line in lines for line in range(where.line, max(where.line, where.end_line) + 1))

    def _changed(self, path: str) -> frozenset[int] | None:
        """The changed lines of a file (from 1); None when all of it is new, or it is no file whose lines count."""
        inside = os.path.relpath(os.path.realpath(path), self.root).replace(os.sep, "/")
        if inside.startswith("../"):
            return frozenset()
        try:
            if not os.path.isfile(path):
                return None
            size = os.path.getsize(path)
            data = None
            if size <= _LARGEST:
                with open(path, "rb") as stream:
                    data = stream.read(_LARGEST)
        except OSError:
            return None
        name = f"{self.base}:{inside}"
        old_size = int(_git("cat-file", "-s", name) or -1)
        if old_size < 0:
            return frozenset() if self._moved(data) or self._of_submodule(inside) else None
        old = (_git("cat-file", "blob", name) or b"") if old_size <= _LARGEST else None
        if old is not None and old.startswith(_POINTER):
            old_size = _stored_size(old)
            old = None
        if old is None or data is None:
            return frozenset() if size == old_size else None
        return changed_lines(old.splitlines(), data.splitlines())

    def _moved(self, data: bytes | None) -> bool:
        """Whether the commit has this very content under a name that is gone now."""
        import hashlib

        if data is None:
            return False
        head = b"blob %d\0" % len(data)
        names = {hashlib.new(kind, head + data, usedforsecurity=False).hexdigest() for kind in ("sha1", "sha256")}
        return any(
            name in names and not os.path.exists(os.path.join(self.root, path)) for path, name in self._tree.items()
        )

    def _of_submodule(self, inside: str) -> bool:
        """Whether a file belongs to a submodule, whose changes are commits of its own."""
        parts = inside.split("/")
        return any("/".join(parts[:length]) in self._submodules for length in range(1, len(parts)))

    @cached_property
    def _entries(self) -> list[tuple[str, str, str]]:
        """Everything in the commit: kind ("blob", "commit"), name of the object, path."""
        listed = (_git("ls-tree", "-r", "-z", "--full-tree", self.base) or b"").decode("utf-8", "surrogateescape")
        rows = (row.partition("\t") for row in listed.split("\0") if row)
        return [(meta.split()[1], meta.split()[2], path) for meta, _, path in rows]

    @cached_property
    def _tree(self) -> dict[str, str]:
        return {path: name for kind, name, path in self._entries if kind == "blob"}

    @cached_property
    def _submodules(self) -> frozenset[str]:
        return frozenset(path for kind, _, path in self._entries if kind == "commit")


def since(revision: str) -> Changes:
    """The changes since the commit at which the current one and `revision` parted, as a pull request shows them.

    Where that commit is not there (a shallow clone), since `revision` itself. Raises UsageError without git or a
    repository, and for what names no commit.
    """
    if revision.startswith("-") or not revision.strip() or not revision.isprintable():
        raise UsageError(f"{revision!r} is not a revision")
    done = _run("rev-parse", "--show-toplevel")
    root = _line(done.stdout)
    if done.returncode or not root:
        why = os.fsdecode(done.stderr).strip().partition("\n")[0]
        raise UsageError(f"--diff-base needs a git repository around the current folder ({why})")
    commit = _line(_git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"))
    if not commit:
        raise UsageError(f"the repository has no commit {revision!r} (a shallow clone may lack it)")
    return Changes(os.path.realpath(root), _line(_git("merge-base", commit, "HEAD")) or commit)


def touching(findings: Iterable[Finding], changes: Changes) -> list[Finding]:
    """The findings that have a place, be it the primary or a related one, on a changed line.

    A failure of eaglelint itself (EGL005) always stays.
    """
    return [
        finding
        for finding in findings
        if finding.rule == "EGL005"
        or any(changes.touches(where) for where in (finding.where, *(step.where for step in finding.related)))
    ]


def changed_lines(old: Sequence[bytes], new: Sequence[bytes]) -> frozenset[int]:
    """The lines of `new` (from 1) that differ from `old`; where lines are gone, those before and after the gap."""
    start = _same(old, new)
    rest = min(len(old), len(new)) - start
    end = _same(old[::-1][:rest], new[::-1][:rest])
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    if len(before) * len(after) > _EXACT:
        known = set(before)
        return frozenset(start + number for number, line in enumerate(after, 1) if line not in known)
    found: set[int] = set()
    for kind, _, _, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "delete":
            found |= {start + first, start + first + 1} & set(range(1, len(new) + 1))
        elif kind != "equal":
            found |= set(range(start + first + 1, start + last + 1))
    return frozenset(found)


def _same(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """How many lines at the start are the same."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _stored_size(pointer: bytes) -> int:
    """The size in bytes of the file that a pointer of Git LFS stands for, -1 when it does not say."""
    import re

    found = re.search(rb"^size (\d{1,18})$", pointer, re.MULTILINE)
    return int(found[1]) if found else -1


def _line(output: bytes | None) -> str:
    return os.fsdecode(output or b"").rstrip("\n")


def _git(*arguments: str) -> bytes | None:
    """What git prints; None when it fails. Raises UsageError when there is no git or it does not come back."""
    done = _run(*arguments)
    return done.stdout if done.returncode == 0 else None


def _run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {
        **{name: value for name, value in os.environ.items() if name != "GIT_EXTERNAL_DIFF"},
        "GIT_ALLOW_PROTOCOL": "none",  # a partial clone would fetch what it lacks
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }
    try:
        return subprocess.run(
            [_program(), *_SAFE, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"git did not answer within {_PATIENCE} seconds") from None
    except OSError as error:
        raise UsageError(f"can not run git: {(error.strerror or str(error)).lower()}") from error


def _program() -> str:
    """Where git is: in an absolute folder of $PATH, never in the folder that is checked."""
    names = ("git.exe", "git.cmd") if os.name == "nt" else ("git",)
    for folder in os.get_exec_path():
        for name in names if os.path.isabs(folder) else ():
            program = os.path.join(folder, name)
            if os.path.isfile(program) and os.access(program, os.X_OK):
                return program
    raise UsageError("--diff-base needs git, and there is none on $PATH")
