"""JSON objects taken apart entry by entry, so that a large or hostile one never becomes a tree in memory."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from eaglelint.readers.parts import Broken

_SPACE = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r'["{}\[\],]|[^"{}\[\],]+')


class ObjectParts:
    """The entries of the JSON object that begins at `at` in a text, one after the other.

    After `key`, `at` is where the value begins; it is passed over by `skip`, or by setting `at` to its end. Values are
    not validated. All methods raise Broken where the text is no JSON.
    """

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = _space(text, at)
        self._first = True
        if text[self.at : self.at + 1] != "{":
            raise Broken("no JSON object")

    def key(self) -> str | None:
        """The next key; None at the end of the object, after which `at` stands."""
        self.at = _space(self.text, self.at + 1) if self._first else _space(self.text, self.at)
        sign = self.text[self.at : self.at + 1]
        if sign == "}":
            self.at += 1
            return None
        if not self._first:
            if sign != ",":
                raise Broken("no comma between two entries" if sign else "the JSON breaks off")
            self.at = _space(self.text, self.at + 1)
        self._first = False
        key, at = string(self.text, self.at)
        at = _space(self.text, at)
        if self.text[at : at + 1] != ":":
            raise Broken("a key without a value")
        self.at = _space(self.text, at + 1)
        return key

    def string(self) -> str:
        """The value, which must be a string."""
        value, self.at = string(self.text, self.at)
        return value

    def skip(self, longest: int) -> None:
        """Pass over the value, which may have `longest` characters."""
        begin, depth = self.at, 0
        while found := _TOKEN.match(self.text, self.at):
            sign = self.text[self.at]
            if depth == 0 and sign in ",}]":
                return
            if sign in "{[":
                depth += 1
            elif sign in "}]":
                depth -= 1
            self.at = string(self.text, self.at)[1] if sign == '"' else found.end()
            if self.at - begin > longest:
                raise Broken("an entry that is too large to be true")
            if depth == 0:
                return
        raise Broken("the JSON breaks off")

    def value(self, longest: int) -> Any:
        """The parsed value, which may have `longest` characters."""
        begin = self.at
        self.skip(longest)
        try:
            return json.loads(self.text[begin : self.at])
        except (ValueError, RecursionError):
            raise Broken("the JSON is not valid") from None


def string(text: str, at: int) -> tuple[str, int]:
    """The JSON string that begins at `at` and where it ends; raises Broken when there is none."""
    if text[at : at + 1] != '"':
        raise Broken("the JSON breaks off" if at >= len(text) else "no string where one belongs")
    try:
        value, end = scanstring(text, at + 1)
    except ValueError:
        raise Broken("a JSON string that does not end") from None
    return value, end


def _space(text: str, at: int) -> int:
    """Where the next character that is no white space stands."""
    found = _SPACE.match(text, at)
    return found.end() if found else at
