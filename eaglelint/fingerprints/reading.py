"""The values of stored tensors: the rows that are asked for, straight from where they stand in the file.

A tensor may be a view: its strides count elements and may be anything. Of a member that is compressed everything up to
the row has to be decompressed, so that only its first `MOST_UNPACKED` bytes can be had.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eaglelint.errors import UnreadableError
from eaglelint.fingerprints import decoding
from eaglelint.location import Location
from eaglelint.project import Source
from eaglelint.readers.checkpoint import header_of
from eaglelint.readers.parts import Broken, Parts
from eaglelint.readers.zip_members import Member, content, members
from eaglelint.stored import CheckpointHeader, TensorHeader

#: The most bytes that are decompressed of one member of an archive.
MOST_UNPACKED = 64 << 20
#: Elements that stand further apart than this are read one by one.
_FAR = 4096


class Run(NamedTuple):
    """Elements of a tensor that stand at even distances: the first, how many, and how far apart (in elements)."""

    start: int
    length: int
    stride: int = 1


class Values:
    """One file of tensors, open for reading. Raises UnreadableError when it is no such file."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self._stream = source.open()
        try:
            self._parts = Parts(self._stream)
            self.header: CheckpointHeader = header_of(source.path, self._parts)
        except Broken as error:
            self._stream.close()
            raise UnreadableError(Location(source.path), str(error)) from None
        self._members: dict[str, Member] | None = None
        self._unpacked: dict[str, bytes] = {}

    def __enter__(self) -> Values:
        return self

    def __exit__(self, *way: object) -> None:
        self._stream.close()

    @property
    def size(self) -> int:
        """Bytes of the whole file."""
        return self._parts.size

    def raw(self, tensor: TensorHeader, run: Run) -> bytes:
        """The bytes of some elements, following each other. Raises Broken when they can not be had."""
        width = decoding.width_of(tensor.dtype)
        if run.length <= 0:
            return b""
        if tensor.start < 0:
            raise Broken("its values are not in this file")
        if run.stride == 1:
            return self._bytes(tensor, run.start * width, run.length * width)
        if run.stride == 0:
            return self._bytes(tensor, run.start * width, width) * run.length
        if run.stride > _FAR:
            starts = range(run.start, run.start + run.length * run.stride, run.stride)
            return b"".join(self._bytes(tensor, start * width, width) for start in starts)
        data = self._bytes(tensor, run.start * width, ((run.length - 1) * run.stride + 1) * width)
        picked = bytearray(run.length * width)
        for byte in range(width):
            picked[byte::width] = data[byte :: run.stride * width]
        return bytes(picked)

    def floats(self, tensor: TensorHeader, run: Run) -> list[float]:
        """Some elements as floats. Raises Broken when they can not be had or are no numbers."""
        return decoding.floats(self.raw(tensor, run), tensor.dtype, tensor.swapped)

    def integers(self, tensor: TensorHeader, run: Run) -> list[int]:
        """Some elements as whole numbers. Raises Broken when they can not be had or are none."""
        return decoding.integers(self.raw(tensor, run), tensor.dtype, tensor.swapped)

    def _bytes(self, tensor: TensorHeader, start: int, length: int) -> bytes:
        if not tensor.member:
            return self._parts.at(tensor.start + start, length)
        data = self._member(tensor.member)
        begin = tensor.start + start
        if begin + length > len(data):
            raise Broken(f"only the first {len(data)} bytes of {tensor.member[:80]!r} are decompressed")
        return data[begin : begin + length]

    def _member(self, name: str) -> bytes:
        if name not in self._unpacked:
            if self._members is None:
                self._members = members(self._parts)
            if sum(map(len, self._unpacked.values())) > MOST_UNPACKED:
                self._unpacked.clear()
            self._unpacked[name] = content(self._parts, self._members[name], MOST_UNPACKED, whole=False)
        return self._unpacked[name]


def strides_of(tensor: TensorHeader) -> tuple[int, ...]:
    """How many elements lie between neighbours along each axis."""
    return tensor.strides or dense(tensor.shape)


def dense(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of rows that follow each other."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


def whole(tensor: TensorHeader) -> list[Run]:
    """All elements in their order as runs along the last axis."""
    strides = strides_of(tensor)
    if not tensor.shape:
        return [Run(0, 1)]
    starts = [0]
    for size, stride in zip(tensor.shape[:-1], strides[:-1], strict=True):
        starts = [start + place * stride for start in starts for place in range(size)]
    return [Run(start, tensor.shape[-1], strides[-1]) for start in starts]
