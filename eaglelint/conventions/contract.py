"""What releases do with a drafter's context length, position embedding and type, and which targets are rotated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar

from eaglelint._resources import data_root
from eaglelint.conventions import versions
from eaglelint.conventions.load import read_yaml

Effect = Literal["refused", "past_end", "stops", "raised", "lowered"]


@dataclass(frozen=True)
class ContextLength:
    """What a range of releases does where more tokens are served than the drafter's length.

    `unless` is an environment variable with which `then` happens instead of `effect`; with `rope_types`, `then` happens
    for drafters of any other type of position embedding.
    """

    engine: str
    first: str
    last: str
    argument: str
    effect: Effect
    evidence: tuple[str, ...]
    unless: str = ""
    then: Effect = "past_end"
    rope_types: tuple[str, ...] = ()


@dataclass(frozen=True)
class RopeKeys:
    """From which keys of the drafter's config a range of releases takes its position embedding."""

    engine: str
    first: str
    last: str
    keys: tuple[str, ...]
    default_theta: float
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class TrainedRope:
    """What one release of a trainer makes of the position embedding in a draft config.

    `theta` is its base whatever the config says (None: the config's). It has the scaling `types`, and takes those of
    `plain` for none; at any other it stops.
    """

    trainer: str
    release: str
    types: tuple[str, ...]
    evidence: tuple[str, ...]
    plain: tuple[str, ...] = ()
    theta: float | None = None


@dataclass(frozen=True)
class TypeRule:
    """Which type a range of releases gives a drafter's weights, when the launch leaves it open.

    The first of `keys` that the config has, where a missing or 32-bit type becomes `missing` (for model types with one
    of `prefixes`, what stands there).
    """

    engine: str
    first: str
    last: str
    keys: tuple[str, ...]
    missing: str
    evidence: tuple[str, ...]
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def chosen(self, given: str, model_type: str) -> str:
        """The type that comes of what a config gives ("" for nothing)."""
        if given and given != "float32":
            return given
        return next((v for prefix, v in self.prefixes.items() if model_type.startswith(prefix)), self.missing)


class Rotation(NamedTuple):
    """How a rotated target is known: by words in its name, keys in its quantisation config, groups of transforms."""

    names: tuple[str, ...]
    keys: tuple[str, ...]
    groups: tuple[str, ...]

    def named(self, name: str) -> str:
        """The word in a model's name that says it is rotated, "" when none does."""
        words = re.split(r"[^a-z0-9]+", name.rstrip("/").rsplit("/", 1)[-1].lower())
        return next((word for word in self.names if word in words), "")


Row = TypeVar("Row", ContextLength, RopeKeys, TypeRule)


def context_lengths(engine: str, specifier: str | None) -> tuple[ContextLength, ...]:
    """What the admitted releases of an engine do with a drafter that is too short, oldest first; () when not known."""
    return _admitted(_load().context, engine, specifier)


def rope_keys(engine: str, specifier: str | None) -> tuple[RopeKeys, ...]:
    """Where the admitted releases read a drafter's position embedding, oldest first; () when not known."""
    return _admitted(_load().rope, engine, specifier)


def trained_rope(trainer: str, release: str) -> TrainedRope | None:
    """What a release of a trainer makes of a draft config's position embedding; None when that is not known."""
    return next((row for row in _load().trained if (row.trainer, row.release) == (trainer, release)), None)


def type_rules(engine: str, specifier: str | None) -> tuple[TypeRule, ...]:
    """How the admitted releases choose the drafter's type; () for engines that give it the target's, or are unknown."""
    return _admitted(_load().types, engine, specifier)


def rotation() -> Rotation:
    """How a rotated target is known."""
    return _load().rotation


def _admitted(rows: Iterable[Row], engine: str, specifier: str | None) -> tuple[Row, ...]:
    """The rows of an engine that hold for some admitted release; newer releases are taken to be like the newest read.

    One that lies between two rows is like neither, and gives no row at all.
    """
    own = [row for row in rows if row.engine == engine]
    if not own:
        return ()
    ends = sorted({bound for row in own for bound in (row.first, row.last)}, key=versions.order)
    try:
        wanted = versions.admitted(specifier, ends)
    except ValueError:
        return ()
    newest = versions.order(ends[-1])
    found: list[Row] = []
    for release in wanted:
        shown = ends[-1] if versions.order(release) > newest else release
        here = [row for row in own if versions.within(shown, row.first, row.last)]
        if not here:
            return ()
        found += [row for row in here if row not in found]
    return tuple(found)


class _Tables(NamedTuple):
    context: tuple[ContextLength, ...]
    rope: tuple[RopeKeys, ...]
    trained: tuple[TrainedRope, ...]
    types: tuple[TypeRule, ...]
    rotation: Rotation


@cache
def _load() -> _Tables:
    raw = read_yaml(data_root("rules") / "contract.yaml")
    rotated = raw["rotation"]
    return _Tables(
        tuple(ContextLength(**_row(row)) for row in raw["context_length"]),
        tuple(RopeKeys(**_row(row)) for row in raw["rope"]),
        tuple(TrainedRope(**_row(row)) for row in raw["trained_rope"]),
        tuple(TypeRule(**_row(row)) for row in raw["dtype"]),
        Rotation(tuple(rotated["names"]), tuple(rotated["keys"]), tuple(rotated["groups"])),
    )


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
