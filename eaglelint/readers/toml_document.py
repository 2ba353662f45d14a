"""TOML with positions: `tomllib` decides, a scanner of our own finds the places in text that is known to be valid."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from datetime import date, datetime, time
from typing import Any

from eaglelint.errors import DocumentError
from eaglelint.facts import Document
from eaglelint.location import LineMap, MappedText
from eaglelint.readers.places import Span, Spans, constant_text, placed_document, pointer_part, refuse_many

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

_SKIP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_KEY = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_BARE = re.compile(r"[^,\]}#\n]*[^,\]}#\s]")
#: A key of more than a hundred parts: tomllib takes time that is quadratic in them.
_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_DEEP_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*{_PART}(?:[ \t]*\.[ \t]*{_PART}){{100}}", re.MULTILINE)
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def read_toml(text: MappedText) -> Document:
    """The TOML document that a text is; raises DocumentError with the place of what is wrong.

    Dates and times are given as text, so that all values are those of JSON.
    """
    refuse_many(text, sum(map(text.text.count, "=[,")) + text.text.count(".") // 2, "TOML")
    deep = _DEEP_KEY.search(text.text)
    if deep is not None:
        raise DocumentError(text.location(deep.start(), deep.start()), "TOML that is nested too deeply")
    try:
        value = _plain(tomllib.loads(text.text))
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = _PLACE.search(message)
        offset = len(text)
        if found and found[1]:
            offset = LineMap(text.lines.path, text.text).offset(int(found[1]), int(found[2]))
        reason = message[: found.start()] if found else message
        raise DocumentError(text.location(offset, offset + 1), f"not TOML: {reason[:1].lower()}{reason[1:]}") from None
    except RecursionError:
        raise DocumentError(text.location(0, 0), "TOML that is nested too deeply") from None
    except ValueError as error:  # an integer of thousands of digits
        raise DocumentError(text.location(0, 0), f"TOML that can not be read: {error}") from None
    return placed_document(value, text, _scan, _decode)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return value.isoformat() if isinstance(value, (datetime, date, time)) else value


def _decode(text: MappedText, span: Span, content: str) -> MappedText:
    for width in (1, 3):
        inner = (span[0] + width, span[1] - width)
        if text.text[inner[0] : inner[1]] == content:
            return text[inner[0] : inner[1]]
    return constant_text(content, text, span)


def _scan(text: str) -> Spans:
    scanner = _Scanner(text)
    with suppress(RecursionError):  # what is nested that deeply has no place
        scanner.run()
    return Spans(scanner.values, scanner.keys, [])


class _Scanner:
    """A walk over valid TOML that notes where keys and values stand. A table stands where its header does."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.values: dict[str, Span] = {"": (0, len(text))}
        self.keys: dict[str, Span] = {}
        self._counts: dict[str, int] = {}

    def run(self) -> None:
        table = ""
        while True:
            self._skip(_SKIP)
            if self.place >= len(self.text):
                return
            if self.text[self.place] == "[":
                table = self._header()
            else:
                self._entry(table)

    def _skip(self, what: re.Pattern[str]) -> None:
        found = what.match(self.text, self.place)
        if found is not None:
            self.place = found.end()

    def _key(self) -> list[tuple[str, Span]]:
        """A dotted key: its parts with their places."""
        parts: list[tuple[str, Span]] = []
        while True:
            self._skip(_BLANK)
            found = _KEY.match(self.text, self.place)
            if found is None:
                return parts
            part = found[0]
            if part[0] == '"':
                part = next(iter(tomllib.loads(f"{part} = 0")))
            elif part[0] == "'":
                part = part[1:-1]
            parts.append((pointer_part(part), found.span()))
            self.place = found.end()
            self._skip(_BLANK)
            if self.text[self.place : self.place + 1] != ".":
                return parts
            self.place += 1

    def _header(self) -> str:
        start = self.place
        is_array = self.text.startswith("[[", start)
        self.place += 2 if is_array else 1
        parts = self._key()
        self.place = self.text.find("]", self.place) + (2 if is_array else 1)
        pointer = ""
        for index, (part, span) in enumerate(parts):
            pointer = f"{pointer}/{part}"
            self.keys.setdefault(pointer, span)
            self.values.setdefault(pointer, (start, self.place))
            if index == len(parts) - 1 and is_array:
                self._counts[pointer] = self._counts.get(pointer, -1) + 1
            if pointer in self._counts:
                pointer = f"{pointer}/{self._counts[pointer]}"
                self.values.setdefault(pointer, (start, self.place))
        return pointer

    def _entry(self, table: str) -> None:
        """`key = value` in a table."""
        start = self.place
        parts = self._key()
        pointer = table
        for part, span in parts:
            pointer = f"{pointer}/{part}"
            self.keys.setdefault(pointer, span)
        self.place = self.text.find("=", self.place) + 1
        if not parts or self.place == 0:  # not reached in valid text
            self.place = len(self.text)
            return
        self._skip(_BLANK)
        self._value(pointer)
        for above in range(1, len(parts)):
            outer = table + "".join(f"/{part}" for part, _ in parts[:above])
            self.values.setdefault(outer, (start, self.place))

    def _value(self, pointer: str) -> None:
        start = self.place
        mark = self.text[start : start + 1]
        if mark == "[":
            self._array(pointer)
        elif mark == "{":
            self._inline_table(pointer)
        else:
            found = (_STRING if mark in ("'", '"') else _BARE).match(self.text, start)
            self.place = found.end() if found else start + 1
        self.values[pointer] = (start, self.place)

    def _array(self, pointer: str) -> None:
        self.place += 1
        index = 0
        while True:
            self._skip(_SKIP)
            mark = self.text[self.place : self.place + 1]
            if mark in ("]", ""):
                self.place += 1
                return
            if mark == ",":
                self.place += 1
                continue
            self._value(f"{pointer}/{index}")
            index += 1

    def _inline_table(self, pointer: str) -> None:
        self.place += 1
        while True:
            self._skip(_SKIP)
            mark = self.text[self.place : self.place + 1]
            if mark in ("}", ""):
                self.place += 1
                return
            if mark == ",":
                self.place += 1
                continue
            self._entry(pointer)
