"""Which files of a drafter's folder an engine loads, and which hold the maps between the vocabularies."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from eaglelint.errors import UnreadableError
from eaglelint.project import Source
from eaglelint.readers.checkpoint import is_index, read_index

#: The endings of weights, in the order in which SGLang and vLLM look: the first that some file has counts.
_ENDINGS = (".safetensors", ".bin", ".pt", ".pth", ".gguf")
#: What engines leave out: it comes from training, or is the same once more.
_NEVER = ("training_args.bin", "optimizer.bin", "optimizer.pt", "scheduler.pt", "scaler.pt", "consolidated.safetensors")
_NEVER_PATTERN = re.compile(r"(?:rng_state|optim|scheduler|trainer_state|random_states|scaler)\w*\.(?:bin|pt|pth|pkl)")
#: Files that are named after the maps, or that trainers keep them in.
_MAPS = re.compile(r"(?:^|[-_.])(?:d2t|t2d|vocab|eagle_meta|token_map|hot_token|freq)", re.IGNORECASE)
_MAP_ENDINGS = (".npy", ".npz", ".pt", ".pth", ".bin", ".safetensors")
#: The most files of one folder that are opened.
_MOST = 2000


class Chosen(NamedTuple):
    """The indexes and the files of tensors to be read."""

    indexes: tuple[Source, ...]
    files: tuple[Source, ...]


def choose(sources: Iterable[Source], folders: Collection[str]) -> Chosen:
    """The files that belong to the drafters in these folders, by folder in the order of their paths."""
    by_folder: dict[str, list[Source]] = {folder: [] for folder in folders}
    by_path: dict[str, Source] = {}
    for source in sources:
        if source.kind == "binary":
            by_path[source.path] = source
        elif source.kind != "json" or not is_index(source.path):
            continue
        folder = posixpath.dirname(source.path)
        if folder in by_folder:
            by_folder[folder].append(source)
    indexes: list[Source] = []
    files: dict[str, Source] = {}
    for own in by_folder.values():
        here = [source for source in own if source.kind == "json"]
        indexes += here
        binary = [source for source in own if source.kind == "binary"]
        named = [path for index in here for path in _files(index)]
        for source in (*weights(binary), *maps(binary), *(by_path[path] for path in named if path in by_path)):
            if len(files) < _MOST:
                files[source.path] = source
    return Chosen(tuple(indexes), tuple(files.values()))


def weights(sources: Sequence[Source]) -> list[Source]:
    """Those of a folder's files that an engine loads where there is no index."""
    for ending in _ENDINGS:
        found = [s for s in sources if s.path.endswith(ending) and _is_loaded(posixpath.basename(s.path))]
        found = [s for s in found if ending == ".safetensors" or not is_map(s.path)]
        if found:
            return found
    return []


def maps(sources: Sequence[Source]) -> list[Source]:
    """Those of a folder's files that hold maps between the vocabularies, by their names."""
    return [source for source in sources if is_map(source.path) and source.path.endswith(_MAP_ENDINGS)]


def is_map(path: str) -> bool:
    """Whether a file is named after a map between the vocabularies."""
    return _MAPS.search(posixpath.basename(path)) is not None


def _is_loaded(name: str) -> bool:
    return not name.endswith(_NEVER) and _NEVER_PATTERN.match(name) is None


def _files(index: Source) -> list[str]:
    try:
        return list(dict.fromkeys(read_index(index).files.values()))
    except UnreadableError:
        return []
