"""What operators do to values of the domain: truth, joining, iteration, arithmetic, comparison, indexing."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eaglelint.analyser.values import (
    HOLE,
    AssumedInt,
    Choice,
    ConfigV,
    DictV,
    External,
    Files,
    Fused,
    HFOutput,
    HFStates,
    Index,
    Layer,
    LayerResult,
    Layers,
    ListV,
    Method,
    ModelV,
    Module,
    Obj,
    PathV,
    Plain,
    SetV,
    SourceStr,
    Stacked,
    Tensor,
    Unknown,
    V,
    new_storage,
    note_of,
    with_note,
)
from eaglelint.boundary import State
from eaglelint.location import MappedText
from eaglelint.location import join as join_texts

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter

_MAX_ITEMS = 5_000
_MAX_TEXT = 1_000_000


def truth(value: V) -> bool | None:
    """True, False, or None when it is not known. Tensors and unknown objects are not known."""
    if isinstance(value, str) and HOLE in value:
        return None
    if value is None or isinstance(value, bool | int | float | str | bytes | tuple):
        return bool(value)
    if isinstance(value, ListV | SetV):
        return True if value.items else (None if value.open else False)
    if isinstance(value, DictV):
        return True if value.items else (None if value.open else False)
    if isinstance(value, Unknown | Tensor | Plain | Fused | Stacked | Choice | Obj | LayerResult):
        return None if not (isinstance(value, Obj) and value.cls is not None) else True
    return True


def is_none(value: V) -> bool | None:
    """Whether a value is None; None when not known."""
    if value is None:
        return True
    if isinstance(value, Unknown | Choice) or (isinstance(value, Obj) and value.cls is None and value.outside):
        return None
    return False


def join(first: V, second: V) -> V:
    """One value for either of two. Equal ones stay; what is known is preferred to what is not; a conflict is unknown."""
    if first is second:
        return first
    if isinstance(first, Unknown):
        return first if isinstance(second, Unknown) and first.index else second
    if isinstance(second, Unknown):
        return first
    if isinstance(first, LayerResult) and isinstance(second, Tensor):
        return second
    if isinstance(second, LayerResult) and isinstance(first, Tensor):
        return first
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        if first.state == second.state:
            return first if len(first.trace) >= len(second.trace) else second
        if first.state.boundary == second.state.boundary and first.state.part != second.state.part:
            return first if first.state.part == "stream" else second
        return Unknown("differs by branch")
    rank_one, rank_two = _weight(first), _weight(second)
    if rank_one != rank_two:
        return first if rank_one > rank_two else second
    if isinstance(first, tuple) and isinstance(second, tuple):
        if len(first) == len(second):
            return tuple(join(a, b) for a, b in zip(first, second, strict=True))
        return first if len(first) > len(second) else second
    if isinstance(first, ListV) and isinstance(second, ListV):
        if len(first.items) != len(second.items):
            return first if len(first.items) > len(second.items) else second
        return first
    if isinstance(first, str) and isinstance(second, str):
        return first if first == second else HOLE
    try:
        if type(first) is type(second) and first == second:
            return first
    except Exception:
        return Unknown("differs by branch")
    if isinstance(first, int | float | str) or isinstance(second, int | float | str):
        return first if first == second else Unknown("differs by branch")
    return first


def _weight(value: V) -> int:
    """How much a value tells, to choose between unlike ones: states over containers over plain things over None."""
    if isinstance(value, Fused | Stacked | Tensor | HFStates):
        return 6
    if isinstance(value, ListV | DictV | SetV | tuple | HFOutput | Choice):
        return 5
    if isinstance(value, Layers | Layer | ModelV | Module):
        return 4
    if isinstance(value, Plain):
        return 2
    if value is None:
        return 1
    return 3


def elements(run: Interpreter, value: V) -> list[V] | None:
    """The elements that iterating over a value gives; None when they are not known."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, range):
        if len(value) > _MAX_ITEMS:
            return None
        return [Index(i) for i in value]
    if isinstance(value, ListV | SetV):
        if value.open and not value.items:
            return None
        return [with_note(item, value.note) for item in value.items]
    if isinstance(value, DictV):
        return list(value.items) if value.items or not value.open else None
    if isinstance(value, Layers):
        return [run.objects.layer(value.model, i) for i in range(value.low, value.high)]
    if isinstance(value, HFStates):
        return [run.objects.hf_state(value, i) for i in range(run.objects.hf_length(value))]
    if isinstance(value, str) and HOLE not in value and len(value) <= _MAX_ITEMS:
        return list(value)
    if isinstance(value, LayerResult):
        return [run.objects.as_branch(value), run.objects.as_residual(value)]
    if isinstance(value, Files):
        return [PathV(value.path)]
    if isinstance(value, Choice):
        for option in value.options:
            found = elements(run, option)
            if found is not None:
                return found
    if isinstance(value, Stacked):
        return [value]
    return None


# ---- arithmetic -------------------------------------------------------------------------------------------------------

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Subtract": operator.sub,
    "Multiply": operator.mul,
    "Divide": operator.truediv,
    "FloorDivide": operator.floordiv,
    "Modulo": operator.mod,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "LeftShift": operator.lshift,
    "RightShift": operator.rshift,
}


def binary(run: Interpreter, op: str, left: V, right: V) -> V:
    """left OP right, by the name of libcst's operator class."""
    if op in ("Add", "Subtract", "Multiply", "Divide") and (_tensorish(left) or _tensorish(right)):
        return _tensor_arithmetic(run, op, left, right)
    if isinstance(left, PathV) and op == "Divide":
        return PathV(_joined(left.text, as_text(right)), left.note)
    if isinstance(right, PathV) and op == "Divide":
        return PathV(_joined(as_text(left), right.text))
    if op == "Add" and isinstance(left, str) and isinstance(right, str):
        return concatenate([left, right])
    if op == "Add" and (isinstance(left, str) or isinstance(right, str)):
        if isinstance(left, Unknown | Obj) or isinstance(right, Unknown | Obj):
            return concatenate([as_text(left), as_text(right)])
        return run.objects.patched_sum(left, right)
    if op == "Add" and isinstance(left, ListV | tuple) and isinstance(right, ListV | tuple):
        return _sum_of_lists(left, right)
    if op == "Add" and isinstance(left, ListV) and isinstance(right, Unknown):
        return ListV(list(left.items), open=True, note=left.note)
    if op == "Multiply" and isinstance(left, ListV) and isinstance(right, int) and 0 <= right * len(left.items) <= 1000:
        return ListV(list(left.items) * right, note=left.note)
    if op == "Multiply" and isinstance(left, str) and isinstance(right, int) and 0 <= right * len(left) <= 10_000:
        return str(left) * right
    if op == "Modulo" and isinstance(left, str):
        return _percent(left, right)
    if op in ("BitOr", "BitAnd", "Subtract") and isinstance(left, SetV) and isinstance(right, SetV):
        return _set_operation(op, left, right)
    if op == "BitOr" and isinstance(left, DictV) and isinstance(right, DictV):
        return DictV({**left.items, **right.items}, left.open or right.open)
    if op == "Power":
        return _power(left, right)
    function = _BINARY.get(op)
    if function is None or not _number(left) or not _number(right):
        touched = isinstance(left, Index) or isinstance(right, Index)
        reason = left if isinstance(left, Unknown) else right if isinstance(right, Unknown) else Unknown("arithmetic")
        return replace(reason, index=True) if touched else reason
    try:
        result = function(left, right)
    except Exception:
        return Unknown("arithmetic")
    if isinstance(result, int) and not isinstance(result, bool):
        if abs(result) > 1 << 64:
            return Unknown("number too large")
        note = note_of(left, right)
        if note:
            return with_note(result, note)
        if isinstance(left, Index) or isinstance(right, Index):
            return Index(result)
    return result


def _number(value: V) -> bool:
    return isinstance(value, int | float) and not isinstance(value, str)


def _power(left: V, right: V) -> V:
    if _number(left) and _number(right) and abs(left) <= 1 << 20 and abs(right) <= 16:
        try:
            return left**right
        except Exception:
            return Unknown("arithmetic")
    return Unknown("arithmetic")


def _set_operation(op: str, left: SetV, right: SetV) -> SetV:
    if op == "BitOr":
        items = [*left.items, *(i for i in right.items if i not in left.items)]
    elif op == "BitAnd":
        items = [i for i in left.items if i in right.items]
    else:
        items = [i for i in left.items if i not in right.items]
    return SetV(items, left.open or right.open, left.note or right.note)


def _sum_of_lists(left: V, right: V) -> V:
    if isinstance(left, tuple) and isinstance(right, tuple):
        return left + right
    items = [*(left if isinstance(left, tuple) else left.items), *(right if isinstance(right, tuple) else right.items)]
    is_open = getattr(left, "open", False) or getattr(right, "open", False)
    return ListV(items[:_MAX_ITEMS], is_open, note_of(left, right))


def _percent(left: str, right: V) -> V:
    values = right if isinstance(right, tuple) else (right,)
    if HOLE not in left and all(isinstance(v, int | float | str) for v in values):
        try:
            return left % values
        except (TypeError, ValueError):
            return HOLE
    return HOLE


def _joined(left: str, right: str) -> str:
    if right.startswith("/"):
        return right
    return f"{left.rstrip('/')}/{right}" if left not in ("", ".") else right


def as_text(value: V) -> str:
    """A value as it would stand in an f-string, with a HOLE where it is not known."""
    if isinstance(value, str):
        return value
    if isinstance(value, PathV):
        return value.text
    if isinstance(value, bool | int | float) or value is None:
        return str(value)
    if isinstance(value, tuple):
        inner = ", ".join(repr(v) if isinstance(v, str) else as_text(v) for v in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, ListV) and not value.open:
        return "[" + ", ".join(repr(str(v)) if isinstance(v, str) else as_text(v) for v in value.items) + "]"
    if isinstance(value, SetV) and not value.open and value.items:
        return "{" + ", ".join(repr(str(v)) if isinstance(v, str) else as_text(v) for v in value.items) + "}"
    return HOLE


def concatenate(parts: list[str]) -> str:
    """Strings put together; keeps the places of their characters when one of them knows them."""
    text = "".join(parts)
    if len(text) > _MAX_TEXT:
        return HOLE
    note = note_of(*parts)
    sources = [part for part in parts if isinstance(part, SourceStr)]
    if not sources:
        if note:
            marked = with_note(text, note)
            return marked if isinstance(marked, str) else text
        return text
    pieces: list[MappedText] = []
    lines = sources[0].mapped.lines
    last = sources[0].mapped.origin[0]
    for part in parts:
        if isinstance(part, SourceStr):
            pieces.append(part.mapped)
            last = part.mapped.origin[-1]
        elif part:
            pieces.append(MappedText(str(part), [last] * (len(part) + 1), lines))
    return source_str(join_texts(pieces), note)


def source_str(mapped: MappedText, note: str = "") -> SourceStr:
    """A str that knows the place of each of its characters."""
    made = SourceStr(mapped.text)
    made.mapped = mapped
    made.note = note
    return made


# ---- tensors ----------------------------------------------------------------------------------------------------------


def _tensorish(value: V) -> bool:
    return isinstance(value, Tensor | LayerResult | Fused | Plain)


def _tensor_arithmetic(run: Interpreter, op: str, left: V, right: V) -> V:
    """Sums complete a fused residual; scaling keeps an embedding; anything else is no hidden state any more."""
    for value, other in ((left, right), (right, left)):
        if isinstance(value, LayerResult) and isinstance(other, Tensor) and op == "Add":
            if other.state.part == "stream":
                base = run.objects.as_stream(value)
                return replace(base, trace=other.trace, storage=new_storage())
        if isinstance(value, Tensor) and op == "Add":
            total = _completed(value, other)
            if total is not None:
                return total
    for value, other in ((left, right), (right, left)):
        if isinstance(value, Tensor) and op in ("Multiply", "Divide") and value.state.boundary == 0:
            return value.copied()
        if (isinstance(value, Tensor) and op == "Add" and isinstance(other, Unknown | Plain)) or other is None:
            if isinstance(value, Tensor) and value.state.part == "stream" and (
                other is None or isinstance(other, Unknown)
            ):
                return value.copied()
    return Plain(new_storage(), "arithmetic")


def _completed(value: Tensor, other: V) -> Tensor | None:
    if isinstance(other, Tensor) and {value.state.part, other.state.part} == {"branch", "residual"}:
        if value.state.boundary == other.state.boundary:
            state = value.state._replace(part="stream")
            return replace(value, state=state, storage=new_storage(), layer_out=False)
    if value.state.part == "branch" and isinstance(other, Unknown):
        return replace(value, state=value.state._replace(part="stream"), storage=new_storage())
    return None


# ---- comparison -------------------------------------------------------------------------------------------------------

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "Equal": operator.eq,
    "NotEqual": operator.ne,
    "LessThan": operator.lt,
    "LessThanEqual": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanEqual": operator.ge,
}


def compare(op: str, left: V, right: V) -> V:
    """left OP right for libcst's comparison operators: True, False or Unknown."""
    if op in ("Is", "IsNot"):
        if right is None or left is None:
            verdict = is_none(left if right is None else right)
        elif isinstance(left, bool) and isinstance(right, bool):
            verdict = left is right
        elif isinstance(left, External | ModelV | Obj | ClassV_types) and left is right:
            verdict = True
        else:
            verdict = None
        if verdict is None:
            return Unknown("identity")
        return verdict if op == "Is" else not verdict
    if op in ("In", "NotIn"):
        found = contains(right, left)
        if isinstance(found, Unknown):
            return found
        return found if op == "In" else not found
    if isinstance(left, Layer) and isinstance(right, Layer):
        return (left.index == right.index) == (op == "Equal")
    known = (int, float, str, bytes, tuple, bool, type(None))
    if isinstance(left, PathV):
        left = left.text
    if isinstance(right, PathV):
        right = right.text
    if isinstance(left, known) and isinstance(right, known) and not _has_hole(left) and not _has_hole(right):
        try:
            return bool(_COMPARE[op](left, right))
        except Exception:
            return Unknown("comparison")
    touched = isinstance(left, Index) or isinstance(right, Index)
    other = right if isinstance(left, Index) else left
    reason = other.reason if isinstance(other, Unknown) else "comparison"
    where = other.where if isinstance(other, Unknown) else None
    return Unknown(reason, where, touched)


ClassV_types = Plain | Tensor


def _has_hole(value: V) -> bool:
    return (isinstance(value, str) and HOLE in value) or (isinstance(value, tuple) and any(_has_hole(v) for v in value))


def contains(container: V, item: V) -> V:
    """item in container: True, False or Unknown."""
    touched = isinstance(item, Index) or (isinstance(item, int) and not isinstance(item, bool | AssumedInt))
    if isinstance(container, str) and isinstance(item, str):
        return item in container if HOLE not in container and HOLE not in item else Unknown("text")
    if isinstance(container, range) and isinstance(item, int):
        return item in container
    items: list[V] | None = None
    is_open = False
    if isinstance(container, tuple):
        items = list(container)
    elif isinstance(container, ListV | SetV):
        items, is_open = container.items, container.open
    elif isinstance(container, DictV):
        items, is_open = list(container.items), container.open
    if items is None:
        reason = container.reason if isinstance(container, Unknown) else getattr(container, "name", "")
        where = container.where if isinstance(container, Unknown) else getattr(container, "where", None)
        return Unknown(str(reason), where, touched)
    if isinstance(item, Unknown) or _has_hole(item):
        return Unknown("membership", None, False)
    if any(not isinstance(i, Unknown) and type(i) is not Tensor and _same(i, item) for i in items):
        return True
    if is_open or any(isinstance(i, Unknown) for i in items):
        return Unknown("membership", None, touched)
    return False


def _same(left: V, right: V) -> bool:
    try:
        return bool(left == right)
    except Exception:
        return False


def with_state(value: Tensor, **changes: Any) -> Tensor:
    """The tensor with a changed state, in memory of its own."""
    return replace(value, state=State(**{**value.state._asdict(), **changes}), storage=new_storage())


def callable_like(value: V) -> bool:
    """Whether a value can be called with an effect that is known."""
    return isinstance(value, External | Method | ConfigV | Module | ModelV | Layer)
