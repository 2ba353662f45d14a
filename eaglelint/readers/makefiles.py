"""Makefiles: the commands of their recipes, with the variables of make replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from eaglelint.facts import EnvironmentSetting, Value
from eaglelint.location import Location, MappedText, join
from eaglelint.project import Source
from eaglelint.readers.commands import Command, Setting
from eaglelint.readers.outer import replaced, used
from eaglelint.readers.shell import read_commands, without_returns
from eaglelint.readers.starting import Fact, facts_from
from eaglelint.readers.words import Word, unknown

_VARIABLE = re.compile(r"(?:override\s+)?(export\s+)?([\w.-]+)\s*(\?=|\+=|:{0,3}=|!=)\s*")
_DEFINE = re.compile(r"\s*(?:override\s+|export\s+)*define\s+([\w.-]+)\s*:{0,2}=?\s*$")
_TARGET_VARIABLE = re.compile(r"[^\s:=#][^:=#]*:\s*(?:export\s+)?([\w.-]+)\s*[?+:]*=")
_CONDITIONAL = re.compile(r"\s*(?:ifeq|ifneq|ifdef|ifndef)\b")
_REFERENCE = re.compile(r"\$\$|\$\(([\w.-]+)\)|\$\{([\w.-]+)\}|\$\((?:[^()]|\([^()]*\))*\)|\$[^\s(){}$]")
_DEEPEST = 8


class _Variable(NamedTuple):
    """A variable: its text, where it stands, and whose default it is ("" when the file settles it)."""

    text: MappedText
    where: Location
    assumed: str = ""
    known: bool = True


def makefile_facts(source: Source) -> Iterator[Fact]:
    """What the recipes of a Makefile start, and the variables that it exports."""
    variables, _, exported = _read(without_returns(source.text))
    for name in exported:
        if name in variables:
            yield EnvironmentSetting(name, _value(variables[name]))
    for items in recipe_commands(source):
        yield from facts_from(items, "shell")


def recipe_commands(source: Source) -> Iterator[list[Command | Setting]]:
    """The commands of each recipe line of a Makefile."""
    variables, recipes, _ = _read(without_returns(source.text))
    for recipe in recipes:
        text, insertions = _expanded(recipe, variables, {}, 0)
        yield read_commands(text, insertions=insertions)


def _read(text: MappedText) -> tuple[dict[str, _Variable], list[MappedText], list[str]]:
    """The variables at the end of a Makefile, its recipe lines (joined ones together), and the exported names."""
    variables: dict[str, _Variable] = {}
    recipes: list[MappedText] = []
    exported: list[str] = []
    unsure: set[str] = set()
    depth = 0
    defined: tuple[str, int] | None = None
    for start, end in _logical_lines(text.text):
        line = text.text[start:end]
        if defined is not None:
            if line.strip() == "endef":
                name, begin = defined
                value = _body(text, begin, max(begin, start - 1))
                variables[name] = _Variable(value, value.location(0, len(value)), known=name not in variables)
                defined = None
            continue
        if multiline := _DEFINE.match(line):
            defined = (multiline[1], min(end + 1, len(text)))
            continue
        if line.startswith("\t"):
            recipes.append(_recipe(text, start, end))
            continue
        depth += bool(_CONDITIONAL.match(line)) - line.lstrip().startswith("endif")
        found = _VARIABLE.match(text.text, start + len(line) - len(line.lstrip()), end)
        if found is not None:
            _assign(variables, found, text, end, depth > 0)
            exported += [found[2]] if found[1] else []
        elif line.startswith("export "):
            exported += line.split()[1:]
        elif target := _TARGET_VARIABLE.match(line):
            unsure.add(target[1])
    for name in unsure & set(variables):
        variables[name] = variables[name]._replace(known=False)
    return variables, recipes, exported


def _logical_lines(text: str) -> Iterator[tuple[int, int]]:
    """Lines, those that end in a backslash together with the next."""
    start = 0
    for found in re.finditer(r"(?:[^\n\\]|\\.|\\\n)*(?:\n|\\?$)", text, re.DOTALL):
        start, end = found.span()
        if start < end:
            yield start, end - (1 if text[end - 1] == "\n" else 0)


def _assign(
    variables: dict[str, _Variable], found: re.Match[str], text: MappedText, end: int, conditional: bool
) -> None:
    name, sign = found[2], found[3]
    value = _one_line(text, found.end(), end)
    where = value.location(0, len(value))
    old = variables.get(name)
    if sign == "?=" and old is not None:
        return
    if sign == "!=":
        variables[name] = _Variable(value, where, known=False)
    elif sign == "+=" and old is not None:
        blank = value.pick(" ", [0, 0])
        variables[name] = old._replace(text=join([old.text, blank, value]), known=old.known and not conditional)
    elif conditional and old is not None:
        variables[name] = _Variable(value, where, known=False)
    else:
        whose = f"default of $({name})" if sign == "?=" or conditional else ""
        variables[name] = _Variable(value, where, whose)


def _one_line(text: MappedText, start: int, end: int) -> MappedText:
    """The value of a variable: joined lines on one, without a comment and the blanks at its end."""
    source = text.text
    comment = re.compile(r"(?<!\\)#").search(source, start, end)
    end = comment.start() if comment is not None else end
    kept: list[int] = []
    content: list[str] = []
    place = start
    for found in re.compile(r"[ \t]*\\\n[ \t]*").finditer(source, start, end):
        kept += [*range(place, found.start()), found.start()]
        content += [source[place : found.start()], " "]
        place = found.end()
    content.append(source[place:end])
    kept += range(place, end)
    whole = "".join(content)
    stripped = whole.rstrip()
    return text.pick(stripped, [*kept[: len(stripped)], kept[len(stripped)] if len(stripped) < len(kept) else end])


def _body(text: MappedText, start: int, end: int) -> MappedText:
    """The lines of a `define`, as the recipe lines that they become where they stand alone."""
    place, pieces = start, []
    for found in re.compile(r"(?m)^[\t ]*(?:@[+-]?|[+-]@)?[\t ]*").finditer(text.text, start, end):
        pieces.append(text[place : found.start()])
        place = found.end()
    return join([*pieces, text[place:end]])


def _recipe(text: MappedText, start: int, end: int) -> MappedText:
    """A recipe line as the shell gets it: without the tab, `@`, `-` and `+` before it."""
    source = text.text
    prefix = re.compile(r"[\t ]*[@+-]*[\t ]*").match(source, start, end)
    return text[prefix.end() if prefix is not None else start : end]


def _expanded(
    text: MappedText, variables: Mapping[str, _Variable], insertions: dict[str, Word], depth: int
) -> tuple[MappedText, dict[str, Word]]:
    """A text with the references to variables of make replaced."""

    def resolve(found: re.Match[str], where: Location) -> Word | MappedText | str | None:
        if found[0] == "$$":
            return "$"
        variable = variables.get(found[1] or found[2] or "")
        if variable is None or not variable.known or depth >= _DEEPEST:
            return unknown(where, many=True, outside=True)
        content = variable.text.text
        if not re.search(r"[$'\"\\]", content):
            return used(_value(variable), where)
        if variable.assumed:
            return unknown(where, many=True, outside=True)
        return _expanded(variable.text, variables, insertions, depth + 1)[0]

    return replaced(text, _REFERENCE, resolve, insertions)


def _value(variable: _Variable) -> Value:
    content = variable.text.text
    if not variable.known or "$" in content:
        return Value(None, variable.where, known=False)
    return Value(content, variable.where, assumed=variable.assumed)
