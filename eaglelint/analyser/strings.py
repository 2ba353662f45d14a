"""Strings of the domain: values as text, text put together, the places of its characters; texts being patched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial

from eaglelint.analyser.file_values import FileText, PathV
from eaglelint.analyser.values import HOLE, ListV, SetV, SourceStr, Unknown, V, note_of, with_note
from eaglelint.location import MappedText
from eaglelint.location import join as join_texts

#: Characters of a text that is put together; longer ones are not known.
_MAX_TEXT = 1_000_000
#: Values that are written into one text, and how deep lists may lie in lists there.
_MAX_PARTS = 20_000
_MAX_DEPTH = 50
_WIDE = re.compile(r"\d{5}")


def percent(left: str, right: V) -> V:
    """left % right; a HOLE when a part is not known."""
    values = right if isinstance(right, tuple) else (right,)
    if HOLE not in left and "*" not in left and not is_wide(left) and all(map(_is_plain, values)):
        try:
            return left % values
        except (TypeError, ValueError):
            return HOLE
    return HOLE


def _is_plain(value: V) -> bool:
    return isinstance(value, int | float | str)


def is_wide(template: str) -> bool:
    """Whether a template or a format specification may ask for more characters than a person would."""
    return _WIDE.search(template) is not None


def as_text(value: V) -> str:
    """A value as it would stand in an f-string, with a HOLE where it is not known or too much."""
    return _written(value, [_MAX_PARTS], 0)


def _written(value: V, left: list[int], depth: int) -> str:
    """`as_text` of a part; `left` counts the values that may still be written: lists that share parts multiply."""
    left[0] -= 1
    if left[0] < 0 or depth > _MAX_DEPTH:
        return HOLE

    def inside(values: Iterable[V], quoted: Callable[[str], str]) -> str:
        return ", ".join(quoted(v) if isinstance(v, str) else _written(v, left, depth + 1) for v in values)

    if isinstance(value, str):
        return value
    if isinstance(value, PathV):
        return value.text
    if isinstance(value, bool | int | float) or value is None:
        return str(value)
    if isinstance(value, tuple):
        inner = inside(value, repr)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, ListV) and not value.open:
        return f"[{inside(value.items, _quoted)}]"
    if isinstance(value, SetV) and not value.open and value.items:
        return f"{{{inside(value.items, _quoted)}}}"
    return HOLE


def _quoted(text: str) -> str:
    return repr(str(text))


def concatenate(parts: list[str]) -> str:
    """Strings put together; keeps the places of their characters when one of them knows them."""
    if sum(map(len, parts)) > _MAX_TEXT:
        return HOLE
    text = "".join(parts)
    note = note_of(*parts)
    sources = [part for part in parts if isinstance(part, SourceStr)]
    if not sources:
        if note:
            marked = with_note(text, note)
            return marked if isinstance(marked, str) else text
        return text
    made = literal_str(text, partial(_pieces, list(parts)))
    made.note = note
    return made


def _pieces(parts: list[str]) -> MappedText:
    """The mapped text of strings put together; plain ones stand where the one before them ends."""
    lines = next(part.mapped for part in parts if isinstance(part, SourceStr))
    last = lines[0:0]
    pieces: list[MappedText] = []
    for part in parts:
        if isinstance(part, SourceStr):
            last = part.mapped
            pieces.append(last)
        elif part:
            at = last.origin[-1]
            pieces.append(MappedText(str(part), [at] * (len(part) + 1), last.file_at(len(last))))
    return join_texts(pieces)


def literal_str(text: str, places: Callable[[], MappedText]) -> SourceStr:
    """A str whose places are worked out when they are asked for."""
    made = SourceStr(text)
    made._mapped = places
    return made


def source_str(mapped: MappedText, note: str = "") -> SourceStr:
    """A str that knows the place of each of its characters."""
    made = SourceStr(mapped.text)
    made._mapped = mapped
    made.note = note
    return made


def patched_sum(left: V, right: V) -> V:
    """text + text where one of them is the text of a file that is being patched."""
    for value, other, kind in ((left, right, "append"), (right, left, "prepend")):
        if not isinstance(value, FileText):
            continue
        if isinstance(other, FileText):
            more = tuple(edit for edit in other.edits if not any(edit is known for known in value.edits))
            return _edited(value, (*value.edits, *more))
        last = value.edits[-1] if value.edits else None
        if last is not None and last[0] == kind == "append" and isinstance(other, str) and isinstance(last[2], str):
            return _edited(value, (*value.edits[:-1], (kind, "", concatenate([last[2], other]))))
        return _edited(value, (*value.edits, (kind, "", other)))
    return Unknown("text")


def _edited(text: FileText, edits: tuple[tuple[str, V, V], ...]) -> FileText:
    """The same file with these edits; its own text is no longer known."""
    return FileText(text.path, edits, None, text.note)
