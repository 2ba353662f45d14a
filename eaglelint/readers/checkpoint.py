"""Files of tensors: what they hold by name, type and shape, and the numbers of the maps between vocabularies.

Headers are read, weights never, whatever the size of the file. Nothing is unpickled, and nothing is imported for it.
"""

from __future__ import annotations

import posixpath
import sys
from array import array
from collections.abc import Callable, Iterator

from eaglelint.errors import UnreadableError
from eaglelint.location import Location
from eaglelint.project import Source
from eaglelint.readers.json_parts import ObjectParts
from eaglelint.readers.parts import Broken, Parts, elements
from eaglelint.stored import CheckpointHeader, CheckpointIndex, TensorHeader, VocabularyMap

#: What Git LFS leaves of a file that was not fetched.
_POINTER = b"version https://git-lfs.github.com/spec/"
#: The largest index that is read, in bytes: one for 90,000 tensors has nine million.
_LARGEST_INDEX = 16 << 20
_MOST_NAMES = 200_000
_LARGEST_NOTES = 1 << 18
#: The largest map whose numbers are read, in entries.
_LARGEST_MAP = 1 << 20
_MAPS = {"d2t": "d2t", "t2d": "t2d", "draft_id_to_target_id": "d2t"}
#: Codes of `array` for the types of whole numbers.
_CODES = {"bool": "B", "uint8": "B", "int8": "b", "int16": "h", "int32": "i", "uint32": "I", "int64": "q"}


class BrokenCheckpoint(UnreadableError):
    """A file of tensors can not be read as what it is."""


def read_checkpoint(source: Source) -> Iterator[CheckpointHeader | VocabularyMap]:
    """The header of a file of tensors, then the maps between vocabularies in it. Raises UnreadableError."""
    from eaglelint.readers.zip_members import content, members

    with source.open() as stream:
        try:
            parts = Parts(stream)
            header = header_of(source.path, parts)
            yield header
            for tensor in header.tensors.values():
                kind = _kind(source.path, tensor)
                if kind:
                    packed = members(parts)[tensor.member] if tensor.member else None
                    data = content(parts, packed, _LARGEST_MAP * 8 + 4096) if packed is not None else None
                    count = elements(tensor.shape)
                    yield VocabularyMap(source.path, kind, tensor.name, count, _values(parts, tensor, count, data))
        except Broken as error:
            raise BrokenCheckpoint(Location(source.path), str(error)) from None


def header_of(path: str, parts: Parts) -> CheckpointHeader:
    """The header of an open file of tensors. Raises Broken."""
    return _reader(path, parts)(path, parts)


def is_index(path: str) -> bool:
    """Whether a file is named as the index of a sharded checkpoint."""
    return path.endswith((".safetensors.index.json", ".bin.index.json"))


def read_index(source: Source) -> CheckpointIndex:
    """The index of a sharded checkpoint. Raises UnreadableError."""
    with source.open() as stream:
        data = stream.read(_LARGEST_INDEX + 1)
    try:
        if len(data) > _LARGEST_INDEX:
            raise Broken(f"larger than the {_LARGEST_INDEX >> 20} MiB that are read")
        if data.startswith(_POINTER):
            return CheckpointIndex(source.path, {})
        text = data.decode("utf-8")
        index = ObjectParts(text)
        while (key := index.key()) != "weight_map":
            if key is None:
                raise Broken("an index without a weight_map")
            index.skip(_LARGEST_NOTES)
        return CheckpointIndex(source.path, _weight_map(ObjectParts(text, index.at), posixpath.dirname(source.path)))
    except UnicodeDecodeError:
        raise BrokenCheckpoint(Location(source.path), "not UTF-8") from None
    except Broken as error:
        raise BrokenCheckpoint(Location(source.path), str(error)) from None


def _weight_map(entries: ObjectParts, folder: str) -> dict[str, str]:
    found: dict[str, str] = {}
    paths: dict[str, str] = {}
    count = 0
    while (name := entries.key()) is not None:
        count += 1
        if count > _MOST_NAMES:
            raise Broken(f"more than {_MOST_NAMES} tensors")
        file = entries.string()
        if file not in paths:
            paths[file] = posixpath.normpath(posixpath.join(folder, file))
        found[name] = paths[file]
    return found


def _reader(path: str, parts: Parts) -> Callable[[str, Parts], CheckpointHeader]:
    """The reader for a file: by its first bytes where they tell, else by its name."""
    head = parts.head(0, 64)
    if head.startswith(_POINTER):
        return lambda path, parts: CheckpointHeader(path, "pointer", {})
    if not head:
        raise Broken("it is empty")
    ending = posixpath.splitext(path)[1].lower()
    if head.startswith(b"GGUF"):
        from eaglelint.readers.gguf import read_gguf

        return read_gguf
    if head.startswith(b"\x93NUMPY") or ending in (".npy", ".npz"):
        from eaglelint.readers.npy import read_npy, read_npz

        return read_npz if head.startswith(b"PK") else read_npy
    if ending == ".safetensors":
        from eaglelint.readers.safetensors import read_safetensors

        return read_safetensors
    from eaglelint.readers.torch_files import read_torch

    return read_torch


def _kind(path: str, tensor: TensorHeader) -> str:
    """Which map a tensor is, by its name (or that of its file for an array without one); "" for any other."""
    name = tensor.name.rpartition(".")[2] or posixpath.basename(path).partition(".")[0].lower()
    if name not in _MAPS and not tensor.name:
        name = next((key for key in ("d2t", "t2d") if key in name), "")
    flat = len([size for size in tensor.shape if size != 1]) <= 1 and bool(tensor.shape)
    return _MAPS.get(name, "") if flat and tensor.dtype in _CODES else ""


def _values(parts: Parts, tensor: TensorHeader, count: int, unpacked: bytes | None) -> tuple[int, ...] | None:
    """The numbers of a map; None when they are too many or do not stand in one piece."""
    if tensor.start < 0 or tensor.strides or count > _LARGEST_MAP or count == 0:
        return None
    numbers = array(_CODES[tensor.dtype])
    if numbers.itemsize * count != tensor.length:
        return None
    data = parts.at(tensor.start, tensor.length) if unpacked is None else unpacked[tensor.start :][: tensor.length]
    if len(data) != tensor.length:
        raise Broken("it ends in the middle of a map")
    numbers.frombytes(data)
    if tensor.swapped != (sys.byteorder == "big"):
        numbers.byteswap()
    return tuple(numbers)
