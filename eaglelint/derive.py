"""What an engine's own source does with layer ids, target file by target file: its convention, derived from the code.

The result is comparable with the tables of `rules/conventions`: each derived convention is a `Reading`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from eaglelint.analyser.fragments import deep_recursion
from eaglelint.analyser.sources import Code
from eaglelint.analyser.values import ClassV
from eaglelint.conventions.records import Reading
from eaglelint.derivation import engines
from eaglelint.derivation.judging import Verdict, judge, probes
from eaglelint.derivation.running import SETTERS, Model, Seen, Source, Underivable
from eaglelint.errors import UnreadableSource
from eaglelint.location import Location
from eaglelint.project import Source as File

#: Depths N for which models are run; small ones do as well as large ones.
DEPTHS = (12, 9)
#: Byte strings of which a file with a target class has one, else it inherits from a file that has.
_GATES = {
    "sglang": (b"set_eagle3_layers_to_capture",),
    "vllm": (b"SupportsEagle3", b"set_aux_hidden_state_layers"),
}
_PARENT = re.compile(rb"^class\s+\w+\s*\(([^)]*)\)", re.MULTILINE)
_NO_TARGETS = re.compile(r"eagle|mtp|nextn|dflash|dspark|medusa|draft|interfaces", re.IGNORECASE)


@dataclass(frozen=True)
class Derived:
    """The convention of one target class. `reading` is None when it can not be told, and `reason` says why.

    `proofs` are the places that show it: (what stands there, where). `seen` is what arrived for which ids. `without`
    are optional keys of the target's config: what is said is true for targets that have none of them.
    """

    engine: str
    file: str
    name: str
    reading: Reading | None
    reason: str = ""
    where: Location | None = None
    proofs: tuple[tuple[str, Location], ...] = ()
    seen: tuple[Seen, ...] = ()
    without: tuple[str, ...] = ()


def derive(path: str, target_file: str = "") -> list[Derived]:
    """The conventions of every engine under a path; `target_file` keeps only files of that name (`llama.py`).

    Raises UsageError when there is no engine.
    """
    found: list[Derived] = []
    for engine in engines.read(path):
        found += derive_engine(engine, target_file)
    return found


def derive_engine(engine: engines.EngineSource, target_file: str = "") -> list[Derived]:
    """The conventions of one engine's target classes, by file."""
    source = Source(Code(engine.sources, imported=1 << 40), engine.engine)
    with deep_recursion():
        return list(_derive(source, engine, target_file))


def derived(sources: Sequence[File], engine: str, architectures: Sequence[str]) -> list[Derived]:
    """The conventions of target classes of these names, where their files are among the sources of a project."""
    own = engines.of_project(engine, sources)
    words = [f"class {name}".encode() for name in architectures]
    paths = [m.path for m in own.models() if any(word in data for data in [_data(m)] for word in words)]
    if not paths:
        return []
    source = Source(Code(own.sources, imported=1 << 40), engine)
    classes = ((path, cls) for path in paths for cls in source.classes(path) if cls.name in architectures)
    with deep_recursion():
        return [_convention(source, "", path, cls) for path, cls in classes]


def _data(source: File) -> bytes:
    """The bytes of a file, none when it can not be read."""
    try:
        return source.data
    except UnreadableSource:
        return b""


def derived_reading(sources: Sequence[File], engine: str, architectures: Sequence[str]) -> Reading | None:
    """What an engine's model files in a project make of layer ids for a target; None when they are not there.

    None, too, when it can not be told for every config, or when several classes of these names disagree.
    """
    found = derived(sources, engine, architectures)
    readings = [item.reading for item in found if item.reading is not None and not item.without]
    if len(readings) != len(found) or not readings:
        return None
    alike = {(r.rule, r.default, r.zero, r.end, r.outside, r.order, r.tensor) for r in readings}
    return readings[0] if len(alike) == 1 else None


def _derive(source: Source, engine: engines.EngineSource, target_file: str) -> Iterator[Derived]:
    done: dict[frozenset[tuple[str, int]], Derived] = {}
    for path in target_files(engine):
        if target_file and not f"/{path}".endswith(f"/{target_file}"):
            continue
        for cls in source.targets(path):
            key = source.likeness(cls)
            if key not in done:
                done[key] = _convention(source, engine.version, path, cls)
            yield _renamed(done[key], path, cls.name)


def _renamed(found: Derived, path: str, name: str) -> Derived:
    """The convention of a class that has all its code from another one."""
    if (found.file, found.name) == (path, name):
        return found
    reading = found.reading
    if reading is not None:
        reading = replace(reading, model_files=(path.rsplit("/", 1)[-1],), architectures=(name,))
    return replace(found, file=path, name=name, reading=reading)


def target_files(engine: engines.EngineSource) -> list[str]:
    """The model files in which target classes stand, own or inherited setters alike."""
    data: dict[str, bytes] = {}
    for model in engine.models():
        data[model.path] = _data(model)
    chosen = {p for p, d in data.items() if any(word in d for word in _GATES[engine.engine])}
    for _ in range(3):
        names = {n for p in chosen for n in re.findall(rb"^class\s+(\w+)", data[p], re.MULTILINE)}
        heirs = {p for p, d in data.items() if p not in chosen and _inherits(d, names)}
        if not heirs:
            break
        chosen |= heirs
    return sorted(p for p in chosen if not _NO_TARGETS.search(p.rsplit("/", 1)[-1]))


def _inherits(data: bytes, names: set[bytes]) -> bool:
    return any(
        parent.strip().rsplit(b".", 1)[-1] in names for found in _PARENT.findall(data) for parent in found.split(b",")
    )


def _convention(source: Source, version: str, path: str, cls: ClassV) -> Derived:
    """Run one class and judge it, for any config or else for one without optional keys."""
    found = _judged(source, version, path, cls)
    optional = source.optional_keys() if found.reading is None else frozenset()
    if not optional:
        return found
    source.world.config.without = optional
    try:
        again = _judged(source, version, path, cls)
    finally:
        source.world.config.without = frozenset()
    if again.reading is None:
        return found
    note = "for a config without " + ", ".join(sorted(optional))
    reading = replace(again.reading, note=f"{again.reading.note}; {note}" if again.reading.note else note)
    return replace(again, reading=reading, without=tuple(sorted(optional)))


def _judged(source: Source, version: str, path: str, cls: ClassV) -> Derived:
    """Run one class and judge it. Whatever goes wrong is a reason."""
    name = cls.name
    seen: list[Seen] = []
    proofs = source.proofs(cls)
    try:
        for depth in DEPTHS:
            model = Model(source, cls, depth)
            lists = probes(depth)
            seen += [model.probe(ids) for ids in (lists if depth == DEPTHS[0] else lists[:4] + lists[6:8])]
            proofs += [p for p in model.proofs() if p not in proofs]
        verdict = judge(seen)
    except Underivable as error:
        return Derived(source.engine, path, name, None, error.reason, error.where, tuple(proofs), tuple(seen))
    except Exception as error:  # a defect of eaglelint costs one answer, not all
        reason = f"eaglelint failed: {type(error).__name__}: {error}"
        return Derived(source.engine, path, name, None, reason, None, tuple(proofs), tuple(seen))
    if verdict.rule == "unknown":
        return Derived(source.engine, path, name, None, verdict.reason, None, tuple(proofs), tuple(seen))
    reading = _reading(source.engine, version, path, name, verdict, proofs)
    return Derived(source.engine, path, name, reading, verdict.reason, None, tuple(proofs), tuple(seen))


def _reading(
    engine: str, version: str, path: str, name: str, verdict: Verdict, proofs: Sequence[tuple[str, Location]]
) -> Reading:
    return Reading(
        engine,
        version,
        version,
        verdict.rule,
        default=verdict.default,
        zero=verdict.zero,
        end=verdict.end,
        outside=verdict.outside,
        order=verdict.order,
        duplicates=verdict.duplicates,
        status="broken" if verdict.rule == "nothing_captured" or verdict.tensor == "branch" else "ok",
        tensor=verdict.tensor,
        model_files=(path.rsplit("/", 1)[-1],),
        architectures=(name,),
        evidence=tuple(f"{where.path}:{where.line} ({what})" for what, where in proofs),
        certainty="executed",
        note=verdict.reason,
    )


__all__ = ["DEPTHS", "SETTERS", "Derived", "derive", "derive_engine", "derived", "derived_reading", "target_files"]
