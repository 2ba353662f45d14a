"""What each release of an engine makes of a drafter's config besides its layer ids: `rules/heads/`.

Which class loads it, how many auxiliary states its fc is built for, how many layers it may have, which of its flags are
honoured, and which fields are ignored. A file is parsed only when its engine is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from eaglelint._resources import data_root
from eaglelint.conventions import versions
from eaglelint.conventions.load import read_yaml
from eaglelint.conventions.table import engine as known_engine

Reader = Callable[[str], Any]


class Scope(NamedTuple):
    """For which releases, drafter classes, config formats and algorithms of speculators a row holds; () for all."""

    first: str = ""
    last: str = ""
    classes: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    algorithms: tuple[str, ...] = ()

    def covers(self, release: str, form: Form, name: str = "") -> bool:
        """Whether the row holds for a release and a form of config; `name` is the drafter class, where it is known."""
        if release and not versions.within(release, self.first, self.last):
            return False
        if self.classes and name not in self.classes:
            return False
        if self.formats and form.name not in self.formats:
            return False
        return not self.algorithms or form.algorithm in self.algorithms


class Form(NamedTuple):
    """How a config is written: "flat", or "speculators" with the `algorithm` by which that calls its kind of head."""

    name: str
    algorithm: str = ""


class HeadClass(NamedTuple):
    """A drafter class: `kind` is the kind of head that it runs, `architectures` the names under which it is found.

    `effect` is what comes of an EAGLE-3 head in it.
    """

    scope: Scope
    name: str
    kind: str
    architectures: tuple[str, ...]
    effect: str
    evidence: tuple[str, ...]


class Naming(NamedTuple):
    """How the name that is looked up comes from a config.

    `always` is that name whatever the config says; `by_layer` gives it by the type of the draft's layers, and `effect`
    is what comes of any other type; else `prefix` is put before a name that neither starts nor ends as listed.
    """

    scope: Scope
    always: str
    by_layer: Mapping[str, str]
    prefix: str
    unless_starts: tuple[str, ...]
    unless_ends: tuple[str, ...]
    effect: str
    evidence: tuple[str, ...]


class Width(NamedTuple):
    """How many states fc is built for: as the first pointer that is given says (a list: its length), else a number."""

    scope: Scope
    pointers: tuple[str, ...]
    otherwise: int
    evidence: tuple[str, ...]


class Depth(NamedTuple):
    """The most layers that a drafter may have, and what comes of more."""

    scope: Scope
    most: int
    effect: str
    evidence: tuple[str, ...]


class Honoured(NamedTuple):
    """Where a flag is read and what its absence means; `trainer` says who takes its absence for the opposite."""

    scope: Scope
    pointers: tuple[str, ...]
    missing: bool
    trainer: str
    evidence: tuple[str, ...]


class Flag(NamedTuple):
    """A flag that says where the drafter applies a norm; `effect` is what comes of one that is set and not honoured."""

    name: str
    effect: str
    honoured: tuple[Honoured, ...]
    evidence: tuple[str, ...]


class Ignored(NamedTuple):
    """Fields that are not read, and the values that say what is done anyway (none: no value does)."""

    scope: Scope
    pointers: tuple[str, ...]
    neutral: tuple[Any, ...]
    effect: str
    evidence: tuple[str, ...]


class Found(NamedTuple):
    """The drafter class for a config: None with `name` "" when nothing names it, `why` what comes of the name."""

    found: HeadClass | None
    name: str
    why: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class HeadRules:
    """What one engine makes of drafter configs. `exhaustive`: names that no class has are refused."""

    engine: str
    exhaustive: bool
    formats: tuple[tuple[Scope, str], ...]
    classes: tuple[HeadClass, ...]
    naming: tuple[Naming, ...]
    layer_type: str
    unknown: str
    unread: str
    widths: tuple[Width, ...]
    depths: tuple[Depth, ...]
    flags: tuple[Flag, ...]
    ignored: tuple[Ignored, ...]
    raw: Mapping[str, Any]

    def reads(self, release: str, form: Form) -> bool | None:
        """Whether a release reads a form of config; None when that is not known of this engine."""
        if not self.formats:
            return None
        return any(name == form.name and scope.covers(release, form) for scope, name in self.formats)

    def head_class(self, release: str, form: Form, architectures: Sequence[str], value: Reader) -> Found:
        """The class that loads a drafter; `value` gives its config by JSON pointer."""
        naming = next((row for row in self.naming if row.scope.covers(release, form)), None)
        if naming is not None and naming.by_layer:
            kind = value(self.layer_type) if self.layer_type else None
            kind = kind if isinstance(kind, str) and kind else "llama"
            if kind not in naming.by_layer:
                return Found(None, kind, naming.effect, naming.evidence)
            names = [naming.by_layer[kind]]
        elif naming is not None and naming.always:
            names = [naming.always]
        else:
            names = [_prefixed(name, naming) for name in architectures]
        if not names:
            return Found(None, "", "", ())
        here = [row for row in self.classes if row.scope.covers(release, form)]
        found = next((row for name in names for row in here if name in row.architectures), None)
        if found is None:
            return Found(None, names[0], self.unknown, tuple(self.raw.get("unknown_evidence", ())))
        name = next(name for name in names if name in found.architectures)
        return Found(found, name, found.effect, found.evidence)

    def width(self, release: str, form: Form, name: str) -> Width | None:
        """How a release sizes the fc of a drafter class; None when that is not known."""
        return next((row for row in self.widths if row.scope.covers(release, form, name)), None)

    def depth(self, release: str, form: Form, name: str) -> Depth | None:
        """The limit to the layers of a drafter class in a release; None when there is none or it is not known."""
        return next((row for row in self.depths if row.scope.covers(release, form, name)), None)

    def honoured(self, flag: Flag, release: str, form: Form, name: str) -> Honoured | None:
        """Where a release reads a flag for a drafter class; None when it does not."""
        return next((row for row in flag.honoured if row.scope.covers(release, form, name)), None)

    def ignoring(self, release: str, form: Form, name: str) -> Iterator[Ignored]:
        """The fields that a release does not read for a drafter class."""
        return (row for row in self.ignored if row.scope.covers(release, form, name))


def _prefixed(name: str, naming: Naming | None) -> str:
    if naming is None or not naming.prefix:
        return name
    as_is = name.startswith(naming.unless_starts) or name.endswith(naming.unless_ends or ("\0",))
    return name if as_is else naming.prefix + name


def head_rules(engine: str) -> HeadRules | None:
    """What an engine makes of drafter configs; None when nothing is known of it."""
    known = known_engine(engine)
    stem = known.name if known is not None else ""
    return _load(stem) if stem and (data_root("rules") / "heads" / f"{stem}.yaml").is_file() else None


def _texts(row: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(str(entry) for entry in row.get(key) or ())


def _scope(row: Mapping[str, Any]) -> Scope:
    lists = (_texts(row, key) for key in ("classes", "formats", "algorithms"))
    return Scope(str(row.get("first", "")), str(row.get("last", "")), *lists)


def _flag(row: Mapping[str, Any]) -> Flag:
    honoured = tuple(
        Honoured(_scope(r), _texts(r, "pointers"), r.get("missing", False), r.get("trainer", ""), _texts(r, "evidence"))
        for r in row.get("honoured", ())
    )
    return Flag(row["name"], row["effect"], honoured, _texts(row, "evidence"))


@cache
def _load(stem: str) -> HeadRules:
    raw = read_yaml(data_root("rules") / "heads" / f"{stem}.yaml")

    def rows(key: str) -> Iterator[Mapping[str, Any]]:
        return iter(raw.get(key) or ())

    return HeadRules(
        engine=raw["engine"],
        exhaustive=raw.get("exhaustive", False),
        formats=tuple((_scope(row), row["name"]) for row in rows("formats")),
        classes=tuple(
            HeadClass(
                _scope(r), r["name"], r["kind"], _texts(r, "architectures"), r.get("effect", ""), _texts(r, "evidence")
            )
            for r in rows("classes")
        ),
        naming=tuple(
            Naming(
                _scope(r),
                r.get("always", ""),
                r.get("by_layer", {}),
                r.get("prefix", ""),
                _texts(r, "unless_starts"),
                _texts(r, "unless_ends"),
                r.get("effect", ""),
                _texts(r, "evidence"),
            )
            for r in rows("naming")
        ),
        layer_type=raw.get("layer_type", ""),
        unknown=raw.get("unknown", ""),
        unread=raw.get("unread", ""),
        widths=tuple(
            Width(_scope(r), _texts(r, "pointers"), r["otherwise"], _texts(r, "evidence")) for r in rows("widths")
        ),
        depths=tuple(Depth(_scope(r), r["most"], r["effect"], _texts(r, "evidence")) for r in rows("depths")),
        flags=tuple(_flag(r) for r in rows("flags")),
        ignored=tuple(
            Ignored(_scope(r), _texts(r, "pointers"), tuple(r.get("neutral", ())), r["effect"], _texts(r, "evidence"))
            for r in rows("ignored")
        ),
        raw=raw,
    )
