"""From what arrived for probe lists to a convention: the id rule by name, defaults, edges, order, tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from eaglelint.conventions import rules
from eaglelint.conventions.records import Edge, Order
from eaglelint.derivation.running import Seen

#: Rules in the order in which they are preferred where several explain everything.
_RULES = (
    "as_is", "plus_one", "plus_one_if_first_is_one", "as_is_if_max_is_n", "plus_one_end_as_is",
    "plus_one_minus_one_is_last",
)  # fmt: skip
#: Formulas of N that a default boundary is compared with, simplest first.
_HALVES = {0: "N // 2", 1: "N // 2 + 1", -1: "N // 2 - 1"}


class Verdict(NamedTuple):
    """The convention that explains what was seen; `rule` is "unknown" when no named rule does: `reason` says why."""

    rule: str
    default: tuple[str, ...] = ()
    zero: Edge = "unknown"
    end: Edge = "unknown"
    outside: Edge = "unknown"
    order: Order = "ascending"
    duplicates: str = "unknown"
    tensor: str = "stream"
    reason: str = ""


def probes(depth: int) -> tuple[tuple[int, ...] | None, ...]:
    """The id lists that tell the named rules and edges apart, for a target of N layers."""
    n = depth
    return (
        None, (1, n // 2 - 1, n - 4), (2, n // 2, n - 3), (0, 4, n - 4), (-1, 2, 4), (-2, 3), (3, n - 1), (3, n),
        (n - 4, 2, 4), (3, 3, 5),
    )  # fmt: skip


def judge(seen: Sequence[Seen]) -> Verdict:
    """The convention of a target class by what arrived for the probes, on several depths."""
    listed = [s for s in seen if s.ids is not None]
    if all(not s.states for s in seen):
        crash = seen[0].crash if seen and all(s.crash for s in seen) else ""
        why = f"every run ends with {crash}" if crash else "the forward pass returns no auxiliary states for any ids"
        return Verdict("nothing_captured", reason=why)
    default = _default([s for s in seen if s.ids is None])
    tensor = _tensor(seen)
    if _ignores(seen):
        return Verdict("ignored", default, tensor=tensor, duplicates="collapsed")
    fitting = [rule for rule in _RULES if all(_explains(rule, s) for s in listed)]
    if not fitting:
        odd = next((s for s in listed if not any(_explains(rule, s) for rule in _RULES)), listed[0])
        got = ", ".join(str(b) for b, _ in odd.states) or odd.crash or "nothing"
        return Verdict(
            "unknown",
            default,
            tensor=tensor,
            reason=f"no named rule gives {got} for {list(odd.ids or ())} at N = {odd.depth}",
        )
    rule = fitting[0]
    return Verdict(
        rule,
        default,
        _edge(rule, listed, lambda b, depth: b == 0),
        _edge(rule, listed, lambda b, depth: b == depth),
        _edge(rule, listed, lambda b, depth: b < 0),
        _order(rule, listed),
        _duplicates(listed),
        tensor,
    )


def _mapped(rule: str, seen: Seen) -> tuple[int, ...]:
    assert seen.ids is not None
    return rules.apply(rule, seen.ids, seen.depth) or ()


def _explains(rule: str, seen: Seen) -> bool:
    """Whether a rule, with some behaviour at the edges, gives what was seen."""
    wanted = _mapped(rule, seen)
    inner = {b for b in wanted if 0 < b < seen.depth}
    if seen.crash:
        return any(b not in inner for b in wanted) or len(set(wanted)) < len(wanted)
    got = {b for b, _ in seen.states}
    edges = {b for b in wanted if b in (0, seen.depth)}
    wrapped = {b + seen.depth for b in wanted if -seen.depth <= b < 0}
    return inner <= got and got - inner <= edges | wrapped


def _ignores(seen: Sequence[Seen]) -> bool:
    by_depth: dict[int, set[tuple[tuple[int, str], ...]]] = {}
    for s in seen:
        by_depth.setdefault(s.depth, set()).add(s.states)
    return all(len(states) == 1 for states in by_depth.values()) and not any(s.crash for s in seen)


def _edge(rule: str, seen: Sequence[Seen], meant: Callable[[int, int], bool]) -> Edge:
    verdicts: set[Edge] = set()
    for s in seen:
        wanted = _mapped(rule, s)
        concerned = [b for b in wanted if meant(b, s.depth)]
        others = [b for b in wanted if not 0 < b < s.depth and b not in concerned]
        if not concerned or (others and s.crash):
            continue
        got = {b for b, _ in s.states}
        if s.crash:
            verdicts.add("crash")
        elif concerned[0] in got:
            verdicts.add("captured")
        elif concerned[0] < 0 and concerned[0] + s.depth in got and concerned[0] + s.depth not in wanted:
            verdicts.add("wrong_layer")
        else:
            verdicts.add("dropped")
    return verdicts.pop() if len(verdicts) == 1 else "unknown"


def _order(rule: str, seen: Sequence[Seen]) -> Order:
    for s in seen:
        wanted = _mapped(rule, s)
        if list(wanted) != sorted(wanted) and len(s.states) == len(wanted) > 1:
            got = [b for b, _ in s.states]
            if got == list(wanted):
                return "as_listed"
    return "ascending"


def _duplicates(seen: Sequence[Seen]) -> str:
    for s in seen:
        assert s.ids is not None
        if len(set(s.ids)) < len(s.ids):
            if s.crash:
                return "rejected"
            return "collapsed" if len(s.states) == len(set(s.ids)) else "kept"
    return "unknown"


def _tensor(seen: Sequence[Seen]) -> str:
    parts = {part for s in seen for b, part in s.states if b > 0}
    if "branch" in parts:
        return "branch"
    if "residual" in parts:
        return "residual"
    if "mean" in parts:
        return "mean"
    if parts - {"stream"}:
        return "normed"
    return "stream"


def _default(seen: Sequence[Seen]) -> tuple[str, ...]:
    """Formulas of N for the default boundaries; () when none is captured or no simple formula fits all depths."""
    lists = {s.depth: [b for b, _ in s.states] for s in seen}
    if not lists or len({len(values) for values in lists.values()}) != 1:
        return ()
    found = []
    for place in range(len(next(iter(lists.values())))):
        values = {depth: boundaries[place] for depth, boundaries in lists.items()}
        formula = _formula(values)
        if not formula:
            return ()
        found.append(formula)
    return tuple(found)


def _formula(values: dict[int, int]) -> str:
    if len(set(values.values())) == 1:
        return str(next(iter(values.values())))
    gaps = {depth - value for depth, value in values.items()}
    if len(gaps) == 1:
        gap = gaps.pop()
        return f"N - {gap}" if gap else "N"
    halves = {value - depth // 2 for depth, value in values.items()}
    return _HALVES.get(halves.pop(), "") if len(halves) == 1 else ""
