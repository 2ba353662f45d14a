"""Sample files by their values and shapes: EGL803 (missing states), EGL804 (degenerate ones), EGL805 (other shapes)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eaglelint.checks.registry import project_check
from eaglelint.checks.sample_labels import contradicted
from eaglelint.checks.sample_layouts import other_widths
from eaglelint.checks.sample_names import Said, disagree, is_one_state, said_of, shown
from eaglelint.checks.wording import listed
from eaglelint.facts import DrafterConfig, Facts, Step
from eaglelint.findings import Finding, Fix
from eaglelint.fingerprints.matching import same
from eaglelint.fingerprints.records import MeasuredSlot, Sample, SampleTarget
from eaglelint.linking.records import integers
from eaglelint.naming import claim


def _target(facts: Facts) -> SampleTarget:
    return facts.sample_targets[0] if facts.sample_targets else SampleTarget("")


# ---- EGL803 --------------------------------------------------------------------------------------------------------


@project_check("EGL803")
def states_missing(facts: Facts) -> Iterator[Finding]:
    """Fewer or more states than tokens. One finding a file."""
    for sample in facts.samples:
        related: tuple[Step, ...] = ()
        if sample.broken:
            message = f"the file is cut off, so that states are missing: {sample.broken}"
            fix = Fix("write the sample again, or take it out of the data set")
        else:
            off = [slot for slot in sample.slots if _is_off(slot, sample, facts.samples)]
            if not off:
                continue
            message = _off_words(off, sample)
            fix = Fix("capture again without prefix caching, or with a cache namespace for each prompt (cache_salt)")
            if any(slot.count > slot.expected for slot in off):
                fix = Fix("store the input_ids that the states were captured for, all of them and no others")
        yield Finding("EGL803", "error", message, sample.where, "proven", related, fix, ("states", sample.path))


def _is_off(slot: MeasuredSlot, sample: Sample, samples: Sequence[Sample]) -> bool:
    """Whether a slot has another number of states than it should: one more or less may be meant so."""
    if not slot.expected:
        counts = [other.count for other in sample.slots if not other.expected]
        usual = max(set(counts), key=lambda count: (counts.count(count), count))
        return abs(slot.count - usual) > 1
    surplus = slot.count - slot.expected
    if abs(surplus) != 1:
        return surplus != 0
    if sample.shifted is not None:
        return False
    alike = [
        other.count - other.expected
        for one in samples
        if one.pattern == sample.pattern
        for other in one.slots
        if other.expected
    ]
    return any(other != surplus for other in alike if abs(other) <= 1)


def _off_words(off: Sequence[MeasuredSlot], sample: Sample) -> str:
    counts: dict[int, list[MeasuredSlot]] = {}
    for slot in off:
        counts.setdefault(slot.count, []).append(slot)
    said = [f"{_named(slots)} hold{_s(slots)} states of {n} tokens" for n, slots in counts.items()]
    expected = off[0].expected
    if not expected:
        return f"{listed(said)}, the other states of the file are of another number"
    words = f"{listed(said)}, but input_ids has {expected}"
    first = off[0]
    if first.count > expected:
        return f"{words}: {first.count - expected} more than there are tokens"
    missing = expected - first.count
    lost = f"{missing} {'is' if missing == 1 else 'are'} missing"
    shift = next((slot.embedding.shift for slot in sample.slots if slot.embedding.is_ == "rows"), None)
    if shift == missing:
        found = f"the embedding is that of the last {first.count} ids"
        return f"{words}: the first {lost} ({found}), as after a hit of the server's prefix cache"
    return f"{words}: {lost}, as after a hit of the server's prefix cache"


def _s(slots: Sequence[MeasuredSlot]) -> str:
    """The ending of a verb after one tensor."""
    return "s" if len({_whole(slot) for slot in slots}) == 1 else ""


def _named(slots: Sequence[MeasuredSlot]) -> str:
    """The tensors of some slots in a message, the first of them when they are many."""
    names = list(dict.fromkeys(f"`{_whole(slot)}`" for slot in slots))
    return listed(names if len(names) <= 8 else [*names[:7], f"{len(names) - 7} more"])


# ---- EGL804 --------------------------------------------------------------------------------------------------------


@project_check("EGL804")
def degenerate_states(facts: Facts) -> Iterator[Finding]:
    """Numbers that are none, nothing but zeros, the same values in two slots. One finding a file."""
    explained = contradicted(facts)
    for sample in facts.samples:
        said = [*_not_finite(sample), *_zero(sample), *_repeated(sample, _target(facts), explained)]
        if said:
            fix = Fix("capture this sample again, where float16 overflows in the type that the states are computed in")
            if not any(slot.scan.infinite for slot in sample.slots):
                fix = Fix("capture this sample again and look at what filled these slots")
            yield Finding("EGL804", "error", "; ".join(said), sample.where, "proven", (), fix, ("values", sample.path))


def _not_finite(sample: Sample) -> Iterator[str]:
    for slot in sample.slots:
        scan = slot.scan
        if scan.bad:
            kinds = [f"{scan.infinite} infinite" if scan.infinite else "", f"{scan.nan} NaN" if scan.nan else ""]
            values = "value" if scan.bad == 1 else "values"
            yield f"{shown(slot)} holds {listed([k for k in kinds if k])} {values}, first at token {scan.first}"


def _zero(sample: Sample) -> Iterator[str]:
    zero = [slot for slot in sample.slots if slot.scan.zero]
    if zero:
        yield f"{listed([shown(slot) for slot in zero])} hold{'s' if len(zero) == 1 else ''} nothing but zeros"


def _repeated(sample: Sample, target: SampleTarget, explained: set[tuple[str, str]]) -> Iterator[str]:
    said = said_of(sample)
    told: set[int] = set()
    for place, slot in enumerate(sample.slots):
        if place in told or slot.scan.zero:
            continue
        alike = [
            number
            for number in range(place + 1, len(sample.slots))
            if same(slot.probe, sample.slots[number].probe, (slot.dtype, sample.slots[number].dtype))
            and not {(sample.path, slot.shown), (sample.path, sample.slots[number].shown)} & explained
        ]
        wrong = [number for number in alike if _must_differ(sample, said, place, number, target.depth)]
        if wrong:
            told.update(wrong)
            names = listed([shown(sample.slots[number]) for number in (place, *wrong)])
            yield f"{names} hold the same values"


def _must_differ(sample: Sample, said: Sequence[Sequence[Said]], place: int, number: int, depth: int) -> bool:
    """Whether two slots are two states: by what their names claim, else by being neighbours in one list."""
    one, other = sample.slots[place], sample.slots[number]
    claims = [(a.claim, b.claim) for a in said[place] for b in said[number]]
    if claims:
        return all(disagree(a, b, depth) for a, b in claims)
    if one.group and one.group == other.group:
        return True
    return not one.group and not other.group and _stem(one.key) != "" and _stem(one.key) == _stem(other.key)


def _stem(key: str) -> str:
    """A key without the number that counts it among its like, "" for one without a number."""
    stem = key.rstrip("0123456789")
    return stem if stem != key else ""


# ---- EGL805 --------------------------------------------------------------------------------------------------------


@project_check("EGL805")
def sample_shape(facts: Facts) -> Iterator[Finding]:
    """Widths, numbers of tensors and types that fit neither the target nor the rest of the data. One finding a file."""
    target = _target(facts)
    where = f"the target ({target.path})" if target.path else "the target"
    for sample in facts.samples:
        said = list(_widths(sample, target, where)) or list(other_widths(facts, sample, target.hidden))
        said += [*_lacking(sample, facts.samples), *_numbers(sample, facts.drafters), *_ids(sample, target, where)]
        if said:
            place = target.config
            related = (Step(place, f"the target is {target.hidden} wide"),) if place is not None else ()
            fix = Fix("capture this sample again from the target that the drafter is trained for, as the others")
            message = "; ".join(said)
            yield Finding("EGL805", "error", message, sample.where, "proven", related, fix, ("shape", sample.path))


def _widths(sample: Sample, target: SampleTarget, where: str) -> Iterator[str]:
    if not target.hidden:
        return
    wrong: dict[int, list[str]] = {}
    widths = {_whole(slot): slot.parts * slot.width if slot.columns else slot.width for slot in sample.slots}
    alike = len(widths) > 1 and len(set(widths.values())) == 1  # beside states side by side the last one is narrower
    for slot in sample.slots:
        name, width = (slot.group, slot.parts * slot.width) if slot.columns else (slot.key or slot.group, slot.width)
        if width == target.vocab or (not slot.count and slot.expected):
            continue
        said = claim(name) if name else None
        single = said is not None and is_one_state(said)
        if width % target.hidden or (width != target.hidden and (single or alike)):
            names = wrong.setdefault(width, [])
            text = f"`{slot.group if slot.columns else slot.shown}`"
            names += [text] if text not in names else []
    for width, names in wrong.items():
        verb = "is" if len(names) == 1 else "are"
        yield f"{listed(names)} {verb} {width} wide, {where} is {target.hidden} wide"


def _lacking(sample: Sample, samples: Sequence[Sample]) -> Iterator[str]:
    """Tensors that every other file of the set has."""
    own = {_whole(slot) for slot in sample.slots}
    others = [one for one in samples if one.pattern == sample.pattern and one is not sample and not one.broken]
    if len(others) < 2 or not own:
        return
    common = set.intersection(*({_whole(slot) for slot in one.slots} for one in others))
    missing = sorted(common - own)
    if missing and common & own and not sample.unclear:
        names = listed([f"`{name}`" for name in missing])
        yield f"it has no {names}, which the other {len(others)} samples have"


def _whole(slot: MeasuredSlot) -> str:
    return slot.group if slot.columns else slot.shown


def _numbers(sample: Sample, drafters: Sequence[DrafterConfig]) -> Iterator[str]:
    """Fewer auxiliary states than the only drafter takes, or another number side by side in one row."""
    declared = {len(ids) for one in drafters for entry in one.id_lists if (ids := integers(entry.ids)) is not None}
    if len(drafters) != 1 or len(declared) != 1:
        return
    wanted = declared.pop()
    groups = {slot.group: slot for slot in sample.slots if slot.parts and "aux" in slot.group.lower()}
    for group, slot in groups.items():
        if slot.parts < wanted or (slot.columns and slot.parts > wanted + 1):
            yield f"`{group}` holds {slot.parts} states, the drafter ({drafters[0].path}) takes {wanted}"


def _ids(sample: Sample, target: SampleTarget, where: str) -> Iterator[str]:
    if sample.ids_dtype.startswith(("float", "bfloat")):
        yield f"input_ids are {sample.ids_dtype}, not whole numbers"
    if sample.beyond:
        yield f"input_ids go up to {sample.highest}, {where} has {target.vocab} tokens"
