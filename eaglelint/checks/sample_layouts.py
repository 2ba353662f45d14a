"""What the trainer of a project stores under which key of a sample, where its table says so and the sample looks so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from eaglelint.conventions.trainers import LastState, Layout, trainer
from eaglelint.facts import Facts
from eaglelint.fingerprints.records import MeasuredSlot, Sample

#: What a key of a layout holds that a sample must have for the layout to be its own.
_STATES = ("aux", "last_state", "aux_stack", "stack", "embeddings")
_FIXED = {"1": 1, "3": 3}


class Wanted(NamedTuple):
    """What a trainer stores under a key: how many states side by side (0: any), and how it keeps the last state."""

    trainer: str
    holds: str
    states: int
    last: LastState


def wanted(facts: Facts, sample: Sample) -> dict[str, Wanted]:
    """What must stand under each key of a sample, as all layouts that it can be of agree; empty when none fits."""
    own = {slot.group if slot.columns else slot.key for slot in sample.slots if slot.columns or slot.key}
    found: dict[str, set[Wanted]] = {}
    for name, layout, last in _layouts(facts):
        states = [tensor for tensor in layout.tensors if tensor.holds in _STATES]
        if len(states) < 2 or {tensor.key for tensor in states} != own:
            continue
        told = "unknown" if any(tensor.holds == "flag" for tensor in layout.tensors) else last
        for tensor in states:
            known = Wanted(name, tensor.holds, _FIXED.get(tensor.width, 0), told)
            found.setdefault(tensor.key, set()).add(known)
    return {key: entries.pop() for key, entries in found.items() if len(entries) == 1}


def _layouts(facts: Facts) -> Iterator[tuple[str, Layout, LastState]]:
    """The layouts of the trainers that the project runs."""
    for name, path in {
        (one.trainer, one.path) for one in facts.recipes if one.trainer and one.step in ("train", "data")
    }:
        known = trainer(name)
        if known is None:
            continue
        for recipe in known.recipe(path) or known.recipes:
            if recipe.layout is not None and recipe.layout.tensors:
                yield name, recipe.layout, recipe.last_state


def other_widths(facts: Facts, sample: Sample, hidden: int) -> Iterator[str]:
    """Keys with another number of states side by side than the trainer stores."""
    expected = wanted(facts, sample) if hidden else {}
    seen: set[str] = set()
    for slot in sample.slots:
        key, states = (slot.group, slot.parts) if slot.columns else (slot.key, 1)
        rule = expected.get(key)
        if rule is None or key in seen or not rule.states or slot.width != hidden or states == rule.states:
            continue
        seen.add(key)
        yield f"`{key}` is {states} x {hidden} wide, {rule.trainer} stores {rule.states} x {hidden} there"


def other_norm(facts: Facts, sample: Sample, slot: MeasuredSlot) -> str:
    """How the last state of a sample differs from what the trainer stores there, "" where it does not."""
    rule = wanted(facts, sample).get(slot.key)
    if rule is None or rule.holds != "last_state":
        return ""
    if rule.last == "post_norm" and slot.norm.is_ == "before":
        return f"{rule.trainer} stores the output of the final norm there, but by value it is the stream before it"
    if rule.last == "pre_norm" and slot.norm.is_ == "after":
        return f"{rule.trainer} stores the stream before the final norm there, but by value it has been through it"
    return ""
