"""The words of an engine's command line as arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from eaglelint.errors import DocumentError
from eaglelint.facts import Argument, Unreadable, Value
from eaglelint.location import LineMap, Location, MappedText
from eaglelint.readers.engines import Grammar
from eaglelint.readers.words import HOLE, Word

_NUMBER = re.compile(r"-(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_OPTION = re.compile(r"--?[A-Za-z][\w.+-]*")
_ATTACHED = re.compile(r"(-O)(\d)")
_TRUTH = frozenset({"true", "false", "True", "False", "1", "0"})


@dataclass
class Parsed:
    """What a command line says. `positional` are its free words; `complete` is False when words of it are not known."""

    arguments: list[Argument] = field(default_factory=list)
    positional: list[Word] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    complete: bool = True


def parse(grammar: Grammar, words: Sequence[Word]) -> Parsed:
    """Read the words after an engine's name. Words that are not known never become a wrong value."""
    parsed = Parsed()
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word.many and not word.content:
            parsed.complete = False
        elif not _is_option(word):
            if word.many or (not word.known and (not grammar.positional or parsed.positional)):
                parsed.complete = False
            if not word.many:
                parsed.positional.append(word)
        elif word.content != "--":
            index = _option(grammar, words, index, parsed)
    return parsed


def _is_option(word: Word) -> bool:
    return word.content.startswith("-") and len(word.content) > 1 and not _NUMBER.fullmatch(word.content)


def _option(grammar: Grammar, words: Sequence[Word], index: int, parsed: Parsed) -> int:
    """Read the option before `index` with its values; the index after them."""
    word = words[index - 1]
    match = _ATTACHED.match(word.content) or _OPTION.match(word.content)
    if match is None or (match.end() < len(word.content) and word.content[match.end()] == HOLE):
        parsed.complete = False
        return index
    attached = match.re is _ATTACHED
    spelling = match[1] if attached else match[0]
    name = grammar.name_of(spelling)
    place = word.place(0, len(spelling))
    whose = word.value(0, len(spelling)).assumed
    if attached or word.content[match.end() :].startswith("="):
        start = len(spelling) if attached else match.end() + 1
        _add(grammar, name, spelling, place, [word.slice(start, len(word.content))], parsed, whose)
        return index
    values = _values(grammar, name, words, index, bool(parsed.positional))
    _add(grammar, name, spelling, place, values, parsed, whose)
    return index + len(values)


def _values(grammar: Grammar, name: str, words: Sequence[Word], index: int, has_target: bool) -> list[Word]:
    """The words that belong to an option: up to the next one, but not the target."""
    found: list[Word] = []
    while index < len(words) and not _is_option(words[index]) and words[index].content:
        word = words[index]
        if grammar.is_flag(name) and word.content not in _TRUTH:
            break
        if found and (word.many or (grammar.positional and not has_target and name not in grammar.lists)):
            break
        if grammar.positional and found and name not in grammar.lists | grammar.integers:
            break
        found.append(word)
        index += 1
    return found


def _add(
    grammar: Grammar, name: str, spelling: str, place: Location, words: list[Word], parsed: Parsed, whose: str
) -> None:
    """Add an argument, and one for each key of a JSON value. `whose` default it is that it is given, or ""."""
    inner: list[Argument] = []
    if not words:
        value = Value(True, place)
    elif len(words) > 1 or name in grammar.lists | grammar.integers:
        value = _listed(words)
        if name in grammar.integers:
            value = _integers(value)
    else:
        value = words[0].value()
        if "." in name and value.known:
            value = value._replace(value=_typed(words[0].content))
        elif words[0].content.lstrip().startswith("{") or name == "speculative_config":
            try:
                value, inner = json_arguments(name, words[0])
            except DocumentError as error:
                if name in grammar.json and words[0].known:
                    parsed.unreadable.append(Unreadable(error.where, f"the value of {spelling} is {error.reason}"))
            if name == "speculative_config" and not inner:
                parsed.complete = False
    value = value._replace(assumed=value.assumed or whose)
    parsed.arguments += [Argument(name, spelling, value, place), *inner]


def _typed(content: str) -> Any:
    """The value of a dotted argument, which is JSON where it can be."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content


def _listed(words: Sequence[Word]) -> Value:
    """Several words as one list."""
    values = [word.value() for word in words]
    first, last = values[0].where, values[-1].where
    where = first
    if first.path == last.path and last.end >= first.end:
        where = first._replace(end_line=last.end_line, end_column=last.end_column, end=last.end)
    if not all(value.known for value in values):
        return Value(None, where, known=False)
    assumed = ", ".join(dict.fromkeys(value.assumed for value in values if value.assumed))
    defined = next((value.defined for value in values if value.defined is not None), None)
    return Value([value.value for value in values], where, assumed=assumed, defined=defined)


def _integers(value: Value) -> Value:
    """A list of layer ids, separated by blanks or commas or as JSON; as it stands when it is none."""
    if not value.known:
        return value
    pieces = re.split(r"[,\s]+", " ".join(str(entry) for entry in value.value).strip(" []"))
    if all(re.fullmatch(r"-?\d{1,6}", piece) for piece in pieces):
        return value._replace(value=[int(piece) for piece in pieces])
    return value


def json_arguments(name: str, word: Word) -> tuple[Value, list[Argument]]:
    """A word of JSON: its value, and an argument `name.key` for each key at every depth.

    A part that is not known makes what holds it unknown, not the keys beside it. Raises DocumentError, with the place
    in the word, for what is not JSON.
    """
    from eaglelint.readers.documents import read_json

    text, indices = _with_placeholders(word.content)
    try:
        document = read_json(MappedText(text, indices, LineMap("", word.content)))
    except DocumentError as error:
        at = min(error.where.start, max(0, len(word.content) - 1))
        raise DocumentError(word.written_place(at, at + 1), error.reason) from None

    def value_at(pointer: str) -> Value:
        found = document.get(pointer)
        span = document.spans[pointer]
        inside = word.value(span.start, span.end)
        where = word.written_place(span.start, span.end)
        if _unknown_inside(found):
            return inside._replace(value=None, where=where, known=False)
        return inside._replace(value=found, where=where)

    whole = value_at("")
    arguments = []
    for pointer, key in document.keys.items():
        parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
        if any(HOLE in part for part in parts):
            continue
        dotted = ".".join([name, *(part.replace("-", "_") for part in parts)])
        arguments.append(Argument(dotted, parts[-1], value_at(pointer), word.written_place(key.start, key.end)))
    return whole._replace(where=word.where), arguments


def _with_placeholders(content: str) -> tuple[str, list[int]]:
    """JSON in which every unknown part is (part of) a string, and the index of each character in `content`."""
    chars: list[str] = []
    indices: list[int] = []
    quoted = escaped = False
    for index, char in enumerate(content):
        piece = char
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char == HOLE:
            piece = f'"{HOLE}"'
        chars.append(piece)
        indices.extend([index] * len(piece))
    return "".join(chars), [*indices, len(content)]


def _unknown_inside(value: Any) -> bool:
    if isinstance(value, str):
        return HOLE in value
    if isinstance(value, dict):
        return any(_unknown_inside(entry) for entry in (*value.keys(), *value.values()))
    return isinstance(value, list) and any(_unknown_inside(entry) for entry in value)


def flattened(name: str, value: Value, where: Location) -> Iterator[Argument]:
    """An argument, and one for each key of a mapping that it holds."""
    yield Argument(name, name, value, where)
    if value.known and isinstance(value.value, dict):
        for key, entry in value.value.items():
            yield from flattened(f"{name}.{str(key).replace('-', '_')}", value._replace(value=entry), where)
