"""Engine source that lies in a project: a record of what it does with layer ids, in place of what the tables say."""

from __future__ import annotations

from typing import NamedTuple

from eaglelint.location import Location

#: Folders of target models below an engine's package.
MODEL_FOLDERS = ("srt/models/", "model_executor/models/")


class EngineModel(NamedTuple):
    """A target model of an engine whose file is in the project, and the convention that was derived from it.

    The fields are those of a `Reading` of the tables: `rule` is an id rule, `default` formulas of N in boundaries,
    `zero`, `end` and `outside` what happens to boundary 0, N and anything else. `where` is the setter.
    """

    engine: str
    architectures: tuple[str, ...]
    where: Location
    rule: str
    default: tuple[str, ...]
    zero: str
    end: str
    outside: str
    order: str
    tensor: str
    status: str
