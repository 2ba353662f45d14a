"""The right halves of the panels: what the engines in use make of a drafter, one for each different outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from eaglelint.boundary import show_ids
from eaglelint.checks import wording
from eaglelint.checks.meanings import meanings
from eaglelint.conventions.records import Reading
from eaglelint.conventions.rules import MEANING, NOWHERE
from eaglelint.facts import Launch, LayerIds, Step
from eaglelint.linking.methods import method
from eaglelint.linking.records import Serving, releases_named, title
from eaglelint.pipeline import Pipeline
from eaglelint.tracing.boundaries import boundary
from eaglelint.tracing.records import Boundary, Fed, Served, Trained
from eaglelint.tracing.verdicts import said


class Arrival(NamedTuple):
    """One state in the order in which an engine concatenates them.

    `entries` are the places in the id list that mean it; `lost` says why it does not arrive, "" when it does.
    """

    boundary: int
    entries: tuple[int, ...]
    lost: str = ""


class Side(NamedTuple):
    """A right half with the reading that it comes from (None for what no engine's reading says).

    `known` is True when it is known what arrives, also when that is nothing.
    """

    served: Served
    serving: Serving | None = None
    known: bool = True


def sides(pipeline: Pipeline, runtimes: Sequence[Trained]) -> list[Side]:
    """One for each outcome of the engines and for each home-made runtime; without any, the ids as they stand."""
    groups: dict[object, list[Serving]] = {}
    for serving in pipeline.servings:
        groups.setdefault(_outcome(serving), []).append(serving)
    graphs = {finding.defect[2] for finding in said("EGL113", pipeline)}
    found = []
    for group in groups.values():
        served = _of_group(pipeline, group)
        nothing = group[0].off or group[0].reading.status != "ok"
        found.append(Side(served, group[0], bool(served.columns) or nothing))
        replayed = [s for s in group if s.ids is not None and _launched(s) in graphs]
        if replayed:
            found.append(Side(_of_graphs(pipeline, replayed), None))
    others = [launch for launch in pipeline.launches if _captures_nothing(pipeline, launch)]
    found += [Side(_without_capture(pipeline, launch)) for launch in others]
    found += [Side(_of_runtime(runtime)) for runtime in runtimes]
    return found or [Side(_undecided(pipeline), known=False)]


def _captures_nothing(pipeline: Pipeline, launch: Launch) -> bool:
    """Whether a launch drafts with a method for which no auxiliary states are captured, and the head wants them."""
    how = method(launch)
    return pipeline.method == "eagle3" and how.argument is not None and not how.captures


def _without_capture(pipeline: Pipeline, launch: Launch) -> Served:
    argument = method(launch).argument
    given = f"{argument.spelling} {argument.value.value}" if argument is not None else ""
    return Served(
        title=title(launch.engine),
        source="engine",
        launches=(launch.where,),
        ids=_ids_words(pipeline.id_lists[0]) if pipeline.id_lists else "",
        rule=f"no auxiliary states are captured for {given}",
        steps=(Step(argument.where if argument is not None else launch.where, "the method is chosen here"),),
    )


def arrivals(serving: Serving, depth: int) -> tuple[Arrival, ...] | None:
    """What arrives at fc of a target with `depth` layers, lost states at their place; None when not known."""
    partial = serving.reading.status == "broken" and serving.reading.tensor != "stream" and not serving.off
    meant, captured = serving.meant(depth), serving.captured(depth)
    if partial:
        meant, captured = serving.reading.boundaries(serving.declared, depth or None, serving.key), ()
    if meant is None or captured is None:
        return None
    entries: list[tuple[int, int]] = list(enumerate(meant))
    if serving.reading.order == "ascending":
        entries.sort(key=lambda entry: _rank(entry, serving))
    found: list[Arrival] = []
    merge = serving.reading.order == "ascending" or serving.reading.duplicates == "collapsed"
    for index, value in entries:
        same = next((n for n, arrival in enumerate(found) if arrival.boundary == value), None) if merge else None
        if same is not None:
            found[same] = found[same]._replace(entries=(*found[same].entries, index))
        else:
            found.append(Arrival(value, (index,), "" if value in captured else _lost(value, serving, depth)))
    return tuple(found)


def _rank(entry: tuple[int, int], serving: Serving) -> int:
    """The place of a state among the others; one that is captured nowhere stands where its id does."""
    index, value = entry
    declared = serving.declared
    return declared[index] + 1 if value == NOWHERE and declared is not None else value


def _lost(value: int, serving: Serving, depth: int) -> str:
    reading = serving.reading
    if reading.status == "broken":
        why = "the residual is missing" if reading.tensor == "branch" else reading.note
        return f"can not be captured whole: {why}"
    edge = reading.zero if value == 0 else reading.end if value == depth else reading.outside
    if value == NOWHERE:
        edge = "dropped"
    return {
        "crash": "can not be captured: the server stops at it",
        "wrong_layer": "can not be captured: another layer is taken instead",
    }.get(edge, "can not be captured")


def _outcome(serving: Serving) -> object:
    """What makes two readings one panel: the same engine, ids, way of reading, and states for every depth."""
    target = serving.target
    return (
        serving.engine,
        serving.release.specifier,
        serving.release.unknown,
        serving.ids,
        serving.off,
        serving.reading.status,
        (target.name, target.depth) if target is not None else None,
        tuple(_tables(serving).items()),
    )


def _of_group(pipeline: Pipeline, group: Sequence[Serving]) -> Served:
    first, last = group[0], group[-1]
    name = first.name
    if not first.release.exact:
        name = releases_named(first.engine, first.reading.first, last.reading.last)
    runners = [s.reading.runner for s in group if s.reading.runner]
    if runners:
        name += f", model runner {wording.listed(runners)}"
    launches = tuple(dict.fromkeys(s.launch.where for s in group if s.launch is not None))
    return Served(
        title=name,
        columns=_columns(pipeline, first),
        source="engine",
        launches=launches,
        release=first.release.where,
        ids=_ids_words(first.ids) if first.ids is not None else "",
        rule="; or: ".join(dict.fromkeys(_rule(serving) for serving in group)),
        target=first.target.words if first.target is not None else "",
        default=first.ids is None and not first.off and first.reading.status == "ok",
        assumed=first.assumed,
        steps=wording.steps(pipeline, (), group),
        evidence=first.reading.evidence,
    )


def _launched(serving: Serving) -> str:
    return str(serving.launch.where if serving.launch is not None else "")


def _of_graphs(pipeline: Pipeline, group: Sequence[Serving]) -> Served:
    """What decoding reads where a release captures its CUDA graphs before the ids are set: its default boundaries."""
    first = group[0]
    tables = {depth: found for depth in first.depths if (found := first.reading.defaults(depth)) is not None}
    columns = tuple(
        Fed(boundary({n: found[place] for n, found in tables.items()}, first.depth), formula=formula)
        for place, formula in enumerate(first.reading.default if tables else ())
    )
    eager = _of_group(pipeline, group)
    return replace(
        eager,
        title=f"{eager.title}, decoding in CUDA graphs",
        columns=columns,
        rule=f"the graphs are captured before the ids are set, with the default boundaries "
        f"{', '.join(first.reading.default)}; --disable-cuda-graph leaves them out",
        default=True,
    )


def _rule(serving: Serving) -> str:
    """How the ids are read, or why nothing is captured."""
    if serving.off:
        return "a key of the drafter's config switches the capture off"
    if serving.reading.status != "ok":
        return _broken(serving.reading)
    if serving.ids is None:
        return f"no ids are taken: the default boundaries {', '.join(serving.reading.default) or 'are not known'}"
    if serving.declared is None:
        return "not known for these ids: one of them is no integer"
    return MEANING.get(serving.reading.rule, serving.reading.rule)


def _broken(reading: Reading) -> str:
    """What goes wrong where a release can not serve this kind of drafter for a target."""
    words = "captures nothing for this target"
    if reading.status == "broken":
        words = "its capture is broken for this target"
    why = next((defect.effect for defect in reading.defects if reading.status == "broken"), "") or reading.note
    return f"{words}: {why}" if why else words


def _columns(pipeline: Pipeline, serving: Serving) -> tuple[Fed, ...]:
    tables = _tables(serving)
    if not tables:
        return _unread(pipeline, serving.ids) if serving.ids is not None and serving.reading.status == "ok" else ()
    columns = []
    for index, arrival in enumerate(next(iter(tables.values()))):
        alike = {n: found[index] for n, found in tables.items() if index < len(found)}
        certain = all(one.lost for one in alike.values())
        arrival = arrival if certain else arrival._replace(lost="")
        where = boundary({n: one.boundary for n, one in alike.items()}, serving.depth)
        if serving.ids is not None:
            columns.append(_fed(pipeline, where, serving.ids, arrival))
        else:
            formulas = [serving.reading.default[entry] for entry in arrival.entries]
            columns.append(Fed(where, formula=" and ".join(formulas), lost=arrival.lost))
    return tuple(columns)


def _tables(serving: Serving) -> dict[int, tuple[Arrival, ...]]:
    """What arrives for each depth that is possible: a target with fewer layers than the ids ask for is not meant."""
    tables = {depth: found for depth in serving.depths if (found := arrivals(serving, depth)) is not None}
    fitting = {n: found for n, found in tables.items() if all(arrival.boundary <= n for arrival in found)}
    return fitting or tables


def _fed(pipeline: Pipeline, where: Boundary, ids: LayerIds, arrival: Arrival) -> Fed:
    entries = [entry for entry in arrival.entries if entry < len(ids.ids)]
    return Fed(
        boundary=where,
        ids=tuple(str(ids.ids[entry]) for entry in entries),
        key=f"{key_words(ids.key)}[{', '.join(map(str, entries))}]",
        steps=tuple(_id_step(pipeline, ids, entry) for entry in entries),
        lost=arrival.lost,
    )


def _id_step(pipeline: Pipeline, ids: LayerIds, entry: int) -> Step:
    pointer = f"{ids.key}/{entry}"
    inside = pipeline.drafter is not None and pipeline.drafter.document.path == ids.where.path
    where = ids.where
    if inside and pipeline.drafter is not None and pipeline.drafter.document.has(pointer):
        where = pipeline.drafter.document.spans[pointer]
    return Step(where, f"id {ids.ids[entry]} declared")


def key_words(key: str) -> str:
    """A key as it stands in the drawing: a JSON pointer dotted, the name of an argument as it is."""
    if not key.startswith("/"):
        return key
    return ".".join(part.replace("~1", "/").replace("~0", "~") for part in key[1:].split("/"))


def _ids_words(ids: LayerIds) -> str:
    return f"{show_ids(ids.ids)} under {key_words(ids.key)} ({ids.where})"


def _of_runtime(runtime: Trained) -> Served:
    """What a runtime of the project itself feeds, as the right half of a panel."""
    columns = tuple(
        Fed(kept.boundary, steps=kept.steps, lost=f"is fed, but {kept.flaw}" if kept.flaw else "")
        for kept in runtime.columns
    )
    return Served(
        title="the project's own runtime",
        columns=columns,
        source="runtime",
        rule=runtime.title,
        assumed=runtime.assumed,
        steps=runtime.steps,
    )


def _undecided(pipeline: Pipeline) -> Served:
    """The ids as they stand, where nothing tells which engine reads them."""
    ids = pipeline.id_lists[0] if pipeline.id_lists else None
    if ids is None:
        return Served("not known")
    return Served("not known", columns=_unread(pipeline, ids), ids=_ids_words(ids))


def _unread(pipeline: Pipeline, ids: LayerIds) -> tuple[Fed, ...]:
    """Ids whose boundaries are not known, with what they usually mean."""
    usual = meanings(ids)
    columns = []
    for entry in range(len(ids.ids)):
        values = [str(meaning.boundaries[entry]) for meaning in usual]
        text = Boundary(" or ".join(dict.fromkeys(values)) or "unknown")
        columns.append(_fed(pipeline, text, ids, Arrival(0, (entry,))))
    return tuple(columns)
