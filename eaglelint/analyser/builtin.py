"""Python's built-in functions on values of the domain."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser.containers import (
    backwards,
    from_keys,
    in_order,
    items_of,
    new_dict,
    new_list,
    new_set,
    new_tuple,
)
from eaglelint.analyser.depths import DrafterDepth
from eaglelint.analyser.file_values import FileHandle
from eaglelint.analyser.filters import LeftOut, bounds, number_of
from eaglelint.analyser.introspection import get_attribute, has_attribute, is_instance, set_attribute, super_of
from eaglelint.analyser.operations import truth
from eaglelint.analyser.patterns import LAYER_LISTS
from eaglelint.analyser.strings import as_text
from eaglelint.analyser.target_values import HFStates, Layers
from eaglelint.analyser.values import (
    HOLE,
    DictV,
    FuncV,
    Index,
    ListV,
    Plain,
    RankIndex,
    RankStart,
    SetV,
    Unknown,
    V,
    note_of,
    with_note,
    written_at,
)

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter


def _len(run: Interpreter, site: CallSite) -> V:
    value = site.get(0, "obj")
    if isinstance(value, Layers):
        return value.high - value.low
    if isinstance(value, HFStates):
        return run.objects.hf_length(value)
    if isinstance(value, ListV | SetV | DictV) and not value.open:
        return with_note(len(value.items), value.note)
    if isinstance(value, str | tuple | bytes | range) and not (isinstance(value, str) and HOLE in value):
        return len(value)
    if isinstance(value, Unknown) and value.reason.rsplit(".", 1)[-1] in LAYER_LISTS:
        return run.depth
    return Unknown("len", getattr(value, "where", None))


def _range(run: Interpreter, site: CallSite) -> V:
    if site.args and all(isinstance(arg, int) for arg in site.args) and not site.splat:
        try:
            made = range(*[int(arg) for arg in site.args])
        except (TypeError, ValueError):
            return Unknown("range")
        note = note_of(*site.args)
        if note and len(made) <= 1000:
            return ListV([Index(i) for i in made], note=note)
        return made
    return Unknown("range")


def _enumerate(run: Interpreter, site: CallSite) -> V:
    value = site.get(0, "iterable")
    start = site.get(1, "start", 0)
    found = items_of(run, value)
    if found is None:
        return Unknown("enumerate", getattr(value, "where", None))
    if not isinstance(start, int):
        return ListV([(Unknown("start", None, True), item) for item in found], bool(getattr(value, "open", False)))
    relative = isinstance(value, Layers) and value.relative and not isinstance(start, RankStart)
    counter: Any = RankIndex if relative else Index
    rows: list[V] = [(counter(int(start) + n), item) for n, item in enumerate(found)]
    return ListV(rows, bool(getattr(value, "open", False)), chosen=written_at(value))


def _zip(run: Interpreter, site: CallSite) -> V:
    columns = [items_of(run, arg) for arg in site.args]
    if site.splat:
        return Unknown("zip")
    known = [column for column in columns if column is not None]
    if not known:
        return Unknown("zip")
    length = min(len(column) for column in known)
    rows = [tuple(column[n] if column is not None else Unknown("element") for column in columns) for n in range(length)]
    return ListV(list(rows), any(bool(getattr(arg, "open", False)) for arg in site.args))


def _number(kind: Callable[[Any], Any]) -> Callable[[Interpreter, CallSite], V]:
    def convert(run: Interpreter, site: CallSite) -> V:
        value = site.get(0, "x", 0)
        if kind is int and isinstance(value, DrafterDepth):
            return value
        if isinstance(value, str | int | float) and not (isinstance(value, str) and HOLE in value):
            try:
                return with_note(kind(value), note_of(value))
            except (ValueError, OverflowError):
                return Unknown("number")
        return value if isinstance(value, Unknown | Plain) else Unknown("number")

    return convert


def _str(run: Interpreter, site: CallSite) -> V:
    value = site.get(0, "object", "")
    return value if isinstance(value, str) else as_text(value)


def _bool(run: Interpreter, site: CallSite) -> V:
    known = truth(site.get(0, "x", False))
    return Unknown("bool") if known is None else known


def _extreme(kind: Callable[..., Any]) -> Callable[[Interpreter, CallSite], V]:
    def choose(run: Interpreter, site: CallSite) -> V:
        found = items_of(run, site.args[0]) if len(site.args) == 1 else list(site.args)
        if found is None or bool(getattr(site.args[0] if site.args else None, "open", False)):
            return Unknown("extreme")
        try:
            return with_note(kind(found), note_of(*found)) if found else site.kwargs.get("default", Unknown("empty"))
        except TypeError:
            return Unknown("extreme")

    return choose


def _sum(run: Interpreter, site: CallSite) -> V:
    from eaglelint.analyser.operations import binary

    found = items_of(run, site.get(0, "iterable"))
    if found is None or bool(getattr(site.args[0], "open", False)):
        return Unknown("sum")
    total: V = site.get(1, "start", 0)
    for item in found:
        total = binary(run, "Add", total, item)
    return total


def _map(run: Interpreter, site: CallSite) -> V:
    from eaglelint.analyser.calls import CallSite as Site
    from eaglelint.analyser.calls import invoke

    if len(site.args) < 2:
        return Unknown("map")
    found = items_of(run, site.args[1])
    if found is None:
        return Unknown(getattr(site.args[1], "reason", "map"), getattr(site.args[1], "where", None))
    made = [invoke(run, site.args[0], Site([item], {}, site.node, site.frame)) for item in found]
    return ListV(made, bool(getattr(site.args[1], "open", False)), note_of(site.args[1]))


def _filter(run: Interpreter, site: CallSite) -> V:
    from eaglelint.analyser.calls import CallSite as Site
    from eaglelint.analyser.calls import invoke

    found = items_of(run, site.get(1, "iterable"))
    if found is None:
        return Unknown("filter")
    kept: list[V] = []
    left: list[LeftOut] = []
    is_open = bool(getattr(site.args[1], "open", False))
    for item in found:
        known = truth(
            item if site.args[0] is None else invoke(run, site.args[0], Site([item], {}, site.node, site.frame))
        )
        if known is not False:
            kept.append(item)
        elif isinstance(site.args[0], FuncV) and isinstance(site.args[0].node, cst.Lambda):
            test, number = site.args[0].node.body, number_of(item)
            if bounds(test) and number is not None:
                left.append(LeftOut(number, number, site.args[0].scope.spot(test)))
        is_open = is_open or known is None
    return ListV(kept, is_open, chosen=written_at(site.args[1]), left_out=tuple(left))


def _round(run: Interpreter, site: CallSite) -> V:
    value, digits = site.get(0, "number"), site.get(1, "ndigits")
    if isinstance(value, int | float) and (digits is None or isinstance(digits, int)):
        return with_note(round(value, digits) if digits is not None else round(value), note_of(value))
    return Unknown("round")


def _abs(run: Interpreter, site: CallSite) -> V:
    value = site.get(0, "x")
    return abs(value) if isinstance(value, int | float) else value


def _divmod(run: Interpreter, site: CallSite) -> V:
    a, b = site.get(0, "a"), site.get(1, "b")
    return divmod(a, b) if isinstance(a, int) and isinstance(b, int) and b else (Unknown("divmod"), Unknown("divmod"))


def _quantified(kind: str) -> Callable[[Interpreter, CallSite], V]:
    def judge(run: Interpreter, site: CallSite) -> V:
        found = items_of(run, site.get(0, "iterable"))
        if found is None:
            return Unknown(kind)
        verdicts = [truth(item) for item in found]
        decisive = kind == "any"
        if decisive in verdicts:
            return decisive
        return Unknown(kind) if None in verdicts or bool(getattr(site.args[0], "open", False)) else not decisive

    return judge


def _next(run: Interpreter, site: CallSite) -> V:
    """The next element; iterators of `iter` and generators go forward."""
    given = site.get(0, "iterator")
    found = items_of(run, given)
    if not found:
        known = found is not None and not getattr(given, "open", False)
        return site.args[1] if known and len(site.args) > 1 else Unknown("next")
    if isinstance(given, ListV) and given.kind in ("iterator", "generator"):
        run.touch(given)
        given.items.pop(0)
    return found[0]


def _iter(run: Interpreter, site: CallSite) -> V:
    given = site.get(0, "x")
    found = items_of(run, given)
    if found is None or len(site.args) != 1:
        return given
    return ListV(list(found), bool(getattr(given, "open", False)), note_of(given), kind="iterator")


def _print(run: Interpreter, site: CallSite) -> V:
    return None


def _open(run: Interpreter, site: CallSite) -> V:
    mode = site.get(1, "mode", "r")
    return FileHandle(site.get(0, "file"), mode if isinstance(mode, str) else "r")


def _slice(run: Interpreter, site: CallSite) -> V:
    if site.args and all(a is None or isinstance(a, int) for a in site.args):
        return slice(*site.args)
    return Unknown("slice")


FUNCTIONS: dict[str, Any] = {
    f"builtins.{name}": function
    for name, function in {
        "len": _len,
        "range": _range,
        "enumerate": _enumerate,
        "zip": _zip,
        "list": new_list,
        "tuple": new_tuple,
        "set": new_set,
        "frozenset": new_set,
        "dict": new_dict,
        "dict.fromkeys": from_keys,
        "sorted": in_order,
        "reversed": backwards,
        "int": _number(int),
        "float": _number(float),
        "str": _str,
        "bool": _bool,
        "max": _extreme(max),
        "min": _extreme(min),
        "sum": _sum,
        "map": _map,
        "filter": _filter,
        "round": _round,
        "abs": _abs,
        "divmod": _divmod,
        "any": _quantified("any"),
        "all": _quantified("all"),
        "getattr": get_attribute,
        "setattr": set_attribute,
        "hasattr": has_attribute,
        "isinstance": is_instance,
        "super": super_of,
        "next": _next,
        "iter": _iter,
        "print": _print,
        "open": _open,
        "slice": _slice,
        "id": lambda run, site: Unknown("id"),
        "repr": lambda run, site: HOLE,
    }.items()
}
