"""What really is captured: EGL113 (graphs with default layers), and what the analyser proves of capture code.

A `Defect` of the analyser becomes the finding of the rule whose slug is its `kind`. Its `details` may hold:

- `message`: the finding's words, complete;
- `severity`: another severity than the rule's own ("a warning unless a launch file says ...");
- `fix`: what to do, in words.

Rules whose message needs more than that have a function of their own in `_WORDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from eaglelint.boundary import show
from eaglelint.checks import wording
from eaglelint.checks.judging import strength
from eaglelint.checks.registry import check
from eaglelint.facts import Defect, Launch
from eaglelint.findings import SEVERITIES, Finding, Fix, Severity
from eaglelint.linking.records import Serving, title
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
        f"{first.name} captures its CUDA graphs with the default layers: decoding reads boundaries {show(default)}, "
        f"while prefill reads boundaries {show(eager)}, which the ids mean"
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


def _listed(details: Mapping[str, Any], key: str) -> str:
    """A list of the details as it stands in messages, "" when there is none."""
    value = details.get(key)
    if isinstance(value, (list, tuple)):
        return ", ".join(str(entry) for entry in value)
    return "" if value is None else str(value)


def _concat(defect: Defect) -> str:
    kept, dropped = _listed(defect.details, "kept"), _listed(defect.details, "dropped")
    if defect.details.get("kept_final"):
        return f"the final state stays among the auxiliary states: fc is fed boundaries {kept}, the last one normed"
    text = f"boundary {dropped} is dropped" if dropped else "an auxiliary state is dropped"
    fed = f", so fc is fed boundaries {kept} only" if kept else ""
    return f"{text}: the list does not end with the final state{fed}"


def _layout(defect: Defect) -> str:
    wanted, written = _listed(defect.details, "wanted"), _listed(defect.details, "written")
    text = f"`{wanted}` is read here" if wanted else "what is read here is not written"
    return f"{text}, but the dump holds {written or 'something else'}"


class Words:
    """How a kind of defect is said: the rule's code, its severity, and the words when the details hold none."""

    def __init__(self, code: str, severity: Severity, words: Callable[[Defect], str]) -> None:
        self.code, self.severity, self.words = code, severity, words


_WORDS: dict[str, Words] = {
    "concat-drops-wrong-state": Words("EGL412", "error", _concat),
    "dump-layout-mismatch": Words("EGL413", "error", _layout),
}


@check(*(words.code for words in _WORDS.values()))
def proven_by_the_analyser(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each defect that the analyser saw in capture, dump and training code."""
    for defect in pipeline.defects:
        words = _WORDS.get(defect.kind)
        if words is None or defect.confidence == "possible":
            continue
        stated = defect.details.get("severity")
        severity: Severity = stated if stated in SEVERITIES else words.severity
        if defect.confidence != "proven" and severity == "error":
            severity = "warning"
        fix = defect.details.get("fix")
        yield Finding(
            rule=words.code,
            severity=severity,
            message=str(defect.details.get("message") or words.words(defect)),
            where=defect.where,
            confidence=defect.confidence,
            related=defect.related,
            fix=Fix(str(fix)) if fix else None,
            defect=("states", defect.where.path, str(defect.where.line)),
        )
