"""Lists of layers that should be one and are not: EGL106 (a preset in a runtime), EGL402 (order), EGL403 (drift)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eaglelint.boundary import SAMPLED_DEPTHS, show, show_ids
from eaglelint.checks import wording
from eaglelint.checks.contract import aux_layers_mismatch
from eaglelint.checks.judging import reasons, strength
from eaglelint.checks.meanings import meanings
from eaglelint.checks.registry import check
from eaglelint.facts import LayerIds, Step
from eaglelint.findings import Finding, Fix, Severity
from eaglelint.linking import lists
from eaglelint.linking.lists import Listed
from eaglelint.linking.records import Serving, Training
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline


class _Pair(NamedTuple):
    """Two lists of boundaries for the same target of `depth` layers."""

    depth: int
    one: tuple[int, ...]
    other: tuple[int, ...]

    @property
    def same_set(self) -> bool:
        return sorted(self.one) == sorted(self.other)


def _pairs(one: Training, other: Training, depth: int) -> list[_Pair]:
    """What two lists hold, for the target's depth or every depth for which both are known."""
    depths = (depth,) if depth else tuple(dict.fromkeys((*SAMPLED_DEPTHS, *_tabled(one), *_tabled(other))))
    return [
        _Pair(n, first, second)
        for n in depths
        if (first := one.at(n)) is not None and (second := other.at(n)) is not None
    ]


def _tabled(said: Training) -> list[int]:
    return [depth for depth, _ in said.boundaries.table]


# ---- EGL106 --------------------------------------------------------------------------------------------------------


@check("EGL106")
def declared_layers_ignored(pipeline: Pipeline) -> Iterator[Finding]:
    """A home-made runtime or benchmark feeds the head other states than it declares. One finding a concatenation."""
    if not pipeline.id_lists or any(True for _ in aux_layers_mismatch(pipeline)):
        return
    for entry in lists.runtime(pipeline.assemblies, pipeline.defects, pipeline.depth):
        found = _ignored(pipeline, entry)
        if found is not None:
            yield found


def _ignored(pipeline: Pipeline, entry: Listed) -> Finding | None:
    depths = (pipeline.depth,) if pipeline.depth else SAMPLED_DEPTHS
    shown: tuple[int, tuple[int, ...], str, LayerIds] | None = None
    for depth in depths:
        fed = entry.said.at(depth)
        declared = _declared(pipeline, depth)
        if fed is None or not declared:
            return None
        trained = pipeline.evidence.best
        if any(sorted(fed) == sorted(wanted) for wanted, _, _ in declared):
            return None
        if any(said.allows(fed, depth) for said in trained):
            return None
        shown = shown or (depth, fed, declared[0][1], declared[0][2])
    if shown is None:
        return None
    depth, fed, reader, ids = shown
    assumed = entry.said.assumed
    declares = f"{pipeline.name} declares {show_ids(ids.ids)}, {reader}"
    message = f"{wording.numbers(fed)} are fed to the head here, but {declares}"
    message += "" if pipeline.depth or entry.said.boundaries.fixed else f" (for {depth} layers)"
    message += f" (assumed: {assumed})" if assumed else ""
    steps = [*entry.said.trace, Step(entry.said.where or entry.place, "concatenated here"), Step(ids.where, "declared")]
    return Finding(
        rule="EGL106",
        severity="warning",
        message=message,
        where=entry.place,
        confidence="likely" if assumed else entry.said.confidence,
        related=wording.unique(step for step in steps if step.where != entry.place),
        fix=Fix("take the layers from the drafter's config, turned into boundaries as its engine turns them"),
        defect=("ids", pipeline.name, str(ids.where)),
    )


def _declared(pipeline: Pipeline, depth: int) -> list[tuple[tuple[int, ...], str, LayerIds]]:
    """The boundaries that the declared ids mean for the engines in use, else by the usual readings of their key."""
    found = []
    for serving in pipeline.servings:
        meant = serving.meant(depth) if serving.ids is not None else None
        if meant is not None and serving.ids is not None:
            found.append((meant, f"which {serving.name} takes as {wording.numbers(meant)}", serving.ids))
    if found:
        return found
    return [
        (meaning.boundaries, f"{wording.numbers(meaning.boundaries)} as {meaning.reader}", ids)
        for ids in pipeline.id_lists
        for meaning in meanings(ids)
    ]


# ---- EGL402 --------------------------------------------------------------------------------------------------------


@check("EGL402")
def aux_order_mismatch(pipeline: Pipeline) -> Iterator[Finding]:
    """The same states in another order than the engine, or another part of the pipeline, has. One finding a place."""
    reported: set[Location] = set()
    for said in pipeline.evidence.best:
        if said.source != "assembly" or not said.ordered or said.where is None:
            continue
        wrong = _other_order(pipeline, said)
        if wrong:
            reported.add(said.where)
            yield _order_finding(pipeline, said, wrong)
    if any(True for _ in aux_layers_mismatch(pipeline)):
        return
    for one, other in lists.related_pairs(pipeline, lists.every(pipeline)):
        pairs = _pairs(one.said, other.said, pipeline.depth)
        turned = [pair for pair in pairs if pair.same_set and pair.one != pair.other]
        if not pairs or len(turned) != len(pairs) or not (one.said.ordered and other.said.ordered):
            continue
        first, second = _wrong_first(one, other, turned[0])
        place = first.said.where or first.place
        if place not in reported:
            reported.add(place)
            yield _order_between(pipeline, first, second)


def _other_order(pipeline: Pipeline, said: Training) -> list[Serving]:
    """The readings that capture exactly the trained states, but concatenate them in another order; all or none."""
    wrong, judged = [], 0
    for serving in pipeline.servings:
        pairs = [
            (trained, captured)
            for depth in serving.depths
            if (trained := said.at(depth)) is not None and (captured := serving.captured(depth)) is not None
        ]
        if not pairs or any(sorted(trained) != sorted(captured) for trained, captured in pairs):
            continue
        judged += 1
        if all(trained != captured for trained, captured in pairs):
            wrong.append(serving)
    return wrong if len(wrong) == judged else []


def _order_finding(pipeline: Pipeline, said: Training, wrong: Sequence[Serving]) -> Finding:
    first = wrong[0]
    depth = next(d for d in first.depths if said.at(d) is not None)
    trained, captured = said.at(depth) or (), first.captured(depth) or ()
    severity, confidence = strength(wrong, [said])
    how = "in layer order" if first.reading.order == "ascending" else "in the order of the ids"
    message = (
        f"fc is trained on boundaries in the order {show(trained)}, but {first.name} concatenates them {how}, "
        f"{show(captured)}: each block of its columns is fed another state"
    )
    rests = reasons(wrong, [said])
    message += f" (assumed: {wording.listed(rests)})" if rests else ""
    assert said.where is not None
    return Finding(
        rule="EGL402",
        severity=severity,
        message=message,
        where=said.where,
        confidence=confidence,
        related=tuple(step for step in wording.steps(pipeline, [said], wrong) if step.where != said.where),
        fix=Fix(f"concatenate them in the order {show(captured)} and train again, or permute the columns of fc"),
        defect=("order", pipeline.name, str(said.where)),
    )


def _wrong_first(one: Listed, other: Listed, pair: _Pair) -> tuple[Listed, Listed]:
    """Of two orders the one that is not the layers' own first; the consumer first where that does not tell."""
    if list(pair.one) == sorted(pair.one):
        return other, one
    if list(pair.other) == sorted(pair.other):
        return one, other
    return (one, other) if lists.consumes(one, other) else (other, one)


def _order_between(pipeline: Pipeline, wrong: Listed, right: Listed) -> Finding:
    severity, confidence = strength((), [wrong.said, right.said])
    pair = _pairs(wrong.said, right.said, pipeline.depth)[0]
    place = wrong.said.where or wrong.place
    there = right.said.where or right.place
    return Finding(
        rule="EGL402",
        severity=severity,
        message=f"boundaries are concatenated in the order {show(pair.one)} here, but {show(pair.other)} at {there}",
        where=place,
        confidence=confidence,
        related=wording.unique((*right.said.trace, Step(there, "concatenated in another order"))),
        fix=Fix(f"use one order in both: {show(pair.other)}"),
        defect=("order", pipeline.name, str(place)),
    )


# ---- EGL403 --------------------------------------------------------------------------------------------------------


@check("EGL403")
def producer_consumer_drift(pipeline: Pipeline) -> Iterator[Finding]:
    """Dump, extraction and training of one drafter take different states. One finding a list that differs."""
    if any(True for _ in aux_layers_mismatch(pipeline)):
        return
    reported: set[Location] = set()
    for told, stored in pipeline.beside:
        consumer, producer = lists.of_recipe(told), lists.of_recipe(stored)
        pairs = _pairs(told, stored, pipeline.depth)
        drifting = bool(pairs) and all(_drifts(consumer, producer, pair) or _lacks(told, pair) for pair in pairs)
        if drifting and consumer.place not in reported:
            reported.add(consumer.place)
            yield _drift(pipeline, consumer, producer, linked=True)
    for one, other in lists.related_pairs(pipeline, lists.of_training(pipeline)):
        pairs = _pairs(one.said, other.said, pipeline.depth)
        if not pairs or not all(_drifts(one, other, pair) for pair in pairs):
            continue
        consumer, producer = (one, other) if lists.consumes(one, other) else (other, one)
        if consumer.place in reported:
            continue
        reported.add(consumer.place)
        yield _drift(pipeline, consumer, producer, linked=lists.proven_link(pipeline, consumer, producer))


def _drifts(one: Listed, other: Listed, pair: _Pair) -> bool:
    """Whether two lists are meant to be one and are not: as many states, or one more, which is the last."""
    if pair.same_set or one.said.allows(pair.other, pair.depth) or other.said.allows(pair.one, pair.depth):
        return False
    if len(pair.one) == len(pair.other):
        return True
    short, long = sorted((pair.one, pair.other), key=len)
    return len(long) == len(short) + 1 and set(short) < set(long) and pair.depth in long


def _lacks(told: Training, pair: _Pair) -> bool:
    """Whether a training asks for all that was stored for it, and for one state more."""
    return len(pair.one) == len(pair.other) + 1 and set(pair.one) > set(pair.other) and not told.also


def _said(entry: Listed, boundaries: Sequence[int]) -> str:
    if entry.said.source == "recipe":
        return f"{entry.said.what} ({wording.numbers(boundaries)})"
    return f"{wording.numbers(boundaries)} are {entry.said.what}"


def _drift(pipeline: Pipeline, consumer: Listed, producer: Listed, *, linked: bool) -> Finding:
    severity: Severity
    severity, confidence = strength((), [consumer.said, producer.said])
    if severity == "error" and not linked:
        severity, confidence = "warning", "likely"
    pair = _pairs(consumer.said, producer.said, pipeline.depth)[0]
    there = producer.said.where or producer.place
    message = f"{_said(consumer, pair.one)} here, but {_said(producer, pair.other)} at {there}"
    if consumer.said.what == producer.said.what and consumer.said.source == "recipe":
        message += ", where the last state that is stored counts as the verifier's"
    message += ": one head is trained on different states"
    fixed = pipeline.depth or (consumer.said.boundaries.fixed and producer.said.boundaries.fixed)
    tabled = len(_tabled(consumer.said)) == 1
    message += "" if fixed or tabled else f" (for {pair.depth} layers)"
    rests = reasons((), [consumer.said, producer.said])
    message += f" (assumed: {wording.listed(rests)})" if rests else ""
    steps = [*producer.said.trace, Step(there, f"{producer.said.what} here"), *consumer.said.trace]
    return Finding(
        rule="EGL403",
        severity=severity,
        message=message,
        where=consumer.place,
        confidence=confidence,
        related=wording.unique(step for step in steps if step.where != consumer.place),
        fix=Fix("give both the same layers, best from one place"),
        defect=("drift", pipeline.name, str(consumer.place)),
    )
