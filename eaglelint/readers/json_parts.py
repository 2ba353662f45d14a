"""JSON objects taken apart entry by entry, so that a large or hostile one never becomes a tree in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from eaglelint.readers.parts import Broken

_SPACE = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r'["{}\[\],]|[^"{}\[\],]+')


def skip_space(text: str, at: int) -> int:
    """Where the next character that is no white space stands."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def entries(text: str, at: int = 0) -> Iterator[tuple[str, int, int]]:
    """The entries of the object that begins at `at`: key, and where its value begins and ends.

    Raises Broken where the text is no JSON object. Values are passed over, not validated.
    """
    at = skip_space(text, at)
    if text[at : at + 1] != "{":
        raise Broken("no JSON object")
    at = skip_space(text, at + 1)
    if text[at : at + 1] == "}":
        return
    while True:
        key, at = string(text, at)
        at = skip_space(text, at)
        if text[at : at + 1] != ":":
            raise Broken("a key without a value")
        start = skip_space(text, at + 1)
        at = _end_of_value(text, start)
        yield key, start, at
        at = skip_space(text, at)
        sign = text[at : at + 1]
        if sign == "}":
            return
        if sign != ",":
            raise Broken("the JSON breaks off" if not sign else "no comma between two entries")
        at = skip_space(text, at + 1)


def string(text: str, at: int) -> tuple[str, int]:
    """The JSON string that begins at `at` and where it ends; raises Broken when there is none."""
    if text[at : at + 1] != '"':
        raise Broken("the JSON breaks off" if at >= len(text) else "no string where one belongs")
    try:
        value, end = scanstring(text, at + 1)
    except ValueError:
        raise Broken("a JSON string that does not end") from None
    return value, end


def value(text: str, start: int, end: int, most: int) -> Any:
    """The parsed value between two places; raises Broken when it is none or longer than `most` characters."""
    if end - start > most:
        raise Broken("an entry of the header that is too large to be true")
    try:
        return json.loads(text[start:end])
    except (ValueError, RecursionError):
        raise Broken("the JSON is not valid") from None


def _end_of_value(text: str, at: int) -> int:
    """Where the value that begins at `at` ends."""
    depth = 0
    begin = at
    while found := _TOKEN.match(text, at):
        sign = text[at]
        if depth == 0 and (sign in ",}]"):
            return at
        if sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
        at = string(text, at)[1] if sign == '"' else found.end()
        if depth == 0 and at > begin:
            return at
    raise Broken("the JSON breaks off")
