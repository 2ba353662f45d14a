"""What each engine in use makes of a drafter: one `Serving` for each way in which its admitted releases read ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from eaglelint.conventions import versions
from eaglelint.conventions.records import Edge, Order, Reading, Status
from eaglelint.conventions.table import Engine
from eaglelint.conventions.table import engine as known_engine
from eaglelint.facts import EnvironmentSetting, Launch, LayerIds
from eaglelint.linking.methods import method
from eaglelint.linking.records import Release, Serving, Target
from eaglelint.vendored import EngineModel

#: The variable that chooses vLLM's model runner, and the first release with two of them.
_RUNNER_VARIABLE = "VLLM_USE_V2_MODEL_RUNNER"
_BOTH_RUNNERS = "0.17.0"


def servings(
    lists: Sequence[LayerIds],
    value: Callable[[str], Any],
    launch: Launch | None,
    releases: Sequence[Release],
    target: Target | None,
    assumed: str = "",
    models: Sequence[EngineModel] = (),
    environment: Sequence[EnvironmentSetting] = (),
) -> Iterator[Serving]:
    """What a launch (or an engine that is only pinned) makes of the id lists of a drafter.

    `value` gives the drafter's config by JSON pointer. `models` are target models of engines that lie in the project:
    what was derived from them holds, whatever the tables say of the release. `environment` is what the project's files
    set; a variable of a launch's file or own environment can choose vLLM's model runner. A launch whose method captures
    no auxiliary states, and an engine that the tables do not have, give nothing.
    """
    if launch is not None and not method(launch).captures:
        return
    for release in releases:
        engine = known_engine(release.engine)
        if engine is None:
            continue
        runner = forced_runner(launch, environment) if release.engine == "vllm" else ""
        readings = _readings(engine, release.specifier, target, runner)
        for reading in dict.fromkeys(vendored(reading, target, models) for reading in readings):
            ids = taken(reading, lists, launch)
            reasons = (assumed, release.assumed, target.assumed if target is not None else "")
            draft = launch.draft.assumed if launch is not None and launch.draft is not None else ""
            yield Serving(
                reading=reading,
                release=release,
                launch=launch,
                target=target,
                ids=ids,
                unread=tuple(entry for entry in lists if entry is not ids and entry.key not in reading.keys),
                off=switched_off(reading, value),
                assumed=next((reason for reason in (*reasons, draft) if reason), ""),
            )


def _readings(engine: Engine, specifier: str, target: Target | None, runner: str) -> Sequence[Reading]:
    """How the admitted releases read ids, on the model runner that is forced if all of them have it."""
    try:
        if runner:
            forced = engine.readings(specifier, target, runner=runner)
            if all(versions.order(reading.first) >= versions.order(_BOTH_RUNNERS) for reading in forced):
                return forced
        return engine.readings(specifier, target)
    except ValueError:
        return engine.readings(None, target)


def forced_runner(launch: Launch | None, environment: Sequence[EnvironmentSetting]) -> str:
    """The model runner of vLLM that a variable forces: "V1", "V2", or "" when none is set to a known value."""
    if launch is None:
        return ""
    given = dict(launch.environment)
    for setting in environment:
        if setting.value.where.path == launch.where.path:
            given.setdefault(setting.name, setting.value)
    value = given.get(_RUNNER_VARIABLE)
    if value is None or not value.known or value.assumed:
        return ""
    return {"1": "V2", "0": "V1"}.get(str(value.value).strip(), "")


def vendored(reading: Reading, target: Target | None, models: Sequence[EngineModel]) -> Reading:
    """A reading with the convention of the engine's model file in the project, where there is one for the target."""
    if target is None:
        return reading
    for model in models:
        if model.engine == reading.engine and set(model.architectures) & set(target.architectures):
            return replace(
                reading,
                rule=reading.rule if reading.rule == "ignored" else model.rule,
                default=model.default,
                zero=cast(Edge, model.zero),
                end=cast(Edge, model.end),
                outside=cast(Edge, model.outside),
                order=cast(Order, model.order),
                tensor=model.tensor,
                status=cast(Status, model.status),
                evidence=(f"{model.where.path}:{model.where.line}", *reading.evidence),
                certainty="executed",
                note=f"as {model.where.path} in the project has it",
            )
    return reading


def taken(reading: Reading, lists: Sequence[LayerIds], launch: Launch | None) -> LayerIds | None:
    """The id list that a reading takes: that of a launch argument, else the first of its keys that is given."""
    for name in reading.arguments:
        argument = launch.get(name) if launch is not None else None
        if argument is not None and isinstance(argument.value.value, (list, tuple)):
            return LayerIds(name, tuple(argument.value.value), argument.where)
    if reading.rule == "ignored":
        return None
    for key in reading.keys:
        for entry in lists:
            if entry.key == key:
                return entry
    return None


def switched_off(reading: Reading, value: Callable[[str], Any]) -> bool:
    """Whether a key of the drafter's config (or its absence) switches the capture off for this reading."""
    return any(gate.off(value) for gate in reading.gates)
