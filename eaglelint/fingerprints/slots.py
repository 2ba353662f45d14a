"""Where the hidden states are in a file of tensors: which axis counts tokens, which slots, which features.

A slot is one state for every token. A tensor may hold several: stacked along an axis of their own, or side by side.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from eaglelint.fingerprints import decoding
from eaglelint.fingerprints.reading import Run, strides_of
from eaglelint.stored import CheckpointHeader, TensorHeader

#: The last part of the name of a tensor that holds the tokens of the prompt.
_TOKENS = ("input_ids", "token_ids", "prompt_token_ids", "tokens", "ids")
#: Lists beside stacked states that say which layers they are of.
_LAYER_IDS = ("layer_ids", "aux_layer_ids", "target_layer_ids", "aux_hidden_state_layer_ids", "capture_layer_ids")
#: Floats beside the states that are none.
_OTHER = re.compile(
    r"(?i)logit|prob|mask|position|pos_ids|top_?k|dist|label|attn|attention|router|expert|length|(?:^|[_.])(?:cos|sin|rope|pixel\w*|image\w*|loss|weights?|scales?|score\w*|"
    r"advantage\w*|reward\w*|d2t|t2d|keys?|values?|k_cache|v_cache|qkv)(?:$|[_.\d])"
)
_TELLING = re.compile(
    r"(?i)hidden|state|aux|layer|emb|low|mid|high|final|last|norm|(?:^|[_.])h[s_]?\d*(?:$|[_.])|target|verifier|teacher|"
    r"feat|boundary|slot|stream|residual|block|tap"
)
#: The largest width that a state is believed to have, in features, and the most states in one tensor.
_WIDEST = 1 << 17
_MOST_PARTS = 64
_MOST_SLOTS = 512
#: A 3-dimensional tensor has at most this many slots when nothing else tells its axes apart.
_FEW = 16


class Tokens(NamedTuple):
    """The tokens of a prompt: the tensor, how many prompts are beside each other, and how many tokens each has.

    `values` are the ids where they are kept as a list, () where they are a tensor.
    """

    tensor: TensorHeader
    prefix: str
    batch: int
    length: int
    values: tuple[int, ...] = ()


class Slot(NamedTuple):
    """One state for every token, within a stored tensor.

    `name` is the tensor's key, `shown` the same with the place of the slot in it (`hidden_states[0]`). `group` is what
    holds the slots that stand beside it, `place` its place there, `parts` how many there are (1, 0 for a key of its
    own). `length` counts tokens, `width` features; `start`, `step` and `stride` are elements of the tensor: the first,
    from token to token, from feature to feature. `columns` is True for states side by side in one row. `tokens` are
    those of its prompt, None when the file has none.
    """

    name: str
    shown: str
    group: str
    place: int
    parts: int
    tensor: TensorHeader
    length: int
    width: int
    start: int
    step: int
    stride: int
    columns: bool = False
    tokens: Tokens | None = None

    def row(self, token: int, width: int = 0) -> Run:
        """Where the features of a token stand."""
        return Run(self.start + token * self.step, width or self.width, self.stride)


class Contents(NamedTuple):
    """What a file holds: prompts, states, and the tensors that may be states but whose axes can not be told apart."""

    tokens: tuple[Tokens, ...]
    slots: tuple[Slot, ...]
    unclear: tuple[TensorHeader, ...] = ()


def contents(header: CheckpointHeader, hidden: int = 0) -> Contents:
    """The prompts and states of a file; `hidden` is the width of the target in features, 0 when not known."""
    listed = [_listed(name, ids) for name, ids in header.lists.items()]
    found_tokens = [*map(_tokens, header.tensors.values()), *listed]
    prompts = tuple(tokens for tokens in found_tokens if tokens is not None)
    slots: list[Slot] = []
    unclear: list[TensorHeader] = []
    for tensor in header.tensors.values():
        if not _may_be_state(tensor, hidden):
            continue
        prompt = _prompt(tensor.name, prompts)
        found = _slots(tensor, prompt, hidden)
        if found is None:
            unclear.append(tensor)
        else:
            slots += found
        if len(slots) >= _MOST_SLOTS:
            break
    return Contents(prompts, tuple(_grouped(slots[:_MOST_SLOTS])), tuple(unclear))


def _tokens(tensor: TensorHeader) -> Tokens | None:
    prefix, _, last = tensor.name.rpartition(".")
    sizes = [size for size in tensor.shape if size != 1] or [1]
    if last not in _TOKENS or not tensor.shape or len(sizes) > 2:
        return None
    if not decoding.is_whole(tensor.dtype) and not decoding.is_float(tensor.dtype):
        return None
    return Tokens(tensor, prefix, sizes[0] if len(sizes) == 2 else 1, sizes[-1])


def _listed(name: str, ids: tuple[int, ...]) -> Tokens | None:
    """Token ids that are kept as a list, or as a list of one list."""
    name = name.removesuffix(".0")
    prefix, _, last = name.rpartition(".")
    if last not in _TOKENS:
        return None
    return Tokens(TensorHeader(name, "int64", (len(ids),), -1, 8 * len(ids)), prefix, 1, len(ids), ids)


def _prompt(name: str, prompts: Sequence[Tokens]) -> Tokens | None:
    """The tokens that belong to a tensor: those beside it, or beside what holds it."""
    fitting = [p for p in prompts if not p.prefix or name.startswith(p.prefix + ".")]
    return max(fitting, key=lambda p: len(p.prefix), default=None)


def _may_be_state(tensor: TensorHeader, hidden: int) -> bool:
    if not decoding.is_float(tensor.dtype) or len(tensor.shape) < 2 or 0 in tensor.shape or _OTHER.search(tensor.name):
        return False
    width = tensor.shape[-1]
    if width > _WIDEST or width == 1:
        return False
    last = tensor.name.rpartition(".")[2]
    return not last or bool(_TELLING.search(tensor.name)) or (hidden > 0 and width % hidden == 0)


def _slots(tensor: TensorHeader, prompt: Tokens | None, hidden: int) -> list[Slot] | None:
    """The states that a tensor holds; None when its axes can not be told apart."""
    axes = [
        (size, stride) for size, stride in zip(tensor.shape[:-1], strides_of(tensor)[:-1], strict=True) if size != 1
    ]
    width, stride = tensor.shape[-1], strides_of(tensor)[-1]
    if len(axes) > 1 and prompt is not None and prompt.batch > 1 and axes[0][0] == prompt.batch:
        axes = axes[1:]  # the first prompt stands for all
    if len(axes) > 2:
        return None
    if len(axes) < 2:
        count, step = axes[0] if axes else (1, 0)
        base = Slot(tensor.name, tensor.name, "", 0, 0, tensor, count, width, 0, step, stride, tokens=prompt)
        return _columns(base, hidden)
    order = _token_axis((axes[0][0], axes[1][0]), prompt.length if prompt is not None else 0)
    if order is None:
        return None
    (count, step), (parts, far) = axes[order], axes[1 - order]
    if parts > _MOST_PARTS:
        return None
    return [
        Slot(
            tensor.name, f"{tensor.name}[{_place(part, order)}]", tensor.name, part, parts, tensor, count, width,
            part * far, step, stride, tokens=prompt,
        )
        for part in range(parts)
    ]  # fmt: skip


def _place(part: int, token_axis: int) -> str:
    return f":, {part}" if token_axis == 0 else f"{part}"


def _columns(base: Slot, hidden: int) -> list[Slot]:
    """The states that stand side by side in the rows of a tensor."""
    parts = base.width // hidden if hidden and base.width % hidden == 0 else 1
    if not 1 < parts <= _MOST_PARTS:
        return [base]
    return [
        base._replace(
            shown=f"{base.name}[..., {part * hidden}:{(part + 1) * hidden}]",
            group=base.name, place=part, parts=parts, width=hidden, start=part * hidden * base.stride, columns=True,
        )
        for part in range(parts)
    ]  # fmt: skip


def _token_axis(sizes: tuple[int, int], tokens: int) -> int | None:
    """Which of two axes counts tokens; the other counts slots. None when both might."""
    for slack in (0, 1):
        near = [tokens > 0 and abs(size - tokens) <= slack for size in sizes]
        if near[0] != near[1]:
            return 0 if near[0] else 1
        if all(near):
            return None
    small, large = sorted(sizes)
    if small == large or small > _FEW:
        return None
    return sizes.index(large)


def _grouped(slots: Sequence[Slot]) -> list[Slot]:
    """The same slots, of which the entries of one list (`hidden_states.0`, `hidden_states.1`) know each other."""
    lists: dict[str, list[int]] = {}
    for number, slot in enumerate(slots):
        above, _, last = slot.name.rpartition(".")
        if last.isdigit() and not slot.parts:
            lists.setdefault(above, []).append(number)
    known: dict[int, Slot] = {}
    for above, numbers in lists.items():
        places = sorted(int(slots[number].name.rpartition(".")[2]) for number in numbers)
        if places != list(range(len(places))):
            continue  # no list but a dict by the numbers of layers
        for number in numbers:
            slot = slots[number]
            index = int(slot.name.rpartition(".")[2])
            known[number] = slot._replace(
                shown=f"{above}[{index}]", group=above or "[]", place=index, parts=len(numbers)
            )
    return [known.get(number, slot) for number, slot in enumerate(slots)]


def key_of(slot: Slot) -> str:
    """The last part of a slot's key that is a name; "" for one that is known by its place alone."""
    if slot.parts:
        return ""
    above, _, last = slot.name.rpartition(".")
    return f"{above.rpartition('.')[2] or 'layer'}_{last}" if last.isdigit() else last


def layer_ids(header: CheckpointHeader, slot: Slot) -> tuple[int, ...]:
    """The ids of layers that stand beside the slots of a tensor or list, one for each of them; () for none."""
    for name, ids in header.lists.items():
        if (
            name.rpartition(".")[2] in _LAYER_IDS
            and slot.parts in (len(ids), len(ids) + 1)
            and len(set(ids)) == len(ids)
        ):
            return ids
    return ()
