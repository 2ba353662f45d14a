"""A fingerprint as text: one line a tensor, aligned, with the numbers that people paste into chats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eaglelint.fingerprints.comparing import Compared, Match
from eaglelint.fingerprints.looking import FileLook, Fingerprint, SlotLook, TargetLook
from eaglelint.fingerprints.sparkline import sparkline
from eaglelint.fingerprints.words import number, remarks, span
from eaglelint.report.excerpt import at_line_start, visible

_TITLES = ("tensor", "shape", "dtype", "rms by token", "", "first values", "")


def render(found: Fingerprint, *, plain: bool = False) -> str:
    """The whole fingerprint, ending in a line break; `plain` keeps to ASCII."""
    lines: list[str] = []
    if found.target is not None:
        lines += [*_target(found.target), ""]
    for file in found.files:
        lines += [*_file(file, plain), ""]
    if found.compared is not None:
        lines += _compared(found.compared)
    shown = [at_line_start(visible(line)) for line in lines]
    return "\n".join(shown).rstrip("\n") + "\n"


def _target(target: TargetLook) -> Iterator[str]:
    kind = f", {target.model_type}" if target.model_type else ""
    yield f"target {target.path}{kind}" + (f", {target.hidden} wide" if target.hidden else "")
    if target.problem:
        yield f"  {target.problem}"
    if target.embedding:
        scale = "" if target.scale == 1 else f", times {number(target.scale)}" if target.scale else ", scale not known"
        yield f"  embedding   {target.embedding}{scale}"
    if target.norm:
        yield f"  final norm  {target.norm}"


def _file(file: FileLook, plain: bool) -> Iterator[str]:
    yield file.path + (f" ({file.format})" if file.format else "")
    if file.problem:
        yield f"  can not be read: {file.problem}"
        return
    rows = [_TITLES, *(_cells(tensor, plain) for tensor in file.tensors)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_TITLES))]
    for row in rows:
        yield "  " + "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
    if file.left_out:
        yield f"  and {file.left_out} more"


def _cells(tensor: SlotLook, plain: bool) -> tuple[str, ...]:
    first = " ".join(number(value) for value in tensor.first)
    said = [*([tensor.problem] if tensor.problem else []), *remarks(tensor.scan, tensor.embedding, tensor.norm)]
    return (
        visible(tensor.key), str(list(tensor.shape)), tensor.dtype,
        sparkline(tensor.rms, plain=plain), span(tensor.rms), first,
        "; ".join(said),
    )  # fmt: skip


def _compared(compared: Compared) -> Iterator[str]:
    if not compared.matches:
        yield "no state of one set is one of the other"
    rows = [_match(match) for match in compared.matches]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    for row in rows:
        yield "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
    for title, names in (("only in the first", compared.left), ("only in the other", compared.right)):
        if names:
            yield f"{title}: {', '.join(_name(*name) for name in names)}"


def _match(match: Match) -> Sequence[str]:
    where = "" if not match.shift else f"its token {max(0, match.shift)} is token {max(0, -match.shift)} here"
    difference = "no difference" if match.difference == 0 else f"largest difference {number(match.difference)}"
    return (
        _name(match.path, match.key),
        f"{'=' if match.kind == 'same' else '~'} {_name(match.other_path, match.other_key)}",
        f"{match.tokens} token{'' if match.tokens == 1 else 's'}, {difference}",
        where,
    )


def _name(path: str, key: str) -> str:
    return f"{path}:{key}"
