"""What the tables say beside what `eaglelint derive` makes of the source: rules, defaults and edges, class by class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from auditing.compare import Difference
from eaglelint.conventions.load import Entry
from eaglelint.conventions.table import Engine
from eaglelint.conventions.versions import within

#: What is compared of a class, by its name in the JSON of `derive`.
FIELDS = ("rule", "default", "zero", "end", "outside", "order")


class Derivation(NamedTuple):
    """The comparison of one release: how many fields were compared, which differ, which classes could not be told."""

    comparisons: int
    differences: tuple[Difference, ...]
    not_told: tuple[Difference, ...]


def compare_derived(engine: Engine, release: str, classes: Sequence[Mapping[str, Any]]) -> Derivation:
    """Compare the derived classes of a release with the entries that name them; a newer one is held to the newest."""
    known = release if within(release, "", engine.latest) else engine.latest
    entries = [e for e in engine.entries if within(known, e.first, e.last)]
    comparisons, differences, not_told = 0, [], []
    for cls in classes:
        named = [e for e in entries if cls["class"] in e.architectures_at(known)]
        mine = [e for e in named if _same_file(e, cls["file"])] or _of_package(entries, cls["file"]) or named
        if not mine or mine[0].reading.rule == "unknown":
            continue
        if cls["rule"] == "unknown":
            not_told.append(Difference(engine.name, release, cls["class"], str(cls.get("reason", ""))))
            continue
        lists = [list(_differences(entry, cls)) for entry in mine]
        comparisons += len(FIELDS)
        if all(lists):
            differences += [Difference(engine.name, release, cls["class"], words) for words in min(lists, key=len)]
    return Derivation(comparisons, tuple(differences), tuple(not_told))


def _of_package(entries: Sequence[Entry], file: str) -> list[Entry]:
    """Entries of exactly this file of a package (`models/NAME/PLATFORM/model.py`), whatever classes they name."""
    return [e for e in entries if any("/" in f and f"/{file}".endswith(f"/{f}") for f in e.reading.model_files)]


def _same_file(entry: Entry, file: str) -> bool:
    return any(f"/{file}".endswith(f"/{name}") for name in entry.reading.model_files)


def _differences(entry: Entry, cls: Mapping[str, Any]) -> Iterator[str]:
    reading = entry.reading
    if reading.rule == "nothing_captured":
        if cls["rule"] not in ("nothing_captured", "ignored"):
            yield f"the tables say {reading.status} ({reading.rule}), derived is {cls['rule']}"
        return
    told = {
        "rule": reading.rule,
        "default": list(reading.default),
        "zero": reading.zero,
        "end": reading.end,
        "outside": reading.outside,
        "order": reading.order,
    }
    for field in FIELDS:
        if "unknown" not in (told[field], cls[field]) and told[field] != cls[field]:
            yield f"{field}: the tables say {told[field]}, derived is {cls[field]}"
