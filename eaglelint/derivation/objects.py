"""Attributes, classes and items as Python has them: inheritance, properties, class methods, errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from eaglelint.analyser.objects import Objects
from eaglelint.analyser.values import (
    MISSING,
    ClassV,
    Deferred,
    DictV,
    External,
    FuncV,
    ListV,
    Method,
    Obj,
    Partial,
    Special,
    Unknown,
    V,
)
from eaglelint.derivation.pretrained import Part
from eaglelint.derivation.tensors import Crash, Dense

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame
    from eaglelint.derivation.execution import EngineInterpreter

#: Ends of the names of torch modules and of base classes that are modules.
_MODULES = ("Module", "Model", "Layer", "ForCausalLM", "CustomOp", "Norm", "Embedding", "Linear")
#: Bases that make no module.
_PLAIN = frozenset({"object", "Protocol", "ABC", "Generic", "Enum", "IntEnum", "NamedTuple", "list", "dict", "Struct"})
_PROPERTIES = ("property", "cached_property")


class Member(str):
    """A member of an enumeration, told apart by its name."""

    __slots__ = ()


@dataclass(eq=False, slots=True)
class ListOf(ListV):
    """An instance of a class in the source that inherits from list."""

    cls: ClassV | None = None


@dataclass(eq=False)
class Super(Special):
    """super(): the classes after `owner` in the order of inheritance, for one instance."""

    bound: V
    owner: ClassV

    def find(self, run: Interpreter, name: str) -> V:
        """The inherited attribute, bound; MISSING when no class in the source has it."""
        cls = self.bound if isinstance(self.bound, ClassV) else getattr(self.bound, "cls", None)
        if cls is None:
            return MISSING
        order = linear(cls)
        after = order[order.index(self.owner) + 1 :] if self.owner in order else order
        for base in after:
            if name in base.attrs:
                return base.attrs[name]
        return MISSING


def linear(cls: ClassV) -> list[ClassV]:
    """The classes in which attributes are looked for, in order (Python's, but for contrived hierarchies)."""
    every: list[ClassV] = []

    def visit(one: ClassV, depth: int) -> None:
        every.append(one)
        for base in one.bases:
            if isinstance(base, ClassV) and depth < 30:
                visit(base, depth + 1)

    visit(cls, 0)
    return [c for n, c in enumerate(every) if c not in every[n + 1 :]]


def bases_outside(cls: ClassV) -> set[str]:
    """The last names of all bases that are not in the source."""
    return {b.path.rsplit(".", 1)[-1] for c in linear(cls) for b in c.bases if isinstance(b, External)}


def is_module(cls: ClassV) -> bool:
    """Whether instances are torch modules: by the names of bases outside the source, or by a `forward`."""
    outside = bases_outside(cls)
    if any(name.endswith(_MODULES) for name in outside):
        return True
    return bool(outside - _PLAIN) and any("forward" in base.attrs for base in linear(cls))


class EngineObjects(Objects):
    """Access to attributes and items for a strict run."""

    run: EngineInterpreter

    def find(self, cls: ClassV, name: str) -> V:
        """A class attribute through all bases in the source; MISSING when there is none."""
        for base in linear(cls):
            if name in base.attrs:
                found = base.attrs[name]
                if isinstance(found, Deferred):
                    found = base.attrs[name] = self.run.world.used(self.run, found)
                return found
        return MISSING

    def attribute(self, owner: V, name: str, frame: Frame, node: Any) -> V:
        """owner.name"""
        if isinstance(owner, Super):
            found = owner.find(self.run, name)
            return self._bound(found, owner.bound) if found is not MISSING else Method(owner, name)
        if isinstance(owner, Obj) and owner.cls is not None:
            return self.member(owner, name, MISSING)
        if isinstance(owner, ListOf) and owner.cls is not None:
            found = self.find(owner.cls, name)
            return self._bound(found, owner) if found is not MISSING else Method(owner, name)
        if isinstance(owner, ClassV):
            return self.of_class(owner, name)
        if isinstance(owner, Partial) and name in ("func", "args", "keywords"):
            return owner.func if name == "func" else owner.args
        if isinstance(owner, Unknown | External | Obj):
            given = self.run.world.surrounding(name)
            if given is not MISSING:
                return given
        if isinstance(owner, Unknown) and name in ("append", "extend"):
            return Unknown(f"{owner.reason}.{name}", owner.where)
        return super().attribute(owner, name, frame, node)

    def member(self, obj: Obj, name: str, default: V) -> V:
        """An attribute of an instance; what no code in the source sets is `default`, or not known when MISSING."""
        given = self.run.world.surrounding(name)
        if given is not MISSING:
            return given
        if name not in obj.attrs and "%part" not in obj.attrs:
            self.run.world.construct(self.run, obj)
        if name in obj.attrs:
            found = obj.attrs[name]
            if isinstance(found, Deferred):
                found = obj.attrs[name] = self.run.world.used(self.run, found)
            return found
        assert obj.cls is not None
        if name == "__class__":
            return obj.cls
        found = self.find(obj.cls, name)
        if found is not MISSING:
            return self._bound(found, obj)
        return default if default is not MISSING else Unknown(f"{obj.name}.{name}")

    def _bound(self, found: V, obj: V) -> V:
        if not isinstance(found, FuncV):
            return found
        kinds = {d.rsplit(".", 1)[-1] for d in found.decorators}
        if not kinds.isdisjoint(_PROPERTIES):
            return self.run.call_function(replace(found, bound=obj), [], {})
        if "staticmethod" in kinds:
            return found
        if "classmethod" in kinds and not isinstance(obj, ClassV):
            return replace(found, bound=obj.cls)
        return replace(found, bound=obj)

    def of_class(self, cls: ClassV, name: str) -> V:
        found = self.find(cls, name)
        if found is MISSING:
            return cls.name if name == "__name__" else Unknown(f"{cls.name}.{name}")
        if isinstance(found, FuncV):
            return replace(found, bound=cls) if "classmethod" in found.decorators else found
        if any("Enum" in base or base == "Flag" for base in bases_outside(cls)):
            return Member(f"{cls.name}.{name}")
        return found

    def set_attribute(self, owner: V, name: str, value: V, frame: Frame, node: Any) -> None:
        """owner.name = value"""
        if isinstance(owner, Obj):
            if owner.cls is not None and "%part" not in owner.attrs:
                self.run.world.construct(self.run, owner)
            self.run.touch(owner)
            owner.attrs[name] = value
        elif isinstance(owner, Dense | Part):
            self.run.touch(owner)
            owner.attrs[name] = value
        elif isinstance(owner, ClassV):
            owner.attrs[name] = value

    def item(self, owner: V, key: V, frame: Frame, node: Any) -> V:
        """owner[key]; an index beyond a list that is known is Python's IndexError."""
        if isinstance(owner, ListV | tuple) and isinstance(key, int) and not isinstance(key, bool):
            items = owner if isinstance(owner, tuple) else owner.items
            if -len(items) <= key < len(items):
                return items[key]
            if not getattr(owner, "open", False):
                raise Crash("IndexError: list index out of range", frame.scope.spot(node))
        if isinstance(owner, Obj) and owner.cls is not None:
            method = self.find(owner.cls, "__getitem__")
            if isinstance(method, FuncV):
                return self.run.call_function(replace(method, bound=owner), [key], {})
        numbered = isinstance(owner, DictV) and owner.items and all(isinstance(known, int) for known in owner.items)
        if numbered and isinstance(key, int) and key not in owner.items:  # things by number, all of them
            raise Crash(f"KeyError: {key}", frame.scope.spot(node))
        if isinstance(owner, Obj | Unknown | External) and isinstance(key, str):
            given = self.run.world.surrounding(key)
            return given if given is not MISSING else Unknown(key)
        if isinstance(owner, DictV) and isinstance(key, Unknown) and owner.items:
            kinds = list(owner.items.values())
            if all(isinstance(kind, ClassV) for kind in kinds):
                return kinds[0]  # layers of several kinds: which one makes no difference to the stream
        return super().item(owner, key, frame, node)

    def parameter(self, name: str, node: Any, frame: Frame) -> V:
        """The value of a parameter that the call does not give."""
        return Unknown(name, frame.scope.spot(node))
