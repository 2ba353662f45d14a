"""EGL114: a release that is known to capture nothing, or the wrong tensor, for the target in use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eaglelint.checks import wording
from eaglelint.checks.config import is_judged
from eaglelint.checks.judging import strength
from eaglelint.checks.registry import check
from eaglelint.conventions.records import Reading
from eaglelint.conventions.table import engine as known_engine
from eaglelint.findings import Finding, Fix
from eaglelint.linking.records import Serving, title
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

#: What is wrong with a tensor that is not the complete residual stream of the boundary.
_TENSORS = {"branch": "captures the wrong tensor", "stream_alias": "captures tensors that are overwritten"}


@check("EGL114")
def broken_capture_release(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each server whose releases are broken for its target."""
    if not is_judged(pipeline):
        return
    servers: dict[tuple[Location | None, object], list[Serving]] = {}
    for serving in pipeline.servings:
        if not serving.off:
            servers.setdefault((serving.launch.where if serving.launch else None, serving.release), []).append(serving)
    told: dict[Location, Finding] = {}
    for group in servers.values():
        finding = _broken(pipeline, group)
        if finding is not None:
            told.setdefault(finding.where, finding)
    yield from told.values()


def _wrong(reading: Reading) -> bool:
    return reading.status == "broken" or reading.tensor in _TENSORS


def _broken(pipeline: Pipeline, group: Sequence[Serving]) -> Finding | None:
    bad = [serving for serving in group if _wrong(serving.reading)]
    certain = len(bad) == len(group)
    if not bad or (not certain and not group[0].release.bounded and not _wrong(group[-1].reading)):
        return None
    severity, confidence = strength(bad, (), mixed=not certain)
    if any(serving.reading.status != "broken" for serving in bad) and severity == "error":
        severity, confidence = "warning", "likely"
    ids = next((serving.ids for serving in bad if serving.ids is not None), None)
    launch = bad[0].launch
    where = ids.where if ids is not None else launch.where if launch is not None else pipeline.where
    message = "; ".join(dict.fromkeys(_words(serving) for serving in bad))
    if not certain:
        message = f"of the releases that may run, {message}"
    return Finding(
        rule="EGL114",
        severity=severity,
        message=message,
        where=where,
        confidence=confidence,
        related=wording.steps(pipeline, (), bad),
        fix=_cure(bad[-1]),
        defect=("broken", pipeline.name, str(where)),
    )


def _words(serving: Serving) -> str:
    reading = serving.reading
    defects = [d for d in reading.defects if d.architectures == () and not d.applies_when] or list(reading.defects)
    effect = defects[0].effect if defects else reading.note or "nothing is captured"
    sources = list(defects[0].evidence if defects else reading.evidence)[-3:]
    target = serving.target
    named = wording.listed(target.architectures) if target is not None and target.architectures else "this target"
    what = _TENSORS.get(reading.tensor, "captures nothing")
    return f"{serving.name} {what} for {named}, whatever the ids: {effect} ({'; '.join(sources)})"


def _cure(serving: Serving) -> Fix | None:
    """The first newer release that works for this target, else the last older one."""
    later = [reading for reading in wording.later_readings(serving) if not _wrong(reading)]
    if later:
        return Fix(f"{title(serving.engine)} {later[0].first} is the first release that captures them")
    engine = known_engine(serving.engine)
    if engine is None or engine.versioning != "pep440":
        return None
    older = engine.readings(f"<{serving.reading.first}", serving.target)
    working = [reading for reading in older if reading.status == "ok" and not _wrong(reading)]
    if not working:
        return Fix("no release that was read captures them for this target")
    return Fix(f"no newer release is known to be right; {title(serving.engine)} {working[-1].last} was")
