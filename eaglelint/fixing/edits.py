"""Edits of one file: whether they can be made together, and the text and bytes that they give."""

from __future__ import annotations

import codecs
import io
import tokenize
from collections.abc import Iterable, Sequence

from eaglelint.errors import UnreadableSource
from eaglelint.findings import Edit
from eaglelint.project import Source


class Refused(Exception):
    """An edit that is not made: the message says why."""


def merged(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits in the order of the file, each once; raises Refused when two of them touch the same characters.

    Two insertions at one place are both made, in the order given.
    """
    kept: list[Edit] = []
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: (edit.start, edit.end)):
        if kept and edit.start < kept[-1].end:
            raise Refused("another fix changes the same place")
        kept.append(edit)
    return tuple(kept)


def applied(text: str, edits: Sequence[Edit]) -> str:
    """The text after edits that `merged` has put in order; raises Refused when another text stands there.

    Quotes around what is replaced stay.
    """
    parts: list[str] = []
    end = 0
    for edit in edits:
        if not 0 <= edit.start <= edit.end <= len(text):
            raise Refused("the place is not in the file")
        quote = _quote(text[edit.start : edit.end], edit.old)
        parts += (text[end : edit.start], quote, edit.text, quote)
        end = edit.end
    return "".join((*parts, text[end:]))


def _quote(there: str, old: str | None) -> str:
    """The quotes that a text has around what has to stand there; raises Refused when it is something else."""
    if old is None:
        return ""
    for quote in ("", '"', "'", '\\"'):
        if there == f"{quote}{old}{quote}":
            return quote
    raise Refused(f"another text stands there than {old}")


def encoded(source: Source, text: str) -> bytes:
    """The bytes of a file with another text: its encoding and byte order mark stay. Raises Refused."""
    data = source.data
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) and source.kind != "json" else b""
    encoding = "utf-8"
    if source.kind == "python":
        try:
            encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0].removesuffix("-sig")
        except SyntaxError as error:
            raise Refused(str(error)) from None
    try:
        if mark + source.text.text.encode(encoding) != data:
            raise Refused(f"its bytes can not be written again as they are ({encoding})")
        return mark + text.encode(encoding)
    except UnicodeError:
        raise Refused(f"the new text can not be written in {encoding}") from None
    except UnreadableSource as error:
        raise Refused(error.reason) from None
