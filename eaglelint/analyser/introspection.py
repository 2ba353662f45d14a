"""Python's built-in functions that look into objects and classes: getattr, isinstance, super."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eaglelint.analyser.file_values import PathV
from eaglelint.analyser.target_values import LayerResult
from eaglelint.analyser.values import (
    HOLE,
    MISSING,
    ClassV,
    DictV,
    External,
    FuncV,
    Fused,
    ListV,
    Obj,
    Plain,
    Special,
    Stacked,
    Tensor,
    Unknown,
    V,
)

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter


def get_attribute(run: Interpreter, site: CallSite) -> V:
    """getattr(object, name, default)"""
    owner, name = site.get(0, "object"), site.get(1, "name")
    if not isinstance(name, str) or HOLE in name:
        return Unknown("getattr")
    from eaglelint.analyser.target_values import ConfigV

    if len(site.args) > 2 and isinstance(owner, ConfigV):
        return run.world.config_attribute(run, owner, name, site.frame, site.node, site.args[2])
    defined = isinstance(owner, Obj) and owner.cls is not None and len(site.args) > 2
    if defined and name not in owner.attrs and owner.cls.lookup(name) is MISSING:
        return site.args[2]
    return run.objects.attribute(owner, name, site.frame, site.node)


def set_attribute(run: Interpreter, site: CallSite) -> V:
    """setattr(object, name, value)"""
    name = site.get(1, "name")
    if isinstance(name, str) and HOLE not in name:
        run.objects.set_attribute(site.get(0, "object"), name, site.get(2, "value"), site.frame, site.node)
    return None


def has_attribute(run: Interpreter, site: CallSite) -> V:
    """hasattr(object, name): what the version at hand has is not known."""
    return Unknown("hasattr")


def is_instance(run: Interpreter, site: CallSite) -> V:
    """isinstance(object, classes)"""
    value, kind = site.get(0, "object"), site.get(1, "class")
    names = {
        k.path.rsplit(".", 1)[-1] for k in (kind if isinstance(kind, tuple) else (kind,)) if isinstance(k, External)
    }
    if isinstance(value, LayerResult) and "tuple" in names:
        return True if value.model.framework in ("sglang", "vllm") else Unknown("isinstance")
    if isinstance(value, Tensor | Fused | Stacked | Plain):
        if names & {"Tensor", "ndarray"}:
            return True
        return False if names & {"tuple", "list", "dict", "str", "int"} else Unknown("isinstance")
    table: tuple[tuple[type | tuple[type, ...], set[str]], ...] = (
        (bool, {"bool", "int"}),
        (str, {"str"}),
        (int, {"int"}),
        (float, {"float"}),
        (tuple, {"tuple", "Sequence"}),
        (PathV, {"Path", "PathLike"}),
    )
    for python, accepted in table:
        if isinstance(value, python):
            return bool(names & accepted)
    if isinstance(value, ListV):
        return bool(names & {"list", "Sequence", "Iterable"})
    if isinstance(value, DictV):
        return bool(names & {"dict", "Mapping"})
    if value is None:
        return False
    return Unknown("isinstance")


def super_of(run: Interpreter, site: CallSite) -> V:
    """super() inside of a method in scope."""
    func = site.frame.function
    bound = site.frame.names.get("self")
    if func is None or func.owner is None or not isinstance(bound, Obj):
        return Unknown("super")
    return SuperProxy(bound, next((base for base in func.owner.bases if isinstance(base, ClassV)), None))


class SuperProxy(Special):
    """super(): looks methods up in the bases and binds them to the instance."""

    def __init__(self, bound: Obj, cls: Any) -> None:
        self.bound = bound
        self.cls = cls

    def call_method(self, run: Interpreter, name: str, site: CallSite) -> V:
        """Call a method of the bases on the instance; None when they have none in scope."""
        found = self.cls.lookup(name) if self.cls is not None else MISSING
        if not isinstance(found, FuncV):
            return None
        return run.call_function(replace(found, bound=self.bound), site.args, site.kwargs)
