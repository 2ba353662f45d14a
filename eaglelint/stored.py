"""What files of tensors say without their weights: names, types, shapes and where each value stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from eaglelint.location import Location


class TensorHeader(NamedTuple):
    """One tensor of a file, without its values.

    `dtype` is torch's name without its module ("bfloat16", "int64", "float8_e4m3fn"). `start` is the byte of the file
    at which its first element stands; where a zip `member` is compressed, the byte of that member once decompressed.
    `length` is how many bytes it needs. `strides` count elements, () for rows that follow each other; `swapped` is True
    for big-endian numbers.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    length: int
    strides: tuple[int, ...] = ()
    member: str = ""
    swapped: bool = False


@dataclass(frozen=True)
class CheckpointHeader:
    """What a file of tensors holds: `tensors` by name, in the order of the file.

    `format` is "safetensors", "torch", "numpy" or "gguf", or "pointer" for the stand-in that Git LFS leaves when the
    file itself was not fetched: then nothing is known of its tensors. `metadata` are its own notes as text; `calls` are
    the functions that unpickling it would call, beside those that put tensors together. `lists` are lists of whole
    numbers beside the tensors, by name: token ids are often kept so.
    """

    path: str
    format: str
    tensors: Mapping[str, TensorHeader]
    metadata: Mapping[str, str] = field(default_factory=dict)
    calls: tuple[str, ...] = ()
    lists: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def where(self) -> Location:
        """The file; there are no lines in it."""
        return Location(self.path)


@dataclass(frozen=True)
class CheckpointIndex:
    """The index of a sharded checkpoint: the path of the file that holds each tensor."""

    path: str
    files: Mapping[str, str]

    @property
    def where(self) -> Location:
        """The index file."""
        return Location(self.path)


@dataclass(frozen=True)
class VocabularyMap:
    """A map between the draft's vocabulary and the target's, with its numbers.

    `kind` is "d2t" (for each draft id what must be added to get the target id) or "t2d" (for each target id whether the
    draft has it). `name` is that of the tensor in the file. `values` are None when they could not be read.
    """

    path: str
    kind: str
    name: str
    length: int
    values: tuple[int, ...] | None

    @property
    def where(self) -> Location:
        """The file that holds it."""
        return Location(self.path)
