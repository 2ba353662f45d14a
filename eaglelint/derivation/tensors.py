"""Tensors of an engine run: memory that holds a formal sum of contributions.

The embedding, what attention and MLP of a layer give back, and normed states are terms; a residual connection adds. So
the complete stream at boundary b is the sum of all terms that were made before layer b, whatever names the code uses
and wherever it keeps its residual. What is said of a state is what it was when it was taken: kernels that write into
memory that somebody kept are not followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from eaglelint.analyser.values import MISSING, External, ListV, Special, Unknown, V

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite

#: Shape of a state: tokens, hidden size.
SHAPE = (16, 4096)
_serial = count(1)


class Term(NamedTuple):
    """One contribution: "embedding", "update" (of a layer's part), "guess" (of something not known), "normed",
    "scaled", "mean", ... `layer` is the layer that was running, `inner` the sum or term that it was made from.
    """

    kind: str
    serial: int
    layer: int
    inner: Any = None


#: A sum of terms, each with how often it occurs.
Content = frozenset[tuple[Term, int]]
EMPTY: Content = frozenset()


class Crash(Exception):
    """The code raises an error here: `why` as Python would say it, `where` the place (a Spot or Location) if known.

    `explicit` when a statement says so, not an operation that fails.
    """

    def __init__(self, why: str, where: Any = None, *, explicit: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.where = where
        self.explicit = explicit


def fresh(kind: str, layer: int, inner: Any = None) -> Content:
    """A sum of one new term."""
    return frozenset({(Term(kind, next(_serial), layer, inner), 1)})


#: The embedding output: the same term wherever it is looked up.
EMBEDDING: Content = frozenset({(Term("embedding", 0, -1), 1)})


def of_sum(kind: str, content: Content, layer: int) -> Content:
    """The term made by a function of a whole sum (its norm, its mean); the same for the same sum."""
    return frozenset({(Term(kind, 0, layer if kind == "mean" else 0, content), 1)})


def plus(one: Content, other: Content) -> Content:
    """The sum of two sums."""
    counted: dict[Term, int] = dict(one)
    for term, times in other:
        counted[term] = counted.get(term, 0) + times
    return frozenset(counted.items())


def scaled(content: Content, layer: int) -> Content:
    """A sum times something: each term is scaled by the same new factor."""
    serial = next(_serial)
    return frozenset((Term("scaled", serial, layer, term), times) for term, times in content)


def unscaled(content: Content, layer: int) -> Content:
    """A sum without the factors that layers from `layer` on have applied."""
    total: Content = EMPTY
    for term, times in content:
        while term.kind == "scaled" and term.layer >= layer:
            term = term.inner
        total = plus(total, frozenset({(term, times)}))
    return total


def made_in(term: Term) -> int:
    """The layer in which the latest contribution to a term was made."""
    while term.kind == "scaled":
        term = term.inner
    if isinstance(term.inner, frozenset):
        return max((made_in(inner) for inner, _ in term.inner), default=term.layer)
    return term.layer


def guessed(content: Content) -> bool:
    """Whether something that is not known takes part."""
    return any(_innermost(term).kind == "guess" for term, _ in content)


def _innermost(term: Term) -> Term:
    while term.kind == "scaled":
        term = term.inner
    return term


_COPIES = frozenset({"clone", "__copy__", "__deepcopy__"})
_CHANGES = frozenset({"copy_", "add_", "mul_", "div_", "sub_", "zero_", "fill_"})
_ARITHMETIC = {"Add": 1, "Subtract": 1}
_NUMBERS = frozenset({"dim", "ndim", "numel", "size", "stride", "nbytes", "element_size", "data_ptr", "storage_offset"})


class Dense(Special):
    """A tensor with memory of its own; `attrs["content"]` is what the memory holds now."""

    def __init__(self, content: Content) -> None:
        self.attrs: dict[str, V] = {"content": content}

    @property
    def content(self) -> Content:
        """The sum that the memory holds."""
        held: Content = self.attrs["content"]
        return held

    def become(self, run: Any, content: Content) -> None:
        """The memory changes in place."""
        run.touch(self)
        self.attrs["content"] = content

    def truth(self) -> bool | None:
        """A tensor's truth is not known."""
        return None

    def attribute(self, run: Any, name: str) -> V:
        """Shape and type are those of a small batch; attributes set by code are kept."""
        if name in self.attrs:
            return self.attrs[name]
        if name == "shape":
            return SHAPE
        if name == "ndim":
            return 2
        if name in ("data", "T", "mT"):
            return self
        if name in ("is_cuda", "is_xpu", "is_cpu"):
            return False  # fused kernels are left aside: the plain path says what they compute
        if name in ("dtype", "device", "layout", "grad", "requires_grad", "type"):
            return Unknown(name)
        if name.startswith("_"):
            return Unknown(name)
        return MISSING

    def item(self, run: Any, key: V) -> V:
        """A part along tokens or features: the same state in the same memory."""
        return self

    def set_item(self, run: Any, key: V, value: V) -> None:
        """A part is overwritten."""
        if isinstance(value, Dense):
            self.become(run, value.content)

    def elements(self, run: Any) -> list[V] | None:
        """Unpacking gives the state first; what follows is not a state."""
        return [self, Unknown("second result"), Unknown("third result")]

    def operate(self, run: Any, op: str, other: V, reflected: bool) -> V:
        """Sums add contents; products scale; None as an operand is Python's TypeError."""
        if other is None:
            raise Crash("a tensor and None are added" if op == "Add" else "arithmetic with None")
        if op in _ARITHMETIC:
            if isinstance(other, Dense):
                return Dense(plus(self.content, other.content))
            if isinstance(other, int | float):
                return Dense(self.content)
            return Dense(plus(self.content, fresh("guess", run.layer)))
        if op in ("Multiply", "Divide"):
            if isinstance(other, Dense):
                return Dense(run.update())
            return Dense(scaled(self.content, run.layer))
        return Dense(run.update())

    def call_method(self, run: Any, name: str, site: CallSite) -> V:
        """Views and casts keep the memory, copies do not, in-place methods change it."""
        other = site.args[0] if site.args else None
        if name in _COPIES:
            return Dense(self.content)
        if name in _CHANGES:
            if name == "copy_" and isinstance(other, Dense):
                self.become(run, other.content)
            elif name in ("add_", "sub_", "mul_", "div_"):
                result = self.operate(run, "Add" if name in ("add_", "sub_") else "Multiply", other, False)
                self.become(run, result.content if isinstance(result, Dense) else EMPTY)
            else:
                self.become(run, EMPTY)
            return self
        if name in ("add", "sub"):
            return self.operate(run, "Add", other, False)
        if name in ("mul", "div"):
            return self.operate(run, "Multiply", other, False)
        if name in ("new_empty", "new_zeros"):
            return Packed(self)
        if name in ("mean", "sum"):
            return Dense(of_sum(name, self.content, 0))
        if name == "dim":
            return 2
        if name == "size":
            return SHAPE[other] if isinstance(other, int) and -2 <= other < 2 else SHAPE
        if name in _NUMBERS or name in ("tolist", "item", "is_contiguous", "get_device", "any", "all"):
            return Unknown(name)
        if name in ("chunk", "split", "unbind", "tensor_split"):
            return Unknown(name)
        return self


class Tokens(Special):
    """A tensor of the batch that is no state: token ids, positions."""

    def truth(self) -> bool | None:
        """Not known."""
        return None

    def attribute(self, run: Any, name: str) -> V:
        """One entry a token."""
        if name == "shape":
            return SHAPE[:1]
        if name == "ndim":
            return 1
        return Unknown(name) if name in ("dtype", "device", "is_cuda") else MISSING

    def item(self, run: Any, key: V) -> V:
        """Some of them."""
        return self

    def operate(self, run: Any, op: str, other: V, reflected: bool) -> V:
        """Arithmetic on ids or positions."""
        return other.operate(run, op, None if other is None else self, True) if isinstance(other, Dense) else self

    def call_method(self, run: Any, name: str, site: CallSite) -> V:
        """Views and casts."""
        if name in ("dim", "size"):
            return 1 if name == "dim" else SHAPE[0]
        return Unknown(name) if name in ("numel", "item", "tolist", "max", "min", "any", "all") else self


class Packed(Special):
    """A buffer that states are written into side by side; `parts` in the order in which they were given memory."""

    def __init__(self, like: Dense) -> None:
        self.attrs: dict[str, V] = {"parts": ()}

    @property
    def parts(self) -> tuple[Dense, ...]:
        """The parts that were handed out so far."""
        held: tuple[Dense, ...] = self.attrs["parts"]
        return held

    def attribute(self, run: Any, name: str) -> V:
        """Its shape is not known."""
        return Unknown(name) if name in ("shape", "dtype", "device") else MISSING

    def item(self, run: Any, key: V) -> V:
        """A slice of features: memory for the next part."""
        run.touch(self)
        part = Dense(EMPTY)
        self.attrs["parts"] = (*self.parts, part)
        return part

    def set_item(self, run: Any, key: V, value: V) -> None:
        """A slice of features is written."""
        if isinstance(value, Dense):
            run.touch(self)
            self.attrs["parts"] = (*self.parts, Dense(value.content))

    def truth(self) -> bool | None:
        """Not known."""
        return None

    def call_method(self, run: Any, name: str, site: CallSite) -> V:
        """Views of a buffer."""
        return self


def states_in(value: V, fuel: int = 6) -> list[Dense]:
    """All tensors in a value, in order."""
    if isinstance(value, Dense):
        return [value]
    if isinstance(value, Packed):
        return list(value.parts)
    found: list[Dense] = []
    if fuel and isinstance(value, ListV):
        for entry in value.items:
            found += states_in(entry, fuel - 1)
    elif fuel and isinstance(value, tuple):
        for entry in value:
            found += states_in(entry, fuel - 1)
    return found


def first_state(values: Iterable[V]) -> Dense | None:
    """The first tensor among values."""
    return next((value for value in values if isinstance(value, Dense)), None)


def is_outside(value: V) -> bool:
    """Whether a value is something from outside the source."""
    return isinstance(value, External | Unknown)
