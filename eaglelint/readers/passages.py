"""Code of one language inside a file of another: cells of notebooks, fenced blocks of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from eaglelint.location import MappedText
from eaglelint.project import Source
from eaglelint.readers.commands import Command, Setting
from eaglelint.readers.shell import read_commands
from eaglelint.readers.words import Word


class Passage(NamedTuple):
    """A piece of code: `language` is "shell", "python", "yaml" or "dockerfile".

    `variables` are in the environment of a script, `insertions` as in `shell.read_commands`.
    """

    language: str
    text: MappedText
    variables: Mapping[str, Word] = {}
    insertions: Mapping[str, Word] = {}

    def commands(self) -> list[Command | Setting]:
        """The commands of a script."""
        return read_commands(self.text, self.variables, self.insertions)


def passages_of(source: Source) -> Iterator[Passage]:
    """The code in a notebook or a Markdown file; raises UnreadableSource and DocumentError."""
    if source.kind == "notebook":
        from eaglelint.readers.notebooks import passages
    else:
        from eaglelint.readers.fences import passages
    yield from passages(source)
