"""What each engine does with layer ids, release by release: the convention files, interpreted.

A file is parsed only when its engine is asked for, once in a process. Shipped data is validated against the schema by
the tests, not at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from packaging.version import Version

from eaglelint._resources import data_root
from eaglelint.conventions import versions
from eaglelint.conventions.known import architectures_of
from eaglelint.conventions.load import Entry, RunnerChoice, build, read_yaml
from eaglelint.conventions.merge import generalise, merge
from eaglelint.conventions.records import EngineDefect, IdLocation, Reading, Target, TargetLike

__all__ = ["Engine", "IdLocation", "Reading", "Target", "engine", "engines"]

#: Other names under which engines are written.
_FILES = {
    "sglang": "sglang", "sgl": "sglang",
    "vllm": "vllm",
}  # fmt: skip


@dataclass(frozen=True)
class Engine:
    """One engine. `read` are the releases whose source was read, `known` those and the unread ones between, ascending.

    `versioning` is "pep440", or "commits" for engines whose entries carry commits and dates instead of releases: their
    readings can not be told apart by a specifier.
    """

    name: str
    package: str
    versioning: str
    verified: str
    read: tuple[str, ...]
    known: tuple[str, ...]
    entries: tuple[Entry, ...]
    locations: tuple[IdLocation, ...]
    runners: tuple[RunnerChoice, ...]
    defects: tuple[EngineDefect, ...]
    traits: dict[str, tuple[str, ...]]
    raw: dict[str, Any]

    @property
    def latest(self) -> str:
        """The newest release that was read."""
        return self.read[-1] if self.read else ""

    @cached_property
    def architectures(self) -> frozenset[str]:
        """Every target architecture that some entry names."""
        return frozenset(a for entry in self.entries for a in entry.architectures)

    def readings(
        self, specifier: str | None = None, target: TargetLike | None = None, runner: str = ""
    ) -> tuple[Reading, ...]:
        """Every distinct way in which the admitted releases read the ids of a drafter for this target.

        `specifier` is a PEP 440 specifier set or a release; None or "" admits every release. An unknown target gives
        one reading when all targets of the release are read alike, else every alternative. Releases that can not serve
        the target are left out, unless there is nothing else: then the one reading has the status "unsupported".
        `runner` restricts vLLM's readings to one model runner ("V1", "V2") where something forces it. Raises ValueError
        for what is no specifier.
        """
        subject: TargetLike = target if target is not None else Target()
        if not subject.architectures and subject.model_type:
            subject = Target(architectures_of(subject.model_type), subject.model_type, subject.depth)
        if self.versioning != "pep440":
            return merge([[r for r in self._at(None, subject, runner) if r.status != "unsupported"]])
        columns = [self._at(release, subject, runner) for release in versions.admitted(specifier, self.known)]
        usable = [[r for r in column if r.status != "unsupported"] for column in columns]
        return merge(usable if any(usable) else columns)

    def id_locations(self, version: str) -> tuple[IdLocation, ...]:
        """Where that release reads the ids from, one for each model runner or target family that it has."""
        return self._covering(self.locations, self._nearest(version))

    def known_defects(self, version: str) -> tuple[EngineDefect, ...]:
        """The defects that a release is known to have, whatever the target."""
        return self._covering(self.defects, self._nearest(version))

    def graph_defect(self, version: str) -> EngineDefect | None:
        """The defect by which CUDA graphs are captured with the default layers, when that release has it."""
        return next((d for d in self.known_defects(version) if d.id == "cuda_graph_uses_default_layers"), None)

    def runners_for(self, version: str, target: TargetLike | None = None) -> tuple[str, ...]:
        """The model runners that may serve this target in that release, likelier first; ("",) where there is one."""
        release = self._nearest(version)[-1:]
        row = next(iter(self._covering(self.runners, release)), None)
        return ("",) if row is None else row.choose(target if target is not None else Target(), self.traits)

    def _covering(self, items: Sequence[Any], releases: Sequence[str]) -> tuple[Any, ...]:
        return tuple(i for i in items if any(versions.within(r, i.first, i.last) for r in releases))

    def _nearest(self, version: str) -> tuple[str, ...]:
        """The read releases that stand for a version: itself, or its neighbours, or the newest for newer ones."""
        parsed = versions.parse(version)
        if parsed is None or not self.read:
            return self.read[-1:]
        public = Version(parsed.public)
        ordered = [(versions.parse(r) or Version("0"), r) for r in self.read]
        below = [r for v, r in ordered if v <= public]
        above = [r for v, r in ordered if v >= public]
        return tuple(dict.fromkeys([*below[-1:], *above[:1]]))

    def _at(self, release: str | None, target: TargetLike, runner: str) -> list[Reading]:
        """The readings of one release."""
        if release is None:
            return self._stand_in(None, "", target, runner)
        found: list[Reading] = []
        public = Version((versions.parse(release) or Version("0")).public)
        newest = versions.parse(self.latest) or public
        for stand_in in self._nearest(release):
            found += self._stand_in(stand_in, release, target, runner)
        return [replace(r, beyond=True) for r in found] if public > newest else found

    def _stand_in(self, release: str | None, shown: str, target: TargetLike, runner: str) -> list[Reading]:
        """The readings of a release that was read, named as the release `shown`."""
        here = self.entries if release is None else self._covering(self.entries, [release])
        names = frozenset(target.architectures)
        own = [e for e in here if names & frozenset(e.architectures_at(release))]
        runners = (runner,) if runner else ("",) if release is None else self.runners_for(release, target)
        if own:
            entries, merged = own, False
        elif names & self.architectures:
            return [Reading(self.name, shown, shown, "nothing_captured", status="unsupported")]
        else:
            usual = [e for e in here if e.reading.status == "ok" and e.reading.rule != "unknown" and not e.fallback]
            entries = usual + [e for e in here if e.fallback and names]
            merged = True
        found = [self._joined(e, release, shown, r) for e in entries for r in runners]
        readings = [r for rows in found for r in rows]
        return generalise(readings) if merged else readings

    def _joined(self, entry: Entry, release: str | None, shown: str, runner: str) -> list[Reading]:
        """An entry together with the place from which that release and runner read the ids."""
        places = self.locations if release is None else self._covering(self.locations, [release])
        fitting = [p for p in places if p.runner in ("", runner)]
        special = [p for p in fitting if set(p.architectures) & set(entry.architectures)]
        fitting = special or [p for p in fitting if not p.architectures]
        mine = entry.defects + tuple(
            d
            for d in (self.defects if release is None else self._covering(self.defects, [release]))
            if not d.architectures or set(d.architectures) & set(entry.architectures)
        )
        base = replace(
            entry.reading,
            first=shown or entry.reading.first,
            last=shown or entry.reading.last,
            defects=mine,
            runner=runner,
        )
        if not fitting:
            return [replace(base, rule="ignored" if base.rule != "nothing_captured" else base.rule)]
        return [_placed(base, place) for place in fitting]


def _placed(reading: Reading, place: IdLocation) -> Reading:
    keys = tuple(k for k in place.keys if k.method == "eagle3")
    reads = bool(keys or place.arguments)
    rule = reading.rule if reads or reading.rule in ("nothing_captured", "unknown") else "ignored"
    return replace(
        reading,
        rule=rule,
        keys=tuple(k.pointer for k in keys),
        shifts=tuple(k.shift for k in keys),
        gates=place.gates,
        arguments=place.arguments,
        evidence=(*reading.evidence, *place.evidence),
    )


def engines() -> tuple[str, ...]:
    """The names of all known engines."""
    return tuple(dict.fromkeys(_FILES.values()))


def engine(name: str) -> Engine | None:
    """The engine of that name, None when it is not known. Spelling is forgiving (`TensorRT-LLM`, `sgl`)."""
    stem = _FILES.get(name.strip().lower().replace("_", "-"))
    return _load(stem) if stem else None


@cache
def _load(stem: str) -> Engine:
    raw = read_yaml(data_root("rules") / "conventions" / f"{stem}.yaml")
    entries, locations, runners, defects = build(raw)
    read = tuple(raw.get("read", ()))
    known = sorted({*read, *raw.get("unread", ())}, key=lambda r: versions.parse(r) or Version("0"))
    return Engine(
        name=raw["engine"],
        package=raw.get("package", ""),
        versioning=raw.get("versioning", "pep440"),
        verified=str(raw["verified"]),
        read=read,
        known=tuple(known),
        entries=entries,
        locations=locations,
        runners=runners,
        defects=defects,
        traits={k: tuple(v) for k, v in raw.get("traits", {}).items()},
        raw=raw,
    )
