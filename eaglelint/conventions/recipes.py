"""How trainers and data generators are told what to do: which configurations, commands and variables, with which keys.

What an id means once it is found is said by the trainer's own entry (`conventions/trainers.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple

from eaglelint._resources import data_root
from eaglelint.conventions import trainers
from eaglelint.conventions.load import read_yaml

Step = Literal["data", "train", "export", "convert"]

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class Recognition(NamedTuple):
    """What a run configuration must have: all of `keys`, one of `any`, and in the value of a key this text."""

    keys: tuple[str, ...]
    any: tuple[str, ...]
    contains: tuple[tuple[str, str], ...]


class Choice(NamedTuple):
    """A value that decides: the name of its key or argument, and what each value stands for ("given": any value)."""

    at: str
    values: tuple[tuple[str, str], ...]

    def of(self, value: str | None) -> str:
        """What a value (None: not given) stands for, "" when it stands for nothing."""
        if value is None:
            return dict(self.values).get("", "")
        found = dict(self.values).get(value.strip().lower())
        return found if found is not None else dict(self.values).get("given", "")


@dataclass(frozen=True)
class Form:
    """One way in which one step of a trainer is told what to do; the fields are those of `rules/recipes.yaml`."""

    trainer: str
    path: str
    step: Step
    evidence: tuple[str, ...]
    config: Recognition | None = None
    commands: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    literals: Mapping[str, str] = field(default_factory=dict)
    configured: bool = False
    configured_by: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    environment: str = ""
    ids: tuple[str, ...] = ()
    presets: Mapping[str, str] = field(default_factory=dict)
    draft: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    dtype: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    stored_values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    choice: Choice | None = None
    method: Choice | None = None
    last: Literal["", "listed", "appended"] = ""
    alone: tuple[str, ...] = ()
    releases: str = ""
    after: str = ""
    before: str = ""
    engine: str = ""

    def entries(self, path: str, specifier: str = "") -> tuple[trainers.Recipe, ...]:
        """The trainer's entries for a path that the form, and a specifier of releases, leave possible."""
        known = trainers.trainer(self.trainer)
        if known is None:
            return ()
        wanted = ",".join(part for part in (self.releases, specifier) if part)
        try:
            found = known.recipe(path, wanted or None) or known.recipe(path, self.releases or None)
        except ValueError:
            found = known.recipe(path, self.releases or None)
        return tuple(entry for entry in found if self._in_time(entry))

    def _in_time(self, entry: trainers.Recipe) -> bool:
        first, last = _DATE.search(entry.first), _DATE.search(entry.last)
        if self.after and last is not None and last[0] <= self.after:
            return False
        return not (self.before and first is not None and first[0] > self.before)


class Unknown(NamedTuple):
    """Ids in a configuration whose writer is not known: under which keys they stand, by which rules they are read."""

    keys: tuple[str, ...]
    rules: tuple[str, ...]


def forms() -> tuple[Form, ...]:
    """All known forms, in the order of the file."""
    return _load()[0]


def unknown() -> Unknown:
    """What an id list in a configuration of an unknown writer may be."""
    return _load()[2]


def shipped(trainer: str, path: str) -> tuple[int, ...] | None:
    """The ids of a draft configuration that a trainer ships under that name, () when it has none; None when unknown."""
    return _load()[1].get((trainer, path.replace("\\", "/").rsplit("/", 1)[-1]))


@cache
def _load() -> tuple[tuple[Form, ...], Mapping[tuple[str, str], tuple[int, ...]], Unknown]:
    raw = read_yaml(data_root("rules") / "recipes.yaml")
    names = {(group["trainer"], name): tuple(ids) for group in raw["shipped"] for name, ids in group["names"].items()}
    other = raw["unknown"]
    return tuple(_form(row) for row in raw["forms"]), names, Unknown(tuple(other["keys"]), tuple(other["rules"]))


def _form(row: Mapping[str, Any]) -> Form:
    values: dict[str, Any] = {}
    for key, value in row.items():
        name = {"with": "required"}.get(key, key)
        if name == "config":
            values[name] = Recognition(
                _texts(value.get("keys")), _texts(value.get("any")), tuple(value.get("contains", {}).items())
            )
        elif name == "method":
            kinds = tuple((str(kind), "eagle3") for kind in value["eagle3"])
            values[name] = Choice(value["at"], kinds)
        elif name == "choice":
            values[name] = Choice(value["at"], tuple((str(k), v) for k, v in value.items() if k != "at"))
        elif name == "stored_values":
            values[name] = {key: _texts(entries) for key, entries in value.items()}
        elif isinstance(value, list):
            values[name] = _texts(value)
        else:
            values[name] = value
    return Form(**values)


def _texts(value: Sequence[Any] | None) -> tuple[str, ...]:
    return tuple(str(entry) for entry in value or ())
