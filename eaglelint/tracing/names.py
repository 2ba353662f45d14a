"""Under which key or file a state is kept and what it is called on its way, by the labels and steps of the analyser."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from eaglelint import naming
from eaglelint.boundary import State
from eaglelint.facts import Label, Step
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline
from eaglelint.tracing.records import Name
from eaglelint.tracing.verdicts import said

#: Names that say no more than that they hold a state: shown only where there is no other.
_PLAIN = re.compile(
    r"(outputs?|(last_|final_)?hidden(_?states?)?|h|hs|x|states?|last|tensor|value|result)", re.IGNORECASE
)
_SAVED = re.compile(r"saved to (.+)")


class Names(NamedTuple):
    """The labels of a pipeline, and the places of those that lie with what they claim."""

    labels: tuple[Label, ...]
    lies: Mapping[Location, str]

    @classmethod
    def of(cls, pipeline: Pipeline) -> Names:
        """The labels of a pipeline; a name lies where EGL501 says so."""
        wrong = {finding.where for finding in said("EGL501", pipeline)}
        lies: dict[Location, str] = {}
        for label in pipeline.labels:
            claim = naming.claim(label.name)
            if label.where in wrong and claim is not None:
                lies[label.where] = claim.words
        return cls(pipeline.labels, lies)

    def along(self, steps: Sequence[Step], states: Mapping[int, State]) -> list[Label]:
        """The labels of a state at the places that it comes through, in their order."""
        mine = [label for label in self.labels if _same(label, states)]
        found: list[Label] = []
        for step in steps:
            found += [label for label in mine if _covers(step.where, label.where) and label not in found]
        return found

    def after(self, steps: Sequence[Step], states: Mapping[int, State]) -> tuple[Step, ...]:
        """The steps of a captured state that goes on under names: those of the longest way that begins with `steps`."""
        best = tuple(steps)
        for label in self.labels:
            if not _same(label, states) or not label.trace or not steps or label.trace[0].where != steps[0].where:
                continue
            known = any(_covers(step.where, label.where) for step in label.trace)
            way = label.trace if known else (*label.trace, Step(label.where, f"named {label.name}"))
            best = way if len(way) > len(best) else best
        return best

    def kept_as(self, steps: Sequence[Step], states: Mapping[int, State]) -> tuple[Name | None, tuple[Name, ...]]:
        """The key or file that a state is first kept under, and the names that it has after that."""
        labels = self.along(steps, states)
        first = next((label for label in labels if label.kind in ("key", "file")), None)
        file = _file(steps)
        slot = self._name(first) if first is not None else file
        at = _place(steps, first.where if first is not None else file.where if file is not None else None)
        later = [label for label in labels if label is not first and _place(steps, label.where) >= at]
        wrong = [label for label in labels if label is not first and label.where in self.lies]
        names = _distinct([self._name(label) for label in (*wrong, *later)])
        telling = [name for name in names if name.lie or not _PLAIN.fullmatch(name.text)] or names
        return slot, tuple(name for name in telling if slot is None or name.lie or name.text != slot.text)

    def _name(self, label: Label) -> Name:
        return Name(naming.bare_name(label.name), label.kind, label.where, self.lies.get(label.where, ""))


def _same(label: Label, states: Mapping[int, State]) -> bool:
    """Whether a label holds this state for every depth for which both are known."""
    held = {n: listed[0] for n, listed in label.states if listed}
    shared = set(held) & set(states)
    return bool(shared) and all(held[n][:3] == states[n][:3] for n in shared)


def _covers(where: Location, inner: Location) -> bool:
    return where.path == inner.path and where.line <= inner.line <= max(where.line, where.end_line)


def _place(steps: Sequence[Step], where: Location | None) -> int:
    """The index of the step at a place, -1 when there is none."""
    if where is None:
        return -1
    return next((index for index, step in enumerate(steps) if _covers(step.where, where)), -1)


def _file(steps: Iterable[Step]) -> Name | None:
    """The first file of one known name that a state is written to."""
    for step in steps:
        match = _SAVED.fullmatch(step.what)
        if match is not None and "*" not in match[1]:
            return Name(match[1], "file", step.where)
    return None


def _distinct(names: Iterable[Name]) -> list[Name]:
    """Names without repetitions; of two that are spelt alike the one that lies."""
    found: dict[str, Name] = {}
    for name in names:
        if name.text not in found or (name.lie and not found[name.text].lie):
            found[name.text] = name
    return list(found.values())
