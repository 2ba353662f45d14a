"""From sources to facts: every reader on every source it knows, then the analyser on everything that holds Python."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from eaglelint import watch
from eaglelint.errors import DocumentError, UnreadableError
from eaglelint.evidence import speaks_of_eagle
from eaglelint.facts import (
    Assembly,
    CacheSalt,
    Capture,
    Comment,
    Defect,
    DrafterConfig,
    EnginePin,
    EnvironmentSetting,
    Facts,
    Label,
    Launch,
    Recipe,
    ScriptRun,
    TargetConfig,
    Unreadable,
    Unresolved,
)
from eaglelint.fingerprints.records import Sample, SampleTarget
from eaglelint.guard import Guard
from eaglelint.location import Location
from eaglelint.settings import Settings
from eaglelint.stored import CheckpointHeader, CheckpointIndex, VocabularyMap
from eaglelint.vendored import MODEL_FOLDERS, EngineModel

if TYPE_CHECKING:
    from eaglelint.project import Project, Source

#: The field of `Facts` that holds each kind of fact.
_FIELDS: dict[type[Any], str] = {
    DrafterConfig: "drafters",
    TargetConfig: "targets",
    Launch: "launches",
    EnginePin: "pins",
    ScriptRun: "runs",
    EnvironmentSetting: "environment",
    Capture: "captures",
    Assembly: "assemblies",
    Label: "labels",
    Defect: "defects",
    Unresolved: "unresolved",
    Unreadable: "unreadable",
    Comment: "comments",
    CacheSalt: "salts",
    Recipe: "recipes",
    CheckpointHeader: "checkpoints",
    CheckpointIndex: "indexes",
    VocabularyMap: "maps",
    EngineModel: "models",
    Sample: "samples",
    SampleTarget: "sample_targets",
}
#: A model's config.json has one of these keys; other JSON is only parsed when it speaks of EAGLE-3.
_CONFIG_KEYS = (b'"architectures"', b'"model_type"', b'"num_hidden_layers"', b'"hidden_size"')


class _Reader(NamedTuple):
    """A reader: what it is called in messages, the kinds it is for (None: all text), what it makes of a source."""

    name: str
    kinds: frozenset[str] | None
    read: Callable[[Source], Iterable[Any]]


def read(project: Project, settings: Settings, guard: Guard) -> Facts:
    """Everything that the files of a project say. A file that a reader can not read becomes an `Unreadable`."""
    found: dict[str, list[Any]] = {field: [] for field in _FIELDS.values()}
    found["unreadable"] += project.unreadable
    readers = _readers()
    for source in watch.each("reading", project.sources):
        code = settings.markdown or source.kind != "markdown"
        for reader in readers:
            if (reader.kinds is None and code) or source.kind in (reader.kinds or ()):
                _add(found, guard.each(reader.name, Location(source.path), partial(_readable, reader.read, source)))
    for source, read_one in _tensor_files(project.sources, _facts(found)):
        _add(found, guard.each("the reader of checkpoints", Location(source.path), partial(_tensors, read_one, source)))
    _add(found, guard.each("the analyser", Location("."), partial(_analysed, project, settings, _facts(found))))
    _add(found, guard.each("the reader of recipes", Location("."), partial(_commands, _facts(found))))
    _add(found, guard.each("the reader of engine models", Location("."), partial(_models, project, _facts(found))))
    _add(found, guard.each("the reader of samples", Location("."), partial(_samples, project, settings, _facts(found))))
    facts = _facts(found)
    for source in watch.each("reading comments", project.sources):
        where = Location(source.path)
        _add(found, guard.each("the reader of comments", where, partial(_remarks, source, facts)))
    return _with_patched(project, _facts(found))


def _with_patched(project: Project, facts: Facts) -> Facts:
    """The facts, with what the project's patches add to engines noted at its launches."""
    from eaglelint.readers.patched import added_arguments

    added = frozenset(name for source in project.sources for name in added_arguments(source))
    if not added:
        return facts
    return replace(facts, launches=tuple(replace(launch, patched_in=added) for launch in facts.launches))


def _readers() -> tuple[_Reader, ...]:
    from eaglelint.readers.cards import read_card
    from eaglelint.readers.launch import read_launches
    from eaglelint.readers.pins import read_pins
    from eaglelint.readers.recipe_calls import read_calls
    from eaglelint.readers.recipes import read_recipes

    return (
        _Reader("the reader of model configs", frozenset({"json"}), _read_config),
        _Reader("the reader of engine releases", None, read_pins),
        _Reader("the reader of launch commands", None, read_launches),
        _Reader("the reader of recipes", frozenset({"json", "yaml", "toml"}), read_recipes),
        _Reader("the reader of recipes", frozenset({"python"}), read_calls),
        _Reader("the reader of model cards", frozenset({"markdown"}), read_card),
    )


def _read_config(source: Source) -> Iterator[DrafterConfig | TargetConfig]:
    data = source.data
    if not any(key in data for key in _CONFIG_KEYS) and not speaks_of_eagle(data):
        return
    from eaglelint.readers.documents import read_json
    from eaglelint.readers.drafter import read_config

    config = read_config(source, read_json(source.text))
    if config is not None:
        yield config


def _readable(read_one: Callable[[Source], Iterable[Any]], source: Source) -> Iterator[Any]:
    """What a reader yields; where it can not go on, an `Unreadable`. Binary files have their own readers."""
    if source.kind == "binary":
        return
    try:
        yield from read_one(source)
    except DocumentError as error:
        if not error.template:
            yield Unreadable(error.where, error.reason, _speaks(source))
    except UnreadableError as error:
        yield Unreadable(error.where, error.reason, _speaks(source))
    except RecursionError:
        yield Unreadable(Location(source.path), "it is nested too deeply", _speaks(source))


def _tensor_files(
    sources: Sequence[Source], facts: Facts
) -> Iterator[tuple[Source, Callable[[Source], Iterable[Any]]]]:
    """The files of tensors that belong to drafters, with their readers: what is no drafter's is not opened."""
    folders = {posixpath.dirname(drafter.path) for drafter in facts.drafters}
    if not folders:
        return
    from eaglelint.readers.checkpoint import read_checkpoint, read_index
    from eaglelint.readers.weight_files import choose

    chosen = choose(sources, folders)
    yield from ((source, lambda source: [read_index(source)]) for source in chosen.indexes)
    yield from ((source, read_checkpoint) for source in chosen.files)


def _tensors(read_one: Callable[[Source], Iterable[Any]], source: Source) -> Iterator[Any]:
    """What a file of tensors holds, or that it can not be read."""
    try:
        yield from read_one(source)
    except UnreadableError as error:
        yield Unreadable(error.where, error.reason)


def _speaks(source: Source) -> bool:
    try:
        return speaks_of_eagle(source.data)
    except UnreadableError:
        return True  # it can not even be looked at


def _analysed(project: Project, settings: Settings, facts: Facts) -> Iterable[Any]:
    from eaglelint.analyser.read import analyse

    return analyse([s for s in project.sources if settings.markdown or s.kind != "markdown"], facts)


def _models(project: Project, facts: Facts) -> Iterator[EngineModel]:
    """The target models of engines that lie in the project, for targets that its drafters are served on."""
    if not facts.drafters or not any(folder in source.path for source in project.sources for folder in MODEL_FOLDERS):
        return
    from eaglelint.derivation.overlays import models

    yield from models(project.sources, facts)


def _samples(project: Project, settings: Settings, facts: Facts) -> Iterable[Any]:
    """The values of the sample files that the configuration names."""
    if not settings.data.samples:
        return ()
    from eaglelint.fingerprints.sampling import read_samples

    return read_samples(project.sources, settings, facts)


def _remarks(source: Source, facts: Facts) -> Iterable[Any]:
    """What stands beside the code that the analyser understood: comments, and cache namespaces of requests."""
    from eaglelint.readers.remarks import read_comments, read_salts

    yield from _readable(partial(read_comments, facts=facts), source)
    if facts.launches:
        yield from _readable(read_salts, source)


def _commands(facts: Facts) -> Iterator[Recipe]:
    """What the commands and variables of scripts tell trainers and data generators."""
    from eaglelint.readers.recipes import of_variable, recipes_of_run

    for run in facts.runs:
        yield from recipes_of_run(run)
    for setting in facts.environment:
        yield from of_variable(setting.name, setting.value)


def _add(found: dict[str, list[Any]], facts: Iterable[Any]) -> None:
    for fact in facts:
        entries = found[_FIELDS[type(fact)]]
        if not isinstance(fact, Unreadable) or fact not in entries:  # two readers may stumble over the same place
            entries.append(fact)


def _facts(found: dict[str, list[Any]]) -> Facts:
    return Facts(**{field: tuple(entries) for field, entries in found.items()})
