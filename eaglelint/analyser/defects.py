"""Defects of captures, from what the runs saw: one fact a place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

from eaglelint.analyser.idle import idle
from eaglelint.analyser.observations import Flaw, Test
from eaglelint.analyser.patterns import attributes_read
from eaglelint.analyser.recorder import Recorder
from eaglelint.analyser.relevance import drafting, related, related_by
from eaglelint.analyser.scope import ModuleScope
from eaglelint.analyser.values import V
from eaglelint.analyser.waiting import unfilled
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
        if counts[key] != len(runs) or flaw.kind == "index-out-of-range" or whole:
            continue
        if related_by(runs, flaw.scope, flaw.related):
            yield Defect(flaw.kind, flaw.where, flaw.details, flaw.related)
    yield from _unreachable(runs)
    yield from _left_out(runs)
    yield from _mixed(runs)
    inert = [*_inert(runs), *(unfilled(runs[0][1]) if runs else ())]
    yield from {defect.where: defect for defect in reversed(inert)}.values()
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


class _Use(NamedTuple):
    """A list of ids at work: which boundary an id gives there, beyond its number, and where the state is taken."""

    where: Location
    scope: ModuleScope
    offset: int
    taken: Location
    ids: tuple[int, ...]
    containers: tuple[V, ...]


def _uses(recorder: Recorder) -> Iterator[_Use]:
    for test in recorder.tests.values():
        if len(test.offsets) == 1 and related(test.scope):
            (offset, taken) = next(iter(test.offsets.items()))
            yield _Use(test.where, test.scope, offset, taken, test.ids, (test.container, *test.containers))
    for hooks in recorder.hooks.values():
        if hooks.offset is not None and related(hooks.scope):
            yield _Use(hooks.where, hooks.scope, hooks.offset, hooks.where, tuple(hooks.pairs), hooks.containers)


def _left_out(runs: list[tuple[int, Recorder]]) -> Iterator[Defect]:
    """Ids that a condition leaves out of what chooses the layers, so that nothing in the file stores their states."""
    found: dict[Location, list[Defect]] = {}
    for _, recorder in runs:
        gone = [(left, left.value, scope) for left, scope in recorder.not_hooked.values() if related(scope)]
        for use in _uses(recorder):
            listed = {left for container in use.containers for left in getattr(container, "left_out", ())}
            gone += [(left, left.value + use.offset, use.scope) for left in listed]
        said: set[Location] = set()
        for left, boundary, scope in gone:
            taken = [t for s in recorder.stores.values() if s.where.path == scope.path for t in s.states]
            where = left.where.scope.where(left.where.node)
            if (scope.path, boundary) in recorder.given_back:
                continue
            if where not in said and taken and all(tensor.state.boundary != boundary for tensor in taken):
                known = taken[0].model is not None and taken[0].model.depth > 0
                details = {"ids": [left.number], "boundary": boundary, "depth": taken[0].depth, "depth_known": known}
                said.add(where)
                found.setdefault(where, []).append(Defect("unreachable-layer", where, details))
    yield from (defects[0] for defects in found.values() if len(defects) == len(runs))


def _feeds(recorder: Recorder, use: _Use) -> bool:
    """Whether what hooks store is put together: what is hooked on both sides to be looked at is no mixture."""
    hooks = recorder.hooks.get(use.where)
    if hooks is None:
        return True
    boundaries = set(hooks.pairs.values())
    fed = [{part.state.boundary for part in joined.parts} for joined in recorder.joined.values()]
    return len(boundaries) > 1 and boundaries in fed


def _mixed(runs: list[tuple[int, Recorder]]) -> Iterator[Defect]:
    """One list of ids that drives a capture before the layer call and another after it."""
    uses = [use for use in _uses(runs[0][1]) if _feeds(runs[0][1], use)] if runs else []
    uses.sort(key=lambda use: (use.where.path, use.where.start))
    seen: set[int] = set()
    for first, second in permutations(uses, 2):
        shared = {id(c) for c in first.containers} & {id(c) for c in second.containers}
        if first.offset == second.offset or not shared or shared & seen:
            continue
        seen |= shared
        details = {"ids": list(first.ids), "offsets": [first.offset, second.offset]}
        steps = [
            Step(use.taken, f"id i is boundary i{f' + {use.offset}' if use.offset else ''} here")
            for use in (first, second)
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
