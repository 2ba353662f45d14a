"""Parts of large files: bounded reads at given places, and the types of numbers that tensors are made of."""

from __future__ import annotations

import os
from typing import BinaryIO

#: Bits of one element, by torch's name of the type.
BITS = {
    "bool": 8, "uint8": 8, "int8": 8, "uint16": 16, "int16": 16, "uint32": 32, "int32": 32, "uint64": 64, "int64": 64,
    "float16": 16, "bfloat16": 16, "float32": 32, "float64": 64, "complex64": 64, "complex128": 128,
    "float8_e4m3fn": 8, "float8_e4m3fnuz": 8, "float8_e5m2": 8, "float8_e5m2fnuz": 8, "float8_e8m0fnu": 8,
    "float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6,
}  # fmt: skip
#: The largest number of elements or bytes that is believed of a tensor.
_MOST = 1 << 62


class Broken(Exception):
    """A file is not what its beginning says it is, as after "can not be read:"."""


class Parts:
    """A file of which only small parts are read. `size` is that of the whole, in bytes."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.size = stream.seek(0, os.SEEK_END)

    def at(self, start: int, length: int) -> bytes:
        """The `length` bytes from `start` on; raises Broken when the file has fewer."""
        if start < 0 or length < 0 or start + length > self.size:
            raise Broken("it ends in the middle")
        return self.head(start, length)

    def head(self, start: int, most: int) -> bytes:
        """At most `most` bytes from `start` on; fewer at the end of the file."""
        try:
            self._stream.seek(start)
            return self._stream.read(max(0, min(most, self.size - start)))
        except (OSError, ValueError, OverflowError) as error:
            raise Broken(str(error) or type(error).__name__) from None


def elements(shape: tuple[int, ...]) -> int:
    """How many elements a tensor has; raises Broken for a shape that no tensor has."""
    count = 1
    for size in shape:
        if size < 0:
            raise Broken(f"a tensor of the shape {list(shape)}")
        count *= size
        if count > _MOST:
            raise Broken("a tensor larger than any memory")
    return count


def needed(dtype: str, shape: tuple[int, ...]) -> int | None:
    """How many bytes a tensor takes when its elements follow each other; None for a type that is not known."""
    bits = BITS.get(dtype)
    return None if bits is None else (elements(shape) * bits + 7) // 8
