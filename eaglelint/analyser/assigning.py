"""Assignment: what targets bind, unpacking, and assignment in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser import calls, layer_loops, patterns
from eaglelint.analyser.file_values import FileText
from eaglelint.analyser.operations import binary
from eaglelint.analyser.target_values import HFOutput, LayerResult
from eaglelint.analyser.values import MISSING, ListV, Obj, Plain, Special, Tensor, Unknown, V

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame


def assign(run: Interpreter, target: Any, value: V, frame: Frame, source: Any) -> None:
    """Bind a target to a value; `source` is the node of the value where there is one."""
    if isinstance(target, cst.Name):
        if isinstance(value, Tensor | LayerResult):
            value = run.rec.labelled(run, value, target.value, "variable", target, frame)
        frame.bind(target.value, value)
    elif isinstance(target, cst.Tuple | cst.List):
        _unpack(run, target, value, frame)
    elif isinstance(target, cst.Attribute):
        owner = run.evaluate(target.value, frame)
        if isinstance(owner, Unknown) and isinstance(target.value, cst.Name):
            # Something from outside: from here on it is known by what is assigned to it.
            owner = Obj(target.value.value, where=owner.where)
            frame.bind(target.value.value, owner)
        if isinstance(value, Tensor | LayerResult):
            value = run.rec.labelled(run, value, target.attr.value, "variable", target.attr, frame)
        run.objects.set_attribute(owner, target.attr.value, value, frame, target)
    elif isinstance(target, cst.Subscript):
        owner = run.evaluate(target.value, frame)
        key = run.subscript_key(target, frame)
        if isinstance(value, Tensor | LayerResult):
            last = target.slice[-1].slice
            value = run.rec.labelled(run, value, key, "key", last, frame)
        run.objects.set_item(owner, key, value, frame, target)
    elif isinstance(target, cst.StarredElement):
        assign(run, target.value, value, frame, source)


def _unpack(run: Interpreter, target: cst.Tuple | cst.List, value: V, frame: Frame) -> None:
    names = patterns.target_names(target)
    elements = [e.value for e in target.elements]
    star = next((i for i, e in enumerate(target.elements) if isinstance(e, cst.StarredElement)), None)
    items: list[V] | None
    if isinstance(value, LayerResult):
        items = run.objects.unpack_layer(value, names, layer_loops.whole(frame.code, *names[:2]))
    elif isinstance(value, HFOutput):
        items = None
    else:
        items = calls.iterate(run, value)
    if items is not None and star is not None and len(items) >= len(elements) - 1:
        after = len(elements) - star - 1
        middle = ListV(items[star : len(items) - after])
        items = [*items[:star], middle, *items[len(items) - after :]]
    if isinstance(value, ListV) and value.open and items and isinstance(items[0], FileText):
        items = [items[0]] * max(len(elements), len(items))  # the parts of a text that was split
    if items is None or len(items) < len(elements):
        known = items or []
        items = [*known, *(Unknown("unpacked") for _ in range(len(elements) - len(known)))]
    for element, item in zip(elements, items, strict=False):
        assign(run, element, item, frame, None)


def augmented(run: Interpreter, node: cst.AugAssign, frame: Frame) -> None:
    """`target OP= value`: in place for tensors and lists, a new value for the rest."""
    old = run.evaluate(node.target, frame)
    value = run.evaluate(node.value, frame)
    op = type(node.operator).__name__.removesuffix("Assign")
    if isinstance(old, ListV) and op == "Add":
        extra = calls.iterate(run, value)
        run.touch(old)
        if extra is None:
            old.open = True
        else:
            for item in extra:
                run.rec.stored(run, item, node, frame, old)
            old.items.extend(extra)
        return
    if isinstance(old, tuple) and isinstance(value, tuple):
        for item in value:
            run.rec.stored(run, item, node, frame, None)
    if isinstance(old, Special):
        changed = old.in_place(run, op, value)
        if changed is not MISSING:
            assign(run, node.target, changed, frame, None)
            return
    result = binary(run, op, old, value)
    if isinstance(old, Tensor | Plain):
        run.rec.mutated(run, old.storage, node, frame)
        if isinstance(result, Tensor) and isinstance(old, Tensor):
            result = calls.in_place(result, old.storage)
    assign(run, node.target, result, frame, None)
