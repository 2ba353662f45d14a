"""What names claim of the states in a sample: the keys of the file, and the names in the code that wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eaglelint import naming
from eaglelint.fingerprints.records import MeasuredSlot, Sample
from eaglelint.location import Location
from eaglelint.naming import Claim


class Said(NamedTuple):
    """A name of a state and what it claims; `where` is its first binding in code, None for a key of the file alone."""

    name: str
    claim: Claim
    where: Location | None


def said_of(sample: Sample) -> list[list[Said]]:
    """For each slot what its names claim, those of code first; numbers that only count slots are left out."""
    keys = naming.slot_numbers(slot.key for slot in sample.slots if slot.key)
    bound = naming.slot_numbers(one.name for slot in sample.slots for one in slot.names)
    every = [list(_said(slot, keys | bound)) for slot in sample.slots]
    clear = [_neighbours(every, place) for place in range(len(every))]
    return [[one for one in said if sure or not one.claim.weak] for said, sure in zip(every, clear, strict=True)]


def _said(slot: MeasuredSlot, counted: frozenset[str]) -> list[Said]:
    names: dict[str, Location | None] = {}
    for one in slot.names:
        names.setdefault(one.name, one.where)
    if slot.key:
        names.setdefault(slot.key, None)
    found = []
    for name, where in names.items():
        claim = naming.claim(name) if name not in counted else None
        if claim is not None:
            found.append(Said(name, claim, where))
    return found


def _neighbours(every: Sequence[Sequence[Said]], place: int) -> bool:
    """Whether another slot has a name that claims something: then a vague word beside it is meant so too."""
    return any(said for number, said in enumerate(every) if number != place)


def disagree(one: Claim, other: Claim, depth: int) -> bool:
    """Whether no state is what both names claim, so that equal values contradict one of them."""
    if one.normed is not None and other.normed is not None and one.normed != other.normed:
        return True
    if one.rank is not None and other.rank is not None:
        return one.stem == other.stem and one.rank != other.rank
    if one.number is not None and other.number is not None and one.stem == other.stem:
        return one.number != other.number
    first, second = _boundaries(one, depth), _boundaries(other, depth)
    return bool(first and second) and not first & second


def _boundaries(claim: Claim, depth: int) -> frozenset[int]:
    if claim.final or claim.normed is not None:
        return frozenset({depth}) if depth else frozenset()
    return claim.boundaries


def is_one_state(claim: Claim) -> bool:
    """Whether a name claims a single state, so that what it holds is as wide as the target."""
    return bool(claim.boundaries) or claim.final or claim.normed is not None or claim.rank is not None


def shown(slot: MeasuredSlot) -> str:
    """A slot in a message."""
    return f"`{slot.shown}`"


def called(slot: MeasuredSlot, said: Said) -> str:
    """A slot in a message by the name that claims something."""
    return f"`{said.name}`" if said.name == slot.shown else f"`{said.name}` ({slot.shown})"
