"""What operators do to values of the domain: truth, joining, iteration, arithmetic, comparison, indexing."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eaglelint.analyser import depths
from eaglelint.analyser.file_values import Choice, Files, FileText, PathV
from eaglelint.analyser.strings import as_text, concatenate, patched_sum, percent
from eaglelint.analyser.target_values import HFOutput, HFStates, Layer, LayerResult, Layers, ModelV, Module
from eaglelint.analyser.values import (
    HOLE,
    MISSING,
    ClassV,
    DictV,
    FuncV,
    Fused,
    Index,
    ListV,
    Obj,
    Plain,
    SetV,
    Special,
    Stacked,
    Tensor,
    Unknown,
    V,
    new_storage,
    note_of,
    with_note,
)
from eaglelint.boundary import State

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter

_MAX_ITEMS = 5_000


def truth(value: V) -> bool | None:
    """True, False, or None when it is not known. Tensors and unknown objects are not known."""
    if isinstance(value, str) and HOLE in value:
        return None
    if value is None or isinstance(value, bool | int | float | str | bytes | tuple):
        return bool(value)
    if isinstance(value, Special):
        return value.truth()
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
    """One value for either of two. Equal ones stay; known is preferred to unknown; a conflict is unknown."""
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
        items = set_order(value) if isinstance(value, SetV) else value.items
        return [with_note(item, value.note) for item in items]
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
    if isinstance(value, ClassV) and any(name.rpartition(".")[0] == "enum" for name in value.ancestry()):
        return [member for name, member in value.attrs.items() if name[0] != "_" and not isinstance(member, FuncV)]
    if isinstance(value, Stacked):
        return list(value.parts) if value.axis == 0 else [value]
    return value.elements(run) if isinstance(value, Special) else None


def set_order(value: SetV) -> list[V]:
    """The elements of a set in the order in which CPython gives them, which for ints is always the same."""
    if not all(isinstance(item, int) for item in value.items):
        return value.items
    given = {int(item): item for item in value.items}
    # One by one and not from the dict: the size of the table, and so the order, follows from how a set grew.
    made = set(list(given))  # noqa: C414
    return [given[number] for number in (set(made) if value.copied else made)]


# ---- arithmetic ----------------------------------------------------------------------------------------------------

#: Numbers from here on are not followed: no layer, size or seed is one.
_TOO_LARGE = (1 << 64) + 1
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
    "LeftShift": lambda value, by: value << by if by <= 128 else _TOO_LARGE,
    "RightShift": operator.rshift,
}


def binary(run: Interpreter, op: str, left: V, right: V) -> V:
    """left OP right, by the name of libcst's operator class."""
    for value, other in ((left, right), (right, left)):
        if isinstance(value, Special):
            result = value.operate(run, op, other, value is right and left is not right)
            if result is not MISSING:
                return result
    if op in ("Add", "Subtract", "Multiply", "Divide") and (_tensorish(left) or _tensorish(right)):
        return _tensor_arithmetic(run, op, left, right)
    if isinstance(left, PathV) and op == "Divide":
        return PathV(_joined(left.text, as_text(right)), left.note)
    if isinstance(right, PathV) and op == "Divide":
        return PathV(_joined(as_text(left), right.text))
    if op == "Add" and isinstance(left, str) and isinstance(right, str):
        return concatenate([left, right])
    if op == "Add" and isinstance(left, FileText) and isinstance(right, FileText):
        return patched_sum(left, right)
    if op == "Add" and (isinstance(left, str) or isinstance(right, str)):
        if isinstance(left, Unknown | Obj) or isinstance(right, Unknown | Obj):
            return concatenate([as_text(left), as_text(right)])
        return patched_sum(left, right)
    if op == "Add" and isinstance(left, ListV | tuple) and isinstance(right, ListV | tuple):
        return _sum_of_lists(left, right)
    if op == "Add" and isinstance(left, ListV) and isinstance(right, Unknown):
        return ListV(list(left.items), open=True, note=left.note)
    if op == "Multiply" and isinstance(left, ListV) and isinstance(right, int) and 0 <= right * len(left.items) <= 1000:
        return ListV(list(left.items) * right, note=left.note)
    if op == "Multiply" and isinstance(left, str) and isinstance(right, int) and 0 <= right * len(left) <= 10_000:
        return str(left) * right
    if op == "Modulo" and isinstance(left, str):
        return percent(left, right)
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
        if abs(result) >= _TOO_LARGE:
            return Unknown("number too large")
        note = note_of(left, right)
        if note:
            return with_note(result, note)
        if isinstance(left, Index) or isinstance(right, Index):
            return Index(result)
        return depths.derived(op, result, left, right)
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
    """One list after the other; of more than are looked at, the beginning."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return left + right if len(left) + len(right) <= _MAX_ITEMS else Unknown("too many elements")
    items = [*(left if isinstance(left, tuple) else left.items), *(right if isinstance(right, tuple) else right.items)]
    is_open = getattr(left, "open", False) or getattr(right, "open", False)
    gone = (*getattr(left, "left_out", ()), *getattr(right, "left_out", ()))
    return ListV(items[:_MAX_ITEMS], is_open or len(items) > _MAX_ITEMS, note_of(left, right), left_out=gone)


def _joined(left: str, right: str) -> str:
    if right.startswith("/"):
        return right
    return f"{left.rstrip('/')}/{right}" if left not in ("", ".") else right


# ---- tensors -------------------------------------------------------------------------------------------------------


def _tensorish(value: V) -> bool:
    return isinstance(value, Tensor | LayerResult | Fused | Plain)


def _tensor_arithmetic(run: Interpreter, op: str, left: V, right: V) -> V:
    """Sums complete a fused residual; scaling keeps an embedding; anything else is no hidden state any more."""
    for value, other in ((left, right), (right, left)):
        total = _sum(run, value, other) if op == "Add" else None
        if total is not None:
            return total
        if isinstance(value, Tensor) and op in ("Multiply", "Divide") and value.state.boundary == 0:
            return value.copied()
    return Plain(new_storage(), "arithmetic")


def _sum(run: Interpreter, value: V, other: V) -> Tensor | None:
    """value + other where that is a hidden state: a completed residual, a layer's update, or an absent residual."""
    if isinstance(value, LayerResult) and isinstance(other, Tensor) and other.state.part == "stream":
        return replace(run.objects.as_stream(value), trace=other.trace, storage=new_storage())
    if not isinstance(value, Tensor):
        return None
    whole = value.state._replace(part="stream")
    if isinstance(other, Tensor):
        parts = {value.state.part, other.state.part}
        if parts == {"branch", "residual"} and value.state.boundary == other.state.boundary:
            return replace(value, state=whole, storage=new_storage(), layer_out=False)
        return None
    if isinstance(other, Unknown) and value.state.part in ("branch", "stream"):
        return replace(value, state=whole, storage=new_storage())
    return value.copied() if other is None and value.state.part == "stream" else None


def with_state(value: Tensor, **changes: Any) -> Tensor:
    """The tensor with a changed state, in memory of its own."""
    return replace(value, state=State(**{**value.state._asdict(), **changes}), storage=new_storage())
