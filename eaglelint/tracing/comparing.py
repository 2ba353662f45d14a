"""From two halves to a panel: which columns of fc are fed what the drafter was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eaglelint.boundary import difference
from eaglelint.conventions.rules import NOWHERE
from eaglelint.tracing.records import Fed, Kept, Row, Status, Trained

#: What is said of a column that is fed the embedding.
EMBEDDING = "the embedding instead"
#: What is said of a column that is fed nothing.
NOTHING = "nothing arrives here"
_COUNTS = {1: "one layer", 2: "two layers", 3: "three layers"}


def aligned(trained: Trained, fed: Sequence[Fed]) -> Trained:
    """The left half beside the right one: states whose order is not known take the order of what is fed."""
    if trained.ordered or not fed:
        return trained
    rest = list(trained.columns)
    places: list[Kept | None] = []
    for one in fed:
        same = next((kept for kept in rest if compare(kept.boundary.by_depth, one.boundary.by_depth) == "match"), None)
        places.append(same)
        if same is not None:
            rest.remove(same)
    filled = [place if place is not None else rest.pop(0) if rest else None for place in places]
    return replace(trained, columns=(*(kept for kept in filled if kept is not None), *rest))


def rows(trained: Trained, fed: Sequence[Fed], *, decided: bool) -> tuple[Row, ...]:
    """A row for each column of fc. `decided` is False when it is not known what is served."""
    left, right = aligned(trained, fed).columns, fed
    found = []
    for index in range(max(len(left), len(right))):
        kept = left[index] if index < len(left) else None
        one = right[index] if index < len(right) else None
        status, words = _judge(kept, one, trained, decided)
        found.append(Row(index, kept, one, status, words))
    if _reordered(found):
        return tuple(replace(row, words="in another column") if row.status == "mismatch" else row for row in found)
    return tuple(found)


def _reordered(found: Sequence[Row]) -> bool:
    """Whether the same boundaries arrive, but not in the columns of the training."""
    if any(row.kept is None or row.fed is None or row.fed.lost for row in found):
        return False
    left = [row.kept.boundary.value for row in found if row.kept is not None]
    right = [row.fed.boundary.value for row in found if row.fed is not None]
    known = None not in left and None not in right
    return known and left != right and sorted(map(str, left)) == sorted(map(str, right))


def _judge(kept: Kept | None, fed: Fed | None, trained: Trained, decided: bool) -> tuple[Status, str]:
    if kept is None:
        if trained.columns and decided and trained.judged:
            return "mismatch", "the drafter was not trained with this column"
        if fed is not None and fed.lost:
            return "mismatch", fed.lost
        return "unknown", "what it was trained on is not known"
    if kept.flaw:
        return "mismatch", f"trained on an incomplete state: {kept.flaw}"
    if fed is None:
        if decided and trained.judged:
            return "mismatch", NOTHING
        return "unknown", "what is served is not known"
    if not trained.judged:
        return "unknown", "how it was captured is in doubt"
    if fed.lost:
        same = compare(kept.boundary.by_depth, fed.boundary.by_depth) == "match"
        shift = "" if same else _shift(kept, fed)
        return "mismatch", f"{shift}, {fed.lost}" if shift else fed.lost
    status = compare(kept.boundary.by_depth, fed.boundary.by_depth)
    if status == "mismatch":
        return status, _shift(kept, fed)
    if status == "match":
        return status, ""
    known = bool(kept.boundary.by_depth) and bool(fed.boundary.by_depth)
    return status, "depends on N" if known else "which boundary the id means is not known"


def compare(one: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]) -> Status:
    """Whether two boundaries are equal for every depth for which both are known, for none, or it depends."""
    left, right = dict(one), dict(other)
    equal = {left[n] == right[n] for n in left.keys() & right.keys()}
    if len(equal) != 1:
        return "unknown"
    return "match" if equal.pop() else "mismatch"


def _shift(kept: Kept, fed: Fed) -> str:
    """By how much what is fed is off: "one layer late", "the embedding instead"."""
    left, right = dict(kept.boundary.by_depth), dict(fed.boundary.by_depth)
    shared = left.keys() & right.keys()
    if {right[n] for n in shared} == {0}:
        return EMBEDDING
    if NOWHERE in {right[n] for n in shared}:
        return ""
    shifts = {right[n] - left[n] for n in shared}
    if len(shifts) != 1:
        return "another boundary"
    shift = shifts.pop()
    return f"{_COUNTS.get(abs(shift), f'{abs(shift)} layers')} {'late' if shift > 0 else 'early'}"


def verdict(found: Sequence[Row], trained: Trained, served_known: bool) -> tuple[Status, str]:
    """What the rows come to, in one sentence."""
    if not trained.columns:
        lost = [row.fed for row in found if row.fed is not None and row.fed.lost]
        wrong = _lost_words(lost) if found else "nothing is captured for it" if served_known else ""
        unknown = "what the drafter was trained on is not known"
        return ("mismatch", f"{wrong}; {unknown}") if wrong else ("unknown", unknown)
    broken = next((row.words for row in found if row.status == "mismatch" and row.kept and row.kept.flaw), "")
    if broken:
        return "mismatch", broken
    if not served_known:
        return "unknown", "what the drafter is served is not known"
    if not trained.judged:
        return "unknown", "how the states were captured is in doubt, so they are not compared"
    if any(row.status == "mismatch" for row in found):
        return "mismatch", _difference(found)
    if all(row.status == "match" for row in found):
        return "match", "every column of fc is fed the boundary it was trained on"
    return "unknown", next(row.words for row in found if row.status == "unknown")


def _difference(found: Sequence[Row]) -> str:
    left = [row.kept.boundary.value for row in found if row.kept is not None]
    right = [row.fed.boundary.value for row in found if row.fed is not None]
    lost = [row.fed for row in found if row.fed is not None and row.fed.lost]
    if not right:
        return "nothing is captured for it"
    trained = [value for value in left if value is not None]
    served = [value for value in right if value is not None and value != NOWHERE]
    if len(trained) < len(left) or len(served) < len(right):
        words = "; ".join(dict.fromkeys(row.words for row in found if row.status == "mismatch"))
        return words or "other boundaries than it was trained on"
    words = "" if lost and trained == served else difference(trained, served)
    return "; ".join(part for part in (words, _lost_words(lost)) if part)


def _lost_words(lost: Sequence[Fed]) -> str:
    texts = list(dict.fromkeys(fed.boundary.text for fed in lost))
    return f"boundar{'y' if len(texts) == 1 else 'ies'} {', '.join(texts)} {lost[0].lost}" if lost else ""
