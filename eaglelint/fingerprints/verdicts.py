"""What a state is by its values: rows of the target's embedding or not, after the final norm or not.

A verdict is three-valued. Rows of the embedding differ from what was stored by rounding alone, so that a state is them
or is far from them; and nothing but the final norm makes every token of x / w have a root mean square of 1. What lies
between is "unknown", and so is what too few tokens were compared for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from operator import sub, truediv
from typing import Literal, NamedTuple

from eaglelint.fingerprints import decoding
from eaglelint.fingerprints.measures import dot, rms, spread
from eaglelint.fingerprints.reading import Values
from eaglelint.fingerprints.records import EmbeddingVerdict, NormVerdict
from eaglelint.fingerprints.slots import Slot
from eaglelint.fingerprints.target import TargetWeights

#: Tokens that are compared with rows of the embedding, and about how many features of each.
_ROWS = 12
_FEATURES = 1024
#: Ids at this distance from a token's own are compared too.
_WINDOW = (0, 1, -1)
#: The fewest tokens from which "after the norm" is told: one alone may have that size by chance.
_FEWEST = 3
#: How far from 1 the size of every token may be after the norm.
_CLOSE = 0.02
#: Which part of the tokens must have another size than most for a stream before the norm. Where all are of one size
#: that is near 1, they may have been through the norm of another checkpoint.
_VARYING = 0.25
#: What of a row must be left over for it to be no row of the embedding.
_FAR = 0.1


class _Fit(NamedTuple):
    """How well a row fits another: the factor, and what is left over (0: the same, 1: nothing in common)."""

    scale: float
    left: float


def rounding(dtype: str) -> float:
    """How far rounding to a type moves a number at most, as a part of it."""
    return float(2.0 ** -(decoding.MANTISSA.get(dtype, 2) + 1))


def embedding_verdict(values: Values, slot: Slot, target: TargetWeights, tokens: Sequence[int]) -> EmbeddingVerdict:
    """Whether a slot holds the rows of the target's embedding for these token ids. Raises Broken."""
    if not target.has_embedding or slot.width != target.hidden or not tokens:
        return EmbeddingVerdict()
    surplus = len(tokens) - slot.length
    shifts = sorted({base + step for base in (0, surplus) for step in _WINDOW}, key=abs)
    places = _distinct(slot.length, tokens)
    rows = {place: values.floats(slot.tensor, slot.row(place)) for place in places}
    step = max(1, slot.width // _FEATURES)
    rows = {place: row[::step] for place, row in rows.items() if all(map(math.isfinite, row)) and any(row)}
    close = 2 * max(rounding(slot.tensor.dtype), rounding(target.embedding_dtype)) + 0.004
    far = max(_FAR, 2.5 * close)
    best, compared, elsewhere = EmbeddingVerdict(), 0, True
    for shift in shifts:
        fits = list(_fits(rows, shift, target, tokens))
        if not fits:
            continue
        compared = max(compared, len(fits))
        elsewhere = elsewhere and sum(fit.left > far for fit in fits) >= 0.8 * len(fits)
        hits = sorted(fit for fit in fits if fit.left <= close)
        most = len(hits) >= max(1, 0.5 * len(fits)) and len(hits) > best.compared
        if most and hits[-1].scale <= 1.05 * hits[0].scale:
            best = EmbeddingVerdict("rows", hits[len(hits) // 2].scale, shift, len(hits))
    if best.is_ == "rows":
        return best
    return EmbeddingVerdict("other" if compared and elsewhere else "unknown", compared=compared)


def _distinct(count: int, tokens: Sequence[int]) -> list[int]:
    """Some places with different ids: where a model puts pictures, one id stands many times, and no row of its own."""
    first: dict[int, int] = {}
    for place, token in enumerate(tokens[:count]):
        first.setdefault(token, place)
    places = list(first.values()) or list(range(count))
    return [places[number] for number in spread(len(places), _ROWS)]


def _fits(
    rows: Mapping[int, Sequence[float]], shift: int, target: TargetWeights, tokens: Sequence[int]
) -> Iterator[_Fit]:
    """How well each row fits the embedding of the token that stands `shift` after its own."""
    for place, row in rows.items():
        own = target.row(tokens[place + shift]) if 0 <= place + shift < len(tokens) else None
        if own is not None and any(own):
            yield _fit(row, own[:: max(1, len(own) // _FEATURES)])


def _fit(row: Sequence[float], own: Sequence[float]) -> _Fit:
    size, power = dot(row, row), dot(own, own)
    if not size or not power:
        return _Fit(0.0, 1.0)
    scale = dot(row, own) / power
    return _Fit(scale, math.sqrt(max(0.0, 1.0 - scale * scale * power / size)) if scale > 0 else 1.0)


def norm_verdict(states: Sequence[Sequence[float]], dtype: str, target: TargetWeights) -> NormVerdict:
    """Whether states, stored as `dtype`, have been through the target's final norm."""
    weight, bias = target.norm(), target.norm_bias()
    if weight is None or not states or len(weight) != len(states[0]):
        return NormVerdict()
    rows = [list(row) for row in states if all(map(math.isfinite, row)) and any(row)]
    if bias is not None and len(bias) == len(weight):
        rows = [list(map(sub, row, bias)) for row in rows]
    found = [_by_weight(rows, [offset + one for one in weight], dtype) for offset in target.family.offsets]
    for verdict in ("after", "unknown"):
        hit = next((one for one in found if one.is_ == verdict), None)
        if hit is not None:
            return hit
    return found[0] if found else NormVerdict()


def _by_weight(rows: Sequence[Sequence[float]], weight: Sequence[float], dtype: str) -> NormVerdict:
    kept = [place for place, one in enumerate(weight) if abs(one) > 1e-4]
    if len(kept) < 0.98 * len(weight) or not rows:
        return NormVerdict()
    whole = len(kept) == len(weight)
    used = weight if whole else [weight[place] for place in kept]
    sizes = sorted(rms(list(map(truediv, row if whole else [row[place] for place in kept], used))) for row in rows)
    middle = sizes[len(sizes) // 2]
    close = max(_CLOSE, 2 * rounding(dtype))
    is_: Literal["after", "before", "unknown"] = "unknown"
    if all(abs(size - 1) <= close for size in sizes):
        is_ = "after" if len(sizes) >= _FEWEST else "unknown"
    elif sum(abs(size - middle) > 2 * close for size in sizes) >= _VARYING * len(sizes) or not 0.5 < middle < 2:
        is_ = "before"
    return NormVerdict(is_, sizes[0], middle, sizes[-1], len(sizes))
