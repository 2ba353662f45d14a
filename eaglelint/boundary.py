"""The unit of eaglelint: the boundary.

`boundary b` is the residual stream after b decoder layers of a target with N layers: 0 is the embedding output, k the
output of layer k-1 and input of layer k, N the output of the last layer before the final norm. Hugging Face
`hidden_states[b]` is boundary b for b < N; `hidden_states[N]` is normally the final norm's output, which is boundary N
with `normed=True`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

#: Depths N (decoder layers) for which a value that depends on N is compared when the target is not known.
SAMPLED_DEPTHS: tuple[int, ...] = (24, 28, 32, 36, 40, 48, 61, 64, 80, 94)


class State(NamedTuple):
    """A hidden state of the target: a boundary and what was done to it.

    `part` is "stream" for the complete residual stream, "branch" for what a fused-residual layer returned without its
    residual, "residual" for that residual alone. `dtype` is the type it was cast to, or "".
    """

    boundary: int
    normed: bool = False
    part: str = "stream"
    dtype: str = ""


class Layers(NamedTuple):
    """Boundaries (or ids) as a function of the target's depth N.

    `fixed` holds them when they are the same for every N; otherwise `table` maps each sampled depth N to its list.
    """

    fixed: tuple[int, ...] | None
    table: tuple[tuple[int, tuple[int, ...]], ...] = ()

    @classmethod
    def of(cls, values: Sequence[int]) -> Layers:
        """The same list for every depth."""
        return cls(tuple(values))

    @classmethod
    def by_depth(cls, table: Mapping[int, Sequence[int]]) -> Layers:
        """A list for each depth N; folded to a fixed list when all are equal and there are several."""
        lists = {tuple(v) for v in table.values()}
        if len(lists) == 1 and len(table) > 1:
            return cls(lists.pop())
        return cls(None, tuple(sorted((n, tuple(v)) for n, v in table.items())))

    def at(self, depth: int | None) -> tuple[int, ...] | None:
        """The list for a target of `depth` decoder layers; None when it is not known for that depth."""
        if self.fixed is not None:
            return self.fixed
        return next((values for n, values in self.table if n == depth), None)


def show(boundaries: Iterable[int]) -> str:
    """Boundaries as they stand in messages: `2, 16, 29`."""
    return ", ".join(str(b) for b in boundaries)


def show_ids(ids: Iterable[object]) -> str:
    """Layer ids as they stand in messages: `[1, 15, 28]`."""
    return "[" + ", ".join(str(i) for i in ids) + "]"


def describe(boundary: int, depth: int | None = None) -> str:
    """A boundary in words: "boundary 3 (output of layer 2, input of layer 3)"."""
    if boundary == 0:
        return "boundary 0 (the embedding output)"
    if depth is not None and boundary == depth:
        return f"boundary {boundary} (output of the last layer, before the final norm)"
    return f"boundary {boundary} (output of layer {boundary - 1}, input of layer {boundary})"


def difference(trained: Sequence[int], served: Sequence[int]) -> str:
    """How `served` boundaries differ from `trained` ones, in words.

    A uniform shift is named ("one layer early"); otherwise each differing slot is, with the embedding by its name.
    """
    if sorted(trained) == sorted(served):
        return "the same boundaries in another order" if list(trained) != list(served) else "the same boundaries"
    if len(trained) != len(served):
        missing = [b for b in trained if b not in served]
        extra = [b for b in served if b not in trained]
        words = [f"{len(served)} states instead of {len(trained)}"]
        if missing:
            words.append(f"without boundary {show(missing)}")
        if extra:
            words.append(f"with boundary {show(extra)} that the drafter never saw")
        return ", ".join(words)
    shifts = {s - t for t, s in zip(trained, served, strict=True)}
    if len(shifts) == 1:
        shift = shifts.pop()
        count = {1: "one layer", 2: "two layers", 3: "three layers"}.get(abs(shift), f"{abs(shift)} layers")
        return f"every state is {count} {'late' if shift > 0 else 'early'}"
    words = [
        f"{'the embedding' if s == 0 else f'boundary {s}'} instead of {'the embedding' if t == 0 else f'boundary {t}'}"
        for t, s in zip(trained, served, strict=True)
        if s != t
    ]
    return ", ".join(words)


def evaluate(formula: str, depth: int) -> int:
    """The value of a formula of N such as `N // 2` for a target of `depth` layers.

    Formulas come from eaglelint's own tables; anything but integers, N, + - * // and parentheses raises ValueError.
    """
    if not re.fullmatch(r"[0-9N()+\-*/\s]*", formula) or "**" in formula or re.search(r"(?<!/)/(?!/)", formula):
        raise ValueError(f"not a formula of N: {formula!r}")
    tokens = re.findall(r"\d+|//|[N()+\-*]", formula)
    position = 0

    def peek() -> str:
        return tokens[position] if position < len(tokens) else ""

    def take() -> str:
        nonlocal position
        position += 1
        return tokens[position - 1] if position <= len(tokens) else ""

    def atom() -> int:
        token = take()
        if token == "(":
            value = total()
            if take() != ")":
                raise ValueError(f"not a formula of N: {formula!r}")
            return value
        if token == "-":
            return -atom()
        if token == "N":
            return depth
        if token.isdigit():
            return int(token)
        raise ValueError(f"not a formula of N: {formula!r}")

    def product() -> int:
        value = atom()
        while peek() in ("*", "//"):
            if take() == "*":
                value *= atom()
            else:
                value //= atom()
        return value

    def total() -> int:
        value = product()
        while peek() in ("+", "-"):
            value = value + product() if take() == "+" else value - product()
        return value

    result = total()
    if position != len(tokens):
        raise ValueError(f"not a formula of N: {formula!r}")
    return result
