"""The target: EGL407 (trained on another than it is served on) and EGL409 (one of them is rotated)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from eaglelint.checks import wording
from eaglelint.checks.registry import check
from eaglelint.conventions import contract
from eaglelint.conventions.known import known_target
from eaglelint.conventions.naming import same_model
from eaglelint.facts import Confidence, Step, TargetConfig, Value
from eaglelint.findings import Finding, Fix
from eaglelint.linking.records import Server, Target
from eaglelint.linking.targets import HINTS
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline
from eaglelint.weights.dimensions import dimensions


class Origin(NamedTuple):
    """The target that a head was made for, as one place says it: `what` says in words what stands there."""

    name: str
    where: Location | None
    what: str
    assumed: str = ""


class Mismatch(NamedTuple):
    """A server on another target than the head was made for."""

    server: Server
    origin: Origin


def origins(pipeline: Pipeline) -> Iterator[Origin]:
    """Everything that says for which target a head was made: recipes, captures, its own config, its record."""
    for told in pipeline.told:
        for recipe in told.places:
            what = {"data": "its states were taken from", "card": "the model card names"}.get(recipe.step, "trained on")
            yield from _origin(recipe.target, what)
    for assembly in pipeline.assemblies:
        if assembly.purpose != "runtime":
            yield from _origin(assembly.target, "its states were taken from")
    for capture in pipeline.captures:
        yield from _origin(capture.target, "its states were taken from")
    if pipeline.drafter is not None:
        for pointer in HINTS:
            name = pipeline.drafter.document.get(pointer)
            if isinstance(name, str) and name:
                yield Origin(name, pipeline.drafter.document.where(pointer), "its config names")
    elif pipeline.published is not None and pipeline.published.target:
        yield Origin(pipeline.published.target, None, f"{pipeline.published.repo} was made for")


def _origin(value: Value | None, what: str) -> Iterator[Origin]:
    if value is not None and value.known and isinstance(value.value, str) and value.value:
        yield Origin(value.value, value.where, what, value.assumed)


def served_on_another(pipeline: Pipeline) -> Iterator[Mismatch]:
    """The servers whose target is another model than each place says that the head was made for."""
    if pipeline.template or pipeline.method not in ("eagle3", "eagle", "dflash", "dspark"):
        return
    every = list(origins(pipeline)) or list(_strangers(pipeline))
    for server in pipeline.servers:
        name = _served(server)
        if not name or not every:
            continue
        if all(_same(origin, name, server.target) is False for origin in every):
            yield Mismatch(server, every[0])


def _strangers(pipeline: Pipeline) -> Iterator[Origin]:
    """The target of all code and recipes that fit no head, in a project with one head; if its states are as wide."""
    if pipeline.drafter is None:
        return
    width = dimensions(pipeline.drafter).target_hidden
    for value in pipeline.strangers:
        known = known_target(value.value) if value.known and isinstance(value.value, str) else None
        if known is None or not known.established or known.hidden_size != width:
            return
    for value in pipeline.strangers:
        yield from _origin(value, "the states of this project were taken from")


def _served(server: Server) -> str:
    value = server.launch.target if server.launch is not None else None
    return value.value if value is not None and value.known and isinstance(value.value, str) else ""


def _same(origin: Origin, served: str, target: Target | None) -> bool | None:
    """Whether a server's target is the one that a head was made for: by name, and by the geometry of a local config."""
    known = known_target(origin.name)
    if target is not None and target.config is not None and known is not None and known.established:
        geometry = _same_geometry(target.config, known.depth, known.hidden_size)
        if geometry is not None and (geometry or known_target(served) is None):
            return geometry
    return same_model(origin.name, served)


def _same_geometry(config: TargetConfig, depth: int, width: int) -> bool | None:
    if not config.depth or not depth:
        return None
    return config.depth == depth and (not config.hidden_size or not width or config.hidden_size == width)


@check("EGL407")
def target_identity(pipeline: Pipeline) -> Iterator[Finding]:
    """A head is served on another model than it was trained on. One finding a server."""
    seen: set[Location] = set()
    for server, origin in served_on_another(pipeline):
        assert server.launch is not None
        assert server.launch.target is not None
        where = server.launch.target.where
        if where in seen:
            continue
        seen.add(where)
        served = server.launch.target
        at = f" ({origin.where})" if origin.where is not None else ""
        message = (
            f"the head is served on {served.value}, but {origin.what} {origin.name}{at}: whatever loads, it predicts "
            "another model"
        )
        doubts = [text for text in (served.assumed, origin.assumed, server.assumed) if text]
        message += f" (assumed: {wording.listed(doubts)})" if doubts else ""
        confidence: Confidence = "likely" if doubts else "proven"
        steps = [Step(origin.where, f"{origin.what} {origin.name}")] if origin.where is not None else []
        steps.append(Step(server.launch.where, "the drafter is served here"))
        yield Finding(
            rule="EGL407",
            severity="warning",
            message=message,
            where=where,
            confidence=confidence,
            related=wording.unique(step for step in steps if step.where != where),
            fix=Fix(f"serve it on {origin.name}, or train a head for {served.value}"),
            defect=("target", pipeline.name, str(where)),
        )


# ---- EGL409 --------------------------------------------------------------------------------------------------------


@check("EGL409")
def quantised_target_space(pipeline: Pipeline) -> Iterator[Finding]:
    """A head of a plain target on a rotated one, or the reverse. One finding a server."""
    if pipeline.template or pipeline.method != "eagle3":
        return
    every = list(origins(pipeline))
    seen: set[Location] = set()
    for server in pipeline.servers:
        name = _served(server)
        if not name or not every or server.launch is None or server.launch.target is None:
            continue
        config = server.target.config if server.target is not None else None
        served = contract.rotation().named(name) or (_says_rotated(config) if config is not None else "")
        made = [contract.rotation().named(origin.name) for origin in every]
        where = server.launch.target.where
        if where in seen or len({bool(word) for word in made}) != 1 or bool(served) == bool(made[0]):
            continue
        if all(_same(origin, name, server.target) is False for origin in every):
            continue  # EGL407: another model altogether
        seen.add(where)
        yield _rotated(pipeline, server, every[0], name, served or made[0], config)


def _rotated(
    pipeline: Pipeline, server: Server, origin: Origin, name: str, word: str, config: TargetConfig | None
) -> Finding:
    assert server.launch is not None
    assert server.launch.target is not None
    served = server.launch.target
    turned = contract.rotation().named(origin.name) == ""
    at = f" ({origin.where})" if origin.where is not None else ""
    one, other = ("rotated", "plain") if turned else ("plain", "rotated")
    message = (
        f"the residual stream of {name} is {one} ({word}), but {origin.what} {origin.name}{at}, whose stream is "
        f"{other}: fc is fed states of another basis, and hardly anything is accepted"
    )
    doubts = [text for text in (served.assumed, origin.assumed, server.assumed) if text]
    message += f" (assumed: {wording.listed(doubts)})" if doubts else ""
    steps = [Step(origin.where, f"{origin.what} {origin.name}")] if origin.where is not None else []
    if config is not None and config.document.has("/quantization_config"):
        steps.append(Step(config.document.where("/quantization_config"), "how the target was quantised"))
    steps.append(Step(server.launch.where, "the drafter is served here"))
    return Finding(
        rule="EGL409",
        severity="warning",
        message=message,
        where=served.where,
        confidence="likely",
        related=wording.unique(step for step in steps if step.where != served.where),
        fix=Fix("fuse the inverse rotation into fc (some plug-ins do so on loading), or train on the served states"),
        defect=("space", pipeline.name, str(served.where)),
    )


def _says_rotated(config: TargetConfig) -> str:
    """The word by which a target's config says that its residual stream is rotated, "" when it does not."""
    rotation = contract.rotation()
    quantised = config.document.get("/quantization_config")
    transforms = config.document.get("/quantization_config/transform_config/config_groups")
    if isinstance(transforms, dict):
        return next((f"transform {group}" for group in rotation.groups if group in transforms), "")
    return _word(quantised, rotation.keys)


def _word(value: Any, words: tuple[str, ...]) -> str:
    """The first key with a true value, or text, in which one of some words occurs."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if entry not in (None, False, [], {}) and any(word in str(key).lower() for word in words):
                return str(key)
            found = _word(entry, words)
            if found:
                return found
    elif isinstance(value, list):
        return next((found for entry in value if (found := _word(entry, words))), "")
    elif isinstance(value, str):
        return next((word for word in words if word in value.lower()), "")
    return ""
