"""The flow of `eaglelint fingerprint`: open files, measure tensors, hold them against a target and other files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from eaglelint.errors import UnreadableError, UsageError
from eaglelint.fingerprints import comparing, decoding, measures, slots, verdicts
from eaglelint.fingerprints.comparing import Compared
from eaglelint.fingerprints.reading import Run, Values, strides_of
from eaglelint.fingerprints.records import EmbeddingVerdict, NormVerdict, Scan
from eaglelint.fingerprints.sampling import ids_of
from eaglelint.fingerprints.slots import Slot
from eaglelint.fingerprints.target import TargetWeights
from eaglelint.project import Source
from eaglelint.readers.parts import Broken
from eaglelint.stored import TensorHeader

#: Numbers that are shown of a tensor.
_FIRST = 4
#: Bytes that are scanned of all files for numbers that are not finite, and tensors that are shown of one.
_BUDGET = 64 << 20
_MOST_TENSORS = 400


@dataclass(frozen=True)
class SlotLook:
    """One state: `rms` are root mean squares of the `tokens` at those places, all tokens where they are few."""

    key: str
    shape: tuple[int, ...]
    dtype: str
    first: tuple[float, ...]
    tokens: tuple[int, ...] = ()
    rms: tuple[float, ...] = ()
    scan: Scan | None = None
    embedding: EmbeddingVerdict | None = None
    norm: NormVerdict | None = None
    problem: str = ""


@dataclass(frozen=True)
class FileLook:
    """One file. `problem` says why it can not be read, `left_out` counts tensors that are not shown."""

    path: str
    format: str
    tensors: tuple[SlotLook, ...]
    problem: str = ""
    left_out: int = 0


@dataclass(frozen=True)
class TargetLook:
    """The target that states are held against; `problem` says why its weights can not be read."""

    path: str
    model_type: str
    hidden: int
    embedding: str
    scale: float | None
    norm: str
    problem: str


@dataclass(frozen=True)
class Fingerprint:
    """What was found: the files, the target, and which state is which of the other files (None: none were named)."""

    files: tuple[FileLook, ...]
    target: TargetLook | None = None
    compared: Compared | None = None

    @property
    def status(self) -> int:
        """The exit status: 1 when a file or the target can not be read."""
        return int(any(file.problem for file in self.files) or bool(self.target and self.target.problem))


def fingerprint(files: Sequence[str], against: Sequence[str] = (), target: str | None = None) -> Fingerprint:
    """Look at the values of files. Raises UsageError for a path that does not exist."""
    every = _expanded(files)
    others = _expanded(against)
    if target is not None and not os.path.exists(target):
        raise UsageError(f"no such file or folder: {target}")
    with ExitStack() as stack:
        weights = stack.enter_context(TargetWeights(target)) if target is not None else None
        hidden = weights.hidden if weights is not None else 0
        looks: list[FileLook] = []
        opened: list[Values] = []
        budget = _BUDGET // max(1, len(every))
        for path in every:
            try:
                values = stack.enter_context(Values(Source(path, "binary", Path(path))))
                looks.append(_file(values, weights, budget))
                opened.append(values)
            except UnreadableError as error:
                looks.append(FileLook(path, "", (), error.reason))
        compared = None
        if others:
            beside = []
            for path in others:
                try:
                    beside.append(stack.enter_context(Values(Source(path, "binary", Path(path)))))
                except UnreadableError as error:
                    looks.append(FileLook(path, "", (), error.reason))
            compared = comparing.compare(opened, beside, hidden)
        return Fingerprint(tuple(looks), _target(weights) if weights is not None else None, compared)


def _expanded(paths: Sequence[str]) -> list[str]:
    """The files that are named, and those of tensors directly in folders that are."""
    found: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            names = sorted(name for name in os.listdir(path) if name.endswith(_ENDINGS))
            if not names:
                raise UsageError(f"no files of tensors in this folder: {path}")
            found += [os.path.join(path, name).replace(os.sep, "/") for name in names]
        elif os.path.isfile(path):
            found.append(path)
        else:
            raise UsageError(f"no such file or folder: {path}")
    return found


_ENDINGS = (".safetensors", ".pt", ".pth", ".ckpt", ".bin", ".npy", ".npz", ".pkl")


def _target(weights: TargetWeights) -> TargetLook:
    norm = weights.norm()
    kind = "norm(h) * (1 + w)" if weights.family.offsets == (1,) else "norm(h) * w"
    return TargetLook(
        weights.path, weights.model_type, weights.hidden, weights.embedding_place, weights.family.scale,
        "" if norm is None else kind, weights.problem,
    )  # fmt: skip


# ---- one file ------------------------------------------------------------------------------------------------------


def _file(values: Values, target: TargetWeights | None, budget: int) -> FileLook:
    header = values.header
    if header.format == "pointer":
        return FileLook(values.path, "pointer", (), "a Git LFS pointer: the file itself was not fetched")
    found = slots.contents(header, target.hidden if target is not None else 0)
    prompts = {one.prefix: ids_of(values, one) for one in found.tokens}
    by_name: dict[str, list[Slot]] = {}
    for slot in found.slots:
        by_name.setdefault(slot.name, []).append(slot)
    each = budget // max(1, len(header.tensors))
    looks = [
        SlotLook(one.tensor.name, (one.length,), "list of int", one.values[:_FIRST])
        for one in found.tokens
        if one.values
    ]
    for name, tensor in header.tensors.items():
        if len(looks) >= _MOST_TENSORS:
            break
        states = by_name.get(name, [])
        if not states:
            looks.append(_plain(values, tensor, each))
        for slot in states:
            own = prompts.get(slot.tokens.prefix, []) if slot.tokens is not None else []
            looks.append(_state(values, slot, target, own, each // len(states)))
    return FileLook(values.path, header.format, tuple(looks), left_out=max(0, len(header.tensors) - len(looks)))


def _plain(values: Values, tensor: TensorHeader, budget: int) -> SlotLook:
    """A tensor that holds no state, or one whose axes can not be told apart."""
    name = tensor.name or "(array)"
    try:
        strides = strides_of(tensor)
        run = Run(0, min(_FIRST, tensor.shape[-1]) if tensor.shape else 1, strides[-1] if strides else 1)
        if 0 in tensor.shape:
            return SlotLook(name, tensor.shape, tensor.dtype, ())
        if decoding.is_whole(tensor.dtype):
            return SlotLook(name, tensor.shape, tensor.dtype, tuple(values.integers(tensor, run)))
        first = tuple(values.floats(tensor, run))
        scan = measures.scan(values, _flat(tensor), budget) if not tensor.strides and tensor.shape else None
        return SlotLook(name, tensor.shape, tensor.dtype, first, scan=scan)
    except (Broken, KeyError) as error:
        return SlotLook(name, tensor.shape, tensor.dtype, (), problem=str(error))


def _flat(tensor: TensorHeader) -> Slot:
    """A tensor of any shape as rows of its last axis."""
    width = tensor.shape[-1]
    rows = 1
    for size in tensor.shape[:-1]:
        rows *= size
    return Slot(tensor.name, tensor.name, "", 0, 0, tensor, rows, min(width, 1 << 17), 0, width, 1)


def _state(values: Values, slot: Slot, target: TargetWeights | None, ids: Sequence[int], budget: int) -> SlotLook:
    shape = (slot.length, slot.width) if slot.parts else slot.tensor.shape
    name = slot.shown or "(array)"
    try:
        tokens, rows = measures.rows(values, slot)
        first, sizes = tuple(rows[0][:_FIRST]), [measures.rms(row) for row in rows]
        scan = measures.scan(values, slot, budget)
        embedding = verdicts.embedding_verdict(values, slot, target, ids) if target is not None else None
        norm = verdicts.norm_verdict(rows, slot.tensor.dtype, target) if target is not None else None
    except Broken as error:
        return SlotLook(name, shape, slot.tensor.dtype, (), problem=str(error))
    return SlotLook(name, shape, slot.tensor.dtype, first, tuple(tokens), tuple(sizes), scan, embedding, norm)
