"""The drafters of a project: those with a config and those that a launch names by their Hub id, with their launches."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from eaglelint.conventions.known import KnownDrafter, known_drafter
from eaglelint.facts import DrafterConfig, Facts, Launch, LayerIds
from eaglelint.linking import paths
from eaglelint.location import Location
from eaglelint.settings import PipelineSettings, Settings, matches


@dataclass(frozen=True)
class Head:
    """A drafter and the launches that serve it.

    `folder` is the folder of its config.json, or the path of a config of another name. `guesses` says for a launch (by
    its place) why its link rests on an assumption. `settings` is its entry in the configuration. The other fields are
    those of a `Pipeline`.
    """

    name: str
    where: Location
    folder: str = ""
    config: DrafterConfig | None = None
    published: KnownDrafter | None = None
    method: str = "unknown"
    id_lists: tuple[LayerIds, ...] = ()
    declared: bool = True
    template: bool = False
    launches: tuple[Launch, ...] = ()
    guesses: Mapping[Location, str] = field(default_factory=dict)
    settings: PipelineSettings | None = None

    @property
    def exported(self) -> bool:
        """Whether its config is named as checkpoints name it."""
        return self.config is not None and posixpath.basename(self.config.path) == "config.json"

    def value(self, pointer: str) -> Any:
        """A value of the drafter's config by JSON pointer.

        Of a head whose config is not in scope, the flag as its record has it, and True for those that are not recorded.
        """
        if self.config is not None:
            return self.config.document.get(pointer)
        recorded = self.published.flags if self.published is not None else {}
        return recorded.get(pointer.rsplit("/", 1)[-1], True)


def find(facts: Facts, settings: Settings) -> list[Head]:
    """Every drafter of the project with its launches; launches that can not be linked are left out."""
    heads = [_of_config(config, facts.drafters, settings) for config in facts.drafters]
    launches: dict[int, list[Launch]] = {}
    guesses: dict[int, dict[Location, str]] = {}
    hub: dict[str, Head] = {}
    targets = {paths.folder_of(config.path) for config in facts.targets}
    for launch in facts.launches:
        index, guess = _linked(launch, heads, targets, settings)
        if index is not None:
            launches.setdefault(index, []).append(launch)
            if guess:
                guesses.setdefault(index, {})[launch.where] = guess
        else:
            named = _published(launch, heads, targets)
            if named is not None:
                same = hub.get(named.name)
                hub[named.name] = replace(
                    same or named,
                    launches=(*(same.launches if same else ()), launch),
                    guesses={**(same.guesses if same else {}), launch.where: guess_of(named, launch)},
                )
    linked = [
        replace(head, launches=tuple(launches.get(index, ())), guesses=guesses.get(index, {}))
        for index, head in enumerate(heads)
    ]
    return linked + list(hub.values())


def guess_of(head: Head, launch: Launch) -> str:
    """Why a launch's link to a published head is an assumption, "" when it names the head by its id."""
    value = str(launch.draft.value) if launch.draft is not None else ""
    if head.published is None or value.lower() == head.published.repo.lower():
        return ""
    return f"{value} is taken for the published {head.published.repo}"


def _of_config(config: DrafterConfig, drafters: Sequence[DrafterConfig], settings: Settings) -> Head:
    folder = paths.folder_of(config.path)
    named = posixpath.basename(config.path) == "config.json"
    exported = any(posixpath.basename(other.path) == "config.json" for other in drafters)
    own = next(
        (entry for entry in settings.pipeline if _is_drafter(entry.drafter, settings.inside(config.path), folder)), None
    )
    place = folder if named else config.path
    return Head(
        name=place or config.path,
        where=config.where,
        folder=place,
        config=config,
        method=config.method,
        id_lists=config.id_lists,
        template=exported and not named,
        settings=own,
    )


def _is_drafter(stated: str, path: str, folder: str) -> bool:
    wanted = paths.parts(stated)
    return wanted in (paths.parts(path), paths.parts(posixpath.dirname(path)), paths.parts(folder))


def _linked(launch: Launch, heads: Sequence[Head], targets: set[str], settings: Settings) -> tuple[int | None, str]:
    """The head that a launch serves, and why that is an assumption ("" when it is not one)."""
    for index, head in enumerate(heads):
        globs = head.settings.launch if head.settings is not None else ()
        if globs and matches(globs, settings.inside(launch.where.path)):
            return index, ""
    if launch.draft is None:
        return None, ""
    real = [index for index, head in enumerate(heads) if not head.template]
    only = real[0] if len(real) == 1 else None
    value = launch.draft.value
    if not launch.draft.known or not isinstance(value, str):
        name = heads[only].name if only is not None else ""
        return only, f"{name} is the only drafter in the project, and the launch does not say which it serves"
    folders = {head.folder: index for index, head in reversed(list(enumerate(heads))) if not head.template}
    outside = paths.through(value, launch.mounts)
    found = paths.resolve(outside, launch.where.path, [*folders, *targets])
    if found is not None:
        return folders.get(found), ""
    if known_drafter(value) is not None and (paths.is_hub_id(value, folders) or only is None):
        return None, ""
    if paths.is_hub_id(value, folders):
        return None, ""
    return only, ""


def _published(launch: Launch, heads: Sequence[Head], targets: set[str]) -> Head | None:
    """The head that a launch names by a Hub id, or by a path that ends like one that is published."""
    if launch.draft is None or not launch.draft.known or not isinstance(launch.draft.value, str):
        return None
    value = launch.draft.value
    folders = [head.folder for head in heads]
    if paths.resolve(paths.through(value, launch.mounts), launch.where.path, [*folders, *targets]) is not None:
        return None
    known = known_drafter(value)
    if known is None and not paths.is_hub_id(value, folders):
        return None
    where = launch.draft.where
    if known is None:
        return Head(name=value, where=where, declared=False)
    lists = _published_ids(known, where)
    return Head(
        name=known.repo,
        where=where,
        published=known,
        method=known.method,
        id_lists=lists,
        declared=bool(lists) or known.ids_place == "none",
    )


def _published_ids(known: KnownDrafter, where: Location) -> tuple[LayerIds, ...]:
    """The ids that the config of a published head declares; () when it declares none or the place is not known."""
    if known.ids is None or known.method != "eagle3":
        return ()
    return tuple(LayerIds(pointer, known.ids, where) for pointer in known.pointers)
