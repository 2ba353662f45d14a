"""What the project's own layers keep of what they compute: which state that is shows when the layer returns it.

Inside a layer a sum of a state and something that a sub-layer computed is no state that is known: half of the layer's
work may still be missing. When the layer gives back the same tensor, that was the state after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from eaglelint.analyser.target_values import ModelV
from eaglelint.analyser.values import DictV, ListV, Obj, Plain, Unknown, V

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame


class Kept(NamedTuple):
    """A tensor that went into a container while a layer ran, and what was in doubt there."""

    value: Plain
    owner: V
    node: Any
    frame: Frame
    doubt: tuple[Unknown, ...]


def settle(run: Interpreter, kept: list[Kept], result: V, model: ModelV, boundary: int) -> None:
    """The layer returned: what it kept of its result is the state at this boundary, in the containers as well."""
    items = result.items if isinstance(result, ListV) else result
    returned = items[0] if isinstance(items, tuple | list) and items else items
    if not isinstance(returned, Plain):
        return
    for entry in kept:
        if entry.value.origin != returned.origin:
            continue
        doubt, run.doubt = run.doubt, list(entry.doubt)
        state = run.rec.stored(run, run.objects.state(model, boundary), entry.node, entry.frame, entry.owner)
        run.doubt = doubt
        _replace(entry.owner, entry.value, state)


def _replace(owner: V, old: Plain, new: V) -> None:
    if isinstance(owner, ListV):
        owner.items = [new if item is old else item for item in owner.items]
    elif isinstance(owner, DictV | Obj):
        items = owner.items if isinstance(owner, DictV) else owner.attrs
        for key, item in items.items():
            if item is old:
                items[key] = new
