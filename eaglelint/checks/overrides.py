"""EGL308: an override that is meant for the target also rewrites the drafter, or does not reach it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from eaglelint.checks.launching import Served, absent, finding, integer, judge, served
from eaglelint.checks.registry import check
from eaglelint.facts import Argument
from eaglelint.findings import Finding
from eaglelint.linking.methods import method
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

_SGLANG, _VLLM = "json_model_override_args", "hf_overrides"
#: Keys that change how far positions reach; a drafter that keeps its own reaches less far than the target.
_POSITIONS = ("rope_scaling", "rope_parameters", "rope_theta", "max_position_embeddings")
#: Methods whose draft is a head that reads a config of its own.
_HEADS = ("eagle3", "eagle", "dflash", "dspark", "mtp", "guessed")


@check("EGL308")
def override_reaches_drafter(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each override of a launch with a draft model."""
    seen: set[Location] = set()
    for one in served(pipeline, "sglang", "vllm"):
        launch = one.launch
        argument = launch.get(_SGLANG if one.server.engine == "sglang" else _VLLM)
        if argument is None or launch.draft is None or method(launch).kind not in _HEADS or argument.where in seen:
            continue
        overrides = _mapping(argument)
        message = ""
        if overrides:
            message = (
                _rewritten(argument, overrides) if one.server.engine == "sglang" else _missed(pipeline, one, overrides)
            )
        judged = judge(one, partial(_always)) if message else None
        if judged is None:
            continue
        seen.add(argument.where)
        yield finding(
            "EGL308",
            judged,
            message,
            argument.where,
            given=(argument,),
            doubts=(launch.draft.assumed,),
            severity="warning",
            cure="write the values into the target's config.json instead"
            if one.server.engine == "sglang"
            else "give the drafter a max_position_embeddings of its own that reaches as far",
            defect="override",
        )


def _always(release: str) -> bool | None:
    return True


def _mapping(argument: Argument) -> Mapping[str, Any]:
    """The keys that an override sets; {} when they are not known or none."""
    value = argument.value.value
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def _rewritten(argument: Argument, overrides: Mapping[str, Any]) -> str:
    keys = ", ".join(overrides)
    return (
        f"{argument.spelling} ({keys}) is applied to the drafter's config as well: {{name}} gives the head values that "
        "it was not trained with"
    )


def _missed(pipeline: Pipeline, one: Served, overrides: Mapping[str, Any]) -> str:
    """What vLLM's overrides leave undone: they reach the target only, and the drafter keeps its positions."""
    keys = [key for key in _POSITIONS if key in overrides]
    if not keys:
        return ""
    reach = overrides.get("max_position_embeddings")
    served_length = integer(one.launch.get("max_model_len"))
    if served_length is None and absent(one.launch, "max_model_len") and isinstance(reach, int):
        served_length = reach
    own = pipeline.drafter.document.get("/max_position_embeddings") if pipeline.drafter is not None else None
    if not isinstance(own, int) or served_length is None or own >= served_length:
        return ""
    return (
        f"hf_overrides ({', '.join(keys)}) reach the target only in {{name}}: the drafter keeps its own "
        f"{own} positions, fewer than the {served_length} that are served"
    )
