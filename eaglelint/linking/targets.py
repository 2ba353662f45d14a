"""Which target a launch, a drafter or a capture means."""

from __future__ import annotations

from collections.abc import Sequence

from eaglelint.conventions.known import architectures_of, known_target
from eaglelint.facts import DrafterConfig, Launch, TargetConfig, Value
from eaglelint.linking import paths
from eaglelint.linking.records import Target
from eaglelint.location import Location
from eaglelint.settings import TargetSettings

#: Where the configs of drafters name their target, by JSON pointer.
HINTS = (
    "/speculators_config/verifier/name_or_path",
    "/target_model_name_or_path",
    "/target_model_path",
    "/target_model",
    "/base_model_name_or_path",
    "/verifier_name_or_path",
    "/eagle_config/target_model_name_or_path",
)


def of_config(config: TargetConfig, name: str = "", where: Location | None = None, assumed: str = "") -> Target:
    """The target that a config.json in the project describes."""
    architectures = config.architectures
    nested = config.document.get(f"{config.text_prefix}/architectures") if config.text_prefix else None
    if not architectures and isinstance(nested, list):
        architectures = tuple(str(entry) for entry in nested)
    return Target(
        name=name or config.folder or paths.folder_of(config.path) or config.path,
        architectures=architectures,
        model_type=config.model_type,
        depth=config.depth,
        hidden_size=config.hidden_size,
        where=where or config.document.where(f"{config.text_prefix}/num_hidden_layers"),
        config=config,
        assumed=assumed,
    )


def by_name(name: str, where: Location | None, assumed: str = "") -> Target | None:
    """A target of the tables, None when they do not have it. Quantised copies are their originals."""
    known = known_target(name)
    if known is None:
        return None
    doubt = "" if known.established else f"the geometry of {known.name} is not established"
    return Target(
        name=name,
        architectures=known.architectures or architectures_of(known.model_type),
        model_type=known.model_type,
        depth=known.depth,
        hidden_size=known.hidden_size,
        where=where,
        assumed=assumed or doubt,
    )


def of_launch(launch: Launch, targets: Sequence[TargetConfig]) -> Target | None:
    """The target that a launch serves, as `find` gives it; paths inside its container are those that are mounted."""
    return find(launch.target, targets, launch.mounts)


def find(value: Value | None, targets: Sequence[TargetConfig], mounts: Sequence[tuple[str, str]] = ()) -> Target | None:
    """The target that a model argument names; None when it names none that is known.

    A path to a config in the project comes first, then the tables, then the only target config in the project. A name
    that nothing knows gives a target without depth.
    """
    if value is None or not value.known or not isinstance(value.value, str) or not value.value:
        return None
    name = value.value
    folders = {paths.folder_of(config.path): config for config in targets}
    known = by_name(name, value.where, value.assumed)
    if known is None or not paths.is_hub_id(name, folders):
        folder = paths.resolve(paths.through(name, mounts), value.where.path, folders)
        if folder is not None:
            return of_config(folders[folder], name, value.where, value.assumed)
    if known is not None and known.depth:
        return known
    if len(targets) == 1 and targets[0].depth:
        return of_config(targets[0], name, value.where, value.assumed)
    return known or Target(name=name, where=value.where, assumed=value.assumed)


def hinted(drafter: DrafterConfig, targets: Sequence[TargetConfig]) -> Target | None:
    """The target that the drafter's own config names."""
    for pointer in HINTS:
        name = drafter.document.get(pointer)
        if isinstance(name, str) and name:
            found = find(Value(name, drafter.document.where(pointer)), targets)
            if found is not None and found.depth:
                return found
    return None


def configured(settings: TargetSettings | str | None, targets: Sequence[TargetConfig], file: str) -> Target | None:
    """The target that the configuration states; `file` is where it stands."""
    if settings is None or settings == "":
        return None
    where = Location(file) if file else None
    if isinstance(settings, str):
        return find(Value(settings, where or Location("")), targets)
    name = settings.path or settings.name
    found = find(Value(name, where or Location("")), targets) if name else None
    if settings.depth:
        base = found or Target(name=settings.name or settings.path or "the target", where=where)
        return Target(
            name=base.name,
            architectures=base.architectures,
            model_type=base.model_type,
            depth=settings.depth,
            hidden_size=base.hidden_size,
            where=where,
            config=base.config,
        )
    return found


def differ(one: Target | None, other: Target | None) -> bool:
    """Whether two targets are known to be different models by their geometry."""
    if one is None or other is None:
        return False
    if one.depth and other.depth and one.depth != other.depth:
        return True
    return bool(one.hidden_size and other.hidden_size and one.hidden_size != other.hidden_size)
