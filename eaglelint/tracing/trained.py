"""The left halves of the panels: what a drafter was trained on, one for each thing that the project says of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from eaglelint.boundary import State
from eaglelint.facts import Assembly, Capture, Step
from eaglelint.linking.records import Training
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline
from eaglelint.tracing.boundaries import boundary, column, states_by_depth
from eaglelint.tracing.names import Names
from eaglelint.tracing.records import Kept, Trained

_FLAWS = {"branch": "its residual is missing", "residual": "it is the residual alone"}


def trained(pipeline: Pipeline, names: Names) -> list[Trained]:
    """What the best evidence says; without any, what the code assembles or captures, not judged; else one unknown."""
    found = [_of_training(pipeline, training, names) for training in _distinct(pipeline.evidence.best)]
    if not found:
        found = [_of_assembly(a, pipeline, names, judged=False) for a in pipeline.assemblies if a.purpose != "runtime"]
    if not found:
        found = list(_of_captures(pipeline, names))
    return found or [Trained("not known")]


def runtime(pipeline: Pipeline, names: Names) -> list[Trained]:
    """What home-made runtimes and benchmarks of the project put side by side."""
    return [_of_assembly(a, pipeline, names) for a in pipeline.assemblies if a.purpose == "runtime"]


def _distinct(trainings: Iterable[Training]) -> list[Training]:
    """Trainings that say different things; of those that agree, the first."""
    found: dict[object, Training] = {}
    for training in trainings:
        found.setdefault(training.boundaries, training)
    return list(found.values())


def _of_training(pipeline: Pipeline, training: Training, names: Names) -> Trained:
    for assembly in pipeline.assemblies:
        here = training.source == "assembly" and assembly.where == training.where
        if here and _says(assembly, training, pipeline.depth):
            return _of_assembly(assembly, pipeline, names)
    places = [training.where, *(step.where for step in training.trace)]
    captures = [capture for capture in pipeline.captures if capture.where in places]
    if training.source == "capture" and captures:
        return _of_capture_group(captures, pipeline, names, training)
    return _of_boundaries(training, pipeline)


def _says(assembly: Assembly, training: Training, depth: int) -> bool:
    """Whether this is the assembly of a training: one place may have several variants."""
    for n, states in states_by_depth(assembly.states, depth).items():
        expected = training.at(n)
        if expected is not None:
            return expected == tuple(state.boundary for state in states)
    return False


def _of_boundaries(training: Training, pipeline: Pipeline) -> Trained:
    """Bare boundaries, as the record of a published head has them."""
    depth = pipeline.depth
    fixed = training.boundaries.fixed
    tables: list[dict[int, int]] = []
    if fixed is not None:
        tables = [dict.fromkeys((depth,) if depth else _depths(training), b) for b in fixed]
    elif training.boundaries.table:
        width = min(len(values) for _, values in training.boundaries.table)
        tables = [{n: values[i] for n, values in training.boundaries.table} for i in range(width)]
    title = f"{training.what} at {training.where}"
    steps = (Step(training.where, training.what),) if training.where is not None else ()
    if training.source == "published":
        title, steps = f"what is known of {pipeline.name}", steps[:0]
    return Trained(
        title=title,
        columns=tuple(Kept(boundary(table, depth)) for table in tables),
        source=training.source,
        ordered=training.ordered,
        assumed=training.assumed,
        steps=steps,
    )


def _depths(training: Training) -> tuple[int, ...]:
    from eaglelint.boundary import SAMPLED_DEPTHS

    return tuple(n for n in SAMPLED_DEPTHS if all(b <= n for b in training.at(n) or ()))


def _of_assembly(assembly: Assembly, pipeline: Pipeline, names: Names, *, judged: bool = True) -> Trained:
    table = states_by_depth(assembly.states, pipeline.depth) or dict(assembly.states)
    width = max((len(states) for states in table.values()), default=0)
    ways = assembly.columns if len(assembly.columns) == width else (assembly.trace,) * width
    columns = tuple(_kept(column(table, index), ways[index], pipeline.depth, names) for index in range(width))
    capture = assembly.trace[0].where if assembly.trace else None
    return Trained(
        title=_title(capture, "concatenated", assembly.where),
        columns=columns,
        source="runtime" if assembly.purpose == "runtime" else "assembly",
        ordered=assembly.ordered,
        judged=judged,
        assumed=assembly.assumed,
        steps=(Step(assembly.where, "concatenated"),),
        beside=_beside(pipeline, columns, names) if assembly.purpose != "runtime" else (),
    )


def _title(capture: Location | None, what: str, where: Location) -> str:
    here = f"{what} at {where}"
    return here if capture is None or str(capture) == str(where) else f"captured at {capture}, {here}"


# ---- captures without a concatenation ------------------------------------------------------------------------------


def _of_captures(pipeline: Pipeline, names: Names) -> Iterator[Trained]:
    """The captures of each file together, where no evidence came of them; files of a home-made runtime are its own."""
    runtimes = [assembly for assembly in pipeline.assemblies if assembly.purpose == "runtime"]
    feeding = {place.path for a in runtimes for place in (a.where, *(step.where for step in a.trace))}
    groups: dict[str, list[Capture]] = {}
    for capture in pipeline.captures:
        if capture.where.path not in feeding:
            groups.setdefault(capture.where.path, []).append(capture)
    for group in groups.values():
        yield _of_capture_group(group, pipeline, names, None)


def _of_capture_group(
    captures: Sequence[Capture], pipeline: Pipeline, names: Names, training: Training | None
) -> Trained:
    """The states of some captures from low to high, without those that the evidence takes for the verifier's."""
    every = [kept for capture in captures for kept in _states_of(capture, pipeline.depth, names)]
    wanted = _wanted(training, pipeline.depth) if training is not None else None
    inside = [kept for kept in every if _belongs(kept, wanted)]
    columns = tuple(sorted(inside, key=lambda kept: kept.boundary.by_depth[:1]))
    return Trained(
        title=f"captured at {captures[0].where}" if columns else "not known",
        columns=columns,
        source="capture",
        ordered=False,
        judged=training is not None,
        assumed=training.assumed if training is not None else captures[0].assumed,
        beside=_beside(pipeline, columns, names),
    )


def _wanted(training: Training, depth: int) -> tuple[tuple[int, ...], int] | None:
    """The boundaries of a training for one depth, and that depth."""
    for n in (depth,) if depth else _depths(training):
        found = training.at(n)
        if found is not None:
            return found, n
    return None


def _belongs(kept: Kept, wanted: tuple[tuple[int, ...], int] | None) -> bool:
    if kept.normed:
        return False
    if wanted is None:
        return True
    boundaries, n = wanted
    return dict(kept.boundary.by_depth).get(n) in boundaries


def _beside(pipeline: Pipeline, columns: Sequence[Kept], names: Names) -> tuple[Kept, ...]:
    """Captured states that are no column, and the last state of the target where only names say that it is kept."""
    used = {(kept.boundary.by_depth, kept.normed) for kept in columns}
    found: dict[object, Kept] = {}
    states = [kept for capture in pipeline.captures for kept in _states_of(capture, pipeline.depth, names)]
    for kept in (*states, *_last_states(pipeline, names)):
        key = (kept.boundary.by_depth, kept.normed)
        if key not in used:
            found.setdefault(key, kept)
    return tuple(found.values())


def _last_states(pipeline: Pipeline, names: Names) -> Iterator[Kept]:
    """The state after the final norm, by the label that has come the longest way."""
    for label in sorted(pipeline.labels, key=lambda label: -len(label.trace)):
        table = states_by_depth(label.states, pipeline.depth) or dict(label.states)
        states = column(table, 0)
        if states and all(state.normed for state in states.values()) and all(len(s) == 1 for s in table.values()):
            way = (*label.trace, Step(label.where, f"named {label.name}"))
            yield _kept(states, way, pipeline.depth, names)


def _states_of(capture: Capture, depth: int, names: Names) -> Iterator[Kept]:
    table = states_by_depth(capture.states, depth) or dict(capture.states)
    width = max((len(states) for states in table.values()), default=0)
    ways = capture.columns if len(capture.columns) == width else (capture.trace or _bare(capture),) * width
    for index in range(width):
        states = column(table, index)
        yield _kept(states, names.after(ways[index], states), depth, names)


def _bare(capture: Capture) -> tuple[Step, ...]:
    return (Step(capture.where, "captured"),)


def _kept(states: Mapping[int, State], way: Sequence[Step], depth: int, names: Names) -> Kept:
    slot, called = names.kept_as(way, states)
    sample = next(iter(states.values()))
    drawn = boundary({n: state.boundary for n, state in states.items()}, depth)
    return Kept(
        boundary=drawn,
        slot=slot,
        names=called,
        steps=tuple(step if drawn.value is not None else _for_every_depth(step, drawn.text) for step in way),
        normed=sample.normed,
        dtype=sample.dtype,
        flaw=_FLAWS.get(sample.part, ""),
    )


def _for_every_depth(step: Step, formula: str) -> Step:
    """A step as it holds for every N: the analyser names the boundary of the depth that it ran with."""
    formula = formula.replace(" ", "")
    what = re.sub(r"^boundary \d+ captured$", f"boundary {formula} captured", step.what)
    return Step(step.where, re.sub(r"^hidden_states\[\d+\] of", f"hidden_states[{formula}] of", what))
