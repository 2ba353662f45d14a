"""JSON with positions. `json` decides what is valid and what it means, as it does for the engines that load a config.

So NaN is a number, and comments, trailing commas and a byte order mark are errors. Places come from a reader of our own
that runs over text which is known to be valid.
"""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from eaglelint.errors import DocumentError
from eaglelint.facts import Document
from eaglelint.location import MappedText
from eaglelint.readers.places import MOST_VALUES, Span, Spans, constant_text, placed_document, pointer_part, refuse_many

#: Values that stand deeper than this have no place; no config of a model is nested like that.
_DEEPEST = 100
#: Every key that is forgotten costs a look at all places.
_MOST_FORGOTTEN = 100
_TOKEN = re.compile(r'(")|([{}\[\],:])|([^\s{}\[\],:"]+)')
_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)


def read_json(text: MappedText) -> Document:
    """The JSON document that a text is; raises DocumentError with the place of what is wrong."""
    repeated = False

    def pairs(entries: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        mapping = dict(entries)
        repeated = repeated or len(mapping) != len(entries)
        return mapping

    if text.text.count(",") + text.text.count("[") + text.text.count("{") > MOST_VALUES:
        refuse_many(text, _size(text.text), "JSON")
    try:
        value = json.loads(text.text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        reason = "it starts with a byte order mark, which JSON readers refuse" if "BOM" in error.msg else error.msg
        raise DocumentError(text.location(error.pos, error.pos + 1), f"not JSON: {_lower(reason)}") from None
    except RecursionError:
        raise DocumentError(text.location(0, 0), "JSON that is nested too deeply") from None
    except ValueError as error:  # an integer of thousands of digits
        raise DocumentError(text.location(0, 0), f"JSON that can not be read: {_lower(str(error))}") from None
    return placed_document(value, text, _scan, _decode, duplicates=repeated)


def string_text(text: MappedText, start: int, end: int) -> MappedText:
    """The content of the JSON string that stands at `start` to `end` (quotes included), with its places."""
    content: list[str] = []
    origin: list[int] = []
    place = start + 1
    for escape in _ESCAPE.finditer(text.text, start + 1, end - 1):
        content.append(text.text[place : escape.start()])
        origin.extend(text.origin[place : escape.start()])
        content.append(json.loads(f'"{escape[0]}"'))
        origin.append(text.origin[escape.start()])
        place = escape.end()
    content.append(text.text[place : end - 1])
    origin.extend(text.origin[place:end])
    return MappedText("".join(content), origin, text.lines)


def _decode(text: MappedText, span: Span, content: str) -> MappedText:
    decoded = string_text(text, *span)
    return decoded if decoded.text == content else constant_text(content, text, span)


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


class _Open:
    """An object or array whose end was not met yet; `key` is the key or index of the entry that is being read."""

    def __init__(self, pointer: str, start: int, is_object: bool) -> None:
        self.pointer = pointer
        self.start = start
        self.is_object = is_object
        self.key = "" if is_object else "0"
        self.wants_key = is_object

    def child(self) -> str:
        return f"{self.pointer}/{self.key}"


def _size(text: str) -> int:
    """About how many values a text has that may be JSON: its commas and opening brackets outside of strings."""
    count = start = 0
    while True:
        quote = text.find('"', start)
        end = quote if quote >= 0 else len(text)
        count += text.count(",", start, end) + text.count("[", start, end) + text.count("{", start, end)
        if quote < 0 or count > MOST_VALUES:
            return count
        try:
            _, start = scanstring(text, quote + 1)
        except ValueError:
            return count


def _scan(text: str) -> Spans:
    """The spans of valid JSON. Of several keys with one name the last counts, and the places are its places."""
    values: dict[str, Span] = {}
    keys: dict[str, Span] = {}
    duplicates: list[Span] = []
    stack: list[_Open] = []
    end = 0
    while token := _TOKEN.search(text, end):
        start, end = token.span()
        quote, mark, _ = token.groups()
        string, end = scanstring(text, end) if quote else (None, end)
        top = stack[-1] if stack else None
        deep = len(stack) > _DEEPEST
        if top is not None and top.wants_key and string is not None:
            top.key = pointer_part(string)
            top.wants_key = False
            if deep:
                continue
            pointer = top.child()
            if pointer in keys:
                duplicates.append(keys[pointer])
                if len(duplicates) <= _MOST_FORGOTTEN:
                    _forget(pointer, values, keys)
            keys[pointer] = (start, end)
        elif mark in ("{", "["):
            stack.append(_Open(top.child() if top and not deep else "", start, mark == "{"))
        elif mark in ("}", "]"):
            ended = stack.pop()
            if len(stack) <= _DEEPEST:
                values[ended.pointer] = (ended.start, end)
        elif mark == "," and top is not None:
            top.wants_key = top.is_object
            if not top.is_object:
                top.key = str(int(top.key) + 1)
        elif mark != ":" and not deep:
            values[top.child() if top else ""] = (start, end)
    return Spans(values, keys, duplicates)


def _forget(pointer: str, values: dict[str, Span], keys: dict[str, Span]) -> None:
    """Take out an overridden entry and all that stood below it."""
    for places in (values, keys):
        for known in [p for p in places if p == pointer or p.startswith(pointer + "/")]:
            del places[known]
