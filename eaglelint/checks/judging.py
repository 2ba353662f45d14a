"""Judging what an engine captures against what a drafter was trained on, in three values, over releases and depths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from eaglelint.facts import Confidence, Launch
from eaglelint.findings import Severity
from eaglelint.linking.records import Release, Serving, Training
from eaglelint.location import Location

Outcome = Literal["same", "differs", "unreached", "unknown"]


class Verdict(NamedTuple):
    """What one reading makes of a drafter, beside what it was trained on.

    `meant` are the boundaries that the ids (or the default) stand for, `captured` those that arrive, `trained` the
    first thing that the evidence says; all for a target of `depth` layers, () when not known. `outcome` is "unreached"
    when they mean the right boundaries and some of them can not be captured. `fixed` is False when the values are an
    example for that depth.
    """

    serving: Serving
    outcome: Outcome
    meant: tuple[int, ...] = ()
    captured: tuple[int, ...] = ()
    trained: tuple[int, ...] = ()
    depth: int = 0
    fixed: bool = True


def judge(serving: Serving, trainings: Sequence[Training]) -> Verdict:
    """Compare one reading with the evidence, for the target's depth or for every depth that is possible."""
    verdicts = [v for depth in serving.depths if (v := _at(serving, trainings, depth)) is not None]
    if not verdicts:
        return Verdict(serving, "unknown")
    first = verdicts[0]
    fixed = all((v.meant, v.captured, v.trained) == (first.meant, first.captured, first.trained) for v in verdicts)
    outcome = first.outcome if all(v.outcome == first.outcome for v in verdicts) else "unknown"
    return first._replace(outcome=outcome, fixed=fixed)


def _at(serving: Serving, trainings: Sequence[Training], depth: int) -> Verdict | None:
    """The verdict for one depth; None when a target of that depth can not be meant."""
    meant, captured = serving.meant(depth), serving.captured(depth)
    lists = [said.at(depth) for said in trainings]
    known = [boundaries for boundaries in lists if boundaries is not None]
    if any(b > depth for boundaries in known for b in boundaries):
        return None if not serving.depth else Verdict(serving, "unknown", depth=depth)
    if not known or len(known) < len(lists) or meant is None or captured is None:
        return Verdict(serving, "unknown", meant or (), captured or (), known[0] if known else (), depth)
    outcome: Outcome = "differs"
    if any(said.allows(captured, depth) for said in trainings):
        outcome = "same"
    elif any(said.allows(meant, depth) for said in trainings):
        outcome = "unreached"
    return Verdict(serving, outcome, meant, captured, known[0], depth)


@dataclass(frozen=True)
class Case:
    """The verdicts of all readings of one launch with one pin: what may happen to one server."""

    launch: Launch | None
    release: Release
    verdicts: tuple[Verdict, ...]

    def all(self, *outcomes: Outcome) -> bool:
        """Whether every reading has one of these outcomes."""
        return bool(self.verdicts) and all(verdict.outcome in outcomes for verdict in self.verdicts)

    def any(self, *outcomes: Outcome) -> bool:
        """Whether some reading has one of these outcomes."""
        return any(verdict.outcome in outcomes for verdict in self.verdicts)


def cases(servings: Iterable[Serving], trainings: Sequence[Training]) -> list[Case]:
    """The verdicts by server. Readings that capture nothing at all, or are switched off, say nothing."""
    found: dict[tuple[Location | None, Release], list[Verdict]] = {}
    launches: dict[tuple[Location | None, Release], Launch | None] = {}
    for serving in servings:
        if serving.off or serving.reading.status != "ok":
            continue
        key = (serving.launch.where if serving.launch is not None else None, serving.release)
        launches[key] = serving.launch
        found.setdefault(key, []).append(judge(serving, trainings))
    return [Case(launches[key], key[1], tuple(verdicts)) for key, verdicts in found.items()]


def strength(
    servings: Iterable[Serving], trainings: Iterable[Training], *, mixed: bool = False
) -> tuple[Severity, Confidence]:
    """How strongly a mismatch may be said: an error only when nothing that it rests on is assumed or disputed."""
    served, said = list(servings), list(trainings)
    if mixed:
        return "warning", "possible"
    doubtful = any(
        serving.assumed or serving.reading.beyond or serving.reading.certainty in ("suspected", "reported")
        for serving in served
    )
    doubtful = doubtful or any(training.assumed or training.confidence != "proven" for training in said)
    return ("warning", "likely") if doubtful else ("error", "proven")


def reasons(servings: Iterable[Serving], trainings: Iterable[Training]) -> list[str]:
    """On whose defaults and guesses a verdict rests, without repetitions."""
    served = list(servings)
    found = [serving.assumed for serving in served] + [training.assumed for training in trainings]
    found += [
        f"{serving.name} reads ids as the last verified release does" for serving in served if serving.reading.beyond
    ]
    return list(dict.fromkeys(reason for reason in found if reason))
