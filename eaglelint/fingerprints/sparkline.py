"""Sizes of tokens as a small picture of block characters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

_BLOCKS = "▁▂▃▄▅▆▇█"
_PLAIN = "_.-=+*%#"


def sparkline(sizes: Sequence[float], width: int = 16, *, plain: bool = False) -> str:
    """One character for each size, the largest of a stretch where there are more than `width`.

    The scale is logarithmic where the largest is more than 30 times the smallest, as it is with massive activations.
    What is not finite is `!`, what is zero is a blank.
    """
    shown = _thinned(sizes, width)
    known = [size for size in shown if math.isfinite(size) and size > 0]
    if not shown:
        return ""
    least, most = min(known, default=1.0), max(known, default=1.0)
    if most > 30 * least:
        known_scale = [math.log(least), math.log(most)]
        places = [math.log(size) if math.isfinite(size) and size > 0 else size for size in shown]
    else:
        known_scale, places = [0.0, most], list(shown)
    blocks = _PLAIN if plain else _BLOCKS
    return "".join(_sign(size, place, known_scale, blocks) for size, place in zip(shown, places, strict=True))


def _sign(size: float, place: float, scale: Sequence[float], blocks: str) -> str:
    if not math.isfinite(size):
        return "!"
    if size <= 0:
        return " "
    low, high = scale
    part = (place - low) / (high - low) if high > low else 1.0
    return blocks[min(len(blocks) - 1, max(0, int(part * len(blocks))))]


def _thinned(sizes: Sequence[float], width: int) -> list[float]:
    if len(sizes) <= width:
        return list(sizes)
    edges = [round(place * len(sizes) / width) for place in range(width + 1)]
    return [_largest(sizes[begin:end]) for begin, end in pairwise(edges)]


def _largest(sizes: Sequence[float]) -> float:
    odd = next((size for size in sizes if not math.isfinite(size)), None)
    return odd if odd is not None else max(sizes)
