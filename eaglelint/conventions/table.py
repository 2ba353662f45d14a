"""What each engine does with layer ids, release by release: the convention files, interpreted.

A file is parsed only when its engine is asked for, once in a process. Shipped data is validated against the schema by
the tests, not at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

from packaging.version import Version

from eaglelint._resources import data_root
from eaglelint.conventions import versions
from eaglelint.conventions.known import architectures_of
from eaglelint.conventions.load import AllowedTypes, Entry, RunnerChoice, build, read_yaml
from eaglelint.conventions.merge import generalise, merge
from eaglelint.conventions.records import EngineDefect, IdLocation, Reading, Target, TargetLike

__all__ = ["Engine", "IdLocation", "Reading", "Target", "engine", "engines"]

#: Names under which an engine is written -> its convention file.
_FILES = {
    "sglang": "sglang", "sgl": "sglang",
    "vllm": "vllm",
    "tensorrt-llm": "tensorrt-llm", "tensorrtllm": "tensorrt-llm", "trt-llm": "tensorrt-llm", "trtllm": "tensorrt-llm",
    "tokenspeed": "tokenspeed",
    "atom": "atom",
    "atom-sglang": "atom-sglang",
    "atom-vllm": "atom-vllm",
    "llama.cpp": "llama.cpp", "llama-cpp": "llama.cpp", "llamacpp": "llama.cpp",
    "lmdeploy": "lmdeploy",
    "mlx-vlm": "mlx-vlm",
    "openvino-genai": "openvino-genai", "openvino.genai": "openvino-genai",
    "rtp-llm": "rtp-llm",
    "onnxruntime-genai": "onnxruntime-genai",
}  # fmt: skip


@dataclass(frozen=True)
class Engine:
    """One engine. `read` are the releases whose source was read, `known` those and the unread ones between, ascending.

    `versioning` is "pep440", or "commits" for engines whose entries carry commits and dates instead of releases: their
    readings can be told apart by a specifier only where an entry names a published release. `exhaustive`: targets that
    no entry names can not be served.
    """

    name: str
    package: str
    versioning: str
    verified: str
    exhaustive: bool
    read: tuple[str, ...]
    known: tuple[str, ...]
    entries: tuple[Entry, ...]
    locations: tuple[IdLocation, ...]
    runners: tuple[RunnerChoice, ...]
    defects: tuple[EngineDefect, ...]
    allow_list: tuple[AllowedTypes, ...]
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
        self,
        specifier: str | None = None,
        target: TargetLike | None = None,
        runner: str = "",
        method: str = "eagle3",
        purpose: str = "serving",
    ) -> tuple[Reading, ...]:
        """Every distinct way in which the admitted releases read the ids of a drafter for this target.

        `specifier` is a PEP 440 specifier set or a release; None or "" admits every release. An unknown target gives
        one reading when all targets of the release are read alike, else every alternative. Releases that can not serve
        the target are left out, unless there is nothing else: then the one reading has the status "unsupported".
        `runner` restricts vLLM's readings to one model runner ("V1", "V2") where something forces it. `method` is the
        kind of head ("eagle3", "dflash", "dspark"), `purpose` "serving" or "extraction" (of hidden states, without a
        drafter). Raises ValueError for what is no specifier.
        """
        question = Question(_subject(target), runner, method, purpose)
        if self.versioning != "pep440":
            return merge([self._by_commit(specifier, question)])
        columns = [self._at(release, question) for release in versions.admitted(specifier, self.known)]
        usable = [[r for r in column if r.status != "unsupported"] for column in columns]
        return merge(usable if any(usable) else columns)

    def id_locations(self, version: str) -> tuple[IdLocation, ...]:
        """Where that release reads the ids from, one for each model runner or target family that it has."""
        return self._covering(self.locations, self.nearest(version))

    def known_defects(self, version: str) -> tuple[EngineDefect, ...]:
        """The defects that a release is known to have, whatever the target."""
        return self._covering(self.defects, self.nearest(version))

    def extraction_defects(self, specifier: str | None) -> tuple[tuple[str, tuple[EngineDefect, ...]], ...]:
        """For each release that a specifier admits, what goes wrong in it when hidden states are extracted.

        Raises ValueError for what is no specifier.
        """
        return tuple(
            (release, tuple(d for d in self.known_defects(release) if d.purpose == "extraction"))
            for release in versions.admitted(specifier, self.known)
        )

    def graph_defect(self, version: str) -> EngineDefect | None:
        """The defect by which CUDA graphs are captured with the default layers, when that release has it."""
        return next((d for d in self.known_defects(version) if d.id == "cuda_graph_uses_default_layers"), None)

    def runners_for(self, version: str, target: TargetLike | None = None) -> tuple[str, ...]:
        """The model runners that may serve this target in that release, likelier first; ("",) where there is one."""
        release = self.nearest(version)[-1:]
        row = next(iter(self._covering(self.runners, release)), None)
        return ("",) if row is None else row.choose(target if target is not None else Target(), self.traits)

    def _covering(self, items: Sequence[Any], releases: Sequence[str]) -> tuple[Any, ...]:
        return tuple(i for i in items if any(versions.within(r, i.first, i.last) for r in releases))

    def nearest(self, version: str) -> tuple[str, ...]:
        """The read releases that stand for a version: itself, or its neighbours, or the newest for newer ones."""
        parsed = versions.parse(version)
        if parsed is None or not self.read:
            return self.read[-1:]
        public = Version(parsed.public)
        ordered = [(versions.order(r), r) for r in self.read]
        below = [r for v, r in ordered if v <= public]
        above = [r for v, r in ordered if v >= public]
        return tuple(dict.fromkeys([*below[-1:], *above[:1]]))

    def _by_commit(self, specifier: str | None, question: Question) -> list[Reading]:
        """The readings where entries carry commits: the current ones, unless a published release is named."""
        published = sorted({r for e in self.entries for r in e.releases}, key=versions.order)
        named = set(versions.admitted(specifier, published)) if specifier else set()
        found = self._stand_in(None, "", question, frozenset(named & set(published)))
        return [r for r in found if r.status != "unsupported"] or found

    def _at(self, release: str, question: Question) -> list[Reading]:
        """The readings of one release."""
        found = [r for near in self.nearest(release) for r in self._stand_in(near, release, question)]
        version, newest = versions.parse(release), versions.parse(self.latest)
        if version is not None and newest is not None and Version(version.public) > newest:
            return [replace(r, beyond=True) for r in found]
        return found

    def _stand_in(
        self, release: str | None, shown: str, question: Question, published: frozenset[str] = frozenset()
    ) -> list[Reading]:
        """The readings of a release that was read, named as the release `shown`.

        Without a release (None) they are those of the current commits, or of the `published` releases that are named.
        """
        refused = self._refused(release, shown, question)
        if refused is not None:
            return [refused]
        places = [
            p
            for p in (self.locations if release is None else self._covering(self.locations, [release]))
            if p.purpose == question.purpose and p.serves(question.method)
        ]
        if not places and (question.purpose, question.method) != ("serving", "eagle3"):
            return []
        names = frozenset(question.target.architectures)
        direct = [p for p in places if p.rule]
        if direct:
            special = [p for p in direct if names & frozenset(p.architectures)]
            return [_direct(self.name, p, shown, question) for p in special or direct if special or not p.architectures]
        if release is not None:
            here = self._covering(self.entries, [release])
        elif published:
            here = tuple(e for e in self.entries if published & set(e.releases))
        else:
            here = tuple(e for e in self.entries if not e.superseded)
        own = [e for e in here if names & frozenset(e.architectures_at(release))]
        others = [e for e in here if e.fallback == "others"] if names else []
        if not own and not others and (names & self.architectures or (names and self.exhaustive)):
            return [Reading(self.name, shown, shown, "nothing_captured", status="unsupported")]
        usual = others or [e for e in here if e.usual(release) or (e.fallback == "perhaps" and names)]
        defects = self.defects if release is None else self._covering(self.defects, [release])
        defects = tuple(d for d in defects if question.purpose == "extraction" or d.purpose == "serving")
        runners = self._runners(release, question)
        readings = [r for e in own or usual for n in runners for r in _joined(e, places, defects, shown, n, question)]
        return readings if own else generalise(readings)

    def _runners(self, release: str | None, question: Question) -> tuple[str, ...]:
        if question.runner:
            return (question.runner,)
        if release is None or question.purpose != "serving":
            return ("",)
        return self.runners_for(release, question.target)

    def _refused(self, release: str | None, shown: str, question: Question) -> Reading | None:
        """The reading of a target whose model type the release does not let through; None when it does."""
        if release is None:
            return None
        target = question.target
        kind: str = getattr(target, "text_model_type", "")
        if not kind and target.architectures and all(a.endswith("ForCausalLM") for a in target.architectures):
            kind = target.model_type
        method = question.method if question.purpose == "serving" else "extract_hidden_states"
        for row in self._covering(self.allow_list, [release]):
            if kind and method in row.methods and not any(allowed in kind for allowed in row.model_types):
                effect = f"{self.name} {shown} lets only targets through whose model type contains one of " + ", ".join(
                    row.model_types
                )
                refusal = EngineDefect("target_refused", row.first, row.last, effect, evidence=row.evidence)
                return Reading(
                    self.name, shown, shown, "nothing_captured", status="unsupported", defects=(refusal,),
                    evidence=row.evidence,
                )  # fmt: skip
        return None


class Question(NamedTuple):
    """What is asked of an engine besides the release."""

    target: TargetLike
    runner: str
    method: str
    purpose: str


def _subject(target: TargetLike | None) -> TargetLike:
    """The target asked about; one known only by its model type gets the architectures of known targets of that type."""
    if target is None:
        return Target()
    if not target.architectures and target.model_type:
        return Target(architectures_of(target.model_type), target.model_type, target.depth)
    return target


def _joined(
    entry: Entry,
    places: Sequence[IdLocation],
    defects: Sequence[EngineDefect],
    shown: str,
    runner: str,
    question: Question,
) -> list[Reading]:
    """An entry together with the places from which that release and runner read the ids."""
    fitting = [p for p in places if not runner or p.runner in ("", runner)]
    special = [p for p in fitting if set(p.architectures) & set(entry.architectures)]
    fitting = special or [p for p in fitting if not p.architectures]
    concerned = [d for d in defects if not d.architectures or set(d.architectures) & set(entry.architectures)]
    base = replace(
        entry.reading,
        first=shown or entry.reading.first,
        last=shown or entry.reading.last,
        defects=(*entry.defects, *concerned),
        runner=runner,
    )
    return [_placed(base, place, question) for place in fitting] or [_placed(base, IdLocation("", ""), question)]


def _placed(reading: Reading, place: IdLocation, question: Question) -> Reading:
    keys = place.keys_for(question.method)
    reads = bool(keys or place.arguments) or reading.rule in ("nothing_captured", "unknown")
    if reading.rule == "ignored" or not reads:
        return replace(reading, rule="ignored", evidence=(*reading.evidence, *place.evidence))
    return replace(
        reading,
        keys=tuple(k.pointer for k in keys),
        shifts=tuple(k.shift for k in keys),
        gates=place.gates,
        fall_through=place.fall_through,
        arguments=place.arguments,
        default=() if place.no_default else reading.default,
        duplicates=place.duplicates or reading.duplicates,
        empty_is_default=place.empty_is_default,
        note="; ".join(dict.fromkeys(text for text in (reading.note, place.note) if text)),
        evidence=(*reading.evidence, *place.evidence),
    )


def _direct(name: str, place: IdLocation, shown: str, question: Question) -> Reading:
    """The reading of a place whose id rule holds whatever the target's model file."""
    base = Reading(name, shown or place.first, shown or place.last, place.rule, end=place.end, note=place.note)
    return _placed(base, place, question)


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
    parts = build(raw)
    read = tuple(raw.get("read", ()))
    known = sorted({*read, *raw.get("unread", ())}, key=versions.order)
    return Engine(
        name=raw["engine"],
        package=raw.get("package", ""),
        versioning=raw.get("versioning", "pep440"),
        verified=str(raw["verified"]),
        exhaustive=raw.get("exhaustive", False),
        read=read,
        known=tuple(known),
        entries=parts.entries,
        locations=parts.locations,
        runners=parts.runners,
        defects=parts.defects,
        allow_list=parts.allow_list,
        traits={k: tuple(v) for k, v in raw.get("traits", {}).items()},
        raw=raw,
    )
