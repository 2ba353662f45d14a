"""Flags that a setter sets on an object whose class never reads them: EGL105."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import libcst as cst

from eaglelint.analyser.observations import Flag
from eaglelint.analyser.patterns import kids
from eaglelint.analyser.relevance import related
from eaglelint.analyser.scope import ModuleScope
from eaglelint.analyser.values import MISSING, ClassV
from eaglelint.facts import Defect, Step
from eaglelint.location import Location


class _Uses(NamedTuple):
    """Where an attribute is used: by the classes that read it from themselves, and whether anything else does.

    `armed` are the classes that set it on themselves to something else than False or None.
    """

    readers: tuple[tuple[cst.ClassDef, Location], ...]
    armed: tuple[cst.ClassDef, ...]
    elsewhere: bool


def idle(flags: tuple[Flag, ...], scopes: Mapping[str, ModuleScope]) -> Iterator[Defect]:
    """One defect a flag: an info, unless another class waits for its own, which nothing sets."""
    for flag in flags:
        family = _family(flag.owner, scopes)
        if not related(flag.scope) or not family or flag.owner.lookup("forward") is MISSING:
            continue
        uses = _uses(flag.name, scopes)
        if uses.elsewhere or any(node in family for node, _ in uses.readers):
            continue
        said = f"`{flag.name}` is set on {flag.owner.name} here, which reads it nowhere"
        waiting = [(node, place) for node, place in uses.readers if node not in uses.armed]
        if uses.readers and len(waiting) == len(uses.readers):
            node, place = waiting[0]
            other = node.name.value
            step = Step(place, f"{other} reads its own {flag.name}, which nothing sets")
            message = f"{said}; {other} waits for its own, which nothing sets, so nothing is captured"
            fix = f"set it on the {other}"
            yield Defect("inert-capture", flag.where, {"written": flag.name, "message": message, "fix": fix}, (step,))
        else:
            details = {
                "written": flag.name,
                "message": f"{said}: it has no effect",
                "severity": "info",
                "fix": "drop it",
            }
            yield Defect("inert-capture", flag.where, details, ())


def _family(owner: ClassV, scopes: Mapping[str, ModuleScope]) -> tuple[cst.ClassDef, ...]:
    """The class, its bases and the classes that inherit from it; none when a base with code is not in scope."""
    every = [entry for scope in scopes.values() for entry in scope.classes]
    found, queue = [owner], [owner]
    while queue:
        current = queue.pop()
        bases = [base for base in current.bases if isinstance(base, ClassV)]
        if len(bases) + sum(_plain(arg) for arg in current.node.bases) != len(current.node.bases):
            return ()
        for other in (*bases, *(entry for entry in every if current in entry.bases)):
            if other not in found:
                found.append(other)
                queue.append(other)
    return tuple(entry.node for entry in found)


def _plain(argument: cst.Arg) -> bool:
    """Whether a base is torch's Module or Python's object, which read no such flags."""
    node = argument.value
    name = node.attr.value if isinstance(node, cst.Attribute) else getattr(node, "value", "")
    return name in ("Module", "object")


def _uses(name: str, scopes: Mapping[str, ModuleScope]) -> _Uses:
    readers: list[tuple[cst.ClassDef, Location]] = []
    armed: list[cst.ClassDef] = []
    elsewhere = False
    for scope in scopes.values():
        if name not in scope.text.text:
            continue  # a walk over all trees of an engine takes seconds
        stack: list[tuple[Any, cst.ClassDef | None]] = [(scope.tree, None)]
        while stack:
            node, within = stack.pop()
            if isinstance(node, cst.ClassDef):
                within = node
            if isinstance(node, cst.Assign):
                own = [target for target in node.targets if _own(target.target, name)]
                if own and within is not None and not _off(node.value):
                    armed.append(within)
                stack.append((node.value, within))
                stack += [(t.target, within) for t in node.targets if not _attribute(t.target, name)]
                continue
            if _attribute(node, name):
                if _own(node, name) and within is not None:
                    readers.append((within, scope.where(node)))
                else:
                    elsewhere = True
            elif isinstance(node, cst.SimpleString) and node.evaluated_value == name:
                elsewhere = True
            stack += [(kid, within) for kid in kids(node)]
    return _Uses(tuple(readers), tuple(armed), elsewhere)


def _attribute(node: Any, name: str) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value == name


def _own(node: Any, name: str) -> bool:
    return _attribute(node, name) and isinstance(node.value, cst.Name) and node.value.value == "self"


def _off(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value in ("False", "None")
