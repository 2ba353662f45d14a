"""What an id list usually means by the key that it stands under, where no engine in use reads it."""

from __future__ import annotations

from typing import NamedTuple

from eaglelint.facts import LayerIds
from eaglelint.linking.records import integers


class Meaning(NamedTuple):
    """One usual reading of a list: who reads it so, and the boundaries."""

    reader: str
    boundaries: tuple[int, ...]


#: Who writes and reads a key as outputs of layers (boundary id + 1) and who as boundaries; the likelier reading first.
_READERS = {
    "/eagle_config/eagle_aux_hidden_state_layer_ids": (
        (1, "outputs of layers, as ModelOpt and SpecForge write this key"),
        (0, "boundaries"),
    ),
    "/eagle_aux_hidden_state_layer_ids": (
        (0, "boundaries, as speculators and vLLM take this key"),
        (1, "outputs of layers"),
    ),
    "/aux_hidden_states_layer_ids": (
        (1, "outputs of layers, as AngelSlim writes this key"),
        (0, "boundaries"),
    ),
}
_ELSE = ((1, "outputs of layers"), (0, "boundaries"))


def meanings(ids: LayerIds) -> tuple[Meaning, ...]:
    """The usual readings of a list, the likelier first; () when it does not hold integers."""
    values = integers(ids.ids)
    if values is None:
        return ()
    readers = _READERS.get(ids.key, _ELSE)
    return tuple(Meaning(reader, tuple(value + shift for value in values)) for shift, reader in readers)
