"""From what the runs saw to facts: one run for each depth N, merged by place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from eaglelint.analyser.defects import flaws
from eaglelint.analyser.observations import Joined, Named, Store, Test
from eaglelint.analyser.recorder import Recorder
from eaglelint.analyser.relevance import drafting, purpose, related, related_by
from eaglelint.analyser.scope import ModuleScope, place
from eaglelint.analyser.values import Tensor
from eaglelint.boundary import State
from eaglelint.facts import Assembly, ByDepth, Capture, Confidence, Defect, Label, Step, Unresolved, Value
from eaglelint.location import Location

_SAID = re.compile(r"(boundary|named|saved to|loaded from|entry) (\S+)( .*)?")
#: A place that puts more combinations of states side by side than this joins something for every layer: no input of fc.
_MANY = 12

_Seen = TypeVar("_Seen", Joined, Store)


@dataclass
class _Merged(Generic[_Seen]):
    """The same place in all runs: for each depth the list of variants."""

    sample: _Seen
    by_depth: dict[int, list[tuple[Tensor, ...]]] = field(default_factory=dict)


def facts(runs: list[tuple[int, Recorder]]) -> Iterator[object]:
    """The facts of all runs. Of several runs those whose N is too small for an id that is tested do not count."""
    fitting = [(depth, recorder) for depth, recorder in runs if not any(_beyond(t) for t in recorder.tests.values())]
    runs = fitting or runs
    yield from _assemblies(runs)
    yield from _captures(runs)
    yield from _labels(runs)
    yield from flaws(runs)
    yield from _unresolved(runs)


def states(parts: Iterable[Tensor]) -> tuple[State, ...]:
    """The states of tensors."""
    return tuple(part.state for part in parts)


def _depth(parts: tuple[Tensor, ...], run_depth: int) -> int:
    return next((part.depth for part in parts if part.depth), run_depth)


def _target(parts: Iterable[Tensor]) -> Value | None:
    return next((p.model.name for p in parts if p.model is not None and p.model.name is not None), None)


def trace(parts: Iterable[Tensor]) -> tuple[Step, ...]:
    """The steps of several states, interleaved without repeats, in data-flow order."""
    columns = [part.trace for part in parts]
    steps: dict[Location, list[str]] = {}
    for row in range(max((len(column) for column in columns), default=0)):
        for column in columns:
            if row < len(column):
                texts = steps.setdefault(column[row].where, [])
                if column[row].what not in texts:
                    texts.append(column[row].what)
    return tuple(Step(where, together(texts)) for where, texts in list(steps.items())[:24])


def together(texts: list[str]) -> str:
    """What happened at one place to several states: "boundaries 3, 31 captured" for "boundary 3 captured", ..."""
    said: dict[tuple[str, str], list[str]] = {}
    for text in texts:
        match = _SAID.fullmatch(text)
        key = (match[1], (match[3] or "").strip()) if match is not None else (text, "")
        said.setdefault(key, []).append(match[2] if match is not None else "")
    words = []
    for (before, after), values in said.items():
        first = "boundaries" if before == "boundary" and len(values) > 1 else before
        words.append(" ".join(word for word in (first, ", ".join(v for v in values if v), after) if word))
    return ", ".join(words)


def _notes(parts: Iterable[Tensor], note: str) -> str:
    return note or next((part.note for part in parts if part.note), "")


def _beyond(test: Test) -> bool:
    """Whether a test asks for ids that lie beyond the layers of its loop."""
    return len(test.seen) > 3 and bool(test.hit) and max(test.ids) > max(test.seen)


def settled(first: Recorder, second: Recorder) -> bool:
    """Whether two runs with different N saw the same states at the same places: then N does not matter."""
    one, two = (
        {(s.where, states(_distinct(s.states))) for s in r.stores.values()} | set(r.joined) for r in (first, second)
    )
    return one == two and set(first.tests) == set(second.tests)


# ---- concatenations ------------------------------------------------------------------------------------------------


def _assemblies(runs: list[tuple[int, Recorder]]) -> Iterator[Assembly | Defect]:
    merged: dict[Location, _Merged[Joined]] = {}
    for depth, recorder in runs:
        for joined in recorder.joined.values():
            entry = merged.setdefault(joined.where, _Merged(joined))
            variants = entry.by_depth.setdefault(_depth(joined.parts, depth), [])
            if all(states(v) != states(joined.parts) for v in variants):
                variants.append(joined.parts)
    for where, entry in merged.items():
        joined = entry.sample
        if not related_by(runs, joined.scope, trace(joined.parts)):
            continue
        width = max(len(variants) for variants in entry.by_depth.values())
        if width > _MANY:
            continue
        for n in range(width):
            table = {d: v[n] for d, v in entry.by_depth.items() if n < len(v)}
            sample = next(iter(table.values()))
            if len(sample) < 2:
                continue
            yield _assembly(joined, table, purpose(joined.scope, joined.function))
        yield from _dropped(joined, where)
        if not any(("all-layers-concatenated", where) in recorder.flaws for _, recorder in runs):
            yield from _early(joined, where)
    yield from _cached(runs, merged)


def _cached(runs: list[tuple[int, Recorder]], known: dict[Location, _Merged[Joined]]) -> Iterator[Assembly]:
    """Concatenations of one script that another one feeds to a drafter, when they serve another purpose there."""
    tables: dict[Location, dict[int, tuple[Tensor, ...]]] = {}
    for depth, recorder in runs:
        for where, (joined, _) in recorder.cached.items():
            tables.setdefault(where, {}).setdefault(_depth(joined.parts, depth), joined.parts)
    for where, table in tables.items():
        joined, made = next(recorder.cached[where] for _, recorder in runs if where in recorder.cached)
        at = known.get(made)
        own = purpose(joined.scope, joined.function)
        if at is not None and own not in ("unknown", purpose(at.sample.scope, at.sample.function)):
            yield _assembly(joined, table, own)


def _assembly(joined: Joined, table: dict[int, tuple[Tensor, ...]], own: str) -> Assembly:
    """The fact that states were put side by side."""
    sample = next(iter(table.values()))
    note = _notes(sample, joined.note)
    return Assembly(
        where=joined.where,
        states=by_depth(table),
        confidence=_confidence(note, joined.scope, sample),
        purpose=own,
        trace=trace(sample),
        assumed=note,
        target=_target(sample),
        columns=tuple(part.trace for part in sample),
        preset=joined.chosen,
    )


def by_depth(table: dict[int, tuple[Tensor, ...]]) -> ByDepth:
    """States for each depth, sorted."""
    return tuple(sorted((depth, states(parts)) for depth, parts in table.items()))


def _confidence(note: str, scope: ModuleScope, parts: Iterable[Tensor]) -> Confidence:
    return "likely" if note or scope.note else "proven"


def _dropped(joined: Joined, where: Location) -> Iterator[Defect]:
    """`hs[:-1]` that cuts off an auxiliary state, or a stored list that keeps the final state."""
    cut = [part for part in joined.dropped if isinstance(part, Tensor)]
    details = {"kept": [p.state.boundary for p in joined.parts], "depth": joined.parts[0].depth}
    if cut and not any(part.state.boundary == part.depth for part in cut):
        boundaries = [part.state.boundary for part in cut]
        yield Defect("concat-drops-wrong-state", where, {**details, "dropped": boundaries}, trace(cut))
        return
    last = joined.parts[-1]
    loaded = any(step.what.startswith("loaded") for step in last.trace)
    if loaded and last.state.normed and last.state.boundary == last.depth and len(joined.parts) > 2:
        yield Defect("concat-drops-wrong-state", where, {**details, "kept_final": True}, trace(joined.parts[-1:]))


def _early(joined: Joined, where: Location) -> Iterator[Defect]:
    """The first entries of a stock model's hidden_states, or as good as all of them, as auxiliary states."""
    model = joined.parts[0].model
    if model is None or not model.stock or model.framework != "hf" or not drafting(joined.scope):
        return
    boundaries = [part.state.boundary for part in joined.parts]
    if boundaries == list(range(len(boundaries))) and 1 < len(boundaries) < 9:
        yield Defect("early-layers-captured", where, {"boundaries": boundaries}, trace(joined.parts))
    elif len(boundaries) >= max(9, joined.parts[0].depth) and _consecutive(boundaries):
        yield Defect("all-layers-concatenated", where, {"states": len(boundaries)}, trace(joined.parts))


def _consecutive(boundaries: list[int]) -> bool:
    return boundaries == list(range(boundaries[0], boundaries[-1] + 1))


# ---- captures ------------------------------------------------------------------------------------------------------


def _captures(runs: list[tuple[int, Recorder]]) -> Iterator[Capture]:
    merged: dict[Location, _Merged[Store]] = {}
    for depth, recorder in runs:
        for store in recorder.stores.values():
            if store.doubt is not None:
                continue
            parts = _distinct(store.states)
            entry = merged.setdefault(store.where, _Merged(store))
            entry.by_depth.setdefault(_depth(parts, depth), []).append(parts)
    for where, entry in merged.items():
        store = entry.sample
        if not related(store.scope):
            continue
        table = {depth: variants[0] for depth, variants in entry.by_depth.items()}
        sample = next(iter(table.values()))
        note = _notes(sample, store.note)
        framework = sample[0].model.framework if sample and sample[0].model is not None else store.scope.framework()
        yield Capture(
            where=where,
            states=by_depth(table),
            chosen=None,
            confidence=_confidence(note, store.scope, sample),
            framework=framework,
            trace=trace(sample),
            assumed=note,
            target=_target(sample),
            columns=tuple(part.trace for part in sample),
        )


def _distinct(parts: list[Tensor]) -> tuple[Tensor, ...]:
    kept: list[Tensor] = []
    for part in parts:
        if all(part.state != other.state for other in kept):
            kept.append(part)
    return tuple(kept)


# ---- names ---------------------------------------------------------------------------------------------------------


def _labels(runs: list[tuple[int, Recorder]]) -> Iterator[Label]:
    merged: dict[tuple[Location, str], dict[int, Named]] = {}
    for depth, recorder in runs:
        for key, named in recorder.names.items():
            merged.setdefault(key, {})[_depth((named.state,), depth)] = named
    for (where, _), table in merged.items():
        sample = next(iter(table.values()))
        if any(named.state.note == "%several" for named in table.values()):
            continue
        if not related_by(runs, sample.scope, sample.state.trace):
            continue
        yield Label(
            name=sample.name,
            kind=sample.kind,
            where=where,
            states=tuple(sorted((d, (named.state.state,)) for d, named in table.items())),
            trace=sample.state.trace,
            confidence="likely" if sample.state.note else "proven",
            owner=sample.function,
        )


def _unresolved(runs: list[tuple[int, Recorder]]) -> Iterator[Unresolved]:
    """What is not known of captures: where they store, else where what they stored is used; each cause once a file."""
    places: set[Location] = set()
    causes: set[tuple[str, str, Location | None]] = set()
    for _, recorder in runs:
        doubts = [(w, store.doubt, store.scope) for w, store in recorder.stores.items() if store.doubt is not None]
        for where, unknown, scope in [*doubts, *((w, u, scope) for w, (u, scope) in recorder.unknown.items())]:
            if where in places or not related(scope):
                continue
            places.add(where)
            missing, at = unknown.reason or "the layer ids", place(unknown.where)
            if (where.path, missing, at) not in causes:
                causes.add((where.path, missing, at))
                yield Unresolved(where, missing, at)
