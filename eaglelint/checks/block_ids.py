"""EGL401 and EGL203 for DFlash heads: releases that take their ids for other layers, or never reach one of them.

The ids of a DFlash head are outputs of layers, whoever trained it: id i is boundary i + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from eaglelint.boundary import show, show_ids
from eaglelint.checks import wording
from eaglelint.checks.launching import Served, finding, judge, served
from eaglelint.checks.registry import check
from eaglelint.conventions.records import Edge, Reading
from eaglelint.conventions.table import Engine
from eaglelint.conventions.table import engine as known_engine
from eaglelint.facts import Launch, LayerIds
from eaglelint.findings import Finding, Fix
from eaglelint.linking.methods import method
from eaglelint.linking.records import Target, integers, title
from eaglelint.pipeline import Pipeline

_KEYS = ("/dflash_config/target_layer_ids", "/target_layer_ids")
#: What a loop that never captures boundary N does with it.
_MISSED = ("dropped", "crash")


class _Fault(NamedTuple):
    """What a release makes of the ids: the boundaries that it takes them for, and the ids that it never reaches."""

    taken: tuple[int, ...]
    missed: tuple[int, ...]


class _Launched(NamedTuple):
    """A launch of a DFlash head: its engine, and the ids as they stand and as numbers."""

    one: Served
    engine: Engine
    ids: LayerIds
    values: tuple[int, ...]


@check("EGL401")
def block_ids_mismatch(pipeline: Pipeline) -> Iterator[Finding]:
    """Releases that take the ids for other layers, and code that captures others. One finding for each launch."""
    found = [finding for launched in _launched(pipeline) for finding in _shifted(*launched)]
    yield from found or _captured_otherwise(pipeline)


@check("EGL203")
def unreachable_block_ids(pipeline: Pipeline) -> Iterator[Finding]:
    """Ids whose boundary the loop of the target never captures. One finding for each launch."""
    for launched in _launched(pipeline):
        yield from _missed(*launched)


def captured_by_release(pipeline: Pipeline) -> list[tuple[str, Launch, tuple[int, ...]]]:
    """For each launch of a DFlash head: the release in words, and the boundaries it captures; [] when not known."""
    found = []
    for one, engine, ids, values in _launched(pipeline):
        release, target = one.server.release.exact, one.server.target
        fault = _fault(engine, release, ids, values, target) if release else None
        if fault is None or target is None:
            return []
        ends = {_end(reading, engine, release, target) for reading in engine.readings(release, target, method="dflash")}
        if target.depth in fault.taken and ends != {"captured"}:
            return []
        found.append((f"{title(engine.name)} {release}", one.launch, fault.taken))
    return found


def _declared(pipeline: Pipeline) -> tuple[LayerIds, tuple[int, ...]] | None:
    """The ids of a DFlash head, as they stand and as numbers."""
    ids = next((entry for entry in pipeline.id_lists if entry.key in _KEYS), None)
    values = integers(ids.ids) if ids is not None else None
    if pipeline.method != "dflash" or pipeline.template or ids is None or not values:
        return None
    return ids, values


def _launched(pipeline: Pipeline) -> Iterator[_Launched]:
    declared = _declared(pipeline)
    if declared is None:
        return
    ids, values = declared
    for one in served(pipeline, "sglang", "vllm"):
        engine = known_engine(one.server.engine)
        if engine is not None and one.server in pipeline.servers and method(one.launch).kind == "dflash":
            yield _Launched(one, engine, ids, values)


def _shifted(one: Served, engine: Engine, ids: LayerIds, values: tuple[int, ...]) -> Iterator[Finding]:
    meant = tuple(value + 1 for value in values)

    def fault(release: str) -> _Fault | None:
        found = _fault(engine, release, ids, values, one.server.target)
        return found if found is not None and found.taken != meant else None

    judged = judge(one, fault)
    if judged is None:
        return
    taken = judged.fault.taken
    off = {b - m for b, m in zip(taken, meant, strict=True)}
    how = {-1: ": every state is one layer early", 1: ": every state is one layer late"}
    message = (
        f"the ids {show_ids(values)} of a DFlash head are outputs of layers, boundaries {show(meant)}, but {{name}} "
        f"takes them for boundaries {show(taken)}{how.get(off.pop(), '') if len(off) == 1 else ''}"
    )
    later = _first_right(engine, judged.releases[-1], fault)
    cure = f"{title(engine.name)} {later} is the first release that is right" if later else ""
    yield finding("EGL401", judged, message, ids.where, cure=cure, defect="block ids")


def _captured_otherwise(pipeline: Pipeline) -> Iterator[Finding]:
    """The project's own code captures other layers for the ids: those one before or behind, or a list of its own."""
    declared, training = _declared(pipeline), pipeline.training
    taken = training.at(pipeline.depth) if training is not None and pipeline.depth else None
    if declared is None or training is None or taken is None or training.source not in ("assembly", "capture"):
        return
    ids, values = declared
    meant = [value + 1 for value in values]
    shifts = {b - m for b, m in zip(sorted(taken), sorted(meant), strict=False)}
    if training.allows(meant, pipeline.depth) or training.also:
        return
    uniform = len(taken) == len(meant) and shifts in ({-1}, {1})
    if not uniform and training.source != "assembly":
        return
    how = f"every state is one layer {'early' if shifts == {-1} else 'late'}" if uniform else "these are other states"
    place = training.capture or training.where
    message = (
        f"the ids {show_ids(values)} of a DFlash head are outputs of layers, boundaries {show(meant)}, but "
        f"{wording.numbers(taken)} are {training.what} at {place}: {how}"
    )
    message += f" (assumed: {training.assumed})" if training.assumed else ""
    yield Finding(
        "EGL401",
        "warning",
        message,
        ids.where,
        "likely",
        wording.steps(pipeline, [training], ()),
        Fix(f"capture boundaries {show(meant)}, or write the ids {show_ids(sorted(b - 1 for b in taken))}"),
        ("block ids", pipeline.name),
    )


def _missed(one: Served, engine: Engine, ids: LayerIds, values: tuple[int, ...]) -> Iterator[Finding]:
    target = one.server.target

    def fault(release: str) -> _Fault | None:
        found = _fault(engine, release, ids, values, target)
        return found if found is not None and found.missed else None

    judged = judge(one, fault)
    if judged is None or target is None:
        return
    missed = judged.fault.missed
    boundaries = [b for value, b in zip(values, judged.fault.taken, strict=True) if value in missed]
    message = (
        f"{{name}} can not capture id {show(missed)} of {show_ids(values)}: it means {wording.numbers(boundaries)}, "
        f"and boundaries 1 to {target.depth - 1}{wording.target_words(target)} can be captured"
    )
    yield finding("EGL203", judged, message, ids.where, defect="block ids missed")


def _fault(
    engine: Engine, release: str, ids: LayerIds, values: tuple[int, ...], target: Target | None
) -> _Fault | None:
    """What a release makes of the ids when it reads them, and is known to read them in one way."""
    readings = engine.readings(release, target, method="dflash")
    depth = target.depth if target is not None else 0
    if not readings or any(ids.key not in r.keys or r.certainty == "suspected" for r in readings):
        return None
    taken = {reading.boundaries(values, depth or None, ids.key) for reading in readings}
    (only, *others) = taken
    if only is None or others:
        return None
    lost = [set(_unreached(reading, engine, release, ids, values, target)) for reading in readings]
    return _Fault(only, tuple(sorted(set.intersection(*lost))))


def _unreached(
    reading: Reading, engine: Engine, release: str, ids: LayerIds, values: Sequence[int], target: Target | None
) -> tuple[int, ...]:
    """The ids that are never captured."""
    if target is None or not target.depth or not target.architectures:
        return ()
    end = _end(reading, engine, release, target)
    if end not in _MISSED:
        return ()
    reading = replace(reading, end=end)
    return tuple(i for i in reading.unreachable(values, target.depth, ids.key) if 0 <= i < target.depth)


def _end(reading: Reading, engine: Engine, release: str, target: Target) -> Edge:
    """What becomes of boundary N. Heads of every kind share a target's loop: its end is that for EAGLE-3 heads."""
    if reading.end != "unknown":
        return reading.end
    ends: set[Edge] = set()
    for usual in engine.readings(release, target):
        ends.add(usual.end if usual.status == "ok" and usual.certainty == "executed" else "unknown")
    return ends.pop() if len(ends) == 1 else "unknown"


def _first_right(engine: Engine, release: str, fault: Callable[[str], _Fault | None]) -> str:
    """The first release behind one that has no such fault, "" when there is none."""
    later = engine.read[engine.read.index(release) + 1 :] if release in engine.read else ()
    return next((newer for newer in later if fault(newer) is None), "")
