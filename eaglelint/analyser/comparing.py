"""Comparison operators and membership on values of the domain: True, False or not known."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from eaglelint.analyser.file_values import PathV
from eaglelint.analyser.operations import is_none
from eaglelint.analyser.target_values import Layer, ModelV
from eaglelint.analyser.values import (
    HOLE,
    AssumedInt,
    DictV,
    External,
    Index,
    ListV,
    Obj,
    Plain,
    SetV,
    Tensor,
    Unknown,
    V,
)

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
        elif isinstance(left, External | ModelV | Obj | Plain | Tensor) and left is right:
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
        return Unknown("membership", None, isinstance(item, Unknown) and item.index)
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
