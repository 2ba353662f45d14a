"""What a run can see, one record a place: states stored, joined and named, defects, tests of a layer counter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eaglelint.analyser.values import ClassV, Tensor, Unknown, V
from eaglelint.facts import Step
from eaglelint.location import Location

if TYPE_CHECKING:
    from eaglelint.analyser.scope import ModuleScope


@dataclass
class Store:
    """States stored at one place, in the order in which they were stored."""

    where: Location
    scope: ModuleScope
    via: str
    states: list[Tensor] = field(default_factory=list)
    doubt: Unknown | None = None
    note: str = ""


@dataclass
class Joined:
    """States put side by side at one place."""

    where: Location
    scope: ModuleScope
    parts: tuple[Tensor, ...]
    dropped: tuple[V, ...]
    sliced: Location | None
    function: str
    note: str = ""
    chosen: Location | None = None


@dataclass
class Named:
    """A name bound to a state."""

    name: str
    kind: str
    where: Location
    state: Tensor
    scope: ModuleScope
    function: str


@dataclass
class Flaw:
    """A defect that the run proves; `kind` is the slug of its rule."""

    kind: str
    where: Location
    details: dict[str, Any]
    related: tuple[Step, ...]
    scope: ModuleScope


@dataclass
class Hooks:
    """Hooks registered at one place in a loop over ids: which ids there were, and the boundary that each gives."""

    where: Location
    scope: ModuleScope
    containers: tuple[V, ...]
    pairs: dict[int, int] = field(default_factory=dict)

    @property
    def offset(self) -> int | None:
        """What is added to each id to give its boundary; None when that differs."""
        offsets = {boundary - number for number, boundary in self.pairs.items()}
        return offsets.pop() if len(offsets) == 1 else None


@dataclass
class Test:
    """A comparison of a layer counter with ids: which ids there were and which counters matched."""

    where: Location
    scope: ModuleScope
    ids: tuple[int, ...]
    note: str
    origin: Location | None
    seen: set[int] = field(default_factory=set)
    hit: set[int] = field(default_factory=set)
    relative: bool = False
    offsets: dict[int, Location] = field(default_factory=dict)
    container: V = None
    containers: tuple[V, ...] = ()


@dataclass(frozen=True)
class Flag:
    """`owner.name = True` in a setter, where `owner` is an instance of a class in scope."""

    name: str
    where: Location
    scope: ModuleScope
    owner: ClassV
