"""Drafters among the classes in scope: their own states and names are none of the target's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from eaglelint.analyser.patterns import SETTERS
from eaglelint.analyser.values import MISSING, Obj, Tensor

if TYPE_CHECKING:
    from eaglelint.analyser.scope import Frame

#: Modules that only drafters have: the projection of the fused states, the EAGLE-3 layer.
_PARTS = frozenset({"fc", "midlayer", "fusion", "d2t", "t2d"})
_NAME = re.compile(r"eagle|draft|medusa|mtp|speculator", re.IGNORECASE)
#: Names that in a drafter mean what goes into it and out of it: its own embedding, its own last state.
_OWN = re.compile(r"embed|input|output|final|last|norm", re.IGNORECASE)


def of_drafter(state: Tensor) -> bool:
    """Whether a state is one of a drafter's own: it runs through a drafter's layers."""
    owner = state.model.owner if state.model is not None else None
    return owner is not None and is_drafter(owner)


def is_drafter(owner: Obj) -> bool:
    """Whether an object is a drafter: it has the parts that only drafters have, or is a module that is called so."""
    if owner.cls is None:
        return False
    if not _PARTS.isdisjoint(owner.attrs):
        return True
    told = any(owner.cls.lookup(name) is not MISSING for name in SETTERS)
    if told or owner.cls.lookup("forward") is MISSING:  # a data set for a drafter is none
        return False
    return _NAME.search(owner.cls.name) is not None


def own_name(name: str, frame: Frame) -> bool:
    """Whether a name in a drafter's method speaks of the drafter's own tensors, whatever comes in under it."""
    bound = frame.names.get("self")
    return _OWN.search(name) is not None and isinstance(bound, Obj) and is_drafter(bound)
