"""Engine source in a project: overlays, vendored engines, patched copies. Its targets are judged by what it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eaglelint.conventions.known import known_target
from eaglelint.conventions.records import Reading
from eaglelint.derive import derived
from eaglelint.facts import Facts
from eaglelint.location import Location
from eaglelint.project import Source
from eaglelint.vendored import EngineModel


def models(sources: Sequence[Source], facts: Facts) -> Iterator[EngineModel]:
    """The target models among the sources, for the targets that the project names; what can not be told is left out."""
    names = _architectures(facts)
    if not names:
        return
    for engine in ("sglang", "vllm"):
        for item in derived(sources, engine, names):
            if item.reading is not None:
                where = next((place for what, place in item.proofs if what == "setter"), Location(item.file))
                yield _model(item.reading, where)


def _architectures(facts: Facts) -> tuple[str, ...]:
    """The architectures of the targets that configs and launches in the project name."""
    found = [name for target in facts.targets for name in target.architectures]
    for launch in facts.launches:
        known = known_target(str(launch.target.value)) if launch.target is not None and launch.target.known else None
        found += known.architectures if known is not None else ()
    return tuple(dict.fromkeys(found))


def _model(reading: Reading, where: Location) -> EngineModel:
    return EngineModel(
        reading.engine, reading.architectures, where, reading.rule, reading.default, reading.zero, reading.end,
        reading.outside, reading.order, reading.tensor, reading.status,
    )  # fmt: skip
