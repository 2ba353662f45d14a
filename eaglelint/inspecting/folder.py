"""The facts of one folder: the config of a drafter, its weights by their headers, its maps.

The folder is named, so it is read whatever a `.gitignore` says, but nothing below it is.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator
from pathlib import Path

from eaglelint.errors import UnreadableError, UsageError
from eaglelint.facts import DrafterConfig, Facts, TargetConfig, Unreadable
from eaglelint.kinds import kind_of
from eaglelint.project import Source
from eaglelint.stored import CheckpointHeader, CheckpointIndex, VocabularyMap

_MOST_FILES = 10_000


def read_folder(path: str) -> Facts:
    """What the folder `path`, or that of the file `path`, says of a drafter.

    A config of another name than `config.json` counts only when it is named itself. Raises UsageError for a path that
    does not exist, and for a folder without a config of a model and without tensors.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        raise UsageError(f"no such file or folder: {path}") from None
    folder = path if stat.S_ISDIR(mode) else os.path.dirname(path)
    named = "" if stat.S_ISDIR(mode) else os.path.basename(path)
    config = named if named.endswith(".json") and not named.endswith(".index.json") else "config.json"
    sources = list(_sources(folder))
    unreadable: list[Unreadable] = []
    model = next((s for s in sources if posixpath.basename(s.path) == config), None)
    read = _config(model, unreadable) if model is not None else None
    checkpoints, indexes, maps = _tensors(sources, posixpath.dirname(sources[0].path) if sources else "", unreadable)
    if model is None and not checkpoints and not unreadable:
        raise UsageError(f"no {config} and no tensors in {folder or '.'}")
    return Facts(
        drafters=(read,) if isinstance(read, DrafterConfig) else (),
        targets=(read,) if isinstance(read, TargetConfig) else (),
        unreadable=tuple(unreadable),
        checkpoints=checkpoints,
        indexes=indexes,
        maps=maps,
    )


def _sources(folder: str) -> Iterator[Source]:
    """The files of a folder that may matter, links to files among them."""
    try:
        entries = sorted(os.scandir(folder or "."), key=lambda entry: entry.name)
    except OSError as error:
        raise UsageError(f"can not look into {folder}: {(error.strerror or str(error)).lower()}") from None
    for entry in entries[:_MOST_FILES]:
        kind = kind_of(entry.name)
        if kind in ("json", "binary") and entry.is_file():
            shown = posixpath.normpath(os.path.join(folder, entry.name).replace(os.sep, "/"))
            yield Source(shown, kind, Path(entry.path))


def _config(source: Source, unreadable: list[Unreadable]) -> DrafterConfig | TargetConfig | None:
    from eaglelint.readers.documents import read_json
    from eaglelint.readers.drafter import read_config

    try:
        return read_config(source, read_json(source.text))
    except UnreadableError as error:
        unreadable.append(Unreadable(error.where, error.reason))
        return None


def _tensors(
    sources: list[Source], folder: str, unreadable: list[Unreadable]
) -> tuple[tuple[CheckpointHeader, ...], tuple[CheckpointIndex, ...], tuple[VocabularyMap, ...]]:
    from eaglelint.readers.checkpoint import read_checkpoint, read_index
    from eaglelint.readers.weight_files import choose

    headers: list[CheckpointHeader] = []
    indexes: list[CheckpointIndex] = []
    maps: list[VocabularyMap] = []
    chosen = choose(sources, {folder})
    for source in chosen.indexes:
        try:
            indexes.append(read_index(source))
        except UnreadableError as error:
            unreadable.append(Unreadable(error.where, error.reason))
    for source in chosen.files:
        try:
            for fact in read_checkpoint(source):
                if isinstance(fact, CheckpointHeader):
                    headers.append(fact)
                else:
                    maps.append(fact)
        except UnreadableError as error:
            unreadable.append(Unreadable(error.where, error.reason))
    return tuple(headers), tuple(indexes), tuple(maps)
