"""EGL310: verdicts that depend on a release that no file names, or that is newer than those that were verified."""

from __future__ import annotations

from collections.abc import Iterator

from eaglelint.checks import wording
from eaglelint.checks.judging import Case, cases
from eaglelint.checks.registry import check
from eaglelint.conventions.table import engine as known_engine
from eaglelint.facts import Step
from eaglelint.findings import Finding, Fix
from eaglelint.linking.records import Serving, title
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

#: Readings that a message lists.
_SHOWN = 3


@check("EGL310")
def unset_version(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each server whose release nobody names, where that decides what is captured."""
    for case in cases(pipeline.servings, pipeline.evidence.best):
        release = case.release
        if not release.specifier and not release.exact and _open(case):
            yield _unset(pipeline, case)


def _open(case: Case) -> bool:
    """Whether the releases differ in whether the drafter is right; without evidence, in what they capture."""
    known = [verdict for verdict in case.verdicts if verdict.outcome != "unknown"]
    if known:
        return len({verdict.outcome for verdict in known}) > 1
    captured = {verdict.captured for verdict in case.verdicts if verdict.captured}
    return len(captured) > 1


def _unset(pipeline: Pipeline, case: Case) -> Finding:
    name = title(case.release.engine)
    where = case.launch.where if case.launch is not None else pipeline.where
    readings = [wording.served_words(said, verdict) for said, verdict in wording.by_release(case.verdicts)]
    readings = list(dict.fromkeys(readings))
    left = f"; and {len(readings) - _SHOWN} more" if len(readings) > _SHOWN else ""
    told = f"the release of {name} can not be told ({case.release.unknown})" if case.release.unknown else (
        f"no file says which release of {name} serves this"
    )  # fmt: skip
    table = known_engine(case.release.engine)
    example = f"{table.package}=={table.latest}" if table is not None and table.package and table.latest else ""
    return Finding(
        rule="EGL310",
        severity="info",
        message=f"{told}, and the verdict depends on it: {'; '.join(readings[:_SHOWN])}{left}",
        where=where,
        related=(Step(case.release.where, "what is known of the release"),) if case.release.where is not None else (),
        fix=Fix(
            "name the release where it is installed or in the configuration"
            + (f", for instance `{example}`" if example else "")
        ),
    )


@check("EGL310")
def newer_than_verified(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each release that is newer than the last one whose source was read."""
    told: dict[tuple[str, str], Finding] = {}
    for serving in pipeline.servings:
        if serving.reading.beyond:
            told.setdefault((serving.engine, serving.reading.first), _newer(pipeline, serving))
    yield from told.values()


def _newer(pipeline: Pipeline, serving: Serving) -> Finding:
    table = known_engine(serving.engine)
    latest, verified = (table.latest, table.verified) if table is not None else ("", "")
    launch: Location | None = serving.launch.where if serving.launch is not None else None
    return Finding(
        rule="EGL310",
        severity="info",
        message=(
            f"{title(serving.engine)} {serving.reading.first} is newer than {latest}, the last release that was"
            f" verified ({verified}); it is judged as if it read ids as that one does"
        ),
        where=serving.release.where or launch or pipeline.where,
        confidence="likely",
        related=(Step(launch, "the drafter is served here"),) if launch and serving.release.where else (),
        fix=Fix("`eaglelint derive` shows what its own source does with ids"),
    )
