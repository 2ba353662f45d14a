"""Edits of JSON documents that leave everything else as it is written, from the places of keys and values alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from eaglelint.facts import Document
from eaglelint.findings import Edit
from eaglelint.location import Location


def rename_key(document: Document, pointer: str, name: str) -> tuple[Edit, ...]:
    """Another name for the key at a pointer; () when there is none, or an entry of that name already."""
    place = document.keys.get(pointer)
    if place is None or document.has(f"{_parent(pointer)}/{_escaped(name)}"):
        return ()
    return (Edit(place.path, place.start, place.end, json.dumps(name), json.dumps(_name(pointer))),)


def replace_value(document: Document, pointer: str, value: Any) -> tuple[Edit, ...]:
    """Another value at a pointer; () when there is none."""
    place = document.spans.get(pointer)
    return (Edit(place.path, place.start, place.end, json.dumps(value)),) if place is not None else ()


def add_entry(document: Document, pointer: str, value: Any) -> tuple[Edit, ...]:
    """A new last entry of the object above a pointer; () when the object is not there or has such an entry.

    Where that object is missing itself, but the one above it is there, it is added with the entry.
    """
    parent = _parent(pointer)
    if document.has(pointer):
        return ()
    if not document.has(parent):
        return add_entry(document, parent, {_name(pointer): value}) if parent else ()
    holder = document.get(parent)
    place = document.spans[parent]
    if not isinstance(holder, dict):
        return ()
    entry = f"{json.dumps(_name(pointer))}: "
    if not holder:
        return (Edit(place.path, place.start, place.end, "{" + entry + _written(value, None) + "}"),)
    ends = _ends(document, parent, list(holder))
    if ends is None:
        return ()
    key, end = ends
    own_line = key.line > place.line
    indent = key.column - 1 if own_line else None
    separator = ",\n" + " " * (key.column - 1) if own_line else ", "
    return (Edit(place.path, end.end, end.end, separator + entry + _written(value, indent)),)


def remove_entry(document: Document, pointer: str) -> tuple[Edit, ...]:
    """Without the entry at a pointer, nor the comma and space that belong to it; () when there is none."""
    parent = _parent(pointer)
    key, value = document.keys.get(pointer), document.spans.get(pointer)
    holder = document.get(parent)
    if key is None or value is None or not isinstance(holder, dict):
        return ()
    names = [f"{parent}/{_escaped(name)}" for name in holder]
    at = names.index(pointer)
    if at > 0:
        before = document.spans.get(names[at - 1])
        return (Edit(key.path, before.end, value.end, ""),) if before is not None else ()
    after = document.keys.get(names[1]) if len(names) > 1 else None
    return (Edit(key.path, key.start, after.start if after is not None else value.end, ""),)


def _ends(document: Document, parent: str, names: Sequence[str]) -> tuple[Location, Location] | None:
    """The first key and the last value of an object; None when not every entry has its place."""
    pointers = [f"{parent}/{_escaped(name)}" for name in names]
    places = [(document.keys.get(pointer), document.spans.get(pointer)) for pointer in pointers]
    known = [(key, value) for key, value in places if key is not None and value is not None]
    if len(known) != len(names) or document.duplicates:
        return None
    return min(key for key, _ in known), max((value for _, value in known), key=lambda value: value.end)


def _written(value: Any, indent: int | None) -> str:
    """A value as people write it in configs: objects on lines of their own where there are lines, lists inline."""
    if not isinstance(value, dict) or indent is None:
        return json.dumps(value)
    inner = indent + (indent if 0 < indent <= 8 else 2)
    lines = [f"{' ' * inner}{json.dumps(name)}: {_written(item, inner)}" for name, item in value.items()]
    return "{\n" + ",\n".join(lines) + "\n" + " " * indent + "}"


def _parent(pointer: str) -> str:
    return pointer.rpartition("/")[0]


def _name(pointer: str) -> str:
    return pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
