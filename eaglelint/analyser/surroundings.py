"""Targets, their configs and engines' conventions, as the abstract execution asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eaglelint.analyser import depths, patterns
from eaglelint.analyser.target_values import ConfigV, ModelV
from eaglelint.analyser.values import MISSING, Unknown, V
from eaglelint.facts import Facts, TargetConfig

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame

_NESTED = frozenset({"text_config", "llm_config", "language_config"})


def target_config(facts: Facts, name: str) -> TargetConfig | None:
    """The target config in scope that a name or path means: by folder, else by the last part when only one fits."""
    clean = name.strip().removeprefix("./").rstrip("/")
    if not clean:
        return None
    for target in facts.targets:
        if target.folder == clean or (target.folder and clean.endswith(f"/{target.folder}")):
            return target
    last = clean.rsplit("/", 1)[-1].lower()
    fitting = [t for t in facts.targets if t.folder.rsplit("/", 1)[-1].lower() == last]
    return fitting[0] if len(fitting) == 1 else None


def target_depth(facts: Facts, name: str) -> tuple[int, str]:
    """N (decoder layers) and model type of a target by its name or path; (0, "") when it is not known."""
    found = target_config(facts, name)
    if found is not None and found.depth:
        return found.depth, found.model_type
    if name:
        from eaglelint.conventions.known import known_target

        known = known_target(name)
        if known is not None and known.depth:
            return known.depth, known.model_type
    return 0, ""


def project_depths(facts: Facts) -> list[int]:
    """The depths N of all targets that the project names, each once."""
    depths = [target.depth for target in facts.targets if target.depth]
    for launch in facts.launches:
        if launch.target is not None and launch.target.known and isinstance(launch.target.value, str):
            depth, _ = target_depth(facts, launch.target.value)
            if depth:
                depths.append(depth)
    return sorted(set(depths))


def is_nested(facts: Facts, name: str) -> bool | None:
    """Whether the target's decoder values stand in a nested text config; None when it is not known."""
    found = target_config(facts, name)
    if found is not None:
        return bool(found.text_prefix)
    if name:
        from eaglelint.conventions.known import known_target

        known = known_target(name)
        if known is not None and known.nested is not None:
            return bool(known.nested)
    return None


def config_attribute(run: Interpreter, owner: ConfigV, name: str, frame: Frame, node: Any, default: V) -> V:
    """An attribute of a target's config; the outer config of a multimodal target has no `num_hidden_layers`."""
    model = owner.model
    target = model.name.value if model is not None and model.name is not None else ""
    nested = is_nested(run.world.facts, target) if target else None
    if name in _NESTED:
        if nested is False and default is not MISSING:
            return default
        return ConfigV(model, owner.path, True)
    if name in patterns.DEPTH_NAMES:
        drafter = depths.drafter_named(run.world.facts, target)
        given = drafter.document.get("/num_hidden_layers") if drafter is not None else None
        if drafter is not None and isinstance(given, int):
            return depths.read(depths.depth_of(drafter, given), node, frame)
        if nested and not owner.nested:
            run.rec.flaw("nested-target-config", frame.scope.where(node), frame, {"key": name, "target": target}, ())
            return default if default is not MISSING else Unknown(name)
        return run.depth_of(model) if model is not None else run.depth
    if name in ("hf_config", "config", "hf_text_config", "model_config"):
        return ConfigV(model, owner.path, owner.nested or name == "hf_text_config")
    if name == "output_hidden_states":
        return Unknown(name)
    if isinstance(default, int | str | float):
        return Unknown(name)
    return Unknown(f"config.{name}")


def engine_boundaries(
    facts: Facts, engine: str, ids: list[int] | None, model: ModelV, depth: int, purpose: str = "serving"
) -> tuple[list[int], str] | None:
    """The boundaries that an engine captures for ids (None: its default), and on what that rests ("": on nothing).

    None when the admitted releases disagree, but for the state after the last layer, which later releases can capture.
    """
    from eaglelint.conventions.records import Target
    from eaglelint.conventions.table import engine as table

    found = table(engine)
    if found is None:
        return None
    config = target_config(facts, model.name.value) if model.name is not None else None
    if config is None and len(facts.targets) == 1:
        config = facts.targets[0]
    if config is not None:
        target = Target(config.architectures, config.model_type, config.depth)
    else:
        target = _known(model, facts, depth)
    pins = [pin for pin in facts.pins if pin.package == engine and not pin.unknown]
    specifiers = {pin.specifier for pin in pins} or {""}
    results: set[tuple[int, ...] | None] = set()
    for specifier in specifiers:
        for reading in found.readings(specifier, target, purpose=purpose):
            if ids is None:
                results.add(reading.captured(None, depth) or reading.defaults(depth))
            else:
                results.add(reading.captured(ids, depth))
    if None in results or not results:
        return None
    lists = sorted((list(found) for found in results if found is not None), key=len)
    if len(lists) > 1 and any([b for b in found if b != depth] != lists[0] for found in lists):
        return None
    return lists[-1], "" if len(lists) == 1 else f"a release of {engine} that captures the last state"


def _known(model: ModelV, facts: Facts, depth: int) -> Any:
    from eaglelint.conventions.known import known_target
    from eaglelint.conventions.records import Target

    names = (
        [model.name.value]
        if model.name is not None
        else [launch.target.value for launch in facts.launches if launch.target is not None and launch.target.known]
    )
    for name in names:
        known = known_target(str(name))
        if known is not None:
            return Target(known.architectures, known.model_type, known.depth)
    return Target((), "", depth)
