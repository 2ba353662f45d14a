"""Undoing: the contents of shared objects, remembered before a branch that may not happen changes them."""

from __future__ import annotations

from typing import Any

from eaglelint.analyser.values import DictV, ListV

#: Objects by identity, each with its contents before the first change.
Book = dict[int, tuple[Any, Any]]


def remember(book: Book, thing: Any) -> None:
    """Note the contents of an object that is about to change; objects without contents are passed over."""
    if isinstance(thing, ListV | DictV | dict) or hasattr(thing, "attrs"):
        book[id(thing)] = (thing, contents(thing))


def contents(thing: Any) -> Any:
    """A copy of what an object holds."""
    if isinstance(thing, ListV):
        return list(thing.items), thing.open
    if isinstance(thing, DictV):
        return dict(thing.items), thing.open
    return dict(thing) if isinstance(thing, dict) else dict(thing.attrs)


def restore(thing: Any, old: Any) -> None:
    """Give an object its old contents back."""
    if isinstance(thing, ListV | DictV):
        thing.items, thing.open = old
        return
    held = thing if isinstance(thing, dict) else thing.attrs
    held.clear()
    held.update(old)
