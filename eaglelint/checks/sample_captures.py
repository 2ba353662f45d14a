"""Which state the capture code of a project puts into a slot of its samples, by the order in which it stores them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eaglelint.boundary import State
from eaglelint.facts import ByDepth, Facts
from eaglelint.fingerprints.records import MeasuredSlot
from eaglelint.location import Location


def captured(facts: Facts, slot: MeasuredSlot, depth: int) -> tuple[State, Location] | None:
    """The state in a slot of a list, stack or row of states, and where the code stores it.

    None unless all captures (for states side by side: all concatenations) of that many states agree. The last of one
    state more is the verifier's own, of which they say nothing.
    """
    if slot.parts < 2:
        return None
    found = list(_fitting(facts, slot, depth))
    if not found or slot.index >= len(found[0][0]) or any(states != found[0][0] for states, _ in found):
        return None
    return found[0][0][slot.index], found[0][1]


def _fitting(facts: Facts, slot: MeasuredSlot, depth: int) -> Iterator[tuple[tuple[State, ...], Location]]:
    for fact in facts.assemblies if slot.columns else facts.captures:
        if fact.confidence != "proven" or (slot.columns and not getattr(fact, "ordered", True)):
            continue
        states = _at(fact.states, depth)
        if states is not None and slot.parts in (len(states), *(() if slot.columns else (len(states) + 1,))):
            yield states, fact.where


def _at(states: ByDepth, depth: int) -> tuple[State, ...] | None:
    """The states for the depth of the target, or for every depth alike."""
    own = [found for n, found in states if n in (0, depth)]
    every = _distinct([found for _, found in states])
    return own[0] if own else every[0] if len(every) == 1 else None


def _distinct(found: Sequence[tuple[State, ...]]) -> list[tuple[State, ...]]:
    return list(dict.fromkeys(found))
