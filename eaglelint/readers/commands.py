"""One simple command of a shell script: its pieces in the source, and what they stand for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from eaglelint.location import Location, join
from eaglelint.readers.expansion import expand, expand_document, expand_one
from eaglelint.readers.parameters import Scope
from eaglelint.readers.quoting import Heredoc, mask
from eaglelint.readers.words import Script, Variable, Word, missing, unknown

_TOKEN = re.compile(r"(?P<redirect>(?:\d+|&)?(?:<>|<&|>&|>>|>\||<|>))|(?P<word>[^\s<>;&|()]+)|(?P<line>\n)")
_KEYED = re.compile(r"\[([^\]]*)\]=")
#: Words of one command that are looked at.
_MOST_WORDS = 5_000
_NAME = re.compile(r"([A-Za-z_]\w*)(?:\[((?:[^\[\]]|\[[^\[\]]*\])*)\])?(\+?)=")

#: A stretch of the source: start and end (exclusive).
Span = tuple[int, int]


@dataclass(frozen=True)
class Command:
    """A simple command with its wrappers taken off.

    `words` begin with the program. `environment` holds the exported variables and those set for this command alone.
    `stdin` is the here-document that it reads and `output` the file that it writes. `image` and `mounts` are those of
    the container that it runs in. `whole` is False when the text around it could not be parsed.
    """

    words: tuple[Word, ...]
    where: Location
    environment: tuple[tuple[str, Word], ...] = ()
    stdin: Word | None = None
    output: Word | None = None
    image: Word | None = None
    mounts: tuple[tuple[str, str], ...] = ()
    whole: bool = True

    @property
    def identity(self) -> object:
        """The same for two runs of one command with the same words."""
        return self.where, tuple((word.content, word.many, word.where.start) for word in self.words)


@dataclass(frozen=True)
class Setting:
    """An environment variable that a script sets, for all of its commands or for one."""

    name: str
    word: Word

    @property
    def identity(self) -> object:
        """The same for two runs of one assignment with the same value."""
        return self.name, self.word.where, self.word.content, self.word.many


class Text(NamedTuple):
    """A script that was parsed: its masked text, here-documents and tree."""

    script: Script
    masked: str
    heredocs: dict[int, Heredoc]
    root: Any

    def source(self, node: Any) -> str:
        """The source of a node of the tree."""
        return self.script.text.text[node.start_byte : node.end_byte]


class Simple(NamedTuple):
    """The pieces of one simple command, still as stretches of the source.

    `stdin` is a here-document, or the stretch of a here-string; `output` the file that standard output goes to.
    """

    assignments: list[Span]
    words: list[Span]
    stdin: Heredoc | Span | None = None
    output: Span | None = None

    @property
    def start(self) -> int:
        """Where the command begins."""
        return (self.assignments or self.words)[0][0]

    @property
    def end(self) -> int:
        """Where its last word ends; redirections do not count."""
        return (self.words or self.assignments)[-1][1]


@cache
def _parser() -> Any:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse(script: Script) -> Text:
    """The control structure of a script."""
    return Text(script, *_parsed(script.text.text))


@lru_cache(maxsize=256)
def _parsed(source: str) -> tuple[str, dict[int, Heredoc], Any]:
    """Texts in functions and loops are met many times."""
    masked = mask(source)
    return masked.text, masked.heredocs, _parser().parse(masked.text.encode("ascii")).root_node


def simple_commands(start: int, end: int, text: Text) -> list[Simple]:
    """The simple commands in a stretch of the source that the tree takes for one.

    Assignments on lines of their own may have been taken for the beginning of the command that follows.
    """
    found = [Simple([], [])]
    redirect, descriptor, at = "", "", 0
    for token in _TOKEN.finditer(text.masked, start, end):
        current = found[-1]
        if token["line"]:
            if current.assignments or current.words:
                found.append(Simple([], []))
        elif token["redirect"]:
            redirect = token["redirect"].lstrip("0123456789")
            at = token.end() - len(redirect)
            descriptor = text.masked[token.start() : at]
        elif redirect:
            heredoc = text.heredocs.get(at)
            if heredoc is not None:
                found[-1] = current._replace(stdin=heredoc)
            elif text.script.text.text.startswith("<<<", at):
                found[-1] = current._replace(stdin=token.span())
            elif redirect in (">", ">>", ">|", "&>") and descriptor in ("", "1"):
                found[-1] = current._replace(output=token.span())
            redirect = ""
        elif not current.words and is_assignment(text.script, token.span()):
            current.assignments.append(token.span())
        else:
            current.words.append(token.span())
    return [simple for simple in found if simple.assignments or simple.words]


def is_assignment(script: Script, span: Span) -> bool:
    """Whether a word in front of a command sets a variable."""
    return _NAME.match(script.text.text, *span) is not None


def words_of(simple: Simple, script: Script, scope: Scope) -> list[Word]:
    """The words of a command, expanded; of one that is longer than any that people write, the beginning."""
    words = [word for span in simple.words[:_MOST_WORDS] for word in expand(script, *span, scope)]
    if len(simple.words) > _MOST_WORDS:
        words.append(missing(script.text.location(*simple.words[_MOST_WORDS])))
    return words


def stdin_of(simple: Simple, script: Script, scope: Scope) -> Word | None:
    """What a command reads from standard input, when the script itself holds it."""
    if isinstance(simple.stdin, Heredoc):
        return _document(simple.stdin, script, scope)
    return expand_one(script, *simple.stdin, scope) if simple.stdin is not None else None


def assignment(span: Span, script: Script, path: Scope) -> tuple[str, Variable]:
    """The name and the new value of `NAME=value`, `NAME+=value`, `NAME=(...)`, `NAME[i]=value`."""
    source = script.text.text
    match = _NAME.match(source, *span)
    assert match is not None
    name, index, more = match[1], match[2], match[3]
    start, end = match.end(), span[1]
    where = script.text.location(start, end)
    old = path.variables.get(name)
    if source[start : start + 1] == "(":
        words, entries = elements_of(script, start + 1, end - 1, path)
        if entries or (old is not None and old.entries is not None):
            before_entries = (old.entries or ()) if more and old is not None else ()
            kept = dict([*before_entries, *entries])
            return name, Variable((unknown(where, many=True),), array=True, entries=tuple(kept.items()))
        if more:
            before = old.words if old is not None else (missing(where),) if name not in path.variables else ()
            return name, Variable((*before, *words), array=True, optional=old is not None and old.optional)
        return name, Variable(tuple(words), array=True)
    value = expand_one(script, start, end, path)
    if index is not None and old is not None and old.entries is not None and not re.search(r"[$`]", index):
        kept = {**dict(old.entries), index.strip("'\""): value}
        return name, old._replace(entries=tuple(kept.items()))
    if index is not None:
        return name, Variable(_with_element(name, index, old.words if old is not None else (), value), array=True)
    if more:
        before_word = old.single if old is not None else None
        pieces = [before_word] if before_word is not None else []
        return name, Variable((_together([*pieces, value], where),), optional=old is not None and old.optional)
    return name, Variable((value,))


def elements_of(script: Script, start: int, end: int, path: Scope) -> tuple[list[Word], list[tuple[str, Word]]]:
    """The words between the parentheses of an array, and its entries by name (`[key]=value`)."""
    inner = script._replace(text=script.text[start:end])
    words: list[Word] = []
    entries: list[tuple[str, Word]] = []
    for token in re.finditer(r"[^\s]+", mask(inner.text.text).text):
        keyed = _KEYED.match(inner.text.text, *token.span())
        if keyed is None:
            words.extend(expand(inner, *token.span(), path))
            continue
        words.append(unknown(inner.text.location(*token.span())))
        key = keyed[1].strip("'\"")
        if not re.search(r"[$`]|^\d+$", key):
            entries.append((key, expand_one(inner, keyed.end(), token.end(), path)))
    return words, entries


def _with_element(name: str, index: str, words: tuple[Word, ...], value: Word) -> tuple[Word, ...]:
    """An array after `NAME[index]=value`; nothing is known of it when the index is not."""
    number = int(index) if index.isdigit() else len(words) if index in (f"${{#{name}[@]}}", f"${{#{name}[*]}}") else -1
    if not 0 <= number <= len(words) or any(word.many for word in words):
        return (unknown(value.where, many=True),)
    return (*words[:number], value, *words[number + 1 :])


def _together(words: Sequence[Word], where: Location) -> Word:
    """Two values without a blank between them, as `+=` puts them together."""
    if len(words) == 1:
        return words[0]
    first, second = words
    shift = len(first.content)
    parts = (
        *first.parts,
        *(part._replace(start=part.start + shift, end=part.end + shift) for part in second.parts),
    )
    mapped = defined = None
    if first.mapped is not None and second.mapped is not None:
        mapped = join([first.mapped, second.mapped])
    if first.written is not None and second.written is not None:
        defined = join([first.written, second.written])
    outside = first.outside or second.outside
    return Word(first.content + second.content, where, mapped, parts, outside=outside, defined=defined)


def _document(heredoc: Heredoc, script: Script, scope: Scope) -> Word:
    """The content of a here-document."""
    script = script._replace(text=script.text[heredoc.start : heredoc.end])
    if heredoc.indented:
        source = script.text.text
        kept = [i for line in re.finditer(r"(?m)^\t*(.*\n?)", source) for i in range(*line.span(1))]
        script = script._replace(text=script.text.pick("".join(source[i] for i in kept), [*kept, len(source)]))
    if heredoc.literal:
        return Word(script.text.text, script.text.location(0, len(script.text)), script.text)
    return expand_document(script, 0, len(script.text), scope)
