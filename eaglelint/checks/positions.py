"""EGL405: a drafter with fewer positions than are served."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from eaglelint.checks import wording
from eaglelint.checks.heads import Fault, HeadConfig, Outcome, config_of, findings, judge
from eaglelint.checks.registry import check
from eaglelint.conventions import contract
from eaglelint.conventions.contract import ContextLength
from eaglelint.conventions.known import known_target
from eaglelint.facts import Launch, Step
from eaglelint.findings import Finding
from eaglelint.linking.methods import method
from eaglelint.linking.records import Server
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

_LENGTH = "max_position_embeddings"
#: Arguments that rewrite configs; what comes of them is EGL308's to say.
_OVERRIDES = ("json_model_override_args", "hf_overrides", "rope_scaling", "rope_theta")
_INNER = "/transformer_layer_config"


def pointer_of(config: HeadConfig, key: str) -> str:
    """Where a config holds a key of the decoder layers."""
    inner = f"{_INNER}/{key}"
    return inner if config.form.name == "speculators" and config.value(inner) is not None else f"/{key}"


def served_by(pipeline: Pipeline) -> Iterator[tuple[Server, Launch]]:
    """The servers of a head that draft with it."""
    if pipeline.template:
        return
    for server in pipeline.servers:
        if server.launch is not None and method(server.launch).captures:
            yield server, server.launch


class _Served(NamedTuple):
    """How many tokens a server admits, and the place that says so."""

    length: int
    where: Location | None
    what: str


@check("EGL405")
def context_length_contract(pipeline: Pipeline) -> Iterator[Finding]:
    """More positions are served than the drafter has. One finding a place, which names every server."""
    config = config_of(pipeline)
    if config is None or pipeline.method != "eagle3":
        return
    own = _length(config)
    if not own:
        return
    outcomes: list[Outcome] = []
    places: list[Step] = []
    for server, launch in served_by(pipeline):
        rows = contract.context_lengths(server.engine, server.release.specifier)
        served = _served(server, launch, rows[-1].argument) if rows else None
        if served is None or served.length <= own or any(launch.get(name) for name in _OVERRIDES):
            continue
        if launch.get("speculative_config.max_model_len") is not None:
            continue
        fault = partial(_too_short, pipeline, config, server, own, served)
        found = judge(server, fault, recorded=config.recorded)
        if found is not None:
            refused = all(_effect(row, pipeline, server, config)[0] == "refused" for row in rows)
            outcomes.append(found if refused else found._replace(severity="warning"))
            if served.where is not None:
                places.append(Step(served.where, f"{served.length} tokens are served"))
    for finding in findings("EGL405", pipeline, outcomes, ("context", pipeline.name)):
        related = wording.unique((*places, *finding.related))
        yield _with_related(finding, related)


def _with_related(finding: Finding, related: tuple[Step, ...]) -> Finding:
    return replace(finding, related=tuple(step for step in related if step.where != finding.where))


def _length(config: HeadConfig) -> int:
    """The number of positions of a drafter, 0 when not known; with its scaling, the greatest that may be meant."""
    given = config.value(pointer_of(config, _LENGTH))
    if not isinstance(given, int) or isinstance(given, bool) or given <= 0:
        return 0
    scaling = _scaling(config)
    if not scaling:
        return given
    factor, original = scaling.get("factor"), scaling.get("original_max_position_embeddings")
    if not isinstance(factor, (int, float)) or rope_type(scaling) in ("default", "llama3"):
        return given
    return max(given, int(original * factor)) if isinstance(original, int) else int(given * factor)


def _scaling(config: HeadConfig) -> dict[str, Any]:
    """What scales a drafter's positions, {} for nothing."""
    for key in ("rope_parameters", "rope_scaling"):
        value = config.value(pointer_of(config, key))
        if isinstance(value, dict):
            return value
    return {}


def rope_type(scaling: dict[str, Any]) -> str:
    """The type of a position embedding, "default" for one that nothing scales."""
    return str(scaling.get("rope_type") or scaling.get("type") or "default")


def _served(server: Server, launch: Launch, argument: str) -> _Served | None:
    """How many tokens a server admits: as its argument says, else the config of its target, else the table."""
    given = launch.get(argument)
    if given is not None:
        value = given.value.value
        number = int(value) if isinstance(value, (int, str)) and str(value).isdecimal() else 0
        return _Served(number, given.where, given.spelling) if number and given.value.known else None
    if not launch.complete or server.target is None:
        return None
    config = server.target.config
    if config is not None:
        pointer = f"{config.text_prefix}/{_LENGTH}"
        length = config.document.get(pointer)
        if isinstance(length, int) and not isinstance(length, bool):
            return _Served(length, config.document.where(pointer), f"{server.target.name}'s own length")
        return None
    known = known_target(server.target.name)
    if known is None or not known.established or not known.max_position_embeddings or _LENGTH in known.disputed:
        return None
    return _Served(known.max_position_embeddings, server.target.where, f"{server.target.name}'s own length")


def _too_short(
    pipeline: Pipeline, config: HeadConfig, server: Server, own: int, served: _Served, release: str
) -> Fault | None:
    rows = contract.context_lengths(server.engine, release)
    if not rows:
        return None
    effect, variable = _effect(rows[0], pipeline, server, config)
    if effect == "raised":
        return None
    words = {
        "refused": "{name} refuses to start with a drafter that is shorter than its target",
        "stops": "{name} drafts nothing any more once a request is longer than that",
        "past_end": "{name} reads past the end of its position embedding once a request is longer than that",
        "lowered": "{name} limits the whole server to the drafter's length",
    }[effect]
    if variable:
        words += f" (with {variable})"
    what = f"the drafter has {own} positions, and {served.length} are served ({served.what}): {words}"
    cure = f"limit the server to {own} tokens, or give the drafter {served.length} positions"
    if effect == "refused" and rows[0].unless and rows[0].then == "raised":
        cure += f" (`{rows[0].unless}=1` makes the engine do so)"
    return Fault(what, config.where(pointer_of(config, _LENGTH)), cure)


def _effect(row: ContextLength, pipeline: Pipeline, server: Server, config: HeadConfig) -> tuple[str, str]:
    """What a release does with a drafter that is too short, and the variable that makes it do so."""
    if row.rope_types:
        scaling = config.value(pointer_of(config, "rope_parameters")) or config.value(
            pointer_of(config, "rope_scaling")
        )
        kind = rope_type(scaling) if isinstance(scaling, dict) else "default"
        return (row.effect if kind in row.rope_types else row.then), ""
    if row.unless and server.launch is not None:
        given = dict(server.launch.environment)
        for setting in pipeline.environment:
            if setting.value.where.path == server.launch.where.path:
                given.setdefault(setting.name, setting.value)
        value = given.get(row.unless)
        if value is not None and str(value.value).lower() not in ("0", "false", ""):
            return row.then, row.unless
    return row.effect, ""
