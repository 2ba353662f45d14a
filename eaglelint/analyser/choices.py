"""What a loop over numbers goes through: where they are written, in which container they are, which one is its turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser.patterns import kids
from eaglelint.analyser.values import ClassV, DictV, Index, ListV, Obj, SetV, Tensor, V, written_at

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame, Spot


@dataclass(eq=False, slots=True)
class Choosing:
    """A loop over numbers that chooses layers; `current` is the number whose turn it is."""

    written: Spot | None
    containers: tuple[V, ...]
    current: int | None = None

    def turn(self, item: V) -> None:
        """The loop comes to an item: a number, or a tuple with one."""
        parts = item if isinstance(item, tuple) else (item,)
        numbers = [part for part in parts if isinstance(part, int) and not isinstance(part, bool)]
        chosen = [number for number in numbers if not isinstance(number, Index)] or numbers
        self.current = int(chosen[0]) if chosen else None

    def chose(self, value: V) -> bool:
        """Whether a value is the state that the number means, read as a boundary or as the output of a layer."""
        return isinstance(value, Tensor) and self.current in (value.state.boundary, value.state.boundary - 1)


def choosing(run: Interpreter, node: Any, iterable: V, frame: Frame) -> Choosing:
    """The choice that a loop over `iterable`, written as `node`, makes."""
    own = (iterable,) if _numbers(iterable) else ()
    return Choosing(written_at(iterable), (*own, *containers(run, node, frame)))


def containers(run: Interpreter, node: Any, frame: Frame) -> tuple[V, ...]:
    """The containers of numbers that an expression names."""
    found: list[V] = []
    stack = [node]
    while stack:
        current = stack.pop()
        value: V = None
        if isinstance(current, cst.Name):
            value = frame.lookup(current.value)
        elif isinstance(current, cst.Attribute) and isinstance(current.value, cst.Name):
            owner = frame.lookup(current.value.value)
            if isinstance(owner, Obj):
                value = owner.attrs.get(current.attr.value)
                if value is None and owner.cls is not None:
                    value = owner.cls.lookup(current.attr.value)
            elif isinstance(owner, ClassV):
                value = owner.lookup(current.attr.value)
        if _numbers(value):
            found.append(value)
        elif not isinstance(current, cst.Attribute):
            stack.extend(kids(current))
    return tuple(found)


def _numbers(value: V) -> bool:
    """Whether a value is a container of numbers."""
    items = value if isinstance(value, tuple) else getattr(value, "items", ())
    if not isinstance(value, tuple | ListV | SetV | DictV) or not items:
        return False
    return all(isinstance(item, int) and not isinstance(item, bool) for item in items)
