"""Text in which an outer language replaces something before anything else reads it: make, compose, Kubernetes, ...

What is replaced by a value becomes one character that stands for a word (`Script.insertions`), so that quotes inside
the value mean nothing and the value keeps its place; what is replaced by text is read on as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from eaglelint.facts import Value
from eaglelint.location import Location, MappedText, join
from eaglelint.readers.words import FIRST_INSERTION, Part, Word

#: What a match becomes: a word, text that is read on (where it is written, or else at the match), or None for itself.
Resolve = Callable[[re.Match[str], Location], Word | MappedText | str | None]


def replaced(
    text: MappedText, pattern: re.Pattern[str], resolve: Resolve, insertions: dict[str, Word] | None = None
) -> tuple[MappedText, dict[str, Word]]:
    """A text with the matches of a pattern replaced, and the words that single characters of it stand for.

    `insertions` are those that texts given by `resolve` already use; new ones are added to them.
    """
    insertions = {} if insertions is None else insertions
    pieces: list[MappedText] = []
    place = 0
    for found in pattern.finditer(text.text):
        new = resolve(found, text.location(*found.span()))
        if new is None:
            continue
        if isinstance(new, Word):
            mark = chr(FIRST_INSERTION + len(insertions))
            insertions[mark] = new
            new = mark
        if isinstance(new, str):
            new = text.pick(new, [found.start()] * (len(new) + 1))
        pieces += [text[place : found.start()], new]
        place = found.end()
    return join([*pieces, text[place:]]), insertions


def used(value: Value, where: Location) -> Word:
    """A value as a word that is used at a place."""
    word = Word.of(value)
    part = Part(0, len(word.content), where, value.assumed, value.defined or value.where)
    return Word(word.content, where, parts=(part,), outside=not value.known)


def default(content: str, where: Location, whose: str) -> Word:
    """A default that stands beside the name that it is the default of."""
    return Word(content, where, parts=(Part(0, len(content), where, f"default of {whose}", where),))
