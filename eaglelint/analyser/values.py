"""The domain of the abstract execution.

Concrete Python values stand for themselves: int, float, str, bytes, bool, None, tuple. A string in which a part is not
known holds the character `HOLE` in its place. Everything else is a class of this module. Tensors that are hidden states
carry the boundary they hold (see eaglelint.boundary), what was done to them, an identity of their storage (to see
aliases) and the trace of places that they passed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from eaglelint.boundary import State
from eaglelint.facts import Step
from eaglelint.location import Location, MappedText

if TYPE_CHECKING:
    import libcst as cst

    from eaglelint.analyser.file_values import Saved
    from eaglelint.analyser.scope import Frame, ModuleScope, Spot
    from eaglelint.analyser.target_values import ModelV

#: Stands in a string for a part that is not known.
HOLE = "\x00"

#: A value of the abstract execution (concrete, or of a class below).
V: TypeAlias = Any

_storage = count(1)
#: The most classes that a class may inherit from.
_MAX_LINEAGE = 200


def new_storage() -> int:
    """A fresh identity for the memory behind a tensor."""
    return next(_storage)


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that is not known: why, and the place of what is missing.

    `index` says that it came from comparing a layer index with something unknown, so that a capture guarded by it may
    or may not happen for this layer.
    """

    reason: str = ""
    where: Location | Spot | None = None
    index: bool = False


class Index(int):
    """A loop counter. Plain int otherwise; comparing it with an unknown gives an Unknown with `index`."""


class RankStart(int):
    """The first layer of this pipeline rank: 0 here, another number on other ranks."""


class RankIndex(Index):
    """A counter that starts at 0 on every pipeline rank."""


class AssumedInt(int):
    """An int that rests on the default of a variable or option that something outside may override."""

    note = ""


class AssumedStr(str):
    """A str that rests on the default of a variable or option that something outside may override."""

    note = ""


class SourceStr(str):
    """A str of which the place of each character is known, worked out when it is asked for: code inside code."""

    note = ""
    _mapped: MappedText | Callable[[], MappedText]

    @property
    def mapped(self) -> MappedText:
        """The text with the places of its characters."""
        if callable(self._mapped):
            self._mapped = self._mapped()
        return self._mapped


def note_of(*values: V) -> str:
    """Whose default these values rest on, "" when on none."""
    for value in values:
        note = getattr(value, "note", "")
        if note and isinstance(note, str):
            return note
        if isinstance(value, tuple):
            inner = note_of(*value)
            if inner:
                return inner
    return ""


def with_note(value: V, note: str) -> V:
    """The same value, marked as resting on an assumption."""
    if not note:
        return value
    if type(value) in (int, Index):
        marked: Any = AssumedInt(value)
    elif type(value) is str:
        marked = AssumedStr(value)
    elif isinstance(value, SourceStr | ListV | SetV | DictV):
        value.note = note
        return value
    elif isinstance(value, tuple):
        return tuple(with_note(item, note) for item in value)
    else:
        return value
    marked.note = note
    return marked


@dataclass(eq=False, slots=True)
class ListV:
    """A list (or deque). `open` when it may hold more than is known. `dropped` are entries that a slice left out.

    `chosen` is where the numbers are written that it holds, or by which its entries were chosen; `left_out` are ids
    that a condition kept from it.
    """

    items: list[V]
    open: bool = False
    note: str = ""
    dropped: tuple[V, ...] = ()
    sliced: Location | None = None
    kind: str = "list"
    chosen: Spot | None = None
    left_out: tuple[Any, ...] = ()


@dataclass(eq=False, slots=True)
class SetV:
    """A set or frozenset of known elements in the order in which they came; `open` when it may hold more.

    `copied` when it was made from another set, which may give its elements another order.
    """

    items: list[V]
    open: bool = False
    note: str = ""
    where: Location | Spot | None = None
    copied: bool = False
    left_out: tuple[Any, ...] = ()


@dataclass(eq=False, slots=True)
class DictV:
    """A dict in insertion order; `open` when it may hold more keys. `origin` is the file that it came from."""

    items: dict[V, V]
    open: bool = False
    note: str = ""
    origin: Saved | None = None
    places: dict[V, tuple[Spot, Spot]] = field(default_factory=dict)


class Numbers(tuple[Any, ...]):
    """A tuple of numbers of which it is known where they are written."""

    chosen: Spot | None = None


def written_at(value: V) -> Any:
    """Where the numbers are written that a value holds, None when that is not known."""
    return value.where if isinstance(value, SetV) else getattr(value, "chosen", None)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A hidden state of the target: which, what was done to it, its storage and how it came here.

    `layer_out` says that it is what a layer of unknown kind returned: complete or still to be added to its residual.
    """

    state: State
    storage: int
    trace: tuple[Step, ...] = ()
    layer_out: bool = False
    note: str = ""
    model: ModelV | None = field(default=None, compare=False)
    depth: int = 0
    by_name: bool = False

    def step(self, where: Location | None, what: str) -> Tensor:
        """The same tensor with one more hop in its trace."""
        if where is None or (self.trace and self.trace[-1].where == where):
            return self
        return replace(self, trace=(*self.trace[-12:], Step(where, what)))

    def copied(self) -> Tensor:
        """A copy with memory of its own."""
        return replace(self, storage=new_storage())


@dataclass(frozen=True, slots=True)
class Fused:
    """Hidden states side by side along the feature dimension."""

    parts: tuple[Tensor, ...]
    where: Location
    note: str = ""


@dataclass(frozen=True, slots=True)
class Stacked:
    """Hidden states stacked along a dimension of their own: [tokens, states, hidden], as vLLM extracts them."""

    parts: tuple[Tensor, ...]
    dropped: tuple[Tensor, ...] = ()
    sliced: Location | None = None
    axis: int = 1


@dataclass(frozen=True, slots=True)
class Plain:
    """A tensor or array that is no hidden state; `storage` as for Tensor, `source` that of what it is a copy of."""

    storage: int
    what: str = ""
    source: int = 0

    @property
    def origin(self) -> int:
        """The storage in which its content was computed."""
        return self.source or self.storage


@dataclass(eq=False, slots=True, repr=False)
class Obj:
    """An object with attributes: an instance of a class in scope, or something from outside known only by its name."""

    name: str
    cls: ClassV | None = None
    attrs: dict[str, V] = field(default_factory=dict)
    where: Location | Spot | None = None
    path: str = ""
    outside: bool = True

    def __repr__(self) -> str:
        return f"Obj({self.name})"


@dataclass(eq=False, slots=True, repr=False)
class FuncV:
    """A function or lambda in scope with the frame that it closes over; `bound` is self when it is a bound method."""

    node: cst.FunctionDef | cst.Lambda
    frame: Frame
    scope: ModuleScope
    name: str
    bound: V = None
    owner: ClassV | None = None
    decorators: tuple[str, ...] = ()
    defaults: dict[str, V] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"FuncV({self.name})"


@dataclass(eq=False, slots=True)
class Partial:
    """functools.partial: a callable with leading arguments."""

    func: V
    args: tuple[V, ...]
    kwargs: dict[str, V]


@dataclass(eq=False, slots=True, repr=False)
class ClassV:
    """A class in scope."""

    name: str
    node: cst.ClassDef
    scope: ModuleScope
    bases: tuple[V, ...]
    attrs: dict[str, V]
    frame: Frame | None = None

    def __repr__(self) -> str:
        return f"ClassV({self.name})"

    def lookup(self, name: str) -> V:
        """A class attribute, through the bases in scope; MISSING when there is none."""
        if name in self.attrs:
            return self.attrs[name]
        owners = (cls for cls in self.lineage() if isinstance(cls, ClassV) and name in cls.attrs)
        return next((owner.attrs[name] for owner in owners), MISSING)

    def ancestry(self) -> list[str]:
        """Names of the class and of all its bases, also of those from outside."""
        return [cls.name if isinstance(cls, ClassV) else cls.path for cls in self.lineage()]

    def lineage(self) -> Iterator[ClassV | External]:
        """The class and its bases, depth first, each of them once: there are exponentially many ways to some."""
        waiting: list[V] = [self]
        seen: set[int] = set()
        while waiting and len(seen) < _MAX_LINEAGE:
            cls = waiting.pop()
            if isinstance(cls, External):
                yield cls
            elif isinstance(cls, ClassV) and id(cls) not in seen:
                seen.add(id(cls))
                yield cls
                waiting.extend(reversed(cls.bases))


@dataclass(frozen=True, slots=True)
class External:
    """Something from outside the project, by its dotted path: a module, class or function (`torch.cat`)."""

    path: str


@dataclass(frozen=True, slots=True)
class Deferred:
    """An import of a module of the project ("" as `name`) or of a name of one, not read before it is used."""

    dotted: str
    name: str
    level: int
    importer: ModuleScope


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a domain value, not called yet."""

    owner: V
    name: str


class Special:
    """A value with methods of its own, such as an argument parser or an open file."""

    def call_method(self, run: Any, name: str, site: Any) -> V:
        """The result of calling one of its methods."""
        return Unknown(f"{name}()")

    def call(self, run: Any, site: Any) -> V:
        """The result of calling it."""
        return Unknown("call")

    def truth(self) -> bool | None:
        """Its truth value; None when it is not known."""
        return True

    def attribute(self, run: Any, name: str) -> V:
        """An attribute; MISSING when it is a method."""
        return MISSING

    def item(self, run: Any, key: V) -> V:
        """What a subscript gives."""
        return Unknown("item")

    def set_item(self, run: Any, key: V, value: V) -> None:
        """An item is assigned."""

    def operate(self, run: Any, op: str, other: V, reflected: bool) -> V:
        """The result of an arithmetic operator (`other OP self` when reflected); MISSING when it has none."""
        return MISSING

    def in_place(self, run: Any, op: str, other: V) -> V:
        """The result of an operator that changes it in place; MISSING when it makes a new value."""
        return MISSING

    def elements(self, run: Any) -> list[V] | None:
        """What iterating over it gives; None when not known."""
        return None


#: In place of a module's path: what functions return in dicts, by key, as data sets do with their samples.
SAMPLES = "%samples"


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


#: No such attribute or key.
MISSING = _Missing()
