"""List, set, dict comprehensions and generator expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import libcst as cst

from eaglelint.analyser.choices import choosing
from eaglelint.analyser.filters import LeftOut, bounds, number_of, value_of
from eaglelint.analyser.operations import elements, truth
from eaglelint.analyser.patterns import element_reason
from eaglelint.analyser.scope import Frame, Spot
from eaglelint.analyser.target_values import LayerResult
from eaglelint.analyser.values import DictV, ListV, SetV, Tensor, Unknown, V, note_of

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter


class _Gone(NamedTuple):
    """How a loop over an iterable went: as the fields of `ListV` say it."""

    open: bool
    note: str
    chosen: Spot | None
    left_out: tuple[LeftOut, ...]


def comprehension(run: Interpreter, node: cst.ListComp | cst.SetComp | cst.GeneratorExp, frame: Frame) -> V:
    """The list or set that a comprehension builds; open when an iterable or a condition is not known."""
    items: list[V] = []
    inner = Frame(frame.scope, frame, frame.function)

    def add() -> None:
        items.append(run.evaluate(node.elt, inner))

    is_open, note, chosen, left = _loop(run, node.for_in, inner, add, node.elt)
    note = note or note_of(*items)
    if isinstance(node, cst.SetComp):
        unique: list[V] = []
        for item in items:
            if item not in unique:
                unique.append(item)
        return SetV(unique, is_open, note, frame.scope.spot(node), left_out=left)
    kind = "generator" if isinstance(node, cst.GeneratorExp) else "list"
    return ListV(items, is_open, note, kind=kind, chosen=chosen, left_out=left)


def dict_comprehension(run: Interpreter, node: cst.DictComp, frame: Frame) -> V:
    """The dict that a comprehension builds."""
    made = DictV({})
    inner = Frame(frame.scope, frame, frame.function)

    def add() -> None:
        key = run.evaluate(node.key, inner)
        value = run.evaluate(node.value, inner)
        if isinstance(value, Tensor | LayerResult):
            value = run.rec.labelled(run, value, key, "key", node.key, inner)
        if isinstance(key, str | int | tuple | float):
            made.items[key] = value
        else:
            made.open = True

    is_open, made.note, _, _ = _loop(run, node.for_in, inner, add, node.key)
    made.open = made.open or is_open
    return made


def _loop(run: Interpreter, clause: cst.CompFor, frame: Frame, add: Any, elt: Any) -> _Gone:
    iterable = run.evaluate(clause.iter, frame)
    items = elements(run, iterable)
    is_open = items is None or bool(getattr(iterable, "open", False))
    if items is None:
        items = [Unknown(element_reason(iterable, clause.iter), frame.scope.spot(clause.iter))]
    run.choosing.append(choosing(run, clause.iter, iterable, frame))
    try:
        inside, note, left = _turns(run, clause, items, frame, add, elt)
    finally:
        chosen = run.choosing.pop().written
    for gone in getattr(iterable, "left_out", ()):
        run.assign(clause.target, gone.value, frame, None)
        value = value_of(run, elt, frame)
        left += () if value is None else (gone._replace(value=value),)
    return _Gone(is_open or inside, note_of(iterable) or note, chosen, left)


def _turns(
    run: Interpreter, clause: cst.CompFor, items: list[V], frame: Frame, add: Any, elt: Any
) -> tuple[bool, str, tuple[LeftOut, ...]]:
    """Go through the items; tells whether there may be more or less, on what it rests, and which ids were left out."""
    is_open, note = False, ""
    left: tuple[LeftOut, ...] = ()
    for item in items:
        run.tick()
        run.choosing[-1].turn(item)
        run.assign(clause.target, item, frame, None)
        kept = True
        for condition in clause.ifs:
            known = truth(run.evaluate(condition.test, frame))
            if known is False:
                kept = False
                number = number_of(item) if bounds(condition.test) else None
                value = value_of(run, elt, frame) if number is not None else None
                if number is not None and value is not None:
                    left = (*left, LeftOut(number, value, frame.scope.spot(condition.test)))
                break
            if known is None:
                is_open = True
        if not kept:
            continue
        if clause.inner_for_in is not None:
            inner = _loop(run, clause.inner_for_in, frame, add, elt)
            is_open, note = is_open or inner.open, note or inner.note
        else:
            add()
    return is_open, note, left
