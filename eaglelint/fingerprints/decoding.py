"""Bytes to numbers: every type of number that states are stored in, exactly, by the standard library alone."""

from __future__ import annotations

import struct
import sys
from array import array
from functools import cache

from eaglelint.readers.parts import BITS, Broken

#: Types whose bytes `array` takes as they are.
_ARRAYS = {
    "float32": "f", "float64": "d", "uint8": "B", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "uint64": "Q", "bool": "B",
}  # fmt: skip
#: Small floats as (bits of the exponent, bits of the mantissa, bias, whether infinities exist).
_SMALL = {
    "float8_e4m3fn": (4, 3, 7, False),
    "float8_e4m3fnuz": (4, 3, 8, False),
    "float8_e5m2": (5, 2, 15, True),
    "float8_e5m2fnuz": (5, 2, 16, False),
}
#: Types of floats that states are stored in, with the bits of their mantissas.
MANTISSA = {
    "float64": 52, "float32": 23, "float16": 10, "bfloat16": 7,
    "float8_e4m3fn": 3, "float8_e4m3fnuz": 3, "float8_e5m2": 2, "float8_e5m2fnuz": 2,
}  # fmt: skip


def is_float(dtype: str) -> bool:
    """Whether states of this type can be read."""
    return dtype in MANTISSA


def is_whole(dtype: str) -> bool:
    """Whether a type holds whole numbers."""
    return dtype in _ARRAYS and not is_float(dtype)


def width_of(dtype: str) -> int:
    """Bytes of one element; raises Broken for a type whose elements share bytes or are not known."""
    bits = BITS.get(dtype)
    if bits is None or bits % 8:
        raise Broken(f"values of the type {dtype} are not read")
    return bits // 8


def floats(data: bytes, dtype: str, swapped: bool = False) -> list[float]:
    """The numbers that bytes hold; `swapped` for big-endian ones. Raises Broken for a type that is not read."""
    if dtype == "float16":
        return list(struct.unpack(f"{'>' if swapped else '<'}{len(data) // 2}e", data))
    if dtype == "bfloat16":
        high, low = (data[0::2], data[1::2]) if swapped else (data[1::2], data[0::2])
        wide = bytearray(2 * len(data))
        wide[2::4], wide[3::4] = low, high
        return _numbers(bytes(wide), "f", False).tolist()
    if dtype in _SMALL or dtype == "float8_e8m0fnu":
        table = _table(dtype)
        return [table[byte] for byte in data]
    return [float(number) for number in _whole_or_wide(data, dtype, swapped)]


def integers(data: bytes, dtype: str, swapped: bool = False) -> list[int]:
    """The whole numbers that bytes hold. Raises Broken for other types."""
    if not is_whole(dtype):
        raise Broken(f"{dtype} are no whole numbers")
    return [int(number) for number in _whole_or_wide(data, dtype, swapped)]


def _whole_or_wide(data: bytes, dtype: str, swapped: bool) -> array[float] | array[int]:
    if dtype not in _ARRAYS:
        raise Broken(f"values of the type {dtype} are not read")
    return _numbers(data, _ARRAYS[dtype], swapped)


def _numbers(data: bytes, code: str, swapped: bool) -> array[float]:
    numbers: array[float] = array(code)
    numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    if swapped != (sys.byteorder == "big"):
        numbers.byteswap()
    return numbers


@cache
def _table(dtype: str) -> tuple[float, ...]:
    """The 256 numbers of a float of one byte."""
    if dtype == "float8_e8m0fnu":
        return (*(2.0 ** (byte - 127) for byte in range(255)), float("nan"))
    return tuple(_small(byte, *_SMALL[dtype], dtype.endswith("uz")) for byte in range(256))


def _small(byte: int, bits: int, mantissa: int, bias: int, infinite: bool, unsigned_zero: bool) -> float:
    exponent = byte >> mantissa & (1 << bits) - 1
    fraction = byte & (1 << mantissa) - 1
    sign = -1.0 if byte & 0x80 else 1.0
    if unsigned_zero and byte == 0x80:
        return float("nan")
    if not unsigned_zero and exponent == (1 << bits) - 1:
        if infinite:
            return sign * float("inf") if fraction == 0 else float("nan")
        if fraction == (1 << mantissa) - 1:
            return float("nan")
    if exponent == 0:
        return float(sign * fraction * 2.0 ** (1 - bias - mantissa))
    return float(sign * (1 + fraction / (1 << mantissa)) * 2.0 ** (exponent - bias))
