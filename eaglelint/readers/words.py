"""Words of a command: what they hold, what of it is only a default, and where each of their characters is written.

A word is decoded text. A stretch of it that no file of the project settles (a positional parameter, the output of a
command) is one `HOLE` character, so that the rest of the word keeps its meaning: JSON with an unknown model still has a
known method.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from eaglelint.facts import Value
from eaglelint.location import Location, MappedText, join

#: Stands for a stretch of unknown text in a word or a script (a private-use character that no file contains).
HOLE = "\U0010fffd"

#: The first of the private-use characters that stand in a script for words of an outer language.
FIRST_INSERTION = 0x10F000

_PLAIN = re.compile(r"[\w./:@%+=,-]+")


class Part(NamedTuple):
    """Characters `start` to `end` of a word that came through an expansion; those that came through two have two parts.

    `where` is the expansion as used, `defined` the place of the value that it stands for, `assumed` says whose default
    that value is, or "". `optional` is the part of a `HOLE` in whose place words may be missing or not.
    """

    start: int
    end: int
    where: Location
    assumed: str = ""
    defined: Location | None = None
    optional: bool = False


@dataclass(frozen=True)
class Word:
    """One word of a command, decoded.

    `mapped` is the content with the place of each character as used: those of an expansion stand at the `$` (None when
    only the place of the whole is known). `written` is the content where it is written, in the values of the variables.
    `where` is the word as used, quotes included. `many` means that it may stand for none or for several words; with an
    empty content it only says that words may be missing here. `outside` means that it is unknown because something
    outside the file gives it (a parameter, the environment).
    """

    content: str
    where: Location
    mapped: MappedText | None = None
    parts: tuple[Part, ...] = ()
    many: bool = False
    outside: bool = False
    defined: MappedText | None = None

    @property
    def known(self) -> bool:
        """Whether all of the content is known."""
        return not self.many and HOLE not in self.content

    @property
    def assumed(self) -> str:
        """Whose default this is, or ""."""
        return _assumed(self.parts)

    @property
    def written(self) -> MappedText | None:
        """The content where it is written."""
        return self.mapped if self.defined is None else self.defined

    @classmethod
    def of(cls, value: Value) -> Word:
        """A word for a value that something else evaluated; numbers are written as the command line would show them."""
        if not value.known or value.value is None or isinstance(value.value, (list, dict)):
            return cls(HOLE, value.where)
        content = value.value if isinstance(value.value, str) else str(value.value)
        part = Part(0, len(content), value.where, value.assumed, value.defined)
        return cls(content, value.where, parts=(part,) if value.assumed or value.defined else ())

    def place(self, start: int, end: int) -> Location:
        """Where the characters `start` to `end` stand; those of an expansion stand where it is used."""
        if self.mapped is None or (start <= 0 and end >= len(self.content)):
            return self.where
        first = self.mapped.origin[start]
        last = self.mapped.origin[end - 1] + 1 if end > start else first
        first = next((part.where.start for part in self.parts if part.start <= start < part.end), first)
        last = next((part.where.end for part in self.parts if part.start < end <= part.end), last)
        return self.mapped.lines.location(first, max(first, last))

    def written_place(self, start: int, end: int) -> Location:
        """Where the characters `start` to `end` are written."""
        if self.written is None:
            return self.where
        origin = self.written.origin[start:end]
        if any(later < earlier for earlier, later in pairwise(origin)):
            end = start + 1
        return self.written.location(start, end)

    def value(self, start: int = 0, end: int | None = None) -> Value:
        """The characters `start` to `end` as a value."""
        end = len(self.content) if end is None else end
        content = self.content[start:end]
        parts = [part for part in self.parts if part.start < end and part.end > start]
        defined = next((part.defined for part in parts if part.defined is not None), None)
        where = self.place(start, end)
        if self.many or HOLE in content:
            return Value(None, where, known=False, defined=defined)
        return Value(content, where, assumed=_assumed(parts), defined=defined)

    def slice(self, start: int, end: int) -> Word:
        """The characters `start` to `end` as a word of their own."""
        parts = tuple(
            part._replace(start=max(part.start, start) - start, end=min(part.end, end) - start)
            for part in self.parts
            if part.start < end and part.end > start
        )
        mapped = None if self.mapped is None else self.mapped[start:end]
        defined = None if self.defined is None else self.defined[start:end]
        return Word(
            self.content[start:end], self.place(start, end), mapped, parts, outside=self.outside, defined=defined
        )

    def fields(self) -> list[Word]:
        """The words that the content makes when it is split at white space, each where it is written."""
        whole = any((part.start, part.end) == (0, len(self.content)) for part in self.parts)
        found = []
        for match in re.finditer(r"[^ \t\n]+", self.content):
            piece = self.slice(*match.span())
            if any(part.optional for part in piece.parts):
                found.append(missing(piece.where))
                continue
            if whole:  # only a variable's value: it is written there
                piece = replace(piece, where=self.written_place(*match.span()), mapped=piece.written, defined=None)
            found.append(piece)
        return found


def _assumed(parts: Iterable[Part]) -> str:
    return ", ".join(dict.fromkeys(part.assumed for part in parts if part.assumed))


def unknown(where: Location, *, many: bool = False, outside: bool = False) -> Word:
    """A word of which nothing is known."""
    return Word(HOLE, where, many=many, outside=outside)


def missing(where: Location) -> Word:
    """No word, but a note that there may be some here."""
    return Word("", where, many=True)


def with_gap(word: Word, where: Location) -> Word:
    """A word of several words, used at `where`, with a note that there may be more words at its end."""
    end = len(word.content)
    gap = Part(end + 1, end + 2, where, optional=True)

    def longer(text: MappedText | None) -> MappedText | None:
        return None if text is None else text.pick(f"{word.content} {HOLE}", [*range(end), end, end, end])

    content = f"{word.content} {HOLE}"
    return replace(
        word, content=content, parts=(*word.parts, gap), mapped=longer(word.mapped), defined=longer(word.defined)
    )


def assume(word: Word, whose: str) -> Word:
    """The same word as a mere default of `whose`."""
    return replace(word, parts=(Part(0, len(word.content), word.where, whose, word.where),))


def joined(words: Sequence[Word], where: Location) -> Word:
    """Several words with a blank between each, as `"${ARGS[*]}"` and `eval` put them together."""
    if len(words) == 1:
        return words[0]
    parts: list[Part] = []
    content = ""
    for word in words:
        content += " " if content else ""
        parts.extend(p._replace(start=p.start + len(content), end=p.end + len(content)) for p in word.parts)
        content += word.content or (HOLE if word.many else "")
    mapped = _with_blanks([word.mapped for word in words], content)
    defined = _with_blanks([word.written for word in words], content)
    return Word(content, where, mapped, tuple(parts), defined=None if mapped is None else defined)


def _with_blanks(texts: Sequence[MappedText | None], content: str) -> MappedText | None:
    """The texts with a blank between each; None when that is not the content (a text without places)."""
    pieces: list[MappedText] = []
    for text in texts:
        if text is None:
            return None
        if pieces:
            pieces.append(pieces[-1].pick(" ", (len(pieces[-1]), len(pieces[-1]))))
        pieces.append(text)
    whole = join(pieces)
    return whole if whole.text == content else None


class Script(NamedTuple):
    """Shell text to read. `insertions` maps single characters of it to words that an outer language (make, compose, a
    workflow, an outer script) puts there; `assumed` says whose default the whole text is, or ""."""

    text: MappedText
    insertions: Mapping[str, Word] = {}
    assumed: str = ""


def script_of(word: Word) -> Script | None:
    """A word as a script; None when the places of its characters are not known."""
    source = word.written
    if source is None:
        return None
    insertions: dict[str, Word] = {}
    assumed = ""
    content: list[str] = []
    origin: list[int] = []
    at = 0
    for part in sorted(word.parts, key=lambda part: (part.start, -part.end)):
        value = word.content[part.start : part.end]
        if (part.start, part.end) == (0, len(word.content)):
            assumed = assumed or part.assumed
        elif part.start >= at and (value == HOLE or _PLAIN.fullmatch(value)):
            content.extend(word.content[at : part.start])
            origin.extend(source.origin[at : part.start])
            inside = [other for other in word.parts if other.start < part.end and other.end > part.start]
            mark = chr(FIRST_INSERTION + len(insertions))
            inserted = Part(0, len(value), part.where, _assumed(inside), part.defined)
            gap = missing(part.where)
            insertions[mark] = gap if part.optional else Word(value, part.where, parts=(inserted,))
            content.append(mark)
            origin.append(part.where.start)
            at = part.end
    content.extend(word.content[at:])
    origin.extend(source.origin[at:])
    return Script(MappedText("".join(content), origin, source.lines), insertions, assumed)


class Variable(NamedTuple):
    """A variable's value: one word, or the elements of an array. `optional`: a part of it may be missing.

    `entries` are the keys and values of an associative array, whose elements are not known in their order.
    """

    words: tuple[Word, ...]
    array: bool = False
    optional: bool = False
    entries: tuple[tuple[str, Word], ...] | None = None

    @property
    def contents(self) -> tuple[tuple[str, bool, str], ...]:
        """What makes two values the same, whatever the places that they were written at."""
        inner = tuple((f"[{key}]={word.content}", word.many, word.assumed) for key, word in self.entries or ())
        return (*((word.content, word.many, word.assumed) for word in self.words), *inner)

    @property
    def single(self) -> Word | None:
        """The word of a scalar, the first element of an array; None when it is empty."""
        return self.words[0] if self.words else None
