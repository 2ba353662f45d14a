"""EGL203 for servers that hand out hidden states: ids of the launch itself that yield none in any admitted release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from eaglelint.boundary import evaluate, show, show_ids
from eaglelint.checks import wording
from eaglelint.checks.registry import check
from eaglelint.conventions.records import Reading
from eaglelint.facts import Argument, Launch, Step
from eaglelint.findings import Finding
from eaglelint.linking.extraction import readings
from eaglelint.linking.records import Extraction, integers, title
from eaglelint.pipeline import Pipeline

#: How sure a reading has to be of what it says.
_SURE = ("executed", "read")


@check("EGL203")
def extracted_ids(pipeline: Pipeline) -> Iterator[Finding]:
    """Ids in the arguments of an extraction that are captured once, or never. One finding a launch."""
    for extraction in pipeline.extractions:
        if extraction.own_means:
            yield from _degenerate(extraction)


def _degenerate(extraction: Extraction) -> Iterator[Finding]:
    launch, target = extraction.launch, extraction.target
    every = [reading for release in extraction.releases for reading in readings(release, target)]
    arguments = [launch.get(*reading.arguments) for reading in every]
    argument = next((found for found in arguments if found is not None), None)
    values = integers(argument.value.value) if argument is not None and argument.value.known else None
    if argument is None or not values or any(found != argument for found in arguments):
        return
    depth = target.depth if target is not None else 0
    problems = []
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice and all(reading.duplicates in ("collapsed", "rejected") for reading in every):
        problems.append(f"id {show(twice)} stands more than once in {show_ids(values)}")
    problems += _lost(every, values, depth, wording.target_words(target))
    if problems:
        yield _finding(launch, argument, problems)


def _lost(every: Sequence[Reading], values: tuple[int, ...], depth: int, layers: str) -> list[str]:
    """What no admitted release captures, in the words of the newest."""
    lost = [reading.unreachable(values, depth or None) for reading in every]
    if not lost or not all(lost) or any(r.status != "ok" or r.certainty not in _SURE for r in every):
        return []
    missing = sorted(set.intersection(*map(set, lost)))
    if not missing:
        return []
    newest = every[-1]
    reach = " to ".join(str(evaluate(edge, depth)) if depth else edge for edge in newest.reach)
    return [
        f"{title(newest.engine)} {newest.last} yields nothing for id {show(missing)} of {show_ids(values)}: boundaries "
        f"{reach}{layers} can be captured"
    ]


def _finding(launch: Launch, argument: Argument, problems: Sequence[str]) -> Finding:
    assumed = argument.value.assumed
    message = "; ".join(problems) + ", so that fewer states are stored than ids are given"
    message += f" (assumed: {assumed})" if assumed else ""
    related = (Step(launch.where, "states are extracted here"),)
    return Finding(
        "EGL203",
        "warning" if assumed else "error",
        message,
        argument.value.where,
        "likely" if assumed else "proven",
        related,
        None,
        ("extracted", str(launch.where)),
    )
