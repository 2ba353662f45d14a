"""What eaglelint reads of a file, down to the words of each launch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from eaglelint.project import Source
from eaglelint.readers import launch as launch_reader
from eaglelint.readers import starting
from eaglelint.readers.engines import Grammar
from eaglelint.readers.words import Word
from launching.oracle import END

ENGINES = ("sglang", "vllm", "tensorrt-llm", "tokenspeed")


class Read(NamedTuple):
    """A launch: its words from the one that names the engine on, joined; where that word and the command stand."""

    engine: str
    joined: str
    start: int
    first: int
    line: int


def read(source: Source) -> list[Read]:
    """The launches of the four engines in a file, each with its words."""
    words: list[tuple[Grammar, Sequence[Word], int]] = []
    with _watched(words):
        list(launch_reader.read_launches(source))
    found = []
    for grammar, given, index in words:
        if grammar.engine not in ENGINES or not given:
            continue
        named = max(index - 1, 0)
        while named > 0 and given[named].content == "serve":
            named -= 1
        joined = "".join(word.content + END for word in given[named:] if word.content or not word.many)
        where = given[named].where
        found.append(Read(grammar.engine, joined, where.start, given[0].where.start, where.line))
    return found


@contextmanager
def _watched(words: list[tuple[Grammar, Sequence[Word], int]]) -> Iterator[None]:
    """Take note of the words of every command that is recognised as an engine's, and of the index of its arguments."""
    outside = starting.parse

    def parse(grammar: Grammar, given: Sequence[Word]) -> object:
        words.append((grammar, inner[-1] if inner else given, len(inner[-1]) - len(given) if inner else 0))
        return outside(grammar, given)

    inner: list[Sequence[Word]] = []
    unwrap = starting.unwrap

    def watched(given: Sequence[Word]) -> object:
        found = unwrap(given)
        inner.append(found.words)
        return found

    starting.parse, starting.unwrap = parse, watched  # type: ignore[assignment]
    try:
        yield
    finally:
        starting.parse, starting.unwrap = outside, unwrap
