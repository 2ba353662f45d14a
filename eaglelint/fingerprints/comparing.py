"""Which state of one set of files is which of another, by value.

Seen through: casts, batch dimensions and other shapes around the same rows, a shift by one token, a slice of the
tokens, and states side by side in one row. Rows are compared in full, at a few places: none is like another by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import sub

from eaglelint.fingerprints import slots
from eaglelint.fingerprints.matching import same
from eaglelint.fingerprints.measures import dot, spread
from eaglelint.fingerprints.reading import Run, Values
from eaglelint.fingerprints.slots import Slot
from eaglelint.readers.parts import Broken

#: Tokens of which a state's beginning is kept to find where another begins, and features of each.
_KEPT, _FEATURES = 4096, 8
#: Tokens that are compared in full.
_ROWS = 8
#: What of a row may be left over for two states to be near each other, as numbers of two engines are.
_NEAR = 0.05


@dataclass(frozen=True)
class Match:
    """A state and its like: `shift` tokens of the other come before its first, `tokens` are common.

    `kind` is "same" (up to a cast) or "near"; `difference` is the largest between two numbers, `rows` how many tokens
    were compared.
    """

    path: str
    key: str
    other_path: str
    other_key: str
    kind: str
    shift: int
    tokens: int
    difference: float
    rows: int


@dataclass(frozen=True)
class Compared:
    """All matches, and the states of each side that have none."""

    matches: tuple[Match, ...]
    left: tuple[tuple[str, str], ...]
    right: tuple[tuple[str, str], ...]


class _State:
    """A state with what is kept of it for comparing."""

    def __init__(self, values: Values, slot: Slot) -> None:
        self.values = values
        self.slot = slot
        self._starts: dict[int, tuple[float, ...]] = {}
        self._rows: dict[int, list[float]] = {}

    @property
    def name(self) -> tuple[str, str]:
        return self.values.path, self.slot.shown or "(array)"

    def start(self, token: int) -> tuple[float, ...]:
        """The first features of a token."""
        if token not in self._starts:
            at = self.slot.start + token * self.slot.step
            run = Run(at, min(_FEATURES, self.slot.width), self.slot.stride)
            self._starts[token] = tuple(self.values.floats(self.slot.tensor, run))
        return self._starts[token]

    def row(self, token: int) -> list[float]:
        """All features of a token."""
        if token not in self._rows:
            if len(self._rows) > 4 * _ROWS:
                self._rows.clear()
            self._rows[token] = self.values.floats(self.slot.tensor, self.slot.row(token))
        return self._rows[token]


def compare(one: Sequence[Values], other: Sequence[Values], hidden: int = 0) -> Compared:
    """Hold every state of some files against every state of others."""
    width = hidden or _narrowest([*one, *other])
    left, right = list(_states(one, width)), list(_states(other, width))
    matches: list[Match] = []
    for mine in left:
        found = [match for theirs in right if (match := _match(mine, theirs)) is not None]
        exact = [match for match in found if match.kind == "same"]
        matches += exact or sorted(found, key=lambda match: match.difference)[:1]
    used = {(match.path, match.key) for match in matches}
    used_other = {(match.other_path, match.other_key) for match in matches}
    return Compared(
        tuple(matches),
        tuple(state.name for state in left if state.name not in used),
        tuple(state.name for state in right if state.name not in used_other),
    )


def _narrowest(files: Sequence[Values]) -> int:
    """The width of which all others are multiples, 0 when there is none: that of one state."""
    widths = {slot.width for values in files for slot in slots.contents(values.header).slots}
    least = min(widths, default=0)
    return least if least > 1 and all(width % least == 0 for width in widths) else 0


def _states(files: Sequence[Values], hidden: int) -> Iterator[_State]:
    for values in files:
        for slot in slots.contents(values.header, hidden).slots:
            yield _State(values, slot)


def _match(mine: _State, theirs: _State) -> Match | None:
    if mine.slot.width != theirs.slot.width:
        return None
    try:
        for shift in _shifts(mine, theirs):
            found = _at(mine, theirs, shift)
            if found is not None:
                return found
    except Broken:
        return None
    return None


def _shifts(mine: _State, theirs: _State) -> Iterator[int]:
    """Where the other state's tokens may lie: its token `t + shift` is this one's token `t`. The likeliest first."""
    surplus = theirs.slot.length - mine.slot.length
    first = list(dict.fromkeys((0, surplus, 1, -1, surplus + 1, surplus - 1)))
    yield from first
    low, high = min(0, surplus), max(0, surplus)
    dtypes = (mine.slot.tensor.dtype, theirs.slot.tensor.dtype)
    for shift in range(max(low, -_KEPT), min(high, _KEPT) + 1):
        if shift in first:
            continue
        place = max(0, -shift)
        if same(mine.start(place), theirs.start(place + shift), dtypes):
            yield shift


def _at(mine: _State, theirs: _State, shift: int) -> Match | None:
    """The match of two states at a shift; None when they are not alike there."""
    begin, end = max(0, -shift), min(mine.slot.length, theirs.slot.length - shift)
    if end - begin < max(1, 0.5 * min(mine.slot.length, theirs.slot.length)):
        return None
    dtypes = (mine.slot.tensor.dtype, theirs.slot.tensor.dtype)
    exact, most, rows = True, 0.0, 0
    for place in spread(end - begin, _ROWS):
        a, b = mine.row(begin + place), theirs.row(begin + place + shift)
        exact = exact and same(a, b, dtypes)
        difference = list(map(sub, a, b))
        size = dot(a, a) + dot(b, b)
        if not exact and (not math.isfinite(size) or not size or dot(difference, difference) > _NEAR**2 * size / 2):
            return None
        most = max([most, *(abs(one) for one in difference if math.isfinite(one))])
        rows += 1
    kind = "same" if exact else "near"
    return Match(*mine.name, *theirs.name, kind, shift, end - begin, most, rows)
