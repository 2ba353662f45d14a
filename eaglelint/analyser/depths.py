"""The drafter's own number of layers, which is no N: layers of the target that are chosen by it are the wrong ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eaglelint.analyser.patterns import DEPTH_NAMES
from eaglelint.analyser.values import DictV, V

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame, Spot
    from eaglelint.facts import DrafterConfig, Facts

#: Operators by which formulas make layer ids of N.
_FORMULAS = frozenset({"FloorDivide", "Subtract", "Multiply"})


class DrafterDepth(int):
    """The `num_hidden_layers` of a drafter's config, or (`derived`) a number that a formula makes of it."""

    drafter = ""
    place: Spot | None = None
    derived = False


def depth_of(drafter: DrafterConfig, value: int) -> DrafterDepth:
    """The number of layers that the config of this drafter gives."""
    made = DrafterDepth(value)
    made.drafter = drafter.path
    return made


def marked(facts: Facts, path: str, value: V) -> V:
    """The content of a JSON file; in the config of a drafter its own depth is marked as such."""
    drafter = next((config for config in facts.drafters if config.path == path), None)
    if drafter is not None and isinstance(value, DictV):
        for key in DEPTH_NAMES & set(value.items):
            if type(value.items[key]) is int:
                value.items[key] = depth_of(drafter, value.items[key])
    return value


def drafter_named(facts: Facts, name: str) -> DrafterConfig | None:
    """The drafter whose folder a name or path means; None when it is none."""
    clean = name.strip().removeprefix("./").rstrip("/")
    fitting = [d for d in facts.drafters if d.folder and (d.folder == clean or clean.endswith(f"/{d.folder}"))]
    return fitting[0] if len(fitting) == 1 else None


def read(value: V, node: Any, frame: Frame) -> V:
    """A value is read from a config here; a drafter's depth remembers the place."""
    if not isinstance(value, DrafterDepth) or value.place is not None:
        return value
    made = DrafterDepth(value)
    made.drafter, made.place = value.drafter, frame.scope.spot(node)
    return made


def derived(op: str, result: int, left: V, right: V) -> V:
    """The result of arithmetic: what a formula makes of a drafter's depth is marked as well."""
    source = left if isinstance(left, DrafterDepth) else right
    if not isinstance(source, DrafterDepth) or op not in _FORMULAS | {"Add"}:
        return result
    made = DrafterDepth(result)
    made.drafter, made.place, made.derived = source.drafter, source.place, source.derived or op in _FORMULAS
    return made


def listed(run: Interpreter, items: list[V], frame: Frame) -> None:
    """Numbers are put together: two that a formula makes of the drafter's depth are ids of the target's layers."""
    made = [item for item in items if isinstance(item, DrafterDepth) and item.derived and item.place is not None]
    if len(made) > 1 and made[0].place is not None:
        scope, node = made[0].place
        details = {"key": "num_hidden_layers", "drafter": made[0].drafter}
        run.rec.flaw("nested-target-config", scope.where(node), frame, details, (), scope)
