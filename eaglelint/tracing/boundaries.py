"""Boundaries as a drawing shows them: numbers where N is known, formulas of N where it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eaglelint.boundary import SAMPLED_DEPTHS, State, evaluate
from eaglelint.conventions.rules import NOWHERE
from eaglelint.facts import ByDepth
from eaglelint.linking.training import entries_for
from eaglelint.tracing.records import Boundary


def boundary(values: Mapping[int, int], depth: int) -> Boundary:
    """A boundary that is `values[n]` for a target of n layers, drawn for `depth` (0: N is not known)."""
    by_depth = tuple(sorted(values.items()))
    if len(values) == 1 and not depth:
        depth = by_depth[0][0]
    if depth and depth in values:
        return Boundary(_number(values[depth]), values[depth], place(values[depth], depth), by_depth)
    if not values:
        return Boundary("unknown")
    constant = len(set(values.values())) == 1
    value = by_depth[0][1] if constant else None
    return Boundary(formula(values), value, place(value, 0) if value is not None else "", by_depth)


def formula(values: Mapping[int, int]) -> str:
    """What a boundary is for every N: `3`, `N - 3`, `N // 2 + 1`; an example where no such formula fits."""
    depths = sorted(values)
    if len(set(values.values())) == 1:
        return _number(values[depths[0]])
    for base in ("N", "N // 2", "N // 4"):
        offsets = {values[n] - evaluate(base, n) for n in depths}
        if len(offsets) == 1:
            offset = offsets.pop()
            return base if not offset else f"{base} {'+' if offset > 0 else '-'} {abs(offset)}"
    return f"{_number(values[depths[0]])} for N = {depths[0]}"


def place(value: int | None, depth: int) -> str:
    """Where in the target a boundary is; `depth` is N, 0 when not known."""
    if value is None or value == NOWHERE:
        return ""
    if value == 0:
        return "the embedding"
    if value < 0 or (depth and value > depth):
        return "outside the target"
    if value == depth:
        return "output of the last layer"
    return f"output of layer {value - 1}"


def states_by_depth(states: ByDepth, depth: int) -> dict[int, tuple[State, ...]]:
    """The states for a target of `depth` layers; for every depth that is possible when that is not known (0).

    Code in which N does not matter was run for the largest sampled depth alone: what it says holds for all of them.
    """
    entries = entries_for(states, depth)
    table = dict(entries)
    largest = max(SAMPLED_DEPTHS)
    if depth or len(table) != 1 or largest not in table:
        return table
    found = table[largest]
    inner = [state.boundary for state in found if state.boundary != largest]
    for n in SAMPLED_DEPTHS:
        if all(b <= n for b in inner):
            table[n] = tuple(s._replace(boundary=n) if s.boundary == largest else s for s in found)
    return table


def column(table: Mapping[int, Sequence[State]], index: int) -> dict[int, State]:
    """One column of states by depth."""
    return {n: listed[index] for n, listed in table.items() if index < len(listed)}


def _number(value: int) -> str:
    return "nowhere" if value == NOWHERE else str(value)
