"""What helpers of engines do whose bodies are not executed: read from `rules/conventions/callees/`."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from eaglelint._resources import data_root
from eaglelint.conventions.load import read_yaml


class Callees(NamedTuple):
    """The surroundings of a model as data.

    `attributes`: values of attributes of things outside, `results`: what calls of that name give, `roles`: what a
    callee does to hidden states, by its name; those in `always` are not executed even where their body is at hand.
    `modules` are left outside: names of modules that only configure the process.
    """

    attributes: dict[str, Any]
    results: dict[str, Any]
    roles: dict[str, str]
    always: frozenset[str]
    modules: frozenset[str]


@cache
def callees(engine: str) -> Callees:
    """The callees of an engine."""
    raw = read_yaml(data_root("rules") / "conventions" / "callees" / f"{engine}.yaml")
    roles = {name: role for role, names in raw.get("roles", {}).items() for name in names}
    return Callees(
        raw.get("attributes", {}),
        raw.get("results", {}),
        roles,
        frozenset(raw.get("not_executed", ())),
        frozenset(raw.get("not_loaded", ())),
    )
