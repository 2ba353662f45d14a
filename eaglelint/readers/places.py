"""Where the nodes of a document stand: JSON pointers to places, worked out when somebody asks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from eaglelint.errors import DocumentError
from eaglelint.facts import Document
from eaglelint.location import Location, MappedText

#: The most values that a document may have: each of them costs some hundred bytes once its place is known. A config of
#: 150,000 tokens or 50,000 layer ids is far below.
MOST_VALUES = 500_000

#: Characters of a text: start and end (exclusive).
Span = tuple[int, int]


class Spans(NamedTuple):
    """Where the values and the keys of a document stand in its text, and the keys that later ones override."""

    values: dict[str, Span]
    keys: dict[str, Span]
    duplicates: list[Span]


#: Finds the spans of a text that is known to be valid.
Scan = Callable[[str], Spans]
#: The content of the string that is written at a span: its characters, each with its place.
Decode = Callable[[MappedText, Span, str], MappedText]


def refuse_many(text: MappedText, count: int, what: str) -> None:
    """Raises DocumentError for a document of that many values when these are more than are read."""
    if count > MOST_VALUES:
        raise DocumentError(text.location(0, 0), f"{what} of more than the {MOST_VALUES:,} values that are read")


def pointer_part(key: str) -> str:
    """A key as it stands in a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def constant_text(content: str, text: MappedText, span: Span) -> MappedText:
    """A content whose characters can not be told apart in the file: each of them stands where the whole does."""
    return MappedText(content, [text.origin[min(span[0], len(text))]] * (len(content) + 1), text.lines)


class _Places:
    """The spans of one document, found by `scan` at the first question."""

    def __init__(self, text: MappedText, scan: Scan) -> None:
        self.text = text
        self._scan = scan

    @cached_property
    def spans(self) -> Spans:
        return self._scan(self.text.text)


class _Values(Mapping[str, Location]):
    def __init__(self, places: _Places) -> None:
        self._places = places

    @property
    def _spans(self) -> dict[str, Span]:
        return self._places.spans.values

    def __getitem__(self, pointer: str) -> Location:
        return self._places.text.location(*self._spans[pointer])

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)


class _Keys(_Values):
    @property
    def _spans(self) -> dict[str, Span]:
        return self._places.spans.keys


class _Texts(Mapping[str, MappedText]):
    def __init__(self, places: _Places, document: Document, decode: Decode) -> None:
        self._places = places
        self._document = document
        self._decode = decode

    def __getitem__(self, pointer: str) -> MappedText:
        content = self._document.get(pointer)
        if not isinstance(content, str):
            raise KeyError(pointer)
        span = self._places.spans.values[pointer]
        return self._decode(self._places.text, span, content)

    def __iter__(self) -> Iterator[str]:
        return (p for p in self._places.spans.values if isinstance(self._document.get(p), str))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def placed_document(value: Any, text: MappedText, scan: Scan, decode: Decode, duplicates: bool = False) -> Document:
    """The document with a value that was read from a text; `duplicates` says whether there are any to look for."""
    places = _Places(text, scan)
    path = text.lines.path
    bare = Document(path, value, {}, {})
    overridden = tuple(text.location(*span) for span in places.spans.duplicates) if duplicates else ()
    return Document(path, value, _Values(places), _Keys(places), _Texts(places, bare, decode), overridden)
