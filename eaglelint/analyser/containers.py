"""Python's built-in functions that build lists, tuples, sets and dicts or put them in order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from eaglelint.analyser.file_values import Files, PathV
from eaglelint.analyser.operations import truth
from eaglelint.analyser.values import DictV, ListV, SetV, Unknown, V, note_of, written_at

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter


def items_of(run: Interpreter, value: V) -> list[V] | None:
    """The elements that iterating over a value gives, also over an object in scope; None when they are not known."""
    from eaglelint.analyser.calls import iterate

    return iterate(run, value)


def new_list(run: Interpreter, site: CallSite) -> V:
    """list(iterable); open when the iterable may give more."""
    if not site.args:
        return ListV([])
    value = site.args[0]
    if isinstance(value, ListV):
        return replace(value, items=list(value.items), kind="list")
    found = items_of(run, value)
    if found is None:
        return Unknown("list", getattr(value, "where", None)) if isinstance(value, Unknown) else ListV([], True)
    is_open, left = bool(getattr(value, "open", False)), getattr(value, "left_out", ())
    return ListV(found, is_open, note_of(value), chosen=written_at(value), left_out=left)


def new_tuple(run: Interpreter, site: CallSite) -> V:
    """tuple(iterable): a tuple when all elements are known, else a list."""
    made = new_list(run, site)
    if isinstance(made, ListV) and not made.open and not made.note and not made.left_out:
        return tuple(made.items)
    return made


def new_set(run: Interpreter, site: CallSite) -> V:
    """set(iterable), in the order in which the elements come."""
    where = site.frame.scope.spot(site.node)
    if not site.args:
        return SetV([], where=where)
    found = items_of(run, site.args[0])
    if found is None:
        value = site.args[0]
        return Unknown(getattr(value, "reason", "set"), getattr(value, "where", None))
    unique: list[V] = []
    for item in found:
        if not any(type(item) is type(u) and item == u for u in unique):
            unique.append(item)
    given = site.args[0]
    is_open = bool(getattr(given, "open", False))
    left = getattr(given, "left_out", ())
    return SetV(unique, is_open, note_of(given, *found), where, isinstance(given, SetV), left)


def from_keys(run: Interpreter, site: CallSite) -> V:
    """dict.fromkeys(keys, value)"""
    given = site.get(0, "iterable")
    keys = items_of(run, given)
    made = DictV({}, keys is None or bool(getattr(given, "open", False)), note_of(given))
    for key in keys or []:
        if isinstance(key, str | int | float | tuple):
            made.items[key] = site.get(1, "value")
        else:
            made.open = True
    return made


def new_dict(run: Interpreter, site: CallSite) -> V:
    """dict(pairs or mapping, **entries)"""
    made = DictV({}, open=site.splat)
    if site.args:
        value = site.args[0]
        if isinstance(value, DictV):
            made.items.update(value.items)
            made.open = made.open or value.open
            made.note = value.note
        else:
            pairs = items_of(run, value)
            if pairs is None:
                made.open = True
            for pair in pairs or []:
                entry = items_of(run, pair)
                if entry is not None and len(entry) == 2 and isinstance(entry[0], str | int | tuple):
                    made.items[entry[0]] = entry[1]
                else:
                    made.open = True
    from eaglelint.analyser.files import labelled_keywords

    made.items.update(labelled_keywords(run, site))
    return made


def in_order(run: Interpreter, site: CallSite) -> V:
    """sorted(iterable, key=..., reverse=...); in the given order when the elements can not be compared."""
    value = site.get(0, "iterable")
    if isinstance(value, Files):
        from eaglelint.analyser.files import listed

        value = listed(run, value) or value
    if not isinstance(value, ListV | SetV | tuple | DictV | range):
        return value
    found = items_of(run, value)
    is_open = bool(getattr(value, "open", False))
    if found is None:
        return ListV([], True)
    reverse = truth(site.kwargs.get("reverse", False)) is True
    key = site.kwargs.get("key")
    try:
        if key is None:
            found = sorted(found, key=lambda item: item.text if isinstance(item, PathV) else item, reverse=reverse)
        else:
            from eaglelint.analyser.models import call_any

            keys = [call_any(run, key, [item]) for item in found]
            if any(isinstance(k, Unknown) for k in keys):
                return ListV(found, True, note_of(value))
            order = sorted(range(len(found)), key=lambda n: keys[n], reverse=reverse)
            found = [found[n] for n in order]
    except TypeError:
        return ListV(found, is_open, note_of(value))
    left = getattr(value, "left_out", ())
    return ListV(found, is_open, note_of(value), chosen=written_at(value), left_out=left)


def backwards(run: Interpreter, site: CallSite) -> V:
    """reversed(sequence)"""
    found = items_of(run, site.get(0, "sequence"))
    return ListV(found[::-1]) if found is not None else Unknown("reversed")
