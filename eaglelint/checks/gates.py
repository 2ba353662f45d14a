"""EGL208: `use_aux_hidden_state` against the states that the head takes and the release that reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eaglelint.checks import wording
from eaglelint.checks.auxiliary import FLAG, Flagged, aux_flag, last_state_alone, several_states
from eaglelint.checks.config import is_judged
from eaglelint.checks.judging import strength
from eaglelint.checks.registry import check
from eaglelint.facts import Confidence
from eaglelint.findings import Finding, Fix, Severity
from eaglelint.linking.records import Serving
from eaglelint.pipeline import Pipeline


@check("EGL208")
def aux_disabled(pipeline: Pipeline) -> Iterator[Finding]:
    """The flag switches off a capture that the head needs, or a release does not read that it is off. One a head."""
    if not is_judged(pipeline):
        return
    flag = aux_flag(pipeline)
    several = several_states(pipeline)
    if last_state_alone(pipeline):
        yield from _not_read(pipeline, flag)
        return
    off = [serving for serving in pipeline.servings if serving.off]
    if off and several:
        yield from _switched_off(pipeline, flag, off, several)
    elif flag.value is False and pipeline.drafter is not None and not pipeline.servings:
        message = f"`{FLAG}` is false, and {several}: an engine that reads it captures nothing"
        yield _finding(pipeline, "warning", "likely", message, flag, ())


def _switched_off(pipeline: Pipeline, flag: Flagged, off: Sequence[Serving], several: str) -> Iterator[Finding]:
    """Capture is off in some or all readings of a head that takes several states."""
    names = _names(off)
    said = "is false" if flag.value is False else "is missing, which counts as false"
    message = f"`{FLAG}` {said}, so {names} captures no auxiliary states, but {several}"
    every = _all_of_a_server(pipeline, off)
    severity, confidence = strength(off, pipeline.evidence.best, mixed=not every)
    if pipeline.drafter is None and severity == "error":
        severity, confidence = "warning", "likely"
    yield _finding(pipeline, severity, confidence, message, flag, off)


def _all_of_a_server(pipeline: Pipeline, wrong: Sequence[Serving]) -> bool:
    """Whether every reading of some server is among these."""
    servers = {(s.launch.where if s.launch else None, s.release) for s in wrong}
    rest = {(s.launch.where if s.launch else None, s.release) for s in pipeline.servings if s not in wrong}
    return bool(servers - rest)


def _not_read(pipeline: Pipeline, flag: Flagged) -> Iterator[Finding]:
    """The head takes the last state alone, and a release captures auxiliary states all the same."""
    deaf = [s for s in pipeline.servings if not s.off and s.reading.status == "ok" and s.reading.default]
    if not deaf:
        return
    every = _all_of_a_server(pipeline, deaf)
    bounded = [serving for serving in deaf if serving.release.bounded]
    if not every and not bounded:
        return
    shown = deaf if every else bounded
    severity, confidence = strength(shown, (), mixed=not every)
    if pipeline.drafter is None:
        established = pipeline.published is not None and pipeline.published.established
        severity, confidence = ("warning", "likely") if established and every else ("info", "possible")
    message = (
        f"`{FLAG}` is false, which {_names(shown)} does not read: auxiliary states are captured for a head without fc"
    )
    yield _finding(pipeline, severity, confidence, message, flag, shown)


def _names(servings: Sequence[Serving]) -> str:
    """The engines and releases, with the model runner where there are several."""
    runners = {serving.reading.runner for serving in servings} - {""}
    names = [
        s.name + (f" on model runner {s.reading.runner}" if runners and s.reading.runner else "") for s in servings
    ]
    return wording.listed(names)


def _finding(
    pipeline: Pipeline,
    severity: Severity,
    confidence: Confidence,
    message: str,
    flag: Flagged,
    servings: Sequence[Serving],
) -> Finding:
    later = [reading for serving in servings[:1] for reading in wording.later_readings(serving)]
    runners = {serving.reading.runner for serving in servings}
    same = [reading for reading in later if reading.gates and (reading.runner in runners or not reading.runner)]
    reader = same[0] if same and flag.value is False else None
    fix = Fix(f"write `{FLAG}`: true for a head that takes auxiliary states")
    if flag.value is False and servings and not servings[0].off:
        first = f"{reader.engine} {reader.first}" if reader is not None else ""
        fix = Fix(f"use a release that reads the flag{f' ({first} is the first)' if first else ''}")
    related = wording.steps(pipeline, pipeline.evidence.best, servings)
    return Finding("EGL208", severity, message, flag.where, confidence, related, fix, ("gate", pipeline.name))
