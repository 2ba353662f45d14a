"""The draft vocabulary: EGL701 to EGL703 (the maps), EGL704 (its size), EGL705 (the size of the target's)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from eaglelint.checks.heads import Fault, findings
from eaglelint.checks.registry import check
from eaglelint.checks.stored import Stored, outcomes, stored
from eaglelint.conventions.known import known_target
from eaglelint.conventions.weights import Loading
from eaglelint.facts import Confidence, Step
from eaglelint.findings import Finding, Fix, Severity
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline
from eaglelint.stored import VocabularyMap

#: Multiples to which vocabularies are padded, and the largest part of one that padding may be.
_STEPS = (64, 128, 256, 512, 1024)
_PADDING = 0.02


class Vocabulary(NamedTuple):
    """A size of the target's vocabulary, and the place that says so."""

    size: int
    where: Location | None
    what: str


def targets_vocabulary(head: Stored) -> Vocabulary | None:
    """The size of the target's vocabulary, by its config or the tables; None when it is not known."""
    target = head.pipeline.target
    if target is None or target.assumed:
        return None
    if target.config is not None and target.config.vocab_size:
        document = target.config.document
        pointer = f"{target.config.text_prefix}/vocab_size"
        where = document.where(pointer if document.has(pointer) else "/vocab_size")
        return Vocabulary(target.config.vocab_size, where, "the target's config")
    known = known_target(target.name)
    if known is None or not known.established or not known.vocab_size:
        return None
    return Vocabulary(known.vocab_size, None, known.name)


def padded(one: int, other: int) -> bool:
    """Whether two sizes are of the same vocabulary, of which one is filled up to a round number."""
    small, large = sorted((one, other))
    little = large - small <= small * _PADDING
    if small == large or (little and large % _STEPS[0] == 0):
        return True
    up_to = any(large == -(-small // step) * step for step in _STEPS)
    return small % _STEPS[0] != 0 and up_to and (little or large - small < _STEPS[1])


@check("EGL701")
def vocabulary_map_missing(pipeline: Pipeline) -> Iterator[Finding]:
    """A reduced draft vocabulary without the map to the target's. One finding a head."""
    head = stored(pipeline)
    if head is None or head.checkpoint is None or not head.complete or not head.sizes.reduced:
        return
    sizes = head.sizes
    if padded(sizes.draft_vocab, sizes.vocab):
        return
    if "d2t" in head.names.given:
        yield from findings("EGL701", pipeline, outcomes(head, partial(_dropped, head)), ("map", pipeline.name))
        return
    beside = [found for found in head.checkpoint.beside if found.kind == "d2t"]
    also = f" ({beside[0].path} has it, which no engine reads)" if beside else ""
    message = (
        f"the draft vocabulary has {sizes.draft_vocab} of {sizes.vocab} tokens, and the checkpoint has no d2t{also}: "
        f"draft ids are taken for target ids, so that hardly a token is accepted"
    )
    related = (Step(sizes.where("draft_vocab_size"), "the size of the draft vocabulary"),)
    fix = Fix("export d2t with the weights: for each draft id, what must be added to get the target id")
    yield Finding("EGL701", "error", message, head.where(), "proven", related, fix, ("map", pipeline.name))


def _dropped(head: Stored, row: Loading) -> Fault | None:
    """A release that loads the map and throws it away."""
    if not row.drops_map:
        return None
    what = (
        "{name} drops the d2t of a checkpoint after it has read it: the draft vocabulary has "
        f"{head.sizes.draft_vocab} of {head.sizes.vocab} tokens, and draft ids are taken for target ids"
    )
    return Fault(what, head.sizes.where("draft_vocab_size"))


class Maps(NamedTuple):
    """The maps that belong together: those among the weights, or those in files of their own."""

    d2t: VocabularyMap | None
    t2d: VocabularyMap | None


class Problem(NamedTuple):
    """Something wrong with a map: what, where, and how surely."""

    what: str
    where: Location
    certain: bool = True


@check("EGL702", "EGL703")
def vocabulary_maps(pipeline: Pipeline) -> Iterator[Finding]:
    """Maps that are no offsets, or do not fit each other and the sizes. One finding a file; d2t's own fault alone."""
    head = stored(pipeline)
    maps = _maps(head) if head is not None else None
    if head is None or maps is None:
        return
    known = targets_vocabulary(head)
    size = known.size if known is not None else head.sizes.vocab
    offsets = _offsets(head, maps, size) if maps.d2t is not None else None
    if offsets is not None:
        severity: Severity = "error" if offsets.certain else "warning"
        confidence: Confidence = "proven" if offsets.certain else "likely"
        fix = Fix("store offsets, d2t[i] = target id of draft token i - i, of the tokens in ascending order")
        message = f"d2t does not hold offsets (target id = i + d2t[i]): {offsets.what}"
        defect = ("map", pipeline.name)
        yield Finding("EGL702", severity, message, offsets.where, confidence, _related(head), fix, defect)
        return
    places: dict[Location, list[str]] = {}
    for problem in _sizes(head, maps, size):
        places.setdefault(problem.where, []).append(problem.what)
    for where, said in places.items():
        fix = Fix("take d2t, t2d, lm_head and draft_vocab_size from one and the same training run")
        yield Finding("EGL703", "error", "; ".join(said), where, "proven", _related(head), fix, ("map", pipeline.name))


def _maps(head: Stored) -> Maps | None:
    """The maps to be judged: those that are served, else those that lie in the folder."""
    if head.checkpoint is None:
        return None
    for group in (head.checkpoint.maps, head.checkpoint.beside):
        kinds = {found.kind: found for found in reversed(group)}
        if kinds:
            return Maps(kinds.get("d2t"), kinds.get("t2d"))
    return Maps(None, None) if head.shape("lm_head.weight") else None


def _related(head: Stored) -> tuple[Step, ...]:
    steps = [
        Step(head.sizes.where(key), f"{key} is {head.sizes.size(key)}")
        for key in ("draft_vocab_size", "vocab_size")
        if head.sizes.size(key)
    ]
    return tuple(steps)


def _offsets(head: Stored, maps: Maps, size: int) -> Problem | None:
    """What is wrong with d2t itself; None when it may hold offsets."""
    d2t = maps.d2t
    if d2t is None or d2t.values is None:
        return None
    values = d2t.values
    targets = [place + value for place, value in enumerate(values)]
    marked = _marked(maps.t2d)
    absolute = list(values) == sorted(set(values)) and len(values) > 1 and list(targets) != list(values)
    if absolute and marked is not None and set(values) == marked:
        return Problem(f"its numbers are the ids of the tokens that t2d marks, up to {max(values)}", d2t.where)
    outside = [(place, target) for place, target in enumerate(targets) if target < 0 or (size and target >= size)]
    if outside:
        place, target = max(outside, key=lambda entry: abs(entry[1]))
        said = f"draft token {place} would be target token {target} of {size or 'the vocabulary'}"
        return Problem(said + (", as if it held the ids themselves" if absolute else ""), d2t.where)
    falling = next((n for n, (one, other) in enumerate(pairwise(targets)) if other <= one), None)
    if falling is not None:
        one, other = targets[falling], targets[falling + 1]
        word = "the same" if len(set(targets)) < len(targets) else "not ascending"
        said = f"target ids are {word} for draft tokens {falling} and {falling + 1} ({one} and {other})"
        return Problem(said, d2t.where, certain=len(set(targets)) < len(targets) or marked is not None)
    if not any(values) and head.sizes.reduced and not padded(head.sizes.draft_vocab, head.sizes.vocab):
        if marked is not None and marked != set(targets):
            return Problem("it is all zeros, and t2d marks other tokens than the first", d2t.where)
        if marked is None:
            return Problem("it is all zeros, though the vocabulary is reduced", d2t.where, certain=False)
        return None
    if absolute and marked is None and len(values) >= 16 and head.sizes.reduced:
        return Problem(
            "no two tokens in a row are neighbours, as if it held the ids themselves", d2t.where, certain=False
        )
    return None


def _marked(t2d: VocabularyMap | None) -> set[int] | None:
    """The tokens of the target that the draft has; None when they are not known."""
    if t2d is None or t2d.values is None:
        return None
    return {token for token, value in enumerate(t2d.values) if value}


def _sizes(head: Stored, maps: Maps, size: int) -> Iterator[Problem]:
    """Lengths and sums that do not agree."""
    sizes, d2t, t2d = head.sizes, maps.d2t, maps.t2d
    marked = _marked(t2d)
    rows = (head.shape("lm_head.weight") or (0,))[0]
    if rows and sizes.draft_vocab and rows != sizes.draft_vocab and sizes.value("tie_word_embeddings") is not True:
        lengths = {n for n in (d2t.length if d2t is not None else 0, len(marked) if marked is not None else 0) if n}
        if lengths == {rows}:
            said = f"draft_vocab_size is {sizes.draft_vocab}, and lm_head.weight and the maps have {rows} tokens"
            yield Problem(said, sizes.where("draft_vocab_size"))
            return
        yield Problem(
            f"lm_head.weight has {rows} rows, and draft_vocab_size is {sizes.draft_vocab}", head.where("lm_head.weight")
        )
    draft = sizes.draft_vocab or rows
    if d2t is not None and draft and d2t.length != draft:
        yield Problem(f"d2t has {d2t.length} entries, and the draft vocabulary {draft}", d2t.where)
    if t2d is None:
        return
    if size and not padded(t2d.length, size) and t2d.length != sizes.vocab:
        yield Problem(f"t2d has {t2d.length} entries, and the target's vocabulary {size}", t2d.where)
    if marked is not None and draft and len(marked) != draft:
        yield Problem(f"t2d marks {len(marked)} tokens, and the draft vocabulary has {draft}", t2d.where)
    elif marked is not None and d2t is not None and d2t.values is not None and d2t.length == draft:
        targets = {place + value for place, value in enumerate(d2t.values)}
        if targets != marked:
            strays = sorted(targets ^ marked)
            said = f"t2d and d2t tell of different tokens, among them {', '.join(map(str, strays[:3]))}"
            yield Problem(said, t2d.where)


@check("EGL704")
def draft_vocab_missing(pipeline: Pipeline) -> Iterator[Finding]:
    """draft_vocab_size is not given, or null, for a release that needs it. One finding a head."""
    head = stored(pipeline)
    if head is None or head.sizes.draft_vocab or not head.layout:
        return
    given = head.sizes.has("draft_vocab_size")
    if given and head.sizes.value("draft_vocab_size") is not None:
        return  # of a wrong type, which is EGL201's

    def fault(row: Loading) -> Fault | None:
        if (row.size_null if given else row.size_missing) != "error":
            return None
        said = "draft_vocab_size is null" if given else "the config has no draft_vocab_size"
        size = head.sizes.vocab or "the size of the vocabulary"
        null = "null (the target's lm_head is used) or " if row.size_null == "targets" and not given else ""
        cure = f"write `draft_vocab_size`: {null}{size} for a head with the whole vocabulary"
        return Fault(
            f"{said}, and {{name}} reads it as a number: loading fails", head.sizes.where("draft_vocab_size"), cure
        )

    yield from findings("EGL704", pipeline, outcomes(head, fault), ("value", pipeline.name, "/draft_vocab_size"))


@check("EGL705")
def vocab_size_not_targets(pipeline: Pipeline) -> Iterator[Finding]:
    """The vocabulary that the config calls its own is not the target's. One finding a head."""
    head = stored(pipeline)
    if head is None or head.checkpoint is None or not head.sizes.vocab:
        return
    known = targets_vocabulary(head)
    if known is None or padded(known.size, head.sizes.vocab):
        return
    own = head.sizes.vocab
    reduced = " (it is that of the draft)" if own == head.sizes.draft_vocab else ""
    message = f"vocab_size is {own}{reduced}, and the target has {known.size} tokens ({known.what})"
    related: Sequence[Step] = [Step(known.where, "the target's vocabulary")] if known.where is not None else []
    fix = Fix(f"write `vocab_size`: {known.size}; the size of the draft's own vocabulary is draft_vocab_size")
    where = head.sizes.where("vocab_size")
    yield Finding("EGL705", "error", message, where, "proven", tuple(related), fix, ("vocabulary", pipeline.name))
