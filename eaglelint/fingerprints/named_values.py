"""What code stores, by its names alone: the values that following code leads to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from eaglelint.fingerprints.records import Named
from eaglelint.location import Location

#: Stands in a string for a part that is not known.
HOLE = "*"


@dataclass(frozen=True)
class Leaf:
    """Something stored, with the names it had on its way, the first binding first."""

    names: tuple[Named, ...] = ()

    def named(self, name: str, where: Location) -> Leaf:
        """The same with one more name."""
        known = any(one.name == name for one in self.names)
        return self if known else replace(self, names=(*self.names, Named(name, where)))


@dataclass
class Entries:
    """A dict with known keys; `open` when it may hold more."""

    entries: dict[str, Any] = field(default_factory=dict)
    open: bool = False


@dataclass
class Items:
    """A list; `open` when it may hold more."""

    items: list[Any] = field(default_factory=list)
    open: bool = False


@dataclass(frozen=True)
class Words:
    """A string, in which `HOLE` stands for what is not known, and its place."""

    text: str
    where: Location


def entry(node: Any, part: str) -> Any:
    """What stands under a key or at a place; None for nothing."""
    if isinstance(node, Entries):
        return node.entries.get(part)
    if isinstance(node, Items) and part.isdigit() and int(part) < len(node.items):
        return node.items[int(part)]
    return None


def known(value: Any) -> int:
    """How much is known of a stored value: the names in it."""
    if isinstance(value, Leaf):
        return len(value.names)
    if isinstance(value, Entries):
        return 1 + sum(map(known, value.entries.values()))
    return 1 + sum(map(known, value.items)) if isinstance(value, Items) else 0


@dataclass(frozen=True)
class Writer:
    """One call that writes a file: the pattern of its path ("*" for what is not known) and what it stores.

    `shifted` is where the function around it leaves out the first or the last token.
    """

    path: str
    value: Any
    where: Location
    shifted: Location | None

    def names(self, key: str, index: int | None) -> tuple[Named, ...]:
        """The names of what is stored under a key, or at an index of it."""
        node = self.value
        for part in [part for part in key.split(".") if part]:
            node = entry(node, part)
        if index is not None:
            node = entry(node, str(index))
        return node.names if isinstance(node, Leaf) else ()

    def fits(self, path: str, keys: Sequence[str]) -> bool:
        """Whether this call may have written a file with these keys under this path."""
        if not _path_fits(self.path, path):
            return False
        if not isinstance(self.value, Entries):
            return bool(self.path.strip("*/.")) and not isinstance(self.value, Leaf)
        wanted = {key.split(".")[0] for key in keys}
        known_keys = set(self.value.entries)
        return bool(known_keys) and (wanted <= known_keys or (self.value.open and known_keys <= wanted))


def _path_fits(written: str, path: str) -> bool:
    """Whether a path is one that a pattern stands for, as far as the pattern says something: its last parts count."""
    parts, own = written.split("/"), path.split("/")
    if len(parts) > len(own):
        parts = parts[-len(own) :]
    told = zip(reversed(parts), reversed(own), strict=False)
    return all(re.fullmatch(".*".join(map(re.escape, part.split(HOLE))), name) for part, name in told)
