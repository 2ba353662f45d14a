"""EGL410: releases of one engine, in one project or one pinned range, that read the same ids as different states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eaglelint.boundary import show_ids
from eaglelint.checks import wording
from eaglelint.checks.config import is_judged
from eaglelint.checks.contract import aux_layers_mismatch
from eaglelint.checks.keys import key_not_read
from eaglelint.checks.registry import check
from eaglelint.conventions import versions
from eaglelint.facts import Confidence, LayerIds, Step
from eaglelint.findings import Finding, Fix
from eaglelint.linking.records import Release, Serving, title
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

#: The boundaries that arrive, for each depth that is compared; None where that is not known.
Effect = tuple[tuple[int, ...] | None, ...]


def _effect(serving: Serving) -> Effect:
    return tuple(serving.captured(depth) for depth in serving.depths)


def _works(serving: Serving) -> bool:
    return not serving.off and serving.reading.status == "ok"


class _Named(NamedTuple):
    """A release, or one part of a range, that the project names: what it captures and the reading that says so."""

    release: Release
    serving: Serving
    effect: Effect

    @property
    def where(self) -> Location | None:
        launch = self.serving.launch
        return self.release.where or (launch.where if launch is not None else None)


@check("EGL410")
def convention_changes(pipeline: Pipeline) -> Iterator[Finding]:
    """The releases of one engine that a project names capture different states for the same ids. One an engine."""
    if not is_judged(pipeline) or not pipeline.id_lists:
        return
    engines = dict.fromkeys(serving.engine for serving in pipeline.servings if _works(serving))
    if not engines or _said_elsewhere(pipeline):
        return
    for engine in engines:
        named = _named([s for s in (*pipeline.servings, *pipeline.elsewhere) if s.engine == engine and _works(s)])
        ids = next((entry.serving.ids for entry in named if entry.serving.ids is not None), None)
        if ids is not None and len({entry.effect for entry in named}) > 1:
            yield _changes(pipeline, ids, named)


def _said_elsewhere(pipeline: Pipeline) -> bool:
    """Whether the same is already an error at the ids: wrong for a release, or not read by one."""
    if any(True for _ in aux_layers_mismatch(pipeline)):
        return True
    return any(finding.severity != "info" for finding in key_not_read(pipeline))


def _named(servings: Sequence[Serving]) -> list[_Named]:
    """What each release that is named captures; without those of which several things may be true at once."""
    groups: dict[Release, list[Serving]] = {}
    for serving in servings:
        if serving.release.bounded:
            groups.setdefault(serving.release, []).append(serving)
    found: list[_Named] = []
    for release, mine in groups.items():
        parts: dict[tuple[str, str], set[Effect]] = {}
        for serving in mine:
            parts.setdefault((serving.reading.first, serving.reading.last), set()).add(_effect(serving))
        overlap = any(_overlap(one, other) for one in parts for other in parts if one < other)
        known = all(None not in effect for effects in parts.values() for effect in effects)
        if known and all(len(effects) == 1 for effects in parts.values()) and not overlap:
            found += [_Named(release, serving, _effect(serving)) for serving in mine]
    return found


def _overlap(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two ranges of releases have some in common."""
    first, second = sorted((one, other), key=lambda bounds: versions.order(bounds[0]))
    return versions.order(second[0]) <= versions.order(first[1])


def _changes(pipeline: Pipeline, ids: LayerIds, named: Sequence[_Named]) -> Finding:
    distinct: dict[Effect, _Named] = {}
    for entry in named:
        distinct.setdefault(entry.effect, entry)
    first = min(distinct.values(), key=_place)
    engine = title(first.serving.engine)
    spans = len({entry.release for entry in distinct.values()}) == 1
    how = "the pinned range admits releases" if spans else "the project names releases"
    readings = "; ".join(_words(entry, spans) for entry in distinct.values())
    message = f"{how} of {engine} that take {show_ids(ids.ids)} as different states: {readings}"
    training = pipeline.training
    depth = first.serving.depth
    trained = training.at(depth) if training is not None else None
    if training is not None and trained is not None:
        message += f"; {wording.trained_words(training, depth)}"
    doubt = next((entry.serving.assumed for entry in distinct.values() if entry.serving.assumed), "")
    if doubt:
        message += f" (assumed: {doubt})"
    beyond = any(entry.serving.reading.beyond for entry in distinct.values())
    confidence: Confidence = "likely" if doubt or beyond else "proven"
    steps = [Step(entry.where, f"{entry.serving.name} is named here") for entry in named if entry.where is not None]
    steps += [Step(entry.serving.launch.where, "served here") for entry in named if entry.serving.launch is not None]
    steps.append(Step(ids.where, "the layers that the head declares"))
    where = first.where or ids.where
    return Finding(
        rule="EGL410",
        severity="warning",
        message=message,
        where=where,
        confidence=confidence,
        related=wording.unique(step for step in steps if step.where != where),
        fix=_cure(list(distinct.values()), trained),
        defect=("releases", pipeline.name, first.serving.engine),
    )


def _place(entry: _Named) -> tuple[str, int]:
    where = entry.where
    return (where.path, where.start) if where is not None else ("", 0)


def _words(entry: _Named, spans: bool) -> str:
    serving = entry.serving
    depth = serving.depths[0]
    captured = serving.captured(depth) or ()
    of = "" if serving.depth else f" of {depth} layers"
    how = "its default " if serving.ids is None else ""
    at = f" ({entry.where})" if entry.where is not None and not spans else ""
    return f"{serving.name}{at} captures {how}{wording.numbers(captured)}{of}"


def _cure(distinct: Sequence[_Named], trained: tuple[int, ...] | None) -> Fix:
    """One release for all, or ids that all of them read as the same states."""
    wanted = [trained] if trained is not None else [entry.effect[0] for entry in distinct]
    for boundaries in (each for each in wanted if each):
        for entry in distinct:
            serving = entry.serving
            depth = serving.depth
            ids = wording.right_ids(serving, boundaries, depth) if depth and serving.ids else None
            if ids is not None and all(_takes(other.serving, ids, boundaries) for other in distinct):
                means = f"{show_ids(ids)}, which all of them take as {wording.numbers(boundaries)}"
                return Fix(f"run one release everywhere, or declare {means}, if those are the trained ones")
    return Fix("run one release everywhere, and pin it")


def _takes(serving: Serving, ids: tuple[int, ...], boundaries: tuple[int, ...]) -> bool:
    captured = serving.reading.captured(ids, serving.depth or None, serving.key)
    return captured is not None and sorted(captured) == sorted(boundaries)
