"""What an engine really captures when it serves: EGL113 (graphs with default layers)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eaglelint.boundary import show
from eaglelint.checks import wording
from eaglelint.checks.judging import strength
from eaglelint.checks.registry import check
from eaglelint.facts import Launch
from eaglelint.findings import Finding, Fix
from eaglelint.linking.records import Serving, releases_named, title
from eaglelint.pipeline import Pipeline

_GRAPH_DEFECT = "cuda_graph_uses_default_layers"


@check("EGL113")
def graph_captures_default_layers(pipeline: Pipeline) -> Iterator[Finding]:
    """A release captures its CUDA graphs with the default layers, and the ids mean others. One finding a server."""
    servers: dict[tuple[object, object], list[Serving]] = {}
    for serving in pipeline.servings:
        key = (serving.launch.where if serving.launch is not None else None, serving.release)
        servers.setdefault(key, []).append(serving)
    for group in servers.values():
        affected = [serving for serving in group if _affected(pipeline, serving)]
        if not affected:
            continue
        partial = len(affected) < len(group)
        if partial and not affected[0].release.bounded:
            continue
        yield _graphs(pipeline, affected, partial)


def _affected(pipeline: Pipeline, serving: Serving) -> bool:
    """Whether graphs are on, the release has the defect, and its graphs would read other boundaries than are wanted.

    Wanted are the boundaries of the training where they are known: ids that are merely wrong are EGL401's alone.
    """
    defect = any(defect.id == _GRAPH_DEFECT for defect in serving.reading.defects)
    if not defect or serving.ids is None or serving.off or serving.reading.status != "ok":
        return False
    if serving.launch is not None and _graphs_off(serving.launch):
        return False
    training = pipeline.training
    for depth in serving.depths:
        default = serving.reading.defaults(depth)
        eager = serving.captured(depth)
        if default is None or not eager or sorted(default) == sorted(eager):
            return False
        if training is not None and training.allows(default, depth):
            return False
    return True


def _graphs_off(launch: Launch) -> bool:
    """Whether a launch switches CUDA graphs off, or may do so."""
    argument = launch.get("disable_cuda_graph")
    return argument is not None and (not argument.value.known or argument.value.value not in (False, "false", "False"))


def _name(affected: Sequence[Serving]) -> str:
    """The engine and all releases with the defect, which may read ids in several ways."""
    first, last = affected[0], affected[-1]
    if first.release.exact:
        return first.name
    return releases_named(first.engine, first.reading.first, last.reading.last)


def _graphs(pipeline: Pipeline, affected: Sequence[Serving], partial: bool) -> Finding:
    first = affected[0]
    depth = first.depths[0]
    defect = next(defect for defect in first.reading.defects if defect.id == _GRAPH_DEFECT)
    incomplete = first.launch is not None and not first.launch.complete
    severity, confidence = strength(affected, (), mixed=partial)
    if incomplete and severity == "error":
        severity, confidence = "warning", "likely"
    default, eager = first.reading.defaults(depth) or (), first.meant(depth) or ()
    message = (
        f"{_name(affected)} captures its CUDA graphs with the default layers: decoding reads boundaries "
        f"{show(default)}, while prefill reads boundaries {show(eager)}, which the ids mean"
    )
    if not first.depth:
        message += f" (for {depth} layers)"
    cure = "--disable-cuda-graph"
    fix = f"pin {title(first.engine)} {defect.fixed_in} or newer" if defect.fixed_in else ""
    assert first.ids is not None
    return Finding(
        rule="EGL113",
        severity=severity,
        message=message,
        where=first.ids.where,
        confidence=confidence,
        related=wording.steps(pipeline, (), affected),
        fix=Fix(f"{fix}, or add {cure}" if fix else f"add {cure}"),
        defect=("graphs", pipeline.name, str(first.launch.where if first.launch is not None else "")),
    )
