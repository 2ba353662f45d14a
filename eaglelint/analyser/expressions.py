"""Expressions: the value of a node, and what assignment binds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser import calls, comprehensions, patterns
from eaglelint.analyser.literals import decode_fstring_text, decode_literal
from eaglelint.analyser.operations import as_text, binary, compare, concatenate, join, source_str, truth
from eaglelint.analyser.values import (
    HOLE,
    MISSING,
    DictV,
    FuncV,
    HFOutput,
    LayerResult,
    ListV,
    Obj,
    Plain,
    SetV,
    SourceStr,
    Tensor,
    Unknown,
    V,
    holds_states,
    note_of,
)

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame

#: Strings at least this long, or with a line break, keep the places of their characters: they may be code.
_SOURCE_LENGTH = 12


def evaluate(run: Interpreter, node: Any, frame: Frame) -> V:
    """The value of an expression."""
    run.tick()
    handler = _HANDLERS.get(type(node))
    return handler(run, node, frame) if handler else Unknown(type(node).__name__)


_CONSTANTS = {"None": None, "True": True, "False": False}


def _name(run: Interpreter, node: cst.Name, frame: Frame) -> V:
    if node.value in _CONSTANTS:
        return _CONSTANTS[node.value]
    value = frame.lookup(node.value)
    if value is not MISSING:
        return value
    return run.objects.free_name(node.value, frame, node)


def _attribute(run: Interpreter, node: cst.Attribute, frame: Frame) -> V:
    owner = evaluate(run, node.value, frame)
    return run.objects.attribute(owner, node.attr.value, frame, node)


def _string(run: Interpreter, node: cst.SimpleString, frame: Frame) -> V:
    raw = node.value
    if len(raw) >= _SOURCE_LENGTH or "\n" in raw:
        start, end = frame.scope.locate(node)
        token = frame.scope.text[start:end]
        if token.text == raw:
            try:
                decoded = decode_literal(token)
            except ValueError:
                return HOLE
            if "b" in raw[:2].lower().split("'")[0].split('"')[0]:
                return decoded.text.encode("latin-1", "replace")
            return source_str(decoded)
    try:
        return ast.literal_eval(raw)
    except Exception:
        return HOLE


def _concatenated(run: Interpreter, node: cst.ConcatenatedString, frame: Frame) -> V:
    left, right = evaluate(run, node.left, frame), evaluate(run, node.right, frame)
    if isinstance(left, str) and isinstance(right, str):
        return concatenate([left, right])
    if isinstance(left, bytes) and isinstance(right, bytes):
        return left + right
    return HOLE


def _formatted(run: Interpreter, node: cst.FormattedString, frame: Frame) -> V:
    parts: list[str] = []
    raw = "r" in node.start.lower()
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            start, end = frame.scope.locate(part)
            piece = frame.scope.text[start:end]
            if piece.text == part.value:
                try:
                    parts.append(source_str(decode_fstring_text(piece, raw)))
                    continue
                except ValueError:
                    pass
            parts.append(part.value.replace("{{", "{").replace("}}", "}"))
            continue
        if not isinstance(part, cst.FormattedStringExpression):
            continue
        value = evaluate(run, part.expression, frame)
        text = as_text(value)
        if part.conversion == "r" and isinstance(value, str):
            text = repr(str(value))
        if part.format_spec and HOLE not in text:
            text = _format(value, part.format_spec)
        note = note_of(value)
        if note and not isinstance(text, SourceStr) and not note_of(text):
            text = calls.marked_text(text, note)
        parts.append(text)
    return concatenate(parts)


def _format(value: V, spec: Any) -> str:
    text = "".join(p.value for p in spec if isinstance(p, cst.FormattedStringText))
    if len(text) > 12 or any(not isinstance(p, cst.FormattedStringText) for p in spec):
        return HOLE
    digits = "".join(c if c.isdigit() else " " for c in text).split()
    if any(int(d) > 200 for d in digits):
        return HOLE
    try:
        return format(value if isinstance(value, int | float) else as_text(value), text)
    except Exception:
        return HOLE


def _integer(run: Interpreter, node: cst.Integer, frame: Frame) -> V:
    try:
        return ast.literal_eval(node.value)
    except Exception:
        return Unknown("number")


def _sequence(run: Interpreter, node: cst.Tuple | cst.List | cst.Set, frame: Frame) -> V:
    items: list[V] = []
    is_open = False
    for element in node.elements:
        value = evaluate(run, element.value, frame)
        if isinstance(element, cst.StarredElement):
            inner = calls.iterate(run, value)
            if inner is None:
                is_open = True
            else:
                items += inner
                is_open = is_open or bool(getattr(value, "open", False))
        else:
            items.append(value)
    note = note_of(*items)
    if isinstance(node, cst.Tuple):
        return tuple(items) if not is_open else ListV(items, True, note)
    if isinstance(node, cst.Set):
        unique: list[V] = []
        for item in items:
            if not any(type(item) is type(u) and item == u for u in unique):
                unique.append(item)
        return SetV(unique, is_open, note, frame.scope.where(node))
    return ListV(items, is_open, note)


def _dict(run: Interpreter, node: cst.Dict, frame: Frame) -> V:
    made = DictV({})
    for element in node.elements:
        value = evaluate(run, element.value, frame)
        if isinstance(element, cst.StarredDictElement):
            if isinstance(value, DictV):
                made.items.update(value.items)
                made.open = made.open or value.open
            else:
                made.open = True
            continue
        if not isinstance(element, cst.DictElement):
            continue
        key = evaluate(run, element.key, frame)
        if isinstance(value, Tensor | LayerResult):
            value = run.rec.labelled(run, value, key, "key", element.key, frame)
        if isinstance(key, str | int | float | bytes | bool | tuple) or key is None:
            made.items[key] = value
        else:
            made.open = True
            made.items[run.objects.opaque_key(key)] = value
    return made


def _binary(run: Interpreter, node: cst.BinaryOperation, frame: Frame) -> V:
    left = evaluate(run, node.left, frame)
    right = evaluate(run, node.right, frame)
    return binary(run, type(node.operator).__name__, left, right)


def _unary(run: Interpreter, node: cst.UnaryOperation, frame: Frame) -> V:
    value = evaluate(run, node.expression, frame)
    if isinstance(node.operator, cst.Not):
        known = truth(value)
        if known is None:
            return value if isinstance(value, Unknown) else Unknown("not")
        return not known
    if isinstance(value, int | float):
        return -value if isinstance(node.operator, cst.Minus) else value
    return value if isinstance(value, Unknown) else Unknown("arithmetic")


def _boolean(run: Interpreter, node: cst.BooleanOperation, frame: Frame) -> V:
    left = evaluate(run, node.left, frame)
    known = truth(left)
    wants = isinstance(node.operator, cst.And)
    if known is (not wants):
        return left
    right = evaluate(run, node.right, frame)
    if known is wants:
        return right
    other = truth(right)
    if wants:
        if other is False:
            return False
        if isinstance(left, Unknown) and isinstance(right, Unknown):
            return left if left.index else right
        return left if isinstance(left, Unknown) else Unknown("condition")
    if other is True and isinstance(right, bool):
        return True
    return join(left, right) if not isinstance(left, bool) else right


def _comparison(run: Interpreter, node: cst.Comparison, frame: Frame) -> V:
    left = evaluate(run, node.left, frame)
    result: V = True
    for target in node.comparisons:
        right = evaluate(run, target.comparator, frame)
        op = type(target.operator).__name__
        verdict = compare(op, left, right)
        if op in ("In", "NotIn", "Equal"):
            run.rec.compared(run, node, target, left, right, verdict, frame)
        if isinstance(verdict, Unknown) and not verdict.reason:
            verdict = Unknown(patterns.dotted(target.comparator), frame.scope.where(node), verdict.index)
        elif isinstance(verdict, Unknown) and verdict.index and verdict.where is None:
            name = patterns.dotted(target.comparator) or verdict.reason
            verdict = Unknown(name, frame.scope.where(target.comparator), True)
        if verdict is False:
            return False
        if isinstance(verdict, Unknown):
            result = verdict
        left = right
    return result


def _conditional(run: Interpreter, node: cst.IfExp, frame: Frame) -> V:
    known = truth(evaluate(run, node.test, frame))
    if known is True:
        return evaluate(run, node.body, frame)
    if known is False:
        return evaluate(run, node.orelse, frame)
    return join(evaluate(run, node.body, frame), evaluate(run, node.orelse, frame))


def _lambda(run: Interpreter, node: cst.Lambda, frame: Frame) -> V:
    return FuncV(node, frame, frame.scope, "<lambda>")


def _subscript(run: Interpreter, node: cst.Subscript, frame: Frame) -> V:
    owner = evaluate(run, node.value, frame)
    key = subscript_key(run, node, frame)
    return run.objects.item(owner, key, frame, node)


def subscript_key(run: Interpreter, node: cst.Subscript, frame: Frame) -> V:
    """The key of a subscript: a value, a slice, or a tuple of them (as numpy and torch index)."""
    keys: list[V] = []
    for element in node.slice:
        index = element.slice
        if isinstance(index, cst.Index):
            keys.append(evaluate(run, index.value, frame))
        elif isinstance(index, cst.Slice):
            parts = (index.lower, index.upper, index.step)
            bounds = [evaluate(run, part, frame) if part is not None else None for part in parts]
            if all(bound is None or (isinstance(bound, int) and not isinstance(bound, bool)) for bound in bounds):
                keys.append(slice(*bounds))
            else:
                keys.append(Unknown("slice"))
    return keys[0] if len(keys) == 1 else tuple(keys)


def _named(run: Interpreter, node: cst.NamedExpr, frame: Frame) -> V:
    value = evaluate(run, node.value, frame)
    assign(run, node.target, value, frame, node.value)
    return value


def _await(run: Interpreter, node: cst.Await, frame: Frame) -> V:
    return evaluate(run, node.expression, frame)


def _yield(run: Interpreter, node: cst.Yield, frame: Frame) -> V:
    value: V = None
    if isinstance(node.value, cst.From):
        value = evaluate(run, node.value.item, frame)
        inner = calls.iterate(run, value)
        if frame.yields is not None and inner is not None:
            frame.yields.extend(inner)
        return None
    if node.value is not None:
        value = evaluate(run, node.value, frame)
    if frame.yields is not None and len(frame.yields) < 1000:
        frame.yields.append(value)
    return Unknown("sent")


# ---- assignment -------------------------------------------------------------------------------------------------------


def assign(run: Interpreter, target: Any, value: V, frame: Frame, source: Any) -> None:
    """Bind a target to a value; `source` is the node of the value where there is one."""
    if isinstance(target, cst.Name):
        if isinstance(value, Tensor | LayerResult):
            value = run.rec.labelled(run, value, target.value, "variable", target, frame)
        frame.bind(target.value, value)
    elif isinstance(target, cst.Tuple | cst.List):
        _unpack(run, target, value, frame)
    elif isinstance(target, cst.Attribute):
        owner = evaluate(run, target.value, frame)
        if isinstance(owner, Unknown) and isinstance(target.value, cst.Name):
            # Something from outside: from here on it is known by what is assigned to it.
            owner = Obj(target.value.value, where=owner.where)
            frame.bind(target.value.value, owner)
        if isinstance(value, Tensor | LayerResult):
            value = run.rec.labelled(run, value, target.attr.value, "variable", target.attr, frame)
        run.objects.set_attribute(owner, target.attr.value, value, frame, target)
    elif isinstance(target, cst.Subscript):
        owner = evaluate(run, target.value, frame)
        key = subscript_key(run, target, frame)
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
        items = run.objects.unpack_layer(value, names)
    elif isinstance(value, HFOutput):
        items = None
    else:
        items = calls.iterate(run, value)
    if items is not None and star is not None and len(items) >= len(elements) - 1:
        after = len(elements) - star - 1
        middle = ListV(items[star : len(items) - after])
        items = [*items[:star], middle, *items[len(items) - after :]]
    if items is None or len(items) < len(elements):
        known = items or []
        items = [*known, *(Unknown("unpacked") for _ in range(len(elements) - len(known)))]
    for element, item in zip(elements, items, strict=False):
        assign(run, element, item, frame, None)


def augmented(run: Interpreter, node: cst.AugAssign, frame: Frame) -> None:
    """`target OP= value`: in place for tensors and lists, a new value for the rest."""
    old = evaluate(run, node.target, frame)
    value = evaluate(run, node.value, frame)
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
    result = binary(run, op, old, value)
    if isinstance(old, Tensor | Plain):
        run.rec.mutated(run, old.storage, node, frame)
        if isinstance(result, Tensor) and isinstance(old, Tensor):
            result = calls.in_place(result, old.storage)
    assign(run, node.target, result, frame, None)


def storable(value: V) -> bool:
    """Whether storing this value is worth recording."""
    return holds_states(value)


_HANDLERS: dict[type, Any] = {
    cst.Name: _name,
    cst.Attribute: _attribute,
    cst.SimpleString: _string,
    cst.ConcatenatedString: _concatenated,
    cst.FormattedString: _formatted,
    cst.Integer: _integer,
    cst.Float: _integer,
    cst.Tuple: _sequence,
    cst.List: _sequence,
    cst.Set: _sequence,
    cst.Dict: _dict,
    cst.BinaryOperation: _binary,
    cst.UnaryOperation: _unary,
    cst.BooleanOperation: _boolean,
    cst.Comparison: _comparison,
    cst.IfExp: _conditional,
    cst.Lambda: _lambda,
    cst.Subscript: _subscript,
    cst.NamedExpr: _named,
    cst.Await: _await,
    cst.Yield: _yield,
    cst.Call: calls.call,
    cst.ListComp: comprehensions.comprehension,
    cst.SetComp: comprehensions.comprehension,
    cst.GeneratorExp: comprehensions.comprehension,
    cst.DictComp: comprehensions.dict_comprehension,
    cst.Ellipsis: lambda run, node, frame: Unknown("..."),
}

