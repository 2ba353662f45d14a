"""What can be measured of a state: its size token by token, numbers that are none, and whether it is all zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul

from eaglelint.fingerprints import decoding
from eaglelint.fingerprints.reading import Run, Values
from eaglelint.fingerprints.records import Scan
from eaglelint.fingerprints.slots import Slot

#: Bytes that are scanned in one piece.
_PIECE = 4 << 20
#: Into how many stretches such a piece is parted where not all of a slot is scanned, and the most places that are read.
_STRETCHES = 8
_MOST_APART = 2048
#: Tokens of a slot whose rows are read in full.
_MEASURED = 48
#: For each type: at which byte of an element its exponent stands (low bytes first), and which values of that byte may
#: belong to a number that is not finite.
_SUSPECT = {
    "bfloat16": (1, (0x7F, 0xFF)),
    "float32": (3, (0x7F, 0xFF)),
    "float64": (7, (0x7F, 0xFF)),
    "float16": (1, (0x7C, 0x7D, 0x7E, 0x7F, 0xFC, 0xFD, 0xFE, 0xFF)),
    "float8_e4m3fn": (0, (0x7F, 0xFF)),
    "float8_e4m3fnuz": (0, (0x80,)),
    "float8_e5m2": (0, (0x7C, 0x7D, 0x7E, 0x7F, 0xFC, 0xFD, 0xFE, 0xFF)),
    "float8_e5m2fnuz": (0, (0x80,)),
}


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """The sum of products."""
    return math.fsum(map(mul, one, other)) if len(one) < 64 else sum(map(mul, one, other))


def rms(row: Sequence[float]) -> float:
    """The root mean square of some numbers; NaN or infinity when one of them is not finite."""
    return math.sqrt(dot(row, row) / len(row)) if row else 0.0


def spread(count: int, most: int) -> list[int]:
    """At most `most` of `count` places, evenly spread, with the first and the last."""
    if count <= most:
        return list(range(count))
    if most < 2:
        return [0] if count and most else []
    return sorted({round(place * (count - 1) / (most - 1)) for place in range(most)})


def rows(values: Values, slot: Slot) -> tuple[list[int], list[list[float]]]:
    """The tokens by which a slot is measured, all where they are few, and their rows. Raises Broken."""
    tokens = spread(slot.length, _MEASURED)
    return tokens, [values.floats(slot.tensor, slot.row(token)) for token in tokens]


def scan(values: Values, slot: Slot, budget: int) -> Scan:
    """Look for numbers that are not finite in as many rows as `budget` bytes hold. Raises Broken."""
    width = decoding.width_of(slot.tensor.dtype)
    most = max(1, budget // (slot.width * width))
    place, suspects = _SUSPECT[slot.tensor.dtype]
    place = width - 1 - place if slot.tensor.swapped else place
    harmless = bytes(byte for byte in range(256) if byte not in suspects)
    infinite = nan = 0
    first, zero, rows = -1, True, 0
    for token, count in _blocks(slot, most, max(1, _PIECE // (slot.width * width))):
        data = values.raw(slot.tensor, _block(slot, token, count))
        rows += count
        zero = zero and not data.translate(None, b"\0\x80")
        if not data[place::width].translate(None, harmless):
            continue
        for row in range(count):
            piece = data[row * slot.width * width : (row + 1) * slot.width * width]
            numbers = decoding.floats(piece, slot.tensor.dtype, slot.tensor.swapped)
            odd = [number for number in numbers if not math.isfinite(number)]
            if odd:
                nan += sum(number != number for number in odd)
                infinite += sum(number == number for number in odd)
                first = token + row if first < 0 else first
    return Scan(rows, infinite, nan, first, zero and rows > 0)


def _blocks(slot: Slot, most: int, piece: int) -> list[tuple[int, int]]:
    """Stretches of tokens to look at, (first, how many): all when they are few, else some evenly spread."""
    if slot.stride != 1 or slot.step != slot.width:
        return [(token, 1) for token in spread(slot.length, min(most, _MOST_APART))]
    if slot.length <= most:
        return [(token, min(piece, slot.length - token)) for token in range(0, slot.length, piece)]
    size = max(1, min(most, piece) // _STRETCHES)
    return [(token, size) for token in spread(slot.length - size + 1, min(_MOST_APART, max(1, most // size)))]


def _block(slot: Slot, token: int, count: int) -> Run:
    return slot.row(token) if count == 1 else Run(slot.start + token * slot.step, slot.width * count)
