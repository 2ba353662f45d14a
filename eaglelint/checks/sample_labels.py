"""Names of states against their values: EGL801 (another state than it says), EGL802 (before or after the norm)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eaglelint.boundary import State, describe
from eaglelint.checks.registry import project_check
from eaglelint.checks.sample_captures import captured
from eaglelint.checks.sample_layouts import other_norm
from eaglelint.checks.sample_names import Said, called, disagree, said_of, shown
from eaglelint.checks.wording import unique
from eaglelint.facts import Facts, Label, Step
from eaglelint.findings import Finding, Fix
from eaglelint.fingerprints.matching import same
from eaglelint.fingerprints.records import MeasuredSlot, Sample, SampleTarget
from eaglelint.location import Location
from eaglelint.naming import Claim


class Contradiction(NamedTuple):
    """A name, or code, that says another state than the values are.

    `rule` is EGL801 or EGL802, `what` the sentence, `where` the place in code that gives the name (None: none does).
    """

    rule: str
    sample: Sample
    slot: MeasuredSlot
    name: str
    what: str
    where: Location | None = None
    related: tuple[Step, ...] = ()
    better: str = ""


@project_check("EGL801")
def label_contradicted_by_data(facts: Facts) -> Iterator[Finding]:
    """A name holds another state than it says. One finding a file: of the code that gives the name, if any does."""
    yield from _findings(found for found in contradictions(facts) if found.rule == "EGL801")


@project_check("EGL802")
def norm_state_contradicted_by_data(facts: Facts) -> Iterator[Finding]:
    """A state is said to be after the final norm and is not, or the reverse. One finding a sample file."""
    yield from _findings(found._replace(where=None) for found in contradictions(facts) if found.rule == "EGL802")


def contradicted(facts: Facts) -> set[tuple[str, str]]:
    """The slots of which EGL801 or EGL802 says what they are, by file and name."""
    return {(found.sample.path, found.slot.shown) for found in contradictions(facts)}


def _findings(found: Iterator[Contradiction]) -> Iterator[Finding]:
    by_file: dict[str, list[Contradiction]] = {}
    for one in found:
        by_file.setdefault(one.where.path if one.where is not None else one.sample.path, []).append(one)
    for every in by_file.values():
        first = min(every, key=lambda one: one.where.start if one.where is not None else 0)
        where = first.where or first.sample.where
        steps = [step for one in every for step in one.related]
        steps += [Step(one.where, f"named `{one.name}` here") for one in every if one.where is not None]
        steps += [Step(one.sample.where, f"{shown(one.slot)} by its values") for one in every]
        said = list(dict.fromkeys(one.what for one in every))
        yield Finding(
            rule=first.rule,
            severity="error",
            message="; ".join(said),
            where=where,
            confidence="proven",
            related=tuple(step for step in unique(steps) if step.where != where),
            fix=Fix(first.better),
            defect=("label", first.name, where.path),
        )


def contradictions(facts: Facts) -> list[Contradiction]:
    """Everything that the values of the samples contradict, by name, by code, and between files."""
    if not facts.samples:
        return []
    target = facts.sample_targets[0] if facts.sample_targets else SampleTarget("")
    found: list[Contradiction] = []
    for sample in facts.samples:
        said = said_of(sample)
        for slot, names in zip(sample.slots, said, strict=True):
            one = _by_name(sample, slot, names, target)
            one = _told(one, facts, target.depth) if one is not None else _by_code(sample, slot, facts, target)
            one = one or _by_layout(sample, slot, facts) or _by_capture(sample, slot, facts, target.depth)
            if one is not None:
                found.append(one)
    known = {(one.sample.path, one.slot.shown) for one in found}
    found += [one for one in _between(facts, target) if (one.sample.path, one.slot.shown) not in known]
    known = {(one.sample.path, one.slot.shown) for one in found}
    found += [one for one in _mixed(facts.samples) if (one.sample.path, one.slot.shown) not in known]
    return found


# ---- names against values -----------------------------------------------------------------------------------------


def _by_name(sample: Sample, slot: MeasuredSlot, names: Sequence[Said], target: SampleTarget) -> Contradiction | None:
    """What the first name that is wrong says, and what the values are."""
    for one in names:
        held = _held(sample, slot, one.claim, target)
        if held is not None:
            rule, words, better = held
            what = f"{called(slot, one)} claims {one.claim.words}, but by value it {words}"
            what += "" if one.where is None else f" (in {sample.path})"
            return Contradiction(rule, sample, slot, one.name, what, one.where, better=better)
    return None


def _held(sample: Sample, slot: MeasuredSlot, said: Claim, target: SampleTarget) -> tuple[str, str, str] | None:
    """The rule, what a slot holds instead of what is claimed, and what to do; None when the claim may be true."""
    embedding = said.boundaries == frozenset({0}) and not said.final and said.normed is None
    rows = slot.embedding.is_ == "rows"
    if rows and 0 not in said.boundaries and (said.boundaries or said.final or said.normed is not None or said.rank):
        words = f"is the embedding: the rows of embed_tokens for input_ids (boundary 0), {_compared(slot)}"
        return "EGL801", words, "store the state that the name says, or name it after what it holds, such as `embed`"
    if rows and embedding and target.scale is not None and not _near(slot.embedding.scale, target.scale):
        words = (
            f"is the rows of embed_tokens times {slot.embedding.scale:.4g}, where this target multiplies them by "
            f"{target.scale:.4g}"
        )
        return "EGL801", words, "store what enters the first layer, not the rows as they are stored"
    if embedding and slot.embedding.is_ == "other":
        words = f"is not the rows of embed_tokens for input_ids{_looks_like(sample, slot)}, {_compared(slot)}"
        return "EGL801", words, "store boundary 0 under this name, or name it after what it holds"
    if slot.norm.is_ == "after" and said.normed is None and not said.final:
        inner = said.boundaries and (embedding or (target.depth and target.depth not in said.boundaries))
        if inner or said.rank in (0, 1):
            words = f"is after the final norm (the root mean square of x / w is 1 for {slot.norm.compared} tokens)"
            return "EGL801", words, "store the state that the name says, or name it, for instance, `final_normed`"
    if said.normed is True and slot.norm.is_ == "before":
        words = (
            f"is not: the root mean square of x / w is {slot.norm.low:.3g} to {slot.norm.high:.3g} by token, "
            "which the final norm makes 1"
        )
        return "EGL802", words, "store the output of the final norm, or name it so that the trainer applies the norm"
    if said.normed is False and slot.norm.is_ == "after":
        words = f"has been through it: the root mean square of x / w is 1 for all of {slot.norm.compared} tokens"
        return "EGL802", words, "store the stream before the final norm, or name it so that no norm is applied again"
    return None


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= 0.05 * abs(other)


def _compared(slot: MeasuredSlot) -> str:
    count = slot.embedding.compared
    return f"compared at {count} token{'' if count == 1 else 's'}"


def _looks_like(sample: Sample, slot: MeasuredSlot) -> str:
    """What else in the file has the same values, or what the norm says, in words."""
    for other in sample.slots:
        if other is not slot and same(slot.probe, other.probe, (slot.dtype, other.dtype)):
            return f" but what {shown(other)} holds"
    if slot.norm.is_ == "after":
        return " but a state after the final norm"
    holder = next((other for other in sample.slots if other.embedding.is_ == "rows"), None)
    return f" ({shown(holder)} is)" if holder is not None else " (boundary 0) but a later state"


def _told(found: Contradiction, facts: Facts, depth: int) -> Contradiction:
    """The same with what data flow says of the name that is wrong, and the way by which its state came there."""
    for label in facts.labels:
        if label.where == found.where and label.confidence != "possible":
            way = tuple(step for step in label.trace if step.where != label.where)
            states = {states[0] for _, states in label.states if len(states) == 1}
            agree = len(states) == 1 and all(_against(found.slot, one, depth) is None for one in states)
            held = f"; the code says so too: it stores {_state(next(iter(states)), depth)}" if agree else ""
            return found._replace(what=found.what + held, related=(*found.related, *way))
    return found


# ---- code against values ------------------------------------------------------------------------------------------


def _by_code(sample: Sample, slot: MeasuredSlot, facts: Facts, target: SampleTarget) -> Contradiction | None:
    """Data flow ties the name of a slot to a state that its values are not."""
    places = {one.where: one.name for one in slot.names}
    for label in facts.labels:
        name = places.get(label.where) or (label.name if label.kind == "key" and label.name == slot.key else None)
        if name is None or label.confidence == "possible" or _ambiguous(label, facts):
            continue
        states = {states[0] for depth, states in label.states if len(states) == 1 and depth in (0, target.depth)}
        states = states or {states[0] for _, states in label.states if len(states) == 1}
        words = [_against(slot, state, target.depth) for state in states]
        if words and all(words):
            rule, said = words[0]  # type: ignore[misc]
            held = _state(next(iter(states)), target.depth)
            return Contradiction(
                rule=rule,
                sample=sample,
                slot=slot,
                name=name,
                what=f"by the code `{name}` holds {held}, but in {sample.path} {shown(slot)} {said}",
                where=label.where,
                related=tuple(step for step in label.trace if step.where != label.where),
                better="capture the data again with this code, or find the code that wrote it",
            )
    return None


def _ambiguous(label: Label, facts: Facts) -> bool:
    """Whether the project stores other states under the same key elsewhere."""
    return label.kind == "key" and any(
        other.kind == "key" and other.name == label.name and other.states != label.states for other in facts.labels
    )


def _against(slot: MeasuredSlot, state: State, depth: int) -> tuple[str, str] | None:
    """What the values are, where they can not be a state; None where they may be it."""
    if state.part != "stream":
        return None
    if slot.embedding.is_ == "rows" and state.boundary != 0:
        return "EGL801", "is the embedding, the rows of embed_tokens for input_ids"
    if slot.embedding.is_ == "other" and state.boundary == 0 and not state.normed:
        return "EGL801", "is not the rows of embed_tokens for input_ids"
    if slot.norm.is_ == "after" and not state.normed:
        return ("EGL802" if state.boundary == depth else "EGL801"), "is a state after the final norm"
    if slot.norm.is_ == "before" and state.normed:
        return "EGL802", "has not been through the final norm"
    return None


def _state(state: State, depth: int) -> str:
    return describe(state.boundary, depth or None) + (" after the final norm" if state.normed else "")


def _by_layout(sample: Sample, slot: MeasuredSlot, facts: Facts) -> Contradiction | None:
    """The trainer that the project runs keeps its last state before or after the norm, and this one is the other."""
    differs = other_norm(facts, sample, slot)
    if not differs:
        return None
    better = "store the last state as the trainer reads it"
    return Contradiction("EGL802", sample, slot, slot.shown, f"{shown(slot)}: {differs}", better=better)


def _by_capture(sample: Sample, slot: MeasuredSlot, facts: Facts, depth: int) -> Contradiction | None:
    """The capture code of the project puts another state into this slot."""
    known = captured(facts, slot, depth)
    differs = _against(slot, known[0], depth) if known is not None else None
    if known is None or differs is None:
        return None
    state, where = known
    rule, words = differs
    return Contradiction(
        rule=rule,
        sample=sample,
        slot=slot,
        name=slot.shown,
        what=f"the capture code ({where}) puts {_state(state, depth)} into {shown(slot)}, but by value it {words}",
        related=(Step(where, "captured here"),),
        better="capture the data again with this code, or find the code that wrote it",
    )


# ---- between files ------------------------------------------------------------------------------------------------


def _between(facts: Facts, target: SampleTarget) -> Iterator[Contradiction]:
    """States of the same prompt in two files with the same values under names that exclude each other."""
    entries = [
        (sample, slot, said)
        for sample in facts.samples
        for slot, said in zip(sample.slots, said_of(sample), strict=True)
        if said and not slot.scan.zero
    ]
    told: set[tuple[str, str]] = set()
    for number, (sample, slot, said) in enumerate(entries):
        for other_sample, other, other_said in entries[number + 1 :]:
            prompts = {one.prompt for one in (sample, other_sample) if one.prompt}
            if other_sample is sample or len(prompts) > 1:
                continue
            if not all(disagree(a.claim, b.claim, target.depth) for a in said for b in other_said):
                continue
            if not same(slot.probe, other.probe, (slot.dtype, other.dtype)):
                continue
            wrong = _wrong_of((sample, slot, said), (other_sample, other, other_said))
            if wrong is None or (wrong[0][0].path, wrong[0][1].shown) in told:
                continue
            (bad, bad_slot, bad_said), (good, good_slot, good_said) = wrong
            told.add((bad.path, bad_slot.shown))
            what = (
                f"{called(bad_slot, bad_said[0])} claims {bad_said[0].claim.words}, but its values are those of "
                f"{called(good_slot, good_said[0])} in {good.path}, which is {good_said[0].claim.words}"
            )
            yield Contradiction(
                "EGL801", bad, bad_slot, bad_said[0].name, what, bad_said[0].where,
                (Step(good.where, f"{shown(good_slot)} has the same values"),),
                "find out which of the two names is wrong, and store that state again",
            )  # fmt: skip


_Entry = tuple[Sample, MeasuredSlot, "list[Said]"]


def _wrong_of(one: _Entry, other: _Entry) -> tuple[_Entry, _Entry] | None:
    """Which of two states has the wrong name: the one that is not known by value, else the one that came later."""
    proven = [entry[1].embedding.is_ == "rows" or entry[1].norm.is_ == "after" for entry in (one, other)]
    if proven[0] != proven[1]:
        return (other, one) if proven[0] else (one, other)
    if len(one[0].slots) != len(other[0].slots):  # put together from files of single states
        return (one, other) if len(one[0].slots) > len(other[0].slots) else (other, one)
    return (other, one)


_KINDS = {"normed": "is a state after the final norm", "embedding": "is the embedding"}


def _mixed(samples: Sequence[Sample]) -> Iterator[Contradiction]:
    """The same slot holds a normed state in one file of a set and an un-normed one in another, or the embedding."""
    sets: dict[tuple[str, str], list[tuple[Sample, MeasuredSlot]]] = {}
    for sample in samples:
        for slot in sample.slots:
            sets.setdefault((sample.pattern, slot.shown), []).append((sample, slot))
    for entries in sets.values():
        kinds = [(sample, slot, _kind(slot)) for sample, slot in entries]
        for one, other, words in (
            ("normed", "raw", "has not been through the final norm"),
            ("embedding", "raw", "is not the embedding"),
        ):
            first = [entry for entry in kinds if entry[2] == one]
            second = [entry for entry in kinds if entry[2] == other]
            if not first or not second or len(first) + len(second) != len([e for e in kinds if e[2]]):
                continue
            few, many = (second, first) if len(second) <= len(first) else (first, second)
            for sample, slot, kind in few:
                said = words if kind == "raw" else _KINDS[kind]
                what = f"by value {shown(slot)} {said}, unlike that of {many[0][0].path}"
                yield Contradiction(
                    "EGL802" if one == "normed" else "EGL801", sample, slot, slot.shown, what, None,
                    (Step(many[0][0].where, f"{shown(many[0][1])} holds another state here"),),
                    "capture the files of one set with one version of the code",
                )  # fmt: skip


def _kind(slot: MeasuredSlot) -> str:
    """What a slot is by value: "normed", "embedding", "raw" for neither, "" when that can not be told."""
    if slot.norm.is_ == "after":
        return "normed"
    if slot.embedding.is_ == "rows":
        return "embedding"
    return "raw" if slot.norm.is_ == "before" and slot.embedding.is_ == "other" else ""
