"""Python's built-in functions on values of the domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eaglelint.analyser.file_values import FileHandle, Files, PathV
from eaglelint.analyser.operations import truth
from eaglelint.analyser.patterns import LAYER_LISTS
from eaglelint.analyser.strings import as_text
from eaglelint.analyser.target_values import HFStates, LayerResult, Layers
from eaglelint.analyser.values import (
    HOLE,
    MISSING,
    ClassV,
    DictV,
    External,
    FuncV,
    Fused,
    Index,
    ListV,
    Obj,
    Plain,
    RankIndex,
    RankStart,
    SetV,
    Special,
    Stacked,
    Tensor,
    Unknown,
    V,
    note_of,
    with_note,
)

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter


def _items(run: Interpreter, value: V) -> list[V] | None:
    from eaglelint.analyser.calls import iterate

    return iterate(run, value)


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
    found = _items(run, value)
    if found is None:
        return Unknown("enumerate", getattr(value, "where", None))
    if not isinstance(start, int):
        return ListV([(Unknown("start", None, True), item) for item in found], bool(getattr(value, "open", False)))
    relative = isinstance(value, Layers) and value.relative and not isinstance(start, RankStart)
    counter: Any = RankIndex if relative else Index
    rows: list[V] = [(counter(int(start) + n), item) for n, item in enumerate(found)]
    return ListV(rows, bool(getattr(value, "open", False)))


def _zip(run: Interpreter, site: CallSite) -> V:
    columns = [_items(run, arg) for arg in site.args]
    if site.splat:
        return Unknown("zip")
    known = [column for column in columns if column is not None]
    if not known:
        return Unknown("zip")
    length = min(len(column) for column in known)
    rows = [tuple(column[n] if column is not None else Unknown("element") for column in columns) for n in range(length)]
    return ListV(list(rows), any(bool(getattr(arg, "open", False)) for arg in site.args))


def _list(run: Interpreter, site: CallSite) -> V:
    if not site.args:
        return ListV([])
    value = site.args[0]
    if isinstance(value, ListV):
        return ListV(list(value.items), value.open, value.note, value.dropped, value.sliced)
    found = _items(run, value)
    if found is None:
        return Unknown("list", getattr(value, "where", None)) if isinstance(value, Unknown) else ListV([], True)
    return ListV(found, bool(getattr(value, "open", False)), note_of(value))


def _tuple(run: Interpreter, site: CallSite) -> V:
    made = _list(run, site)
    if isinstance(made, ListV) and not made.open and not made.note:
        return tuple(made.items)
    return made


def _set(run: Interpreter, site: CallSite) -> V:
    where = site.frame.scope.spot(site.node)
    if not site.args:
        return SetV([], where=where)
    found = _items(run, site.args[0])
    if found is None:
        value = site.args[0]
        return Unknown(getattr(value, "reason", "set"), getattr(value, "where", None))
    unique: list[V] = []
    for item in found:
        if not any(type(item) is type(u) and item == u for u in unique):
            unique.append(item)
    given = site.args[0]
    is_open = bool(getattr(given, "open", False))
    return SetV(unique, is_open, note_of(given, *found), where, isinstance(given, SetV))


def _from_keys(run: Interpreter, site: CallSite) -> V:
    """dict.fromkeys(keys, value)"""
    given = site.get(0, "iterable")
    keys = _items(run, given)
    made = DictV({}, keys is None or bool(getattr(given, "open", False)), note_of(given))
    for key in keys or []:
        if isinstance(key, str | int | float | tuple):
            made.items[key] = site.get(1, "value")
        else:
            made.open = True
    return made


def _dict(run: Interpreter, site: CallSite) -> V:
    made = DictV({}, open=site.splat)
    if site.args:
        value = site.args[0]
        if isinstance(value, DictV):
            made.items.update(value.items)
            made.open = made.open or value.open
            made.note = value.note
        else:
            pairs = _items(run, value)
            if pairs is None:
                made.open = True
            for pair in pairs or []:
                entry = _items(run, pair)
                if entry is not None and len(entry) == 2 and isinstance(entry[0], str | int | tuple):
                    made.items[entry[0]] = entry[1]
                else:
                    made.open = True
    from eaglelint.analyser.files import labelled_keywords

    made.items.update(labelled_keywords(run, site))
    return made


def _sorted(run: Interpreter, site: CallSite) -> V:
    value = site.get(0, "iterable")
    if isinstance(value, Files):
        from eaglelint.analyser.files import listed

        value = listed(run, value) or value
    if not isinstance(value, ListV | SetV | tuple | DictV | range):
        return value
    found = _items(run, value)
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
    return ListV(found, is_open, note_of(value))


def _reversed(run: Interpreter, site: CallSite) -> V:
    found = _items(run, site.get(0, "sequence"))
    return ListV(found[::-1]) if found is not None else Unknown("reversed")


def _number(kind: Callable[[Any], Any]) -> Callable[[Interpreter, CallSite], V]:
    def convert(run: Interpreter, site: CallSite) -> V:
        value = site.get(0, "x", 0)
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
        found = _items(run, site.args[0]) if len(site.args) == 1 else list(site.args)
        if found is None or bool(getattr(site.args[0] if site.args else None, "open", False)):
            return Unknown("extreme")
        try:
            return with_note(kind(found), note_of(*found)) if found else site.kwargs.get("default", Unknown("empty"))
        except TypeError:
            return Unknown("extreme")

    return choose


def _sum(run: Interpreter, site: CallSite) -> V:
    from eaglelint.analyser.operations import binary

    found = _items(run, site.get(0, "iterable"))
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
    found = _items(run, site.args[1])
    if found is None:
        return Unknown(getattr(site.args[1], "reason", "map"), getattr(site.args[1], "where", None))
    made = [invoke(run, site.args[0], Site([item], {}, site.node, site.frame)) for item in found]
    return ListV(made, bool(getattr(site.args[1], "open", False)), note_of(site.args[1]))


def _filter(run: Interpreter, site: CallSite) -> V:
    from eaglelint.analyser.calls import CallSite as Site
    from eaglelint.analyser.calls import invoke

    found = _items(run, site.get(1, "iterable"))
    if found is None:
        return Unknown("filter")
    kept: list[V] = []
    is_open = bool(getattr(site.args[1], "open", False))
    for item in found:
        known = truth(
            item if site.args[0] is None else invoke(run, site.args[0], Site([item], {}, site.node, site.frame))
        )
        if known is not False:
            kept.append(item)
        is_open = is_open or known is None
    return ListV(kept, is_open)


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
        found = _items(run, site.get(0, "iterable"))
        if found is None:
            return Unknown(kind)
        verdicts = [truth(item) for item in found]
        decisive = kind == "any"
        if decisive in verdicts:
            return decisive
        return Unknown(kind) if None in verdicts or bool(getattr(site.args[0], "open", False)) else not decisive

    return judge


def _getattr(run: Interpreter, site: CallSite) -> V:
    owner, name = site.get(0, "object"), site.get(1, "name")
    if not isinstance(name, str) or HOLE in name:
        return Unknown("getattr")
    from eaglelint.analyser.target_values import ConfigV

    if len(site.args) > 2 and isinstance(owner, ConfigV):
        return run.world.config_attribute(run, owner, name, site.frame, site.node, site.args[2])
    defined = isinstance(owner, Obj) and owner.cls is not None and len(site.args) > 2
    if defined and name not in owner.attrs and owner.cls.lookup(name) is MISSING:
        return site.args[2]
    return run.objects.attribute(owner, name, site.frame, site.node)


def _setattr(run: Interpreter, site: CallSite) -> V:
    name = site.get(1, "name")
    if isinstance(name, str) and HOLE not in name:
        run.objects.set_attribute(site.get(0, "object"), name, site.get(2, "value"), site.frame, site.node)
    return None


def _hasattr(run: Interpreter, site: CallSite) -> V:
    return Unknown("hasattr")


def _isinstance(run: Interpreter, site: CallSite) -> V:
    value, kind = site.get(0, "object"), site.get(1, "class")
    names = {
        k.path.rsplit(".", 1)[-1] for k in (kind if isinstance(kind, tuple) else (kind,)) if isinstance(k, External)
    }
    if isinstance(value, LayerResult) and "tuple" in names:
        return True if value.model.framework in ("sglang", "vllm") else Unknown("isinstance")
    if isinstance(value, Tensor | Fused | Stacked | Plain):
        if names & {"Tensor", "ndarray"}:
            return True
        return False if names & {"tuple", "list", "dict", "str", "int"} else Unknown("isinstance")
    table: tuple[tuple[type | tuple[type, ...], set[str]], ...] = (
        (bool, {"bool", "int"}),
        (str, {"str"}),
        (int, {"int"}),
        (float, {"float"}),
        (tuple, {"tuple", "Sequence"}),
        (PathV, {"Path", "PathLike"}),
    )
    for python, accepted in table:
        if isinstance(value, python):
            return bool(names & accepted)
    if isinstance(value, ListV):
        return bool(names & {"list", "Sequence", "Iterable"})
    if isinstance(value, DictV):
        return bool(names & {"dict", "Mapping"})
    if value is None:
        return False
    return Unknown("isinstance")


def _super(run: Interpreter, site: CallSite) -> V:
    func = site.frame.function
    bound = site.frame.names.get("self")
    if func is None or func.owner is None or not isinstance(bound, Obj):
        return Unknown("super")
    return SuperProxy(bound, next((base for base in func.owner.bases if isinstance(base, ClassV)), None))


class SuperProxy(Special):
    """super(): looks methods up in the bases and binds them to the instance."""

    def __init__(self, bound: Obj, cls: Any) -> None:
        self.bound = bound
        self.cls = cls

    def call_method(self, run: Interpreter, name: str, site: CallSite) -> V:
        """Call a method of the bases on the instance; None when they have none in scope."""
        found = self.cls.lookup(name) if self.cls is not None else MISSING
        if not isinstance(found, FuncV):
            return None
        return run.call_function(replace(found, bound=self.bound), site.args, site.kwargs)


def _next(run: Interpreter, site: CallSite) -> V:
    """The next element; iterators of `iter` and generators go forward."""
    given = site.get(0, "iterator")
    found = _items(run, given)
    if not found:
        known = found is not None and not getattr(given, "open", False)
        return site.args[1] if known and len(site.args) > 1 else Unknown("next")
    if isinstance(given, ListV) and given.kind in ("iterator", "generator"):
        run.touch(given)
        given.items.pop(0)
    return found[0]


def _iter(run: Interpreter, site: CallSite) -> V:
    given = site.get(0, "x")
    found = _items(run, given)
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
        "list": _list,
        "tuple": _tuple,
        "set": _set,
        "frozenset": _set,
        "dict": _dict,
        "dict.fromkeys": _from_keys,
        "sorted": _sorted,
        "reversed": _reversed,
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
        "getattr": _getattr,
        "setattr": _setattr,
        "hasattr": _hasattr,
        "isinstance": _isinstance,
        "super": _super,
        "next": _next,
        "iter": _iter,
        "print": _print,
        "open": _open,
        "slice": _slice,
        "id": lambda run, site: Unknown("id"),
        "repr": lambda run, site: HOLE,
    }.items()
}
