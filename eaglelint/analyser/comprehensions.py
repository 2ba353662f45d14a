"""List, set, dict comprehensions and generator expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser.operations import elements, truth
from eaglelint.analyser.patterns import element_reason
from eaglelint.analyser.scope import Frame, Spot
from eaglelint.analyser.target_values import LayerResult
from eaglelint.analyser.values import DictV, ListV, SetV, Tensor, Unknown, V, note_of, written_at

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter


def comprehension(run: Interpreter, node: cst.ListComp | cst.SetComp | cst.GeneratorExp, frame: Frame) -> V:
    """The list or set that a comprehension builds; open when an iterable or a condition is not known."""
    items: list[V] = []
    inner = Frame(frame.scope, frame, frame.function)

    def add() -> None:
        items.append(run.evaluate(node.elt, inner))

    is_open, note, chosen = _loop(run, node.for_in, inner, add)
    note = note or note_of(*items)
    if isinstance(node, cst.SetComp):
        unique: list[V] = []
        for item in items:
            if item not in unique:
                unique.append(item)
        return SetV(unique, is_open, note, frame.scope.spot(node))
    kind = "generator" if isinstance(node, cst.GeneratorExp) else "list"
    return ListV(items, is_open, note, kind=kind, chosen=chosen)


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

    is_open, made.note, _ = _loop(run, node.for_in, inner, add)
    made.open = made.open or is_open
    return made


def _loop(run: Interpreter, clause: cst.CompFor, frame: Frame, add: Any) -> tuple[bool, str, Spot | None]:
    iterable = run.evaluate(clause.iter, frame)
    items = elements(run, iterable)
    is_open = items is None or bool(getattr(iterable, "open", False))
    note = note_of(iterable)
    if items is None:
        items = [Unknown(element_reason(iterable, clause.iter), frame.scope.spot(clause.iter))]
    for item in items:
        run.tick()
        run.assign(clause.target, item, frame, None)
        kept = True
        for condition in clause.ifs:
            known = truth(run.evaluate(condition.test, frame))
            if known is False:
                kept = False
                break
            if known is None:
                is_open = True
        if not kept:
            continue
        if clause.inner_for_in is not None:
            inner_open, inner_note, _ = _loop(run, clause.inner_for_in, frame, add)
            is_open, note = is_open or inner_open, note or inner_note
        else:
            add()
    return is_open, note, written_at(iterable)
