"""Tensors that know which hidden state they hold, for running generated capture code without torch.

A stand-in tensor holds nothing but what is in it: the states of a target (see eaglelint.boundary) side by side, an
update that a sub-layer computed, or something else. Memory is shared by views and not by copies, so that a store
without a copy is seen to change when the stream is updated in place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

HIDDEN = 64


class Held(NamedTuple):
    """One hidden state: its boundary (a half after the first sub-layer of a layer), as eaglelint.boundary.State."""

    boundary: float
    normed: bool = False
    part: str = "stream"


class Update(NamedTuple):
    """What a sub-layer computed from boundary `boundary`, to be added to it: half a layer's work."""

    boundary: float


class Joined:
    """A concatenation along the feature dimension; `used` when it became part of a longer one."""

    def __init__(self, parts: tuple[Held, ...]) -> None:
        self.parts = parts
        self.used = False


#: Every concatenation of states that ran, in order.
JOINED: list[Joined] = []
#: States by the name of the file or key under which they were saved; a name that held several is "several".
NAMED: dict[str, Any] = {}


def name_saved(name: str, value: Any) -> None:
    """Remember under which name a state was saved."""
    if isinstance(value, Tensor) and len(value.held) == 1 and value.stack is None:
        held = value.held[0]
        NAMED[name] = held if NAMED.get(name, held) == held else "several"


class Tensor:
    """A tensor of `ndim` dimensions; `stack` is the dimension along which several states are stacked."""

    def __init__(self, content: Any = None, ndim: int = 3, cell: list[Any] | None = None) -> None:
        self.cell = [content] if cell is None else cell
        self.ndim = ndim
        self.stack: int | None = None
        self.joined: Joined | None = None
        self.dtype = "bfloat16"
        self.device = "cpu"

    # ---- what it holds -------------------------------------------------------------------------------------------

    @property
    def held(self) -> tuple[Held, ...]:
        """The states in it, in order."""
        content = self.cell[0]
        return content if isinstance(content, tuple) and not isinstance(content, Update) else ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes: batch, tokens, then the feature dimension."""
        sizes = [1, 7, HIDDEN * max(1, len(self.held))][-self.ndim :] if self.ndim <= 3 else [1, 7, 3, HIDDEN]
        return tuple(sizes)

    def size(self, dim: int | None = None) -> Any:
        """As torch has it."""
        return self.shape if dim is None else self.shape[dim]

    def like(self, content: Any, ndim: int | None = None) -> Tensor:
        """A tensor of the same form in memory of its own."""
        return Tensor(content, self.ndim if ndim is None else ndim)

    def view_of(self, ndim: int | None = None, stack: int | None = None) -> Tensor:
        """A view: the same memory in another form."""
        made = Tensor(None, self.ndim if ndim is None else ndim, self.cell)
        made.stack, made.joined = (self.stack if stack is None else stack), self.joined
        return made

    def copied(self) -> Tensor:
        """The same content in memory of its own."""
        made = self.view_of()
        made.cell = list(self.cell)
        return made

    # ---- torch's and numpy's methods -----------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name in ("detach", "contiguous", "requires_grad_", "pin_memory", "numpy"):
            return lambda *args, **kwargs: self.view_of()
        if name in ("clone", "cpu", "cuda", "to", "float", "half", "bfloat16", "copy", "astype", "type", "type_as"):
            return lambda *args, **kwargs: self.copied()
        raise AttributeError(name)

    @property
    def data(self) -> Tensor:
        """As torch has it."""
        return self.view_of()

    def squeeze(self, dim: int = 0) -> Tensor:
        """Takes the batch away."""
        return self.view_of(ndim=self.ndim - 1) if dim == 0 and self.stack is None else self.view_of()

    def unsqueeze(self, dim: int = 0) -> Tensor:
        """Adds a batch."""
        return self.view_of(ndim=self.ndim + 1) if dim == 0 else self.view_of()

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """Puts stacked states side by side when the stack is the dimension before the last."""
        start = start_dim % self.ndim
        if self.stack is not None:
            if start != self.stack or self.stack != self.ndim - 2:
                raise ValueError("flattened across the wrong dimensions")
            return join_features(self.held, self.ndim - 1)
        return self.view_of(ndim=max(1, start + 1))

    def reshape(self, *sizes: Any) -> Tensor:
        """As flatten for stacked states, a view otherwise."""
        sizes = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else sizes
        if self.stack is not None:
            return self.flatten(self.stack) if self.stack == self.ndim - 2 and len(sizes) == self.ndim - 1 else _bad()
        return self.view_of(ndim=len(sizes))

    view = reshape

    def transpose(self, first: int, second: int) -> Tensor:
        """Swaps two dimensions."""
        first, second = first % self.ndim, second % self.ndim
        moved = {first: second, second: first}
        return self.view_of(stack=moved.get(self.stack, self.stack) if self.stack is not None else None)

    def permute(self, *dims: int) -> Tensor:
        """Reorders dimensions."""
        return self.view_of(stack=[d % self.ndim for d in dims].index(self.stack) if self.stack is not None else None)

    def unbind(self, dim: int = 0) -> tuple[Tensor, ...]:
        """The stacked states one by one."""
        if self.stack != dim % self.ndim:
            _bad()
        return tuple(Tensor((held,), self.ndim - 1) for held in self.held)

    def chunk(self, number: int, dim: int = 0) -> tuple[Tensor, ...]:
        """Fused states one by one."""
        if dim not in (-1, self.ndim - 1) or number != len(self.held) or self.stack is not None:
            _bad()
        return tuple(Tensor((held,), self.ndim) for held in self.held)

    def add(self, other: Any) -> Tensor:
        """As the operator."""
        return self + other

    def add_(self, other: Any) -> Tensor:
        """In place."""
        self.cell[0] = (self + other).cell[0]
        return self

    def __add__(self, other: Any) -> Tensor:
        if not isinstance(other, Tensor):
            raise TypeError(f"a tensor and {type(other).__name__}")
        return self.like(_sum(self.cell[0], other.cell[0]))

    def __iadd__(self, other: Any) -> Tensor:
        return self.add_(other)

    def __mul__(self, other: Any) -> Tensor:
        return self.copied() if isinstance(other, int | float) else self.like(None)

    __rmul__ = __mul__

    def __len__(self) -> int:
        return len(self.held) if self.stack == 0 else self.shape[0]

    def __iter__(self) -> Any:
        if self.stack != 0:
            _bad()
        return iter(self.unbind(0))

    def __getitem__(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        if any(k is Ellipsis for k in keys):
            at = keys.index(Ellipsis)
            keys = (*keys[:at], *[slice(None)] * (self.ndim - len(keys) + 1), *keys[at + 1 :])
        if self.stack is None:
            return self.view_of(ndim=self.ndim - sum(isinstance(k, int) for k in keys))
        chosen = keys[self.stack] if self.stack < len(keys) else slice(None)
        before = sum(isinstance(k, int) for k in keys[: self.stack])
        lost = sum(isinstance(k, int) for k in keys)
        if isinstance(chosen, int):
            return Tensor((self.held[chosen],), self.ndim - lost)
        made = Tensor(self.held[chosen], self.ndim - lost)
        made.stack = self.stack - before
        return made


def _bad() -> Any:
    raise ValueError("a form that the stand-ins do not have")


def _sum(left: Any, right: Any) -> Any:
    """What adding two contents gives: a stream and an update, or a branch and its residual; else nothing known."""
    for one, two in ((left, right), (right, left)):
        if not isinstance(one, tuple) or isinstance(one, Update) or len(one) != 1:
            continue
        held = one[0]
        if isinstance(two, Update) and held == Held(two.boundary):
            return (Held(held.boundary + 0.5),)
        if (
            isinstance(two, tuple)
            and not isinstance(two, Update)
            and len(two) == 1
            and held.part == "branch"
            and two[0] == Held(held.boundary, part="residual")
        ):
            return (Held(held.boundary),)
    return None


def join_features(held: tuple[Held, ...], ndim: int, used: tuple[Joined | None, ...] = ()) -> Tensor:
    """States side by side along the feature dimension: remembered when they are several."""
    for earlier in used:
        if earlier is not None:
            earlier.used = True
    made = Tensor(tuple(held), ndim)
    if len(held) > 1:
        made.joined = Joined(tuple(held))
        JOINED.append(made.joined)
    return made


def cat(tensors: Any, dim: int = 0, axis: int | None = None) -> Tensor:
    """torch.cat: along the feature dimension states are joined, along another equal ones stay what they are."""
    pieces = list(tensors)
    dim = dim if axis is None else axis
    ndim = pieces[0].ndim
    if dim % ndim == ndim - 1:
        return join_features(
            tuple(h for piece in pieces for h in piece.held), ndim, tuple(piece.joined for piece in pieces)
        )
    contents = {piece.cell[0] for piece in pieces}
    return pieces[0].like(contents.pop() if len(contents) == 1 else None)


def stack(tensors: Any, dim: int = 0, axis: int | None = None) -> Tensor:
    """torch.stack: states along a dimension of their own."""
    pieces = list(tensors)
    made = Tensor(tuple(piece.held[0] for piece in pieces), pieces[0].ndim + 1)
    made.stack = (dim if axis is None else axis) % made.ndim
    return made
