"""From the YAML of a convention file to records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from eaglelint.conventions import versions
from eaglelint.conventions.records import EngineDefect, Gate, IdKey, IdLocation, Reading, TargetLike


class Entry(NamedTuple):
    """One row of a convention file: a range of releases and the targets that they read alike.

    `limits` narrows the range for single architectures. `fallback` marks an entry for targets that no other one names:
    "others" is how they are served, "perhaps" one way among those of the other entries. `releases` are the published
    releases among commits, and a `superseded` range of commits counts only where one of these is asked for.
    """

    first: str
    last: str
    architectures: tuple[str, ...]
    limits: Mapping[str, tuple[str, str]]
    fallback: str
    releases: tuple[str, ...]
    superseded: bool
    defects: tuple[EngineDefect, ...]
    reading: Reading

    def architectures_at(self, release: str | None) -> tuple[str, ...]:
        """The architectures that this entry covers in one release (None: in any)."""
        if release is None or not self.limits:
            return self.architectures
        return tuple(a for a in self.architectures if versions.within(release, *self.limits.get(a, ("", ""))))

    def usual(self, release: str | None) -> bool:
        """Whether this entry counts among what a target that is not known may meet."""
        working = self.reading.status == "ok" and self.reading.rule != "unknown"
        return working and (self.fallback == "others" or bool(self.architectures_at(release) and not self.fallback))


class AllowedTypes(NamedTuple):
    """The model types (as substrings) of the targets that a range of releases lets through for these methods."""

    first: str
    last: str
    model_types: tuple[str, ...]
    methods: tuple[str, ...]
    evidence: tuple[str, ...] = ()


class RunnerChoice(NamedTuple):
    """Which model runner a range of releases takes by default.

    `usual` for all targets but those of the architectures `listed` (or, with `dense`, those that are not mixtures of
    experts), which run on `special`; hybrid targets never do when `not_hybrid`; `unless_quantised` sends quantised
    targets back to the usual one.
    """

    first: str
    last: str
    usual: str
    special: str = ""
    listed: tuple[str, ...] = ()
    dense: bool = False
    not_hybrid: bool = False
    unless_quantised: bool = False
    evidence: tuple[str, ...] = ()

    def choose(self, target: TargetLike, traits: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """The runners that may serve a target, the likelier first."""
        if not self.special:
            return (self.usual,)
        names = set(target.architectures)
        if not names:
            return (self.special, self.usual)
        hybrid = bool(names & set(traits.get("hybrid", ())))
        moe = bool(names & set(traits.get("moe", ())))
        if self.not_hybrid and hybrid:
            return (self.usual,)
        if not (names & set(self.listed) or (self.dense and not moe)):
            return (self.usual,)
        if self.dense and not names & {*self.listed, *traits.get("dense", ())}:
            return (self.special, self.usual)
        quantised = getattr(target, "quantised", None)
        if self.unless_quantised and quantised is not False:
            return (self.usual,) if quantised else (self.special, self.usual)
        return (self.special,)


def read_yaml(path: Path) -> Any:
    """The content of one of our own data files."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), Loader=loader)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(v) for v in value or ())


def _range(row: Mapping[str, Any]) -> tuple[str, str]:
    return str(row.get("first", "")), str(row.get("last", ""))


def _defect(row: Mapping[str, Any]) -> EngineDefect:
    first, last = _range(row)
    return EngineDefect(
        row["id"],
        first,
        last,
        row["effect"],
        row.get("applies_when", ""),
        row.get("fixed_in", ""),
        _texts(row.get("architectures")),
        _texts(row.get("evidence")),
        row.get("purpose", "serving"),
    )


def _location(row: Mapping[str, Any]) -> IdLocation:
    first, last = _range(row)
    keys = tuple(IdKey(k["pointer"], k.get("shift", 0), k.get("method", "eagle3")) for k in row.get("keys", ()))
    gates = tuple(Gate(g["pointer"], g.get("missing", True), g.get("container", "")) for g in row.get("gates", ()))
    return IdLocation(
        first=first,
        last=last,
        runner=row.get("runner", ""),
        purpose=row.get("purpose", "serving"),
        methods=_texts(row.get("methods", ("eagle3",))),
        rule=row.get("rule", ""),
        end=row.get("end", "unknown"),
        keys=keys,
        gates=gates,
        arguments=_texts(row.get("arguments")),
        architectures=_texts(row.get("architectures")),
        fall_through=row.get("fall_through", True),
        empty_is_default=row.get("empty_is_default", False),
        no_default=row.get("no_default", False),
        duplicates=row.get("duplicates", ""),
        note=row.get("note", ""),
        evidence=_texts(row.get("evidence")),
    )


def _entry(row: Mapping[str, Any], raw: Mapping[str, Any]) -> Entry:
    first, last = _range(row)
    edges = row.get("edges", {})
    architectures, releases = _texts(row.get("architectures")), _texts(row.get("releases"))
    reading = Reading(
        engine=raw["engine"],
        first=first,
        last=last,
        rule=row["rule"],
        default=_texts(row.get("default", raw.get("default"))),
        zero=edges.get("zero", "unknown"),
        end=edges.get("end", "unknown"),
        outside=edges.get("outside", "unknown"),
        order=row.get("order", raw.get("order", "ascending")),
        duplicates=row.get("duplicates", raw.get("duplicates", "collapsed")),
        status=row.get("status", "ok"),
        tensor=row.get("tensor", "stream"),
        model_files=_texts(row.get("model_files")),
        architectures=architectures,
        releases=releases,
        evidence=_texts(row.get("evidence")),
        certainty=row.get("certainty", raw.get("certainty", "read")),
        note=row.get("note", ""),
    )
    superseded = row.get("superseded", False)
    limits = {name: _range(limit) for name, limit in row.get("limits", {}).items()}
    defects = tuple(_defect({"first": first, "last": last, **d}) for d in row.get("defects", ()))
    return Entry(first, last, architectures, limits, row.get("fallback", ""), releases, superseded, defects, reading)


def _runner(row: Mapping[str, Any]) -> RunnerChoice:
    first, last = _range(row)
    return RunnerChoice(
        first,
        last,
        row["usual"],
        row.get("special", ""),
        _texts(row.get("listed")),
        row.get("dense", False),
        row.get("not_hybrid", False),
        row.get("unless_quantised", False),
        _texts(row.get("evidence")),
    )


class Parts(NamedTuple):
    """The rows of a convention file as records."""

    entries: tuple[Entry, ...]
    locations: tuple[IdLocation, ...]
    runners: tuple[RunnerChoice, ...]
    defects: tuple[EngineDefect, ...]
    allow_list: tuple[AllowedTypes, ...]


def build(raw: Mapping[str, Any]) -> Parts:
    """The records of a convention file."""

    def rows(name: str) -> Iterable[Mapping[str, Any]]:
        value: Iterable[Mapping[str, Any]] = raw.get(name) or ()
        return value

    return Parts(
        tuple(_entry(row, raw) for row in rows("entries")),
        tuple(_location(row) for row in rows("locations")),
        tuple(_runner(row) for row in rows("runners")),
        tuple(_defect(row) for row in rows("defects")),
        tuple(
            AllowedTypes(*_range(row), _texts(row["model_types"]), _texts(row["methods"]), _texts(row.get("evidence")))
            for row in rows("allow_list")
        ),
    )
