"""Defects of captures, from what the runs saw: one fact a place."""

from __future__ import annotations

from collections.abc import Iterator

from eaglelint.analyser.idle import idle
from eaglelint.analyser.observations import Flaw, Test
from eaglelint.analyser.patterns import attributes_read
from eaglelint.analyser.recorder import Recorder
from eaglelint.analyser.relevance import drafting, related, related_by
from eaglelint.facts import Defect, Step
from eaglelint.location import Location

#: Bits of a float type that a dump may narrow a state to.
_WIDTH = {"float8_e4m3fn": 8, "float8_e5m2": 8, "int8": 8, "float16": 16, "half": 16, "bfloat16": 16, "float32": 32}


def flaws(runs: list[tuple[int, Recorder]]) -> Iterator[Defect]:
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
    yield from idle(tuple(runs[0][1].flags.values()), runs[0][1].scopes) if runs else ()
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
        if state.state.boundary == state.depth and not state.state.normed and related_by(runs, scope, state.trace):
            yield Defect(
                "final-state-norm-mismatch",
                where,
                {"consumed": "normed", "stored": "un-normed"},
                state.trace,
                "likely" if state.by_name else "proven",
            )
    for where, (state, scope) in recorder.again.items():
        if related_by(runs, scope, state.trace) and state.trace:
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
