"""What the tables say beside what an engine's setters did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from eaglelint.conventions import rules
from eaglelint.conventions.load import Entry
from eaglelint.conventions.table import Engine
from eaglelint.conventions.versions import within

#: Depths N and id lists (as formulas of N) for which every setter is run; None is the engine's default.
DEPTHS = (36, 48)


def questions(depth: int) -> tuple[tuple[int, ...] | None, ...]:
    """The id lists that a setter of a target of `depth` layers is asked for."""
    n = depth
    return (
        None,
        (1, n // 2 - 1, n - 4),
        (2, n // 2, n - 3),
        (n - 4, 1, n // 2 - 1),
        (0, 1, 2),
        (3, 7, 11, n - 2),
        (1, n // 2, n - 1),
        (2, n // 2, n),
        (n,),
        (5, 5, 9),
        (-1, 4),
    )


class Difference(NamedTuple):
    """Something in which the source of a release and the tables disagree."""

    engine: str
    release: str
    architecture: str
    what: str


class Compared(NamedTuple):
    """The comparison of one release: how many answers were compared, which differ, which could not be had.

    `unlisted` are architectures whose setter works and that no entry of the tables names.
    """

    comparisons: int
    differences: tuple[Difference, ...]
    not_run: tuple[Difference, ...]
    unlisted: tuple[str, ...]


def compare(engine: Engine, release: str, answer: Mapping[str, Any]) -> Compared:
    """Compare the setters of a release with the entries for it; a release newer than all is held to the newest one."""
    known = release if within(release, "", engine.latest) else engine.latest
    entries = [e for e in engine.entries if within(known, e.first, e.last)]
    listed = {
        a: [e for e in entries if a in e.architectures_at(known)] for e in entries for a in e.architectures_at(known)
    }
    counts: Counter[str] = Counter()
    differences: list[Difference] = []
    not_run: list[Difference] = []
    for architecture, mine in sorted(listed.items()):
        serving = [
            e for e in mine if e.reading.status == "ok" and e.reading.rule not in ("unknown", "nothing_captured")
        ]
        if not serving:
            continue
        if architecture not in answer:
            what = "the tables say that it is served, and the release has no such class with a setter"
            differences.append(Difference(engine.name, release, architecture, what))
            continue
        for row in answer[architecture]["rows"]:
            said = [_row(entry, row) for entry in serving]
            if any(problem is not None and problem.startswith("not run") for problem in said):
                not_run.append(Difference(engine.name, release, architecture, str(said[0])))
                continue
            counts["compared"] += 1
            if all(problem is not None for problem in said):
                differences.append(Difference(engine.name, release, architecture, str(said[0])))
    unlisted = tuple(a for a in sorted(answer) if a not in listed and any("numbers" in r for r in answer[a]["rows"]))
    return Compared(counts["compared"], tuple(differences), tuple(not_run), unlisted)


def _row(entry: Entry, row: Mapping[str, Any]) -> str | None:
    """In what one answer differs from an entry; None when they agree, and "not run: ..." when there is no answer."""
    reading, depth, ids = entry.reading, row["depth"], row["ids"]
    asked = f"ids {ids} of {depth} layers" if ids is not None else f"the default of {depth} layers"
    if ids is None or reading.rule == "ignored":
        expected = reading.defaults(depth)
    else:
        expected = rules.apply(reading.rule, ids, depth)
    if expected is None:
        return f"{asked}: the tables do not say"
    error, numbers = row.get("error", ""), row.get("numbers")
    if numbers is None:
        if not error or "Stub" in error or error == "nothing was stored":
            return f"not run: {asked}: {error}"
        return None if _crashes(entry, expected, depth) else f"{asked}: the setter ends with {error}"
    if not _equal(numbers, expected, reading.order == "ascending"):
        return f"{asked}: the setter stores {numbers}, the tables say {list(expected)}"
    if error and not _crashes(entry, expected, depth):
        return f"{asked}: the setter ends with {error}, the tables know of no crash"
    return None


def _equal(numbers: Sequence[int], expected: Sequence[int], sorted_: bool) -> bool:
    if list(numbers) == list(expected):
        return True
    return sorted_ and sorted(set(numbers)) == sorted(set(expected))


def _crashes(entry: Entry, boundaries: Iterable[int], depth: int) -> bool:
    """Whether the tables allow that the engine ends with an error for one of these boundaries."""
    reading = entry.reading
    for boundary in boundaries:
        fates = {reading.zero} if boundary == 0 else {reading.outside} if boundary < 0 or boundary > depth else set()
        fates |= {reading.end} if boundary >= depth else set()
        if fates & {"crash", "unknown"}:
            return True
    return False


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """What the setters of a release do otherwise than those of the one before, in words."""
    for architecture in sorted(set(old) | set(new)):
        if architecture not in old:
            yield f"{architecture} is new"
        elif architecture not in new:
            yield f"{architecture} is gone"
        elif _outcomes(old[architecture]) != _outcomes(new[architecture]):
            yield f"{architecture} answers otherwise"


def _outcomes(answer: Mapping[str, Any]) -> list[tuple[Any, bool]]:
    return [(row.get("numbers"), "error" in row) for row in answer["rows"]]
