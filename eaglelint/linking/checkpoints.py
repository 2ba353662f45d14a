"""The weights that belong to a drafter: what an engine would load from its folder, and the maps beside them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eaglelint.facts import DrafterConfig, Facts
from eaglelint.location import Location
from eaglelint.readers.weight_files import is_map
from eaglelint.stored import CheckpointHeader, CheckpointIndex, TensorHeader, VocabularyMap

_SHARD = re.compile(r"-(\d+)-of-(\d+)\.\w+$")
#: In which order engines look for weights.
_ENDINGS = (".safetensors", ".bin", ".pt", ".pth", ".gguf")


@dataclass(frozen=True)
class Checkpoint:
    """The weights of a drafter.

    `tensors` are the headers by name, `names` the path of the file that holds each tensor, also of those of which only
    an index tells. `complete` is False when something could not be read, so that what is missing may be there. `maps`
    are those among the weights, `beside` those in files of their own, which no engine reads.
    """

    files: tuple[str, ...]
    tensors: Mapping[str, TensorHeader]
    names: Mapping[str, str]
    complete: bool
    index: CheckpointIndex | None = None
    maps: tuple[VocabularyMap, ...] = ()
    beside: tuple[VocabularyMap, ...] = ()
    headers: tuple[CheckpointHeader, ...] = field(default=(), repr=False)

    @property
    def where(self) -> Location:
        """The file to point at for what is missing: the index, else the first file."""
        if self.index is not None:
            return self.index.where
        return Location(self.files[0]) if self.files else Location("")

    def file_of(self, name: str) -> Location:
        """The file that holds a tensor."""
        return Location(self.names[name]) if name in self.names else self.where

    def map(self, kind: str) -> VocabularyMap | None:
        """The map of a kind ("d2t", "t2d") among the weights."""
        return next((found for found in self.maps if found.kind == kind), None)


def of_drafter(config: DrafterConfig, facts: Facts) -> Checkpoint | None:
    """The weights and maps in the folder of a drafter's config; None when there are none.

    Only a `config.json`, or the only drafter config of a folder, describes the weights beside it.
    """
    folder = posixpath.dirname(config.path)
    siblings = [other for other in facts.drafters if posixpath.dirname(other.path) == folder]
    if posixpath.basename(config.path) != "config.json" and len(siblings) > 1:
        return None
    index = next((found for found in facts.indexes if posixpath.dirname(found.path) == folder), None)
    headers = _loaded(folder, facts.checkpoints, index)
    broken = [u.where.path for u in facts.unreadable if posixpath.dirname(u.where.path) == folder]
    weights = [path for path in broken if path.endswith(_ENDINGS) or path.endswith(".index.json")]
    beside = tuple(
        found
        for found in facts.maps
        if posixpath.dirname(found.path) == folder and found.path not in {header.path for header in headers}
    )
    if not headers and not weights and index is None and not beside:
        return None
    return _checkpoint(headers, index, facts.maps, beside, broken=bool(weights))


def _loaded(
    folder: str, headers: Sequence[CheckpointHeader], index: CheckpointIndex | None
) -> tuple[CheckpointHeader, ...]:
    """The files that an engine loads: those of the index, else all with the first ending that some file has."""
    if index is not None and index.files:
        wanted = set(index.files.values())
        return tuple(header for header in headers if header.path in wanted)
    here = [header for header in headers if posixpath.dirname(header.path) == folder]
    for ending in _ENDINGS:
        found = [h for h in here if h.path.endswith(ending) and (ending == ".safetensors" or not is_map(h.path))]
        if found:
            return tuple(found)
    return ()


def _checkpoint(
    headers: tuple[CheckpointHeader, ...],
    index: CheckpointIndex | None,
    maps: Sequence[VocabularyMap],
    beside: tuple[VocabularyMap, ...],
    *,
    broken: bool,
) -> Checkpoint:
    tensors = {name: tensor for header in headers for name, tensor in header.tensors.items()}
    names = {name: header.path for header in headers for name in header.tensors}
    files = tuple(header.path for header in headers)
    known = {header.path for header in headers if header.format != "pointer"}
    if index is not None:
        for name, path in index.files.items():
            if path not in known:
                names.setdefault(name, path)
    missing = index is not None and any(path not in known for path in index.files.values())
    whole = bool(headers) and all(header.format not in ("pointer", "gguf") for header in headers)
    return Checkpoint(
        files=files,
        tensors=tensors,
        names=names,
        complete=whole and not broken and not missing and not (index is None and _lacks_shards(files)),
        index=index,
        maps=tuple(found for found in maps if found.path in files),
        beside=beside,
        headers=headers,
    )


def _lacks_shards(files: Sequence[str]) -> bool:
    """Whether files that are numbered "1 of 4" are not all there."""
    for path in files:
        found = _SHARD.search(path)
        if found is not None:
            count = int(found[2])
            numbers = {int(m[1]) for other in files if (m := _SHARD.search(other)) and int(m[2]) == count}
            if len(numbers) < count:
                return True
    return False
