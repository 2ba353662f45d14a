"""The metadata and the list of tensors of a GGUF file. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md"""

from __future__ import annotations

import struct
from typing import Any

from eaglelint.readers.parts import Broken, Parts, elements
from eaglelint.stored import CheckpointHeader, TensorHeader

_MOST_STEPS = 1_200_000
_MOST_TENSORS = 50_000
_MOST_ENTRIES = 20_000
_LONGEST_NAME = 512
#: How many entries of an array are kept; lists of layer ids are short, lists of tokens are not wanted.
_KEPT = 64
_CHUNK = 1 << 20
_NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_TEXT, _ARRAY = 8, 9
#: Types that are no packed blocks; of the others only the name of the block is given.
_TYPES = {
    0: ("float32", 4), 1: ("float16", 2), 24: ("int8", 1), 25: ("int16", 2), 26: ("int32", 4), 27: ("int64", 8),
    28: ("float64", 8), 30: ("bfloat16", 2),
}  # fmt: skip


def read_gguf(path: str, parts: Parts) -> CheckpointHeader:
    """Metadata (as text, long arrays by their length) and tensors of a GGUF file. Raises Broken for anything else."""
    reader = _Reader(parts)
    if reader.take(4) != b"GGUF":
        raise Broken("no GGUF file")
    version = reader.number("<I")
    if version not in (2, 3):
        raise Broken(f"GGUF of version {version}, which is not known")
    tensor_count, entry_count = reader.number("<Q"), reader.number("<Q")
    if tensor_count > _MOST_TENSORS or entry_count > _MOST_ENTRIES:
        raise Broken(f"{tensor_count} tensors and {entry_count} entries of metadata are more than any model has")
    metadata: dict[str, str] = {}
    for _ in range(entry_count):
        key = reader.text()
        metadata[key] = _shown(reader.value(reader.number("<I")))
    infos = [_info(reader) for _ in range(tensor_count)]
    step = int(metadata["general.alignment"]) if metadata.get("general.alignment", "").isdigit() else 32
    base = -(-reader.at // max(1, step)) * max(1, step)
    tensors = {}
    for name, shape, kind, offset in infos:
        dtype, width = _TYPES.get(kind, (f"ggml_{kind}", 0))
        tensors[name] = TensorHeader(name, dtype, shape, base + offset, elements(shape) * width)
    return CheckpointHeader(path, "gguf", tensors, metadata)


def _info(reader: _Reader) -> tuple[str, tuple[int, ...], int, int]:
    """Name, shape (rows first), type and place of a tensor."""
    name, count = reader.text(), reader.number("<I")
    if count > 8:
        raise Broken(f"a tensor of {count} dimensions")
    shape = tuple(reader.number("<Q") for _ in range(count))
    return name, shape[::-1], reader.number("<I"), reader.number("<Q")


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        items, count = value
        return str(items) if len(items) == count else f"{count} entries"
    return str(value)


class _Reader:
    """Reads a file from its beginning, a chunk at a time."""

    def __init__(self, parts: Parts) -> None:
        self.at = 0
        self._parts = parts
        self._chunk = b""
        self._start = 0
        self._steps = 0

    def take(self, length: int) -> bytes:
        """The next bytes."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise Broken("metadata of more entries than any model has")
        begin = self.at - self._start
        if begin < 0 or begin + length > len(self._chunk):
            self._start, self._chunk = self.at, self._parts.head(self.at, max(_CHUNK, length))
            begin = 0
            if length > len(self._chunk):
                raise Broken("it ends in the middle of its metadata")
        self.at += length
        return self._chunk[begin : begin + length]

    def number(self, form: str) -> Any:
        """The next number."""
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def text(self) -> str:
        """The next text."""
        length = self.number("<Q")
        if length > _LONGEST_NAME:
            raise Broken(f"a name of {length} bytes")
        return self.take(length).decode("utf-8", "replace")

    def value(self, kind: int, depth: int = 0) -> Any:
        """The next value of a type; arrays as their first entries and their length, long texts by their beginning."""
        if kind in _NUMBERS:
            return self.number(_NUMBERS[kind])
        if kind == _TEXT:
            return self._long_text()
        if kind != _ARRAY or depth > 3:
            raise Broken(f"a value of type {kind}, which is not known")
        inner, count = self.number("<I"), self.number("<Q")
        width = struct.calcsize(_NUMBERS[inner]) if inner in _NUMBERS else 0
        kept: list[Any] = []
        if width and count > _KEPT:
            self.skip(count * width)
        elif inner == _TEXT:
            for _ in range(count):
                self.skip(self.number("<Q"))
        else:
            kept = [self.value(inner, depth + 1) for _ in range(min(count, _KEPT))]
            for _ in range(max(0, count - _KEPT)):
                self.value(inner, depth + 1)
        return kept, count

    def skip(self, length: int) -> None:
        """Pass over bytes that are not wanted."""
        self._steps += 1
        self.at += length
        if self.at > self._parts.size:
            raise Broken("it ends in the middle of its metadata")

    def _long_text(self) -> str:
        length: int = self.number("<Q")
        text = self.take(min(length, 1024)).decode("utf-8", "replace")
        self.skip(max(0, length - 1024))
        return text
