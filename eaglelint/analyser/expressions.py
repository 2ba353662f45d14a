"""Expressions: the value of a node."""

from __future__ import annotations

import ast
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser import calls, comprehensions, depths, patterns
from eaglelint.analyser.comparing import compare
from eaglelint.analyser.literals import decode_fstring_text, decode_literal
from eaglelint.analyser.operations import binary, join, truth
from eaglelint.analyser.strings import as_text, concatenate, literal_str
from eaglelint.analyser.target_values import LayerResult
from eaglelint.analyser.values import (
    HOLE,
    MISSING,
    Deferred,
    DictV,
    FuncV,
    ListV,
    Numbers,
    SetV,
    SourceStr,
    Tensor,
    Unknown,
    V,
    note_of,
)
from eaglelint.location import LineMap, MappedText

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame, ModuleScope


def evaluate(run: Interpreter, node: Any, frame: Frame) -> V:
    """The value of an expression."""
    run.tick()
    handler = _HANDLERS.get(type(node))
    return handler(run, node, frame) if handler else Unknown(type(node).__name__)


#: Entries of a list display that are looked at: longer ones are tables, not choices of layers.
_MAX_ELEMENTS = 300
_MAX_STARRED = 5_000
_CONSTANTS = {"None": None, "True": True, "False": False}


def _name(run: Interpreter, node: cst.Name, frame: Frame) -> V:
    if node.value in _CONSTANTS:
        return _CONSTANTS[node.value]
    value = frame.lookup(node.value)
    if isinstance(value, Deferred):
        value = run.world.used(run, value)
        frame.rebind(node.value, value)
    if value is not MISSING:
        return value
    return run.objects.free_name(node.value, frame, node)


def _attribute(run: Interpreter, node: cst.Attribute, frame: Frame) -> V:
    owner = evaluate(run, node.value, frame)
    return run.objects.attribute(owner, node.attr.value, frame, node)


def _string(run: Interpreter, node: cst.SimpleString, frame: Frame) -> V:
    text = _content(node.value)
    if text is None:
        return HOLE
    return literal_str(text, partial(_decoded, frame.scope, node)) if isinstance(text, str) else text


@lru_cache(maxsize=4096)
def _content(written: str) -> str | bytes | None:
    """The value of a literal; None when it has none."""
    try:
        value: str | bytes = ast.literal_eval(written)
    except (ValueError, SyntaxError):
        return None
    return value


def _decoded(scope: ModuleScope, node: cst.SimpleString) -> MappedText:
    """The content of a string literal with the place of each character."""
    start, end = scope.locate(node)
    token = scope.text[start:end]
    text = ast.literal_eval(node.value)
    if token.text == node.value:
        try:
            decoded = decode_literal(token)
            if decoded.text == text:
                return decoded
        except ValueError:
            pass
    return MappedText(text, [token.origin[0]] * (len(text) + 1), token.lines)


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
            text = _piece(part.value, raw)
            parts.append(literal_str(text, partial(_decoded_piece, frame.scope, part, text, raw)))
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


def _piece(written: str, raw: bool) -> str:
    """The text of a literal piece of an f-string."""
    whole = MappedText(written, range(len(written) + 1), LineMap("", written))
    try:
        return decode_fstring_text(whole, raw).text
    except ValueError:
        return written.replace("{{", "{").replace("}}", "}")


def _decoded_piece(scope: ModuleScope, part: cst.FormattedStringText, text: str, raw: bool) -> MappedText:
    start, end = scope.locate(part)
    piece = scope.text[start:end]
    if piece.text == part.value:
        try:
            return decode_fstring_text(piece, raw)
        except ValueError:
            pass
    return MappedText(text, [piece.origin[0]] * (len(text) + 1), piece.lines)


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


def _number(run: Interpreter, node: cst.Integer | cst.Float, frame: Frame) -> V:
    return _literal(node.value)


@lru_cache(maxsize=4096)
def _literal(text: str) -> V:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError):
        return Unknown("number")


def _sequence(run: Interpreter, node: cst.Tuple | cst.List | cst.Set, frame: Frame) -> V:
    items: list[V] = []
    is_open = len(node.elements) > _MAX_ELEMENTS
    gone: tuple[Any, ...] = ()
    for element in node.elements[:_MAX_ELEMENTS]:
        value = evaluate(run, element.value, frame)
        if isinstance(element, cst.StarredElement):
            inner = calls.iterate(run, value)
            if inner is None:
                is_open = True
            else:
                is_open = is_open or len(items) + len(inner) > _MAX_STARRED
                items += inner[: max(0, _MAX_STARRED - len(items))]
                is_open = is_open or bool(getattr(value, "open", False))
                gone += getattr(value, "left_out", ())
        else:
            items.append(value)
    note = note_of(*items)
    depths.listed(run, items, frame)
    numbers = bool(items) and all(isinstance(item, int) for item in items)
    if isinstance(node, cst.Tuple):
        if is_open:
            return ListV(items, True, note)
        listed: tuple[V, ...] = Numbers(items) if numbers else tuple(items)
        if isinstance(listed, Numbers):
            listed.chosen = frame.scope.spot(node)
        return listed
    if isinstance(node, cst.Set):
        unique: list[V] = []
        for item in items:
            if not any(type(item) is type(u) and item == u for u in unique):
                unique.append(item)
        constant = len(unique) > 2 and all(isinstance(element.value, cst.Integer) for element in node.elements)
        return SetV(unique, is_open, note, frame.scope.spot(node), constant, gone)
    return ListV(items, is_open, note, chosen=frame.scope.spot(node) if numbers else None, left_out=gone)


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
            made.places[key] = frame.scope.spot(element.key), frame.scope.spot(element.value)
        else:
            made.open = True
            made.items[run.objects.opaque_key(key)] = value
    return made


def _binary(run: Interpreter, node: cst.BinaryOperation, frame: Frame) -> V:
    left = evaluate(run, node.left, frame)
    right = evaluate(run, node.right, frame)
    if isinstance(node.operator, cst.MatrixMultiply):
        from eaglelint.analyser.tensors import multiplied

        return multiplied(run, left, right, node.right, node, frame)
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
            verdict = Unknown(patterns.dotted(target.comparator), frame.scope.spot(node), verdict.index)
        elif isinstance(verdict, Unknown) and verdict.index and verdict.where is None:
            name = patterns.dotted(target.comparator) or verdict.reason
            verdict = Unknown(name, frame.scope.spot(target.comparator), True)
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
    return FuncV(node, frame, frame.scope, "<lambda>", defaults=calls.defaults(run, node, frame))


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
    run.assign(node.target, value, frame, node.value)
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


_HANDLERS: dict[type, Any] = {
    cst.Name: _name,
    cst.Attribute: _attribute,
    cst.SimpleString: _string,
    cst.ConcatenatedString: _concatenated,
    cst.FormattedString: _formatted,
    cst.Integer: _number,
    cst.Float: _number,
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
