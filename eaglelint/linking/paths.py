"""Paths that name each other. All paths are relative to the current directory, with forward slashes.

A path in a launch file is relative to wherever the person starts it: the file's own folder, the root of the project or
anything between. Inside a container it is another path altogether, which ends like the folder that is mounted there.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable
from functools import lru_cache

#: A model on the Hub: an owner and a name, nothing else.
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
#: First components that are folders in a project, not owners on the Hub.
_LOCAL_ROOTS = {
    *("output", "outputs", "out", "ckpt", "ckpts", "checkpoint", "checkpoints", "model", "models", "weights", "save"),
    *("export", "exports", "exported", "run", "runs", "result", "results", "artifacts", "work", "workspace", "data"),
    *("draft", "drafter", "drafts", "head", "heads", "train", "training", "saved", "cache", "tmp", "experiments"),
}


@lru_cache(maxsize=10_000)
def parts(path: str) -> tuple[str, ...]:
    """The components of a path without `.`, empty ones and `..` that can be resolved."""
    normal = posixpath.normpath(path.replace("\\", "/")) if path else "."
    return tuple(part for part in normal.split("/") if part not in ("", "."))


@lru_cache(maxsize=10_000)
def folder_of(path: str) -> str:
    """The folder that holds a file, "" for the current directory."""
    return "/".join(parts(posixpath.dirname(path)))


def is_hub_id(value: str, folders: Iterable[str] = ()) -> bool:
    """Whether a model argument names a model on the Hub rather than a path; `folders` are those of the project."""
    if not _HUB_ID.fullmatch(value):
        return False
    first = value.split("/")[0]
    if first.lower() in _LOCAL_ROOTS:
        return False
    return all(parts(folder)[:1] != (first,) for folder in folders)


def resolve(value: str, source: str, folders: Collection[str]) -> str | None:
    """The one of `folders` that `value`, written in the file `source`, names; None when none or several could be meant.

    Tried in this order: the path relative to the source's folder and to each folder above it; the folder of a file
    that is named (`head/config.json`); the folder that ends like the path, when only one does.
    """
    if not value or "://" in value:
        return None
    normal = {"/".join(parts(folder)): folder for folder in folders}
    for candidate in (value, posixpath.dirname(value) if value.endswith(".json") else ""):
        if not candidate or candidate.startswith(("/", "~")):
            continue
        base = folder_of(source)
        while True:
            joined = "/".join(parts(posixpath.join(base, candidate)))
            if joined in normal:
                return normal[joined]
            if not base:
                break
            base = posixpath.dirname(base)
    return _by_ending(value, normal)


def through(value: str, mounts: Iterable[tuple[str, str]]) -> str:
    """A path inside a container as the path outside that is mounted there, the innermost mount first; else as it is."""
    inside = parts(value)
    best: tuple[int, str] = (0, value)
    if value.startswith("/"):
        for outer, inner in mounts:
            length = len(parts(inner))
            if inner.startswith("/") and length > best[0] and inside[:length] == parts(inner):
                best = (length, posixpath.join(outer, *inside[length:]))
    return best[1]


def _by_ending(value: str, folders: dict[str, str]) -> str | None:
    """The folder that shares most components with the end of the path; None when two share as many."""
    wanted = [part for part in parts(value) if part not in ("~", "..")]
    best: list[str] = []
    length = 0
    for normal, folder in folders.items():
        own = parts(normal)
        shared = 0
        while shared < min(len(own), len(wanted)) and own[-1 - shared] == wanted[-1 - shared]:
            shared += 1
        if shared > length:
            best, length = [folder], shared
        elif shared and shared == length:
            best.append(folder)
    return best[0] if len(best) == 1 else None


def nearest(path: str, folders: Collection[str]) -> list[str]:
    """Those of `folders` that share the deepest folder with `path`; all of them when they only share the root."""
    own = parts(folder_of(path))

    def shared(folder: str) -> int:
        other = parts(folder)
        count = 0
        while count < min(len(own), len(other)) and own[count] == other[count]:
            count += 1
        return count

    deepest = max((shared(folder) for folder in folders), default=0)
    return [folder for folder in folders if shared(folder) == deepest]


def is_above(folder: str, path: str) -> bool:
    """Whether a folder holds the file `path`, directly or deeper."""
    wanted = parts(folder)
    return parts(folder_of(path))[: len(wanted)] == wanted
