"""Which arguments each release of an engine takes, and which it refuses together: `rules/arguments/`.

A file is parsed only when its engine is asked for. Releases between two that were read have what both of them have;
what only one of them has they may have, and so may releases newer than the newest that was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple

from eaglelint._resources import data_root
from eaglelint.conventions import versions
from eaglelint.conventions.load import read_yaml
from eaglelint.conventions.table import engine as known_engine


class Span(NamedTuple):
    """An inclusive range of releases; "" is an open bound."""

    since: str = ""
    until: str = ""

    def covers(self, release: str) -> bool:
        """Whether a release lies in the range; every range covers "", a release that is not told apart."""
        return not release or versions.within(release, self.since, self.until)


class ArgumentRange(NamedTuple):
    """An argument in a range of releases.

    `kind`: "integer", "number", "string", "flag", "list" or "mapping". `options` are its spellings on the command
    line, `choices` the only values it takes (() for any), whatever their case when `any_case`; `least` is the smallest
    number. `plugins` says that others may add choices.
    """

    span: Span
    kind: str
    options: tuple[str, ...]
    choices: tuple[str, ...]
    any_case: bool
    plugins: bool
    least: int | None
    default: Any
    evidence: tuple[str, ...]


class KnownArgument(NamedTuple):
    """An argument by its normalised name (`speculative_config.method` for a key of a JSON-valued one)."""

    name: str
    ranges: tuple[ArgumentRange, ...]
    renamed_to: str = ""
    note: str = ""

    def at(self, release: str) -> ArgumentRange | None:
        """The argument as a release takes it; None when that is not known."""
        return next((entry for entry in self.ranges if entry.span.covers(release)), None)


class Condition(NamedTuple):
    """What must hold of one argument's value. `default` stands for an argument that is absent; None: not known."""

    argument: str
    above: int | None = None
    one_of: tuple[str, ...] = ()
    none_of: tuple[str, ...] = ()
    given: bool | None = None
    default: Any = None


class Constraint(NamedTuple):
    """A combination that a range of releases refuses, or gets wrong: `rule` is the code that reports it.

    It concerns the `methods` (as the engine writes them), the target `architectures` and those of the head (`drafts`)
    listed, () for all. All of `when`
    must hold, none of `unless` may. `environment` are variables with the values that they must have. `effect` and
    `cure` may name arguments as `{page_size}`; `points_at` is the argument to edit.
    """

    id: str
    rule: str
    span: Span
    severity: str
    methods: tuple[str, ...]
    architectures: tuple[str, ...]
    drafts: tuple[str, ...]
    when: tuple[Condition, ...]
    unless: tuple[Condition, ...]
    environment: Mapping[str, tuple[str, ...]]
    effect: str
    cure: str
    points_at: str
    evidence: tuple[str, ...]


class Bundle(NamedTuple):
    """In a range of releases the targets that bring their own draft layers, so that a draft model may be left out."""

    span: Span
    architectures: tuple[str, ...]
    evidence: tuple[str, ...]


Names = Mapping[str, tuple[Span, ...]]


@dataclass(frozen=True)
class EngineArguments:
    """The arguments of one engine.

    `options` and `keywords` are all names there are, {} when the list is not complete. `abbreviations` says whether the
    command line takes unique prefixes, `keys_complete` whether all keys of JSON-valued arguments are known. `guesses`
    says, by release, which word in a draft's path means which method.
    """

    engine: str
    read: tuple[str, ...]
    abbreviations: bool
    keys_complete: bool
    arguments: Mapping[str, KnownArgument]
    options: Names
    keywords: Names
    constraints: tuple[Constraint, ...]
    bundles: tuple[Bundle, ...]
    guesses: tuple[tuple[Span, tuple[tuple[str, str], ...], str], ...]

    def has(self, spans: Sequence[Span], release: str) -> bool | None:
        """Whether a release has what these spans have; None when that is not known."""
        if any(span.covers(release) for span in spans):
            return True
        if not release or release in self.read:
            return False
        below = [r for r in self.read if versions.order(r) < versions.order(release)]
        above = [r for r in self.read if versions.order(r) > versions.order(release)]
        if not below or not above:
            return None
        return None if any(span.covers(r) for span in spans for r in (below[-1], above[0])) else False

    def spans(self, name: str) -> tuple[Span, ...]:
        """The releases that have an argument among `arguments`; () for any other."""
        known = self.arguments.get(name)
        return tuple(entry.span for entry in known.ranges) if known is not None else ()

    def keys(self, prefix: str) -> dict[str, tuple[Span, ...]]:
        """The keys of a JSON-valued argument: of the arguments `prefix.key`, each `key` with its releases."""
        dotted = f"{prefix}."
        return {name[len(dotted) :]: self.spans(name) for name in self.arguments if name.startswith(dotted)}

    def matches(self, option: str, release: str) -> list[str]:
        """The options of a release that an option as written stands for: itself, or all that it abbreviates."""
        if self.has(self.options.get(option, ()), release) is not False and option in self.options:
            return [option]
        if not self.abbreviations or len(option) < 3:
            return []
        longer = [name for name in self.options if name.startswith(option)]
        return [name for name in longer if self.has(self.options[name], release) is not False]

    def argument_of(self, option: str, release: str) -> str:
        """The name of the argument that has this option; the option itself for others."""
        for known in self.arguments.values():
            found = known.at(release)
            if found is not None and option in found.options:
                return known.name
        return option

    def nearest(self, name: str, among: Names, release: str) -> str:
        """The name of a release that is most like another one; "" when none is near."""
        here = [other for other, spans in among.items() if self.has(spans, release)]
        near = get_close_matches(name, here, n=1, cutoff=0.75)
        return near[0] if near else ""

    def releases_with(self, spans: Sequence[Span]) -> str:
        """The releases that have something, in words: "0.5.2 to 0.5.9", "0.5.12 and later"."""
        newest = self.read[-1] if self.read else ""
        merged: list[Span] = []
        for span in spans:
            if merged and self._follows(merged[-1].until, span.since):
                merged[-1] = Span(merged[-1].since, span.until)
            else:
                merged.append(span)
        words = []
        for span in merged:
            if span.until == newest:
                words.append(f"{span.since} and later")
            else:
                words.append(f"{span.since} to {span.until}" if span.until != span.since else span.since)
        return ", ".join(words)

    def _follows(self, last: str, first: str) -> bool:
        """Whether no release that was read lies between two."""
        return last in self.read and first in self.read and self.read.index(first) == self.read.index(last) + 1

    def bundled(self, release: str) -> tuple[str, ...]:
        """The architectures of targets that a release drafts for with layers of their own."""
        return tuple(name for entry in self.bundles if entry.span.covers(release) for name in entry.architectures)

    def guess(self, path: str, release: str) -> str:
        """The method that a release takes for the path of a draft when none is written; "" when it guesses none."""
        for span, words, otherwise in self.guesses:
            if span.covers(release):
                return next((method for word, method in words if word in path.lower()), otherwise)
        return ""


@cache
def engine_arguments(name: str) -> EngineArguments | None:
    """The arguments of an engine; None for those of which none are listed."""
    file = data_root("rules") / "arguments" / f"{name}.yaml"
    if not file.is_file():
        return None
    raw = read_yaml(file)
    engine = known_engine(name)
    known = [_argument(row) for row in raw.get("arguments", ())]
    return EngineArguments(
        engine=name,
        read=engine.read if engine is not None else (),
        abbreviations=bool(raw.get("abbreviations")),
        keys_complete=bool(raw.get("keys_complete")),
        arguments={argument.name: argument for argument in known},
        options=_names(raw, "options"),
        keywords=_names(raw, "keywords"),
        constraints=tuple(_constraint(row) for row in raw.get("constraints", ())),
        bundles=tuple(
            Bundle(_span(row), _texts(row, "architectures"), _texts(row, "evidence")) for row in raw.get("bundles", ())
        ),
        guesses=tuple(
            (_span(row), tuple((str(w), str(m)) for w, m in row["words"].items()), str(row.get("otherwise", "")))
            for row in raw.get("guesses", ())
        ),
    )


def _span(row: Mapping[str, Any]) -> Span:
    return Span(str(row.get("since") or ""), str(row.get("until") or ""))


def _texts(row: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(str(entry) for entry in row.get(key) or ())


def _argument(row: Mapping[str, Any]) -> KnownArgument:
    ranges = tuple(
        ArgumentRange(
            span=_span(entry),
            kind=str(entry.get("type", "string")),
            options=_texts(entry, "options"),
            choices=_texts(entry, "choices"),
            any_case=bool(entry.get("any_case")),
            plugins=bool(entry.get("plugins")),
            least=entry.get("least"),
            default=entry.get("default"),
            evidence=_texts(entry, "evidence"),
        )
        for entry in row["ranges"]
    )
    return KnownArgument(str(row["name"]), ranges, str(row.get("renamed_to") or ""), str(row.get("note") or ""))


def _names(raw: Mapping[str, Any], key: str) -> dict[str, tuple[Span, ...]]:
    """The lines `name since until` of a list of all names, with the names that every release has."""
    found: dict[str, list[Span]] = {name: [Span()] for name in _texts(raw, f"{key}_always")}
    for line in str(raw.get(key) or "").splitlines():
        name, since, until = line.split()
        found.setdefault(name, []).append(Span(since, until))
    return {name: tuple(spans) for name, spans in found.items()}


def _constraint(row: Mapping[str, Any]) -> Constraint:
    return Constraint(
        id=str(row["id"]),
        rule=str(row["rule"]),
        span=_span(row),
        severity=str(row.get("severity", "error")),
        methods=_texts(row, "methods"),
        architectures=_texts(row, "architectures"),
        drafts=_texts(row, "drafts"),
        when=tuple(_conditions(row.get("when") or {})),
        unless=tuple(_conditions(row.get("unless") or {})),
        environment={str(k): tuple(str(v) for v in values) for k, values in (row.get("environment") or {}).items()},
        effect=str(row["effect"]),
        cure=str(row.get("cure") or ""),
        points_at=str(row.get("points_at") or ""),
        evidence=_texts(row, "evidence"),
    )


def _conditions(rows: Mapping[str, Any]) -> Iterator[Condition]:
    for name, row in rows.items():
        yield Condition(
            argument=str(name),
            above=row.get("above"),
            one_of=_texts(row, "one_of"),
            none_of=_texts(row, "none_of"),
            given=row.get("given"),
            default=row.get("default"),
        )
