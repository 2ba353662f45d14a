"""str methods, keeping the places of characters where the text is code inside code."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eaglelint import mapped
from eaglelint.analyser.strings import as_text, concatenate, is_wide, source_str
from eaglelint.analyser.values import HOLE, ListV, SourceStr, Unknown, V, note_of, with_note

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter

#: A field inside of a format specification: how wide it is follows from an argument.
_NESTED = re.compile(r":[^{}]*\{")
_PURE = frozenset(
    {
        "lower",
        "upper",
        "title",
        "capitalize",
        "casefold",
        "isdigit",
        "isalpha",
        "isnumeric",
        "startswith",
        "endswith",
        "find",
        "rfind",
        "count",
        "zfill",
        "ljust",
        "rjust",
        "center",
        "removeprefix",
        "removesuffix",
        "expandtabs",
        "partition",
        "rpartition",
        "index",
        "rindex",
        "isidentifier",
        "swapcase",
        "strip",
        "lstrip",
        "rstrip",
        "replace",
    }
)


def method(run: Interpreter, owner: str, name: str, site: CallSite) -> V:
    """A method of a str."""
    if name == "join":
        return _join(run, owner, site)
    if name == "format":
        return _format(owner, site)
    if name in ("split", "rsplit", "splitlines"):
        return _split(owner, name, site)
    if name == "encode":
        return owner.encode("utf-8", "replace")
    if isinstance(owner, SourceStr) and name in ("strip", "lstrip", "rstrip"):
        chars = site.get(0, "chars")
        function = {"strip": mapped.strip, "lstrip": mapped.lstrip, "rstrip": mapped.rstrip}[name]
        return source_str(function(owner.mapped, chars if isinstance(chars, str) else None), owner.note)
    if isinstance(owner, SourceStr) and name == "replace":
        old, new = site.get(0, "old"), site.get(1, "new")
        count = site.get(2, "count", -1)
        if isinstance(old, str) and isinstance(new, str) and isinstance(count, int) and HOLE not in old:
            given = new.mapped if isinstance(new, SourceStr) else str(new)
            try:
                return source_str(mapped.replace(owner.mapped, str(old), given, count), note_of(owner, new))
            except mapped.TooLongError:
                return Unknown(name)
    if HOLE in owner:
        return _with_holes(owner, name, site)
    if name in _PURE and all(isinstance(a, str | int) and not (isinstance(a, str) and HOLE in a) for a in site.args):
        if name in ("zfill", "ljust", "rjust", "center") and not (site.args and 0 <= int(site.args[0]) <= 500):
            return Unknown(name)
        if _grows(owner, name, site.args):
            return Unknown(name)
        try:
            result: Any = getattr(str(owner), name)(*[str(a) if isinstance(a, str) else int(a) for a in site.args])
        except (ValueError, TypeError):
            return Unknown(name)
        return with_note(result, note_of(owner, *site.args))
    if name in ("startswith", "endswith") and site.args and isinstance(site.args[0], tuple):
        return any(isinstance(a, str) and getattr(str(owner), name)(str(a)) for a in site.args[0])
    return Unknown(name)


def _grows(owner: str, name: str, args: Sequence[Any]) -> bool:
    """Whether a method may make much more text of a str than there was."""
    if name == "replace" and len(args) > 1 and isinstance(args[0], str) and isinstance(args[1], str):
        return owner.count(args[0]) * len(args[1]) > mapped.MAX_LENGTH
    return name == "expandtabs" and bool(args) and not (isinstance(args[0], int) and args[0] <= 500)


def _with_holes(owner: str, name: str, site: CallSite) -> V:
    if name in ("strip", "lstrip", "rstrip", "lower", "upper", "zfill", "replace", "removeprefix", "removesuffix"):
        return owner if name in ("strip", "lstrip", "rstrip") else HOLE
    return Unknown(name)


def _join(run: Interpreter, owner: str, site: CallSite) -> V:
    from eaglelint.analyser.calls import iterate

    found = iterate(run, site.get(0, "iterable"))
    if found is None or bool(getattr(site.args[0], "open", False)):
        return HOLE
    parts: list[str] = []
    for n, item in enumerate(found):
        if n and owner:
            parts.append(owner)
        parts.append(item if isinstance(item, str) else as_text(item))
    return concatenate(parts) if parts else ""


def _split(owner: str, name: str, site: CallSite) -> V:
    if HOLE in owner:
        return ListV([HOLE], True)
    if isinstance(owner, SourceStr) and name == "splitlines":
        keep = bool(site.get(0, "keepends", False))
        return ListV([source_str(line, owner.note) for line in mapped.splitlines(owner.mapped, keep)])
    if not all(isinstance(a, str | int) or a is None for a in [*site.args, *site.kwargs.values()]):
        return Unknown("split")
    try:
        kwargs = {k: v for k, v in site.kwargs.items() if k in ("sep", "maxsplit", "keepends")}
        parts = getattr(str(owner), name)(*site.args, **kwargs)
    except (ValueError, TypeError):
        return Unknown("split")
    note = note_of(owner)
    return ListV([with_note(part, note) for part in parts[:5000]], note=note)


def _format(owner: str, site: CallSite) -> V:
    """str.format with simple fields."""
    if isinstance(owner, SourceStr):
        values: dict[str, Any] = {str(n): _mapped(value) for n, value in enumerate(site.args)}
        values.update({name: _mapped(value) for name, value in site.kwargs.items()})
        made = mapped.format_fields(owner.mapped, values)
        return source_str(made, note_of(owner, *site.args, *site.kwargs.values())) if made is not None else HOLE
    if HOLE in owner or "{" not in owner:
        return owner
    if is_wide(owner) or _NESTED.search(owner):
        return HOLE
    try:
        return str(owner).format(
            *[as_text(a) if not isinstance(a, int | float) else a for a in site.args],
            **{k: as_text(v) if not isinstance(v, int | float) else v for k, v in site.kwargs.items()},
        )[:100_000]
    except Exception:
        return HOLE


def _mapped(value: V) -> Any:
    return value.mapped if isinstance(value, SourceStr) else as_text(value)


def dedent(run: Interpreter, site: CallSite) -> V:
    """textwrap.dedent"""
    text = site.get(0, "text")
    if isinstance(text, SourceStr):
        return source_str(mapped.dedent(text.mapped), text.note)
    return textwrap.dedent(text) if isinstance(text, str) and HOLE not in text else text


def indent(run: Interpreter, site: CallSite) -> V:
    """textwrap.indent"""
    text, prefix = site.get(0, "text"), site.get(1, "prefix", "")
    if isinstance(text, SourceStr) and isinstance(prefix, str) and HOLE not in prefix:
        return source_str(mapped.indent(text.mapped, str(prefix)), text.note)
    if isinstance(text, str) and isinstance(prefix, str) and HOLE not in text + prefix:
        return textwrap.indent(text, prefix)
    return text
