"""Names and places: frames of the abstract execution and the module or fragment that a node belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from eaglelint.analyser.values import MISSING, ClassV, FuncV, V
from eaglelint.location import Location, MappedText

if TYPE_CHECKING:
    import libcst as cst


class Spot(NamedTuple):
    """A place that is not worked out yet: positions of a whole module cost more than parsing it."""

    scope: ModuleScope
    node: cst.CSTNode


def place(spot: Location | Spot | None) -> Location | None:
    """The location of a spot."""
    return spot.scope.where(spot.node) if isinstance(spot, Spot) else spot


@dataclass(eq=False, repr=False)
class ModuleScope:
    """A module or a fragment of code: its tree, its text and its global names.

    `path` is the file that a person edits, `dotted` the module's dotted name relative to the project ("" for a
    fragment). `locate` gives the offsets of a node in `text`. `note` says whose default the text itself rests on.
    """

    path: str
    dotted: str
    text: MappedText
    tree: cst.Module
    locate: Callable[[cst.CSTNode], tuple[int, int]]
    names: dict[str, V] = field(default_factory=dict)
    loose: bool = False
    note: str = ""
    imports: set[str] = field(default_factory=set)
    functions: list[FuncV] = field(default_factory=list)
    classes: list[ClassV] = field(default_factory=list)
    star: list[str] = field(default_factory=list)
    _places: dict[int, Location] = field(default_factory=dict)
    _mentioned: dict[tuple[str, ...], bool] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"ModuleScope({self.path})"

    def where(self, node: cst.CSTNode) -> Location:
        """The place of a node in the outermost file."""
        found = self._places.get(id(node))
        if found is None:
            start, end = self.locate(node)
            found = self._places[id(node)] = self.text.location(start, end)
        return found

    def spot(self, node: cst.CSTNode) -> Spot:
        """The place of a node, worked out only when somebody asks."""
        return Spot(self, node)

    def mentions(self, *words: str) -> bool:
        """Whether the text holds one of these words (lower case) in any case."""
        if words not in self._mentioned:
            text = self.text.text.lower()
            self._mentioned[words] = any(word in text for word in words)
        return self._mentioned[words]

    def framework(self) -> str:
        """The engine that this code belongs to by its imports or its place: "sglang", "vllm", "hf" or "own"."""
        for engine in ("sglang", "vllm"):
            if engine in self.imports or f"/{engine}/" in f"/{self.path}":
                return engine
        return "hf" if "transformers" in self.imports else "own"


@dataclass(eq=False, repr=False)
class Frame:
    """The local names of one call; `function` is None for a module's top level."""

    scope: ModuleScope
    parent: Frame | None = None
    function: FuncV | None = None
    names: dict[str, V] = field(default_factory=dict)
    maybe: list[Any] = field(default_factory=list)
    yields: list[V] | None = None
    outer: set[str] = field(default_factory=set)
    is_class: bool = False

    def __repr__(self) -> str:
        return f"Frame({self.scope.path}, {self.function.name if self.function else 'module'})"

    @property
    def code(self) -> cst.CSTNode:
        """The function whose names these are, else the module."""
        return self.function.node if self.function is not None else self.scope.tree

    def lookup(self, name: str) -> V:
        """The value of a name: locals, enclosing functions, then the module; MISSING when it is not bound."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names and (frame is self or not frame.is_class):
                return frame.names[name]
            frame = frame.parent
        return self.scope.names.get(name, MISSING)

    def rebind(self, name: str, value: V) -> None:
        """Give a name another value where it is bound."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                frame.names[name] = value
                return
            frame = frame.parent
        self.scope.names[name] = value

    def bind(self, name: str, value: V) -> None:
        """Bind a name here, or where `global` / `nonlocal` says."""
        if name in self.outer:
            frame = self.parent
            while frame is not None:
                if name in frame.names:
                    frame.names[name] = value
                    return
                frame = frame.parent
            self.scope.names[name] = value
        else:
            self.names[name] = value


def module_frame(scope: ModuleScope) -> Frame:
    """The frame of a module's top level: its locals are the module's names."""
    return Frame(scope, names=scope.names)
