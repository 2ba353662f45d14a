"""The closed set of id rules: how a list of layer ids becomes boundaries.

An id is what stands in a config or on a command line; a boundary is the residual stream after that many layers. The
convention files name one of these rules for each engine, release and target; nothing else turns ids into boundaries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: The boundary of an id that the engine maps to no place at all; it is never reachable.
NOWHERE = -(10**6)

Mapper = Callable[[Sequence[int], int], tuple[int, ...]]


def _plus_one(ids: Sequence[int], depth: int) -> tuple[int, ...]:
    return tuple(i + 1 for i in ids)


def _as_is(ids: Sequence[int], depth: int) -> tuple[int, ...]:
    return tuple(ids)


def _plus_one_if_first_is_one(ids: Sequence[int], depth: int) -> tuple[int, ...]:
    return _plus_one(ids, depth) if ids and ids[0] == 1 else tuple(ids)


def _as_is_if_max_is_n(ids: Sequence[int], depth: int) -> tuple[int, ...]:
    return tuple(ids) if ids and max(ids) == depth else _plus_one(ids, depth)


def _plus_one_end_as_is(ids: Sequence[int], depth: int) -> tuple[int, ...]:
    return tuple(i if i == depth else NOWHERE if i == depth - 1 else i + 1 for i in ids)


def _plus_one_minus_one_is_last(ids: Sequence[int], depth: int) -> tuple[int, ...]:
    return tuple(depth if i == -1 else i + 1 for i in ids)


#: Rule -> what it means in words, for messages and documentation.
MEANING: dict[str, str] = {
    "plus_one": "id i is the output of layer i: boundary i + 1",
    "as_is": "id i is the input of layer i: boundary i",
    "plus_one_if_first_is_one": "boundary i + 1 for every id when the first id is 1, boundary i for every id otherwise",
    "as_is_if_max_is_n": "boundary i for every id when the largest id is N, boundary i + 1 for every id otherwise",
    "plus_one_end_as_is": "boundary i + 1 up to id N - 2, id N is boundary N, and id N - 1 is captured nowhere",
    "plus_one_minus_one_is_last": "boundary i + 1, and id -1 is the last state after the final norm",
    "ignored": "ids in the drafter's config are not read; the default boundaries are captured",
    "nothing_captured": "ids are accepted and nothing is captured",
    "unknown": "not known",
}

_MAPPERS: dict[str, Mapper] = {
    "plus_one": _plus_one,
    "as_is": _as_is,
    "plus_one_if_first_is_one": _plus_one_if_first_is_one,
    "as_is_if_max_is_n": _as_is_if_max_is_n,
    "plus_one_end_as_is": _plus_one_end_as_is,
    "plus_one_minus_one_is_last": _plus_one_minus_one_is_last,
}

#: Rules whose result depends on the target's depth N.
NEED_DEPTH: frozenset[str] = frozenset({"as_is_if_max_is_n", "plus_one_end_as_is", "plus_one_minus_one_is_last"})

NAMES: tuple[str, ...] = tuple(MEANING)


def apply(rule: str, ids: Sequence[int], depth: int | None) -> tuple[int, ...] | None:
    """The boundaries that `rule` makes of `ids` for a target of `depth` decoder layers, in the order of the ids.

    None when the rule reads no ids or is not known, or when it needs the depth and that is not known (None or 0). No
    check of the range is made. Raises ValueError for a name outside the closed set.
    """
    if rule not in MEANING:
        raise ValueError(f"not an id rule: {rule!r}")
    mapper = _MAPPERS.get(rule)
    if mapper is None or (rule in NEED_DEPTH and not depth):
        return None
    return mapper(ids, depth or 0)


def invert(rule: str, boundaries: Sequence[int], depth: int | None) -> tuple[int, ...] | None:
    """Ids that `rule` maps to exactly these boundaries in this order, or None when there are none.

    Every candidate is verified by applying the rule. Where two id lists would do, the one that counts layer outputs
    (boundary - 1) is preferred: releases before a special case was introduced read it the same way.
    """
    shifted = tuple(b - 1 for b in boundaries)
    ends_as_is = tuple(b if depth and b == depth else b - 1 for b in boundaries)
    for candidate in (shifted, tuple(boundaries), ends_as_is):
        if apply(rule, candidate, depth) == tuple(boundaries):
            return candidate
    return None
