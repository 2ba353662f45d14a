"""Whether a head takes several auxiliary states, or by its own word the last state alone."""

from __future__ import annotations

from typing import NamedTuple

from eaglelint.boundary import show_ids
from eaglelint.checks import wording
from eaglelint.linking.records import integers
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

FLAG = "use_aux_hidden_state"
_PLACES = (f"/eagle_config/{FLAG}", f"/{FLAG}")


class Flagged(NamedTuple):
    """What the config says of the flag: its place and value (None: not given)."""

    where: Location
    value: bool | None


def aux_flag(pipeline: Pipeline) -> Flagged:
    """The flag as the config has it, or the published record of a head whose config is not in scope."""
    if pipeline.drafter is None:
        recorded = pipeline.published.flags.get(FLAG) if pipeline.published is not None else None
        return Flagged(pipeline.where, recorded)
    document = pipeline.drafter.document
    for pointer in _PLACES:
        if isinstance(document.get(pointer), bool):
            return Flagged(document.where(pointer), document.get(pointer))
    return Flagged(document.where("/eagle_config") if document.has("/eagle_config") else pipeline.where, None)


def last_state_alone(pipeline: Pipeline) -> bool:
    """Whether the head says that it takes no auxiliary states, and nothing says that it takes several."""
    return aux_flag(pipeline).value is False and not several_states(pipeline)


def several_states(pipeline: Pipeline) -> str:
    """What says that the head takes several states, in words; "" when nothing does."""
    for training in pipeline.evidence.best:
        depth = pipeline.depth
        boundaries = training.at(depth) or next(iter(training.boundaries.table), (0, ()))[1]
        if len(boundaries) > 1:
            return wording.trained_words(training, depth)
    for ids in pipeline.id_lists:
        if len(integers(ids.ids) or ()) > 1:
            return f"the ids {show_ids(ids.ids)} of {len(ids.ids)} states are declared"
    number = pipeline.drafter.document.get("/num_aux_hidden_states") if pipeline.drafter is not None else None
    if isinstance(number, int) and not isinstance(number, bool) and number > 1:
        return f"`num_aux_hidden_states` is {number}"
    return ""
