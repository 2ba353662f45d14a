"""Which state is which other by value: through casts, a factor of rounding, and other shapes around the same rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from eaglelint.fingerprints.measures import spread
from eaglelint.fingerprints.reading import Values
from eaglelint.fingerprints.slots import Slot
from eaglelint.fingerprints.verdicts import rounding

#: Half of the smallest step of types whose small numbers are few: how far a cast moves what is nearly zero.
_STEPS = {
    "float16": 2.0**-25, "float8_e4m3fn": 2.0**-10, "float8_e4m3fnuz": 2.0**-11,
    "float8_e5m2": 2.0**-17, "float8_e5m2fnuz": 2.0**-18,
}  # fmt: skip
#: Tokens and features of each that a probe looks at.
_TOKENS, _FEATURES = 6, 32


def probe(values: Values, slot: Slot) -> tuple[float, ...]:
    """Some values of some tokens, the same places for every slot of that many tokens and features. Raises Broken."""
    features = spread(slot.width, _FEATURES)
    found: list[float] = []
    for token in spread(slot.length, _TOKENS):
        row = values.floats(slot.tensor, slot.row(token))
        found += [row[feature] for feature in features]
    return tuple(found)


def same(one: Sequence[float], other: Sequence[float], dtypes: tuple[str, str]) -> bool:
    """Whether two probes hold the same values up to a cast to the coarser of their types.

    Probes that are all zero or hold no number are the same as nothing: they say nothing about which state it is.
    """
    if len(one) != len(other) or not any(value for value in one if math.isfinite(value)):
        return False
    coarser = max(dtypes, key=rounding)
    most, least = (rounding(coarser) * 1.01, _STEPS.get(coarser, 0.0)) if dtypes[0] != dtypes[1] else (0.0, 0.0)
    return all(_equal(a, b, most, least) for a, b in zip(one, other, strict=True))


def _equal(a: float, b: float, most: float, least: float) -> bool:
    if a == b or (a != a and b != b):
        return True
    if not (math.isfinite(a) and math.isfinite(b)):
        return most > 0  # what does not fit into the narrower type
    return abs(a - b) <= max(most * max(abs(a), abs(b)), least)
