"""EGL406: a drafter's position embedding that is not what it was trained with, or that a release does not see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from eaglelint.checks import wording
from eaglelint.checks.heads import Fault, HeadConfig, config_of, findings, judge
from eaglelint.checks.positions import pointer_of, rope_type, served_by
from eaglelint.checks.registry import check
from eaglelint.conventions import contract
from eaglelint.conventions.contract import RopeKeys, TrainedRope
from eaglelint.facts import Step
from eaglelint.findings import Finding, Fix
from eaglelint.linking.recipes import Told
from eaglelint.linking.records import Server
from eaglelint.linking.told import title
from eaglelint.pipeline import Pipeline
from eaglelint.weights.dimensions import dimensions

#: Every key that may hold a part of it, the newest first.
_EVERY = ("rope_parameters", "rope_theta", "rope_scaling")
#: What a model takes without any.
_USUAL_THETA = 10000.0


class _Rope(NamedTuple):
    """A position embedding: its base (None: not given) and what scales it ({}: nothing)."""

    theta: float | None
    scaling: dict[str, Any]

    @property
    def words(self) -> str:
        """The embedding in a message: `theta 1000000, yarn x 4`."""
        kind = rope_type(self.scaling)
        factor = self.scaling.get("factor")
        scaled = f", {kind}" if kind != "default" else ""
        scaled += f" x {factor:g}" if scaled and isinstance(factor, (int, float)) else ""
        return f"theta {self.theta:g}{scaled}" if self.theta is not None else f"the default theta{scaled}"

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two embeddings different."""
        kind = rope_type(self.scaling)
        scaled = {k: v for k, v in self.scaling.items() if k not in ("rope_type", "type", "rope_theta")}
        theta = self.theta if self.theta is not None else _USUAL_THETA
        return (theta, kind, tuple(sorted((k, str(v)) for k, v in scaled.items())) if kind != "default" else ())


def _rope(given: Callable[[str], Any], keys: tuple[str, ...]) -> _Rope:
    """The position embedding that some keys of a config give, the first that does winning."""
    theta: float | None = None
    scaling: dict[str, Any] = {}
    for key in keys:
        value = given(key)
        if key == "rope_theta":
            theta = theta if theta is not None else _number(value)
        elif isinstance(value, dict):
            scaling = scaling or value
            theta = theta if theta is not None else _number(value.get("rope_theta"))
    return _Rope(theta, {k: v for k, v in scaling.items() if k != "rope_theta"})


def _value(config: HeadConfig, key: str) -> Any:
    return config.value(pointer_of(config, key))


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


@check("EGL406")
def rope_contract(pipeline: Pipeline) -> Iterator[Finding]:
    """A drafter's position embedding is not what it was trained with, or is not seen. One finding a head."""
    config = config_of(pipeline)
    if config is None or config.recorded or pipeline.method != "eagle3":
        return
    finders = (_not_trainable, _contradicting, _trained_otherwise, _other_than_trained, _not_seen)
    for find in finders[:1] if pipeline.template else finders:
        found = list(find(pipeline, config))
        yield from found
        if found:
            return


def _contradicting(pipeline: Pipeline, config: HeadConfig) -> Iterator[Finding]:
    """The config gives two bases, under the old key and the new one."""
    parameters = config.value(pointer_of(config, "rope_parameters"))
    old = _number(config.value(pointer_of(config, "rope_theta")))
    new = _number(parameters.get("rope_theta")) if isinstance(parameters, dict) else None
    if old is None or new is None or old == new:
        return
    where = config.where(pointer_of(config, "rope_theta"))
    place = config.where(f"{pointer_of(config, 'rope_parameters')}/rope_theta")
    message = (
        f"`rope_theta` is {old:g}, and `rope_parameters` gives {new:g} ({place}): releases that know the new key take "
        "the one, those before them the other, and one of them is not what the head was trained with"
    )
    fix = Fix("leave the value that the head was trained with, under both keys")
    related = (Step(place, f"theta {new:g}"),)
    yield Finding("EGL406", "warning", message, where, "proven", related, fix, ("rope", pipeline.name))


def _not_trainable(pipeline: Pipeline, config: HeadConfig) -> Iterator[Finding]:
    """A draft config asks for a scaling that the release of the trainer does not have."""
    own = _rope(partial(_value, config), _EVERY)
    kind = rope_type(own.scaling)
    for told, row in _trainers(pipeline):
        if kind in ("default", *row.types, *row.plain) or told.source is not pipeline.drafter:
            continue
        key = next(k for k in ("rope_parameters", "rope_scaling") if config.value(pointer_of(config, k)) is not None)
        name = f"{title(row.trainer)} {row.release}"
        message = f"the draft config asks for {kind}, which {name} does not have: it stops when it builds the drafter"
        fix = Fix(f"train with a later release, or take one of {wording.listed(row.types, 'or')}")
        related = (Step(told.recipe.where, f"{name} is told to train with it"),)
        where = config.where(pointer_of(config, key))
        yield Finding("EGL406", "warning", message, where, "proven", related, fix, ("rope", pipeline.name))
        return


def _trained_otherwise(pipeline: Pipeline, config: HeadConfig) -> Iterator[Finding]:
    """The release of the trainer takes another position embedding than the head's config says."""
    own = _rope(partial(_value, config), _EVERY)
    kind = rope_type(own.scaling)
    for told, row in _trainers(pipeline):
        if kind not in ("default", *row.types, *row.plain):
            continue
        theta = row.theta if row.theta is not None else own.theta
        theirs = _Rope(theta, own.scaling if kind in row.types else {})
        if theirs.key == own.key:
            continue
        key = "rope_theta" if theirs.theta != own.theta and own.theta is not None else "rope_scaling"
        key = key if config.value(pointer_of(config, key)) is not None else "rope_parameters"
        name = f"{title(row.trainer)} {row.release}"
        message = f"{name} trains with {theirs.words} whatever the draft config says, but the config gives {own.words}"
        fix = Fix(f"write the position embedding of the training: {theirs.words}")
        where, related = config.where(pointer_of(config, key)), (Step(told.recipe.where, "the head is trained here"),)
        yield Finding("EGL406", "warning", message, where, "proven", related, fix, ("rope", pipeline.name))
        return


def _trainers(pipeline: Pipeline) -> Iterator[tuple[Told, TrainedRope]]:
    """The trainings by which a head may have been made, with what their releases make of position embeddings."""
    for told in pipeline.told:
        row = contract.trained_rope(told.recipe.trainer, told.release) if told.recipe.step == "train" else None
        if row is not None and told.named:
            yield told, row


def _other_than_trained(pipeline: Pipeline, config: HeadConfig) -> Iterator[Finding]:
    """The draft config of the training, or the head that was converted, has another position embedding."""
    own = _rope(partial(_value, config), _EVERY)
    for told in pipeline.told:
        source = told.source
        if source is None or source is pipeline.drafter or not told.keeps_rope:
            continue
        theirs = _rope(dimensions(source).value, _EVERY)
        if theirs.key == own.key or (theirs.theta is None and not theirs.scaling):
            continue
        lost = bool(theirs.scaling) and rope_type(theirs.scaling) != "default" and not own.scaling
        key = "rope_scaling" if lost or theirs.theta == own.theta else "rope_theta"
        key = key if config.value(pointer_of(config, key)) is not None or lost else "rope_parameters"
        there = dimensions(source).where("rope_theta" if theirs.theta != own.theta else "rope_scaling")
        verb = "was converted from one with" if told.recipe.step == "convert" else "was trained with"
        message = f"the head {verb} {theirs.words} ({there}), but its config gives {own.words}"
        fix = Fix(f"write the position embedding of the training: {theirs.words}")
        where = config.where(pointer_of(config, key))
        related = (Step(there, theirs.words), Step(told.recipe.where, "the recipe"))
        yield Finding("EGL406", "warning", message, where, "proven", related, fix, ("rope", pipeline.name))
        return


def _not_seen(pipeline: Pipeline, config: HeadConfig) -> Iterator[Finding]:
    """The embedding stands under keys that a release does not read, so that it takes its default."""
    outcomes = []
    for server, _ in served_by(pipeline):
        found = judge(server, partial(_unseen, config, server))
        if found is not None and (found.certain or server.release.bounded):
            outcomes.append(found._replace(severity="warning"))
    yield from findings("EGL406", pipeline, outcomes, ("rope", pipeline.name))


def _unseen(config: HeadConfig, server: Server, release: str) -> Fault | None:
    rows: tuple[RopeKeys, ...] = contract.rope_keys(server.engine, release)
    if not rows:
        return None
    row = rows[0]
    own, seen = _rope(partial(_value, config), _EVERY), _rope(partial(_value, config), row.keys)
    seen = seen._replace(theta=seen.theta if seen.theta is not None else row.default_theta)
    if own.theta is None:
        own = own._replace(theta=row.default_theta)
    if own.key == seen.key:
        return None
    what = f"`rope_parameters` is not read by {{name}}: the drafter runs with {seen.words} instead of {own.words}"
    cure = f"write the old keys as well: {wording.listed([f'`{key}`' for key in row.keys])}"
    return Fault(what, config.where(pointer_of(config, "rope_parameters")), cure)
