"""The weights of a target that tell what a state is: single rows of its embedding, and its final norm."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eaglelint.errors import UnreadableError
from eaglelint.fingerprints import decoding
from eaglelint.fingerprints.families import Family, family
from eaglelint.fingerprints.reading import Run, Values, strides_of
from eaglelint.location import Location
from eaglelint.project import Source
from eaglelint.readers.parts import Broken
from eaglelint.stored import TensorHeader

_ABOVE = r"(?:(?:model|language_model|transformer|backbone|llm|text_model|thinker|decoder|gpt_neox|base_model)\.)*"
_EMBEDDING = re.compile(
    rf"{_ABOVE}(?:embed_tokens|wte|word_embeddings|embeddings|tok_embeddings|embed_in|embedding|"
    r"embedding\.word_embeddings)\.weight|token_embd\.weight"
)
_NORM = re.compile(
    rf"{_ABOVE}(?:encoder\.)?(?:norm|ln_f|norm_f|final_layernorm|final_layer_norm|final_norm)\.(weight|bias)"
    r"|output_norm\.(weight|bias)"
)
_INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
_ENDINGS = (".safetensors", ".bin", ".pt", ".pth", ".gguf")
_NESTED = ("text_config", "llm_config", "language_config")
#: An entry of an index that may be one of the tensors that are looked for.
_ENTRY = re.compile(r'"([\w.]{0,120}(?:embed|norm|wte|ln_f)[\w.]{0,40}\.(?:weight|bias))"\s*:\s*"([^"\\]{1,200})"')
_LARGEST_INDEX = 32 << 20
#: The most files of a folder without an index that are opened, and the largest config in bytes.
_MOST_FILES = 256
_LARGEST_CONFIG = 4 << 20
_MOST_ROWS = 4096


class TargetWeights:
    """What is read of a target's checkpoint in the folder (or file) `path`. Use as a context; files stay open in it.

    `hidden`, `vocab` and `depth` are 0 when not known. `problem` says why its weights can not be read, "" otherwise.
    Raises nothing: what can not be had is None.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.problem = ""
        self.config = _config(path)
        inner = next((self.config[key] for key in _NESTED if isinstance(self.config.get(key), dict)), self.config)
        self.model_type = str(inner.get("model_type") or self.config.get("model_type") or "")
        self.hidden = _number(inner, "hidden_size", "n_embd", "d_model")
        self.vocab = _number(inner, "vocab_size")
        self.depth = _number(inner, "num_hidden_layers", "n_layer")
        self._files: dict[str, Values] = {}
        self._rows: dict[int, list[float] | None] = {}
        self._embedding, self._norm, self._bias = self._find()
        if self._embedding is not None:
            shape = self._embedding[1].shape
            self.hidden, self.vocab = self.hidden or shape[1], self.vocab or shape[0]
        self.family: Family = family(self.model_type, inner, self.hidden)
        if self._embedding is not None and self._embedding[0].header.format == "gguf":
            self.family = self.family._replace(offsets=(0,))  # its writer has added the 1

    def __enter__(self) -> TargetWeights:
        return self

    def __exit__(self, *way: object) -> None:
        for file in self._files.values():
            file.__exit__(None, None, None)

    @property
    def has_embedding(self) -> bool:
        """Whether rows of its embedding can be read."""
        return self._embedding is not None and self.family.rows

    @property
    def embedding_dtype(self) -> str:
        """The type that its embedding is stored in, "" without one."""
        return self._embedding[1].dtype if self._embedding is not None else ""

    @property
    def embedding_place(self) -> str:
        """The file and name of its embedding, "" without one."""
        return f"{self._embedding[0].path}: {self._embedding[1].name}" if self._embedding is not None else ""

    def row(self, token: int) -> list[float] | None:
        """The embedding of one token; None when there is none."""
        if self._embedding is None or not 0 <= token < self._embedding[1].shape[0]:
            return None
        if token not in self._rows:
            if len(self._rows) >= _MOST_ROWS:
                return None
            file, tensor = self._embedding
            strides = strides_of(tensor)
            try:
                self._rows[token] = file.floats(tensor, Run(token * strides[0], tensor.shape[1], strides[1]))
            except Broken:
                self._rows[token] = None
        return self._rows[token]

    def norm(self) -> list[float] | None:
        """The weight of the final norm; None when there is none."""
        return _vector(self._norm)

    def norm_bias(self) -> list[float] | None:
        """What the final norm adds; None for nothing."""
        return _vector(self._bias)

    # ---- finding ------------------------------------------------------------------------------------------------

    def _find(self) -> tuple[tuple[Values, TensorHeader] | None, ...]:
        found: dict[str, tuple[Values, TensorHeader]] = {}
        for file, names in self._candidates():
            values = self._open(file)
            if values is None:
                continue
            if values.header.format == "pointer":
                self.problem = self.problem or f"{file} is a Git LFS pointer"
            for name in names if names is not None else values.header.tensors:
                tensor = values.header.tensors.get(name)
                kind = _kind(name)
                if tensor is not None and kind and kind not in found and _fits(tensor, kind):
                    found[kind] = (values, tensor)
            if "embedding" in found and "weight" in found and names is None:
                break
        if not found and not self.problem:
            self.problem = "no embedding and no final norm among its weights"
        return found.get("embedding"), found.get("weight"), found.get("bias")

    def _candidates(self) -> Iterator[tuple[str, list[str] | None]]:
        """The files that may hold what is looked for, with the names in them (None: not known)."""
        place = Path(self.path)
        if place.is_file():
            yield self.path, None
            return
        index = next((place / name for name in _INDEXES if (place / name).is_file()), None)
        if index is not None:
            wanted: dict[str, list[str]] = {}
            for name, file in _indexed(index):
                wanted.setdefault(posixpath.join(self.path, file), []).append(name)
            yield from wanted.items()
            return
        try:
            names = sorted(entry.name for entry in place.iterdir() if entry.is_file())
        except OSError as error:
            self.problem = (error.strerror or str(error)).lower()
            return
        for ending in _ENDINGS:
            files_here = [name for name in names if name.endswith(ending)]
            if files_here:
                yield from ((posixpath.join(self.path, name), None) for name in files_here[:_MOST_FILES])
                return
        self.problem = "there are no weights in this folder"

    def _open(self, file: str) -> Values | None:
        if file not in self._files:
            try:
                self._files[file] = Values(Source(file, "binary", Path(file)))
            except UnreadableError as error:
                self.problem = str(error)
                return None
        return self._files[file]


def _indexed(index: Path) -> Iterator[tuple[str, str]]:
    """The tensors that are looked for in an index, and the files that hold them.

    It is searched, not parsed: an index of a hundred thousand tensors is ten megabytes of JSON.
    """
    try:
        with index.open("rb") as stream:
            text = stream.read(_LARGEST_INDEX).decode("utf-8", "replace")
    except OSError:
        return
    for found in _ENTRY.finditer(text):
        name, file = found.groups()
        if _kind(name) and not posixpath.isabs(file) and ".." not in file.split("/"):
            yield name, file


def _kind(name: str) -> str:
    """What a tensor of a target is: "embedding", "weight" or "bias" of the final norm, "" for anything else."""
    if _EMBEDDING.fullmatch(name):
        return "embedding"
    norm = _NORM.fullmatch(name)
    return (norm[1] or norm[2]) if norm else ""


def _fits(tensor: TensorHeader, kind: str) -> bool:
    return decoding.is_float(tensor.dtype) and len(tensor.shape) == (2 if kind == "embedding" else 1)


def _vector(found: tuple[Values, TensorHeader] | None) -> list[float] | None:
    if found is None or found[1].shape[0] > 1 << 17:
        return None
    try:
        return found[0].floats(found[1], Run(0, found[1].shape[0], strides_of(found[1])[0]))
    except Broken:
        return None


def _config(path: str) -> Mapping[str, Any]:
    """The config.json beside the weights; empty when it can not be read."""
    place = Path(path)
    try:
        with ((place if place.is_dir() else place.parent) / "config.json").open("rb") as stream:
            value = json.loads(stream.read(_LARGEST_CONFIG))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _number(config: Mapping[str, Any], *keys: str) -> int:
    for key in keys:
        value = config.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 31:
            return value
    return 0


def target_place(path: str) -> Location:
    """Where a target is pointed at: its folder or file."""
    return Location(path)
