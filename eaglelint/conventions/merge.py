"""Joining readings that say the same: over neighbouring releases, and over the targets of one release."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, cast

from eaglelint.conventions.records import Edge, Reading


def _same(reading: Reading) -> tuple[object, ...]:
    """What makes two readings different for whoever judges a drafter."""
    return (
        reading.rule,
        reading.keys,
        reading.shifts,
        reading.gates,
        reading.arguments,
        reading.default,
        reading.zero,
        reading.end,
        reading.outside,
        reading.order,
        reading.duplicates,
        reading.status,
        reading.tensor,
        reading.runner,
        reading.beyond,
        tuple(d.id for d in reading.defects),
    )


def _union(*lists: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for items in lists for item in items))


def _join(one: Reading, other: Reading) -> Reading:
    return replace(
        one,
        last=other.last,
        model_files=_union(one.model_files, other.model_files),
        architectures=_union(one.architectures, other.architectures),
        evidence=_union(one.evidence, other.evidence),
        note=_notes(one.note, other.note),
    )


def _notes(one: str, other: str) -> str:
    """Two notes as one, without saying anything twice."""
    if other in one:
        return one
    return other if one in other else f"{one}; {other}"


def merge(columns: Iterable[Sequence[Reading]]) -> tuple[Reading, ...]:
    """The distinct readings of releases given in ascending order; equal ones of neighbouring releases are joined.

    `first` and `last` of a joined reading are the first and last of those releases. The oldest stand first.
    """
    done: list[Reading] = []
    running: dict[tuple[object, ...], int] = {}
    for column in columns:
        current: dict[tuple[object, ...], int] = {}
        for reading in column:
            key = _same(reading)
            at = current.get(key, running.get(key))
            if at is None:
                at = len(done)
                done.append(reading)
            else:
                done[at] = _join(done[at], reading)
            current[key] = at
        running = current
    return tuple(done)


def generalise(readings: Sequence[Reading]) -> list[Reading]:
    """The readings of all targets of one release, for a target that is not known.

    Those that agree on the rule, the keys, the default and the order become one; what they disagree on besides
    (boundaries 0 and N, the tensor) becomes unknown, and defects that not all of them have are dropped.
    """
    groups: dict[tuple[object, ...], list[Reading]] = {}
    for r in readings:
        key = (r.rule, r.keys, r.shifts, r.gates, r.arguments, r.default, r.order, r.runner)
        groups.setdefault(key, []).append(r)
    return [_general(group) for group in groups.values()]


def _general(group: Sequence[Reading]) -> Reading:
    first = group[0]

    def edge(name: Literal["zero", "end", "outside"]) -> Edge:
        values = {cast(Edge, getattr(r, name)) for r in group}
        return values.pop() if len(values) == 1 else "unknown"

    tensors = {r.tensor for r in group if r.tensor == "stream"} or {r.tensor for r in group}
    shared = set.intersection(*({d.id for d in r.defects} for r in group))
    return replace(
        first,
        zero=edge("zero"),
        end=edge("end"),
        outside=edge("outside"),
        tensor=tensors.pop() if len(tensors) == 1 else "unknown",
        defects=tuple(d for d in first.defects if d.id in shared),
        model_files=(),
        architectures=(),
        evidence=_union(*(r.evidence[:1] for r in group))[:6],
        note="",
    )
