"""EGL502: a comment or docstring beside a capture claims layers that the code does not take."""

from __future__ import annotations

from collections.abc import Iterator

from eaglelint.boundary import show
from eaglelint.checks.registry import check
from eaglelint.claims import Claim, claims
from eaglelint.facts import ByDepth, Comment, Step
from eaglelint.findings import Finding, Fix
from eaglelint.linking.training import entries_for
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline


@check("EGL502")
def misleading_comment(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each comment of which a claim is wrong for every possible depth under every usual reading."""
    taken = _taken(pipeline)
    for comment in pipeline.comments:
        states = taken.get(comment.beside)
        if not states:
            continue
        wrong = [claim for claim in claims(comment.text) if _wrong(claim, states, pipeline.depth)]
        if wrong:
            yield _finding(comment, wrong[0], states, pipeline.depth)


def _taken(pipeline: Pipeline) -> dict[Location, list[ByDepth]]:
    """The states of each place that a comment can stand beside."""
    found: dict[Location, list[ByDepth]] = {}
    for capture in pipeline.captures:
        for place in (capture.where, capture.chosen):
            if place is not None:
                found.setdefault(place, []).append(capture.states)
    for assembly in pipeline.assemblies:
        found.setdefault(assembly.where, []).append(assembly.states)
    for label in pipeline.labels:
        if label.confidence != "possible":
            found.setdefault(label.where, []).append(label.states)
    return found


def _wrong(claim: Claim, states: list[ByDepth], depth: int) -> bool:
    """Whether no reading of a claim is among the states, whatever the target's depth."""
    judged = False
    for by_depth in states:
        for n, listed in entries_for(by_depth, depth):
            boundaries = {state.boundary for state in listed}
            if any(set(reading) <= boundaries for reading in claim.readings):
                return False
            judged = judged or all(number <= n for number in claim.readings[0])
    return judged


def _finding(comment: Comment, claim: Claim, states: list[ByDepth], depth: int) -> Finding:
    entries = entries_for(states[0], depth) or states[0]
    n, listed = entries[0]
    held = show(state.boundary for state in listed)
    many = "boundaries" if len(listed) > 1 else "boundary"
    text = f'the {comment.kind} says "{claim.words}", but the code takes {many} {held}'
    text += f" (for {n} layers)" if len(entries) > 1 else ""
    return Finding(
        rule="EGL502",
        severity="info",
        message=text,
        where=comment.where,
        confidence="likely",
        related=(Step(comment.beside, "the states are taken here"),),
        fix=Fix("say what is taken, in boundaries or with the side of the layer"),
        defect=("comment", str(comment.where)),
    )
