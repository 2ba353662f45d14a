"""From what the runs saw to facts: one run for each depth N, merged by place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from eaglelint.analyser.observations import Flaw, Joined, Named, Store, Test
from eaglelint.analyser.patterns import attributes_read
from eaglelint.analyser.recorder import Recorder
from eaglelint.analyser.scope import ModuleScope, place
from eaglelint.analyser.values import Tensor
from eaglelint.boundary import State
from eaglelint.facts import Assembly, ByDepth, Capture, Confidence, Defect, Label, Step, Unresolved, Value
from eaglelint.location import Location

#: Words of which one stands in code that has to do with drafters and their training data.
_RELATED = ("eagle", "draft", "aux", "verifier", "specul", "capture", "dump", "dflash", "dspark", "teacher")
#: Words of which one stands in code that feeds a drafter.
_DRAFTING = ("eagle", "draft", "specul", "verifier", "aux_hidden", "dflash", "dspark")
_RUNTIME = re.compile(r"bench|accept|runtime|runner|infer|serv|decod|speculat|demo|eval", re.IGNORECASE)
_TRAINING = re.compile(
    r"train|data|feature|collect|dump|extract|sample|batch|loss|distil|online|cache|fit|gather", re.IGNORECASE
)
#: Bits of a float type that a dump may narrow a state to.
_SAID = re.compile(r"(boundary|named|saved to|loaded from|entry) (\S+)( .*)?")
_WIDTH = {"float8_e4m3fn": 8, "float8_e5m2": 8, "int8": 8, "float16": 16, "half": 16, "bfloat16": 16, "float32": 32}


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
    yield from _flaws(runs)
    yield from _unresolved(runs)


def states(parts: Iterable[Tensor]) -> tuple[State, ...]:
    """The states of tensors."""
    return tuple(part.state for part in parts)


def _depth(parts: tuple[Tensor, ...], run_depth: int) -> int:
    return next((part.depth for part in parts if part.depth), run_depth)


def related(scope: ModuleScope) -> bool:
    """Whether code speaks of drafters or their data at all."""
    return scope.mentions(*_RELATED) or any(word in scope.path.lower() for word in _RELATED)


def drafting(scope: ModuleScope) -> bool:
    """Whether code speaks of drafters themselves: many features of a model are taken for other ends as well."""
    return scope.mentions(*_DRAFTING) or any(word in scope.path.lower() for word in _DRAFTING)


def _related(runs: list[tuple[int, Recorder]], scope: ModuleScope, steps: Iterable[Step]) -> bool:
    """Whether code, or code that its states came through, speaks of drafters or their data."""
    if related(scope):
        return True
    scopes = runs[0][1].scopes
    return any(related(scopes[path]) for path in {step.where.path for step in steps} if path in scopes)


def purpose(scope: ModuleScope, function: str) -> str:
    """What a concatenation is for, by the names around it: "runtime", "training" or "unknown"."""
    around = f"{scope.path} {function}"
    if _RUNTIME.search(around) and not re.search(r"train", around, re.IGNORECASE):
        return "runtime"
    if _TRAINING.search(around) or scope.mentions(
        "optimizer", "backward()", "loss", "torch.save", "dataset", "safetensors"
    ):
        return "training"
    return "unknown"


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
        if not _related(runs, joined.scope, trace(joined.parts)):
            continue
        width = max(len(variants) for variants in entry.by_depth.values())
        if width > _MANY:
            continue
        for n in range(width):
            table = {d: v[n] for d, v in entry.by_depth.items() if n < len(v)}
            sample = next(iter(table.values()))
            if len(sample) < 2:
                continue
            note = _notes(sample, joined.note)
            yield Assembly(
                where=where,
                states=by_depth(table),
                confidence=_confidence(note, joined.scope, sample),
                purpose=purpose(joined.scope, joined.function),
                trace=trace(sample),
                assumed=note,
                target=_target(sample),
                columns=tuple(part.trace for part in sample),
                preset=joined.chosen,
            )
        yield from _dropped(joined, where)
        if not any(("all-layers-concatenated", where) in recorder.flaws for _, recorder in runs):
            yield from _early(joined, where)


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
        if not _related(runs, sample.scope, sample.state.trace):
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


# ---- defects -------------------------------------------------------------------------------------------------------


def _flaws(runs: list[tuple[int, Recorder]]) -> Iterator[Defect]:
    """Defects that every run proves."""
    counts: dict[tuple[str, Location], int] = {}
    first: dict[tuple[str, Location], Flaw] = {}
    for _, recorder in runs:
        for key, flaw in recorder.flaws.items():
            counts[key] = counts.get(key, 0) + 1
            first.setdefault(key, flaw)
    for key, flaw in first.items():
        whole = flaw.kind == "all-layers-concatenated" and not drafting(flaw.scope)
        if counts[key] == len(runs) and flaw.kind != "index-out-of-range" and related(flaw.scope) and not whole:
            yield Defect(flaw.kind, flaw.where, flaw.details, flaw.related)
    yield from _unreachable(runs)
    yield from _mixed(runs)
    yield from _inert(runs)
    yield from _norms(runs)
    yield from _casts(runs)


def _unreachable(runs: list[tuple[int, Recorder]]) -> Iterator[Defect]:
    """Ids that no test in a layer loop can ever match."""
    verdicts: dict[Location, list[tuple[list[int], Test]]] = {}
    for _, recorder in runs:
        for where, test in recorder.tests.items():
            if len(test.seen) < 4 or not test.hit or not related(test.scope):
                continue
            alike = [
                t for t in recorder.tests.values() if t.scope.path == test.scope.path and set(t.ids) & set(test.ids)
            ]
            hit = set().union(*(t.hit for t in alike))
            missed = [i for i in test.ids if i not in hit and (i < 0 or i > max(test.seen))]
            verdicts.setdefault(where, []).append((missed, test))
    for where, found in verdicts.items():
        if len(found) == len(runs) and all(missed for missed, _ in found):
            missed, test = found[0]
            details = {"ids": missed, "all": list(test.ids), "highest": max(test.seen), "depth_known": len(runs) == 1}
            yield Defect("unreachable-layer", where, details, (), "likely" if test.note else "proven")


def _mixed(runs: list[tuple[int, Recorder]]) -> Iterator[Defect]:
    """One list of ids that drives a capture before the layer call and another after it."""
    seen: set[int] = set()
    tests = [t for t in runs[0][1].tests.values() if t.offsets and related(t.scope)] if runs else []
    for first in tests:
        for second in tests:
            if first is second or first.container is not second.container or id(first.container) in seen:
                continue
            if len(first.offsets) == len(second.offsets) == 1 and set(first.offsets) != set(second.offsets):
                seen.add(id(first.container))
                pairs = [(min(t.offsets), next(iter(t.offsets.values())), t) for t in (first, second)]
                details = {"ids": list(first.ids), "offsets": [offset for offset, _, _ in pairs]}
                steps = [
                    Step(where, f"id i is boundary i{f' + {offset}' if offset else ''} here")
                    for offset, where, _ in pairs
                ]
                yield Defect("capture-before-after-mixed", second.where, details, tuple(steps))


def _inert(runs: list[tuple[int, Recorder]]) -> Iterator[Defect]:
    """A setter that writes what no forward in scope reads, while the capture waits for something else."""
    if not runs:
        return
    recorder = runs[0][1]
    read = {path: attributes_read(scope.tree) for path, scope in recorder.scopes.items()}
    for name, writes in recorder.written.items():
        if any(name in names for names in read.values()):
            continue
        where, value, scope = writes[0]
        waiting = [(place, flag) for place, (flag, other) in recorder.skipped.items() if other.path == scope.path]
        if waiting and not isinstance(value, bool):
            place, flag = waiting[0]
            yield Defect(
                "inert-capture", where, {"written": name, "read": flag}, (Step(place, f"the capture waits for {flag}"),)
            )


def _norms(runs: list[tuple[int, Recorder]]) -> Iterator[Defect]:
    """The last state goes into the head without the final norm, or through the norm twice."""
    if not runs:
        return
    recorder = runs[0][1]
    for (where, _), (state, scope) in recorder.heads.items():
        if state.state.boundary == state.depth and not state.state.normed and _related(runs, scope, state.trace):
            yield Defect(
                "final-state-norm-mismatch",
                where,
                {"consumed": "normed", "stored": "un-normed"},
                state.trace,
                "likely" if state.by_name else "proven",
            )
    for where, (state, scope) in recorder.again.items():
        if _related(runs, scope, state.trace) and state.trace:
            yield Defect(
                "final-state-norm-mismatch",
                where,
                {"consumed": "un-normed", "stored": "normed"},
                state.trace,
                "likely" if state.by_name else "proven",
            )


def _casts(runs: list[tuple[int, Recorder]]) -> Iterator[Defect]:
    """States of a wider type that are cast to a narrower one."""
    for where, (state, dtype, scope) in runs[0][1].casts.items() if runs else ():
        computed = state.model.arguments.get("dtype") if state.model is not None else None
        if not isinstance(computed, str) or dtype not in _WIDTH or not related(scope):
            continue
        if computed == "auto" and state.model is not None and state.model.name is not None:
            details = {"stored": dtype, "computed": computed, "target": state.model.name.value}
            yield Defect("lossy-dump-dtype", where, details, ())
        if computed not in _WIDTH:
            continue
        narrower = _WIDTH[dtype] < _WIDTH[computed] or (dtype in ("float16", "half") and computed == "bfloat16")
        if narrower:
            yield Defect("lossy-dump-dtype", where, {"stored": dtype, "computed": computed}, ())


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
