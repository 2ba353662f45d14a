"""Dockerfiles: their instructions, their build stages, and what their variables hold where an instruction uses them.

Joined lines, comments between them and here-documents are undone; every character keeps its place in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from eaglelint.facts import Value
from eaglelint.location import Location, MappedText, join
from eaglelint.readers.words import HOLE

_ESCAPE = re.compile(r"#[ \t]*escape[ \t]*=[ \t]*`", re.IGNORECASE)
_DIRECTIVE = re.compile(r"#[ \t]*\w+[ \t]*=")
_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|$)")
_INSTRUCTION = re.compile(r"\s*([A-Za-z]+)(?:\s+|$)(?:--[a-z][a-z-]*(?:=(?:\"[^\"]*\"|\S*))?(?:\s+|$))*")
#: Characters that variables may add to a text: `ENV A=$A$A` doubles it.
_LONGEST = 20_000
_HEREDOC = re.compile(r"(?<!<)<<(-?)([\"']?)([A-Za-z_]\w*)\2")
_STAGE = re.compile(r"(\S+)(?:\s+as\s+(\S+))?", re.IGNORECASE)
_VARIABLE = re.compile(r"\\\$|\$(?:(\w+)|\{(\w+)(?:(:?[-+])((?:[^{}]|\{[^}]*\})*))?\})")
_SETTING = re.compile(r"(\w+)(?:=(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|((?:[^\s\\]|\\.)*)))?", re.DOTALL)


class Instruction(NamedTuple):
    """One instruction of a Dockerfile.

    `name` is in capitals, `text` its arguments on one line, without its flags (`--mount=...`). `script` is what a RUN
    instruction gives to the shell, here-documents included. `stage` is the number of the build stage, -1 before the
    first FROM.
    """

    name: str
    text: MappedText
    where: Location
    script: MappedText
    stage: int = -1


class Stage(NamedTuple):
    """A build stage: its number, its name ("" without one) and what it starts from.

    `image` is the base image with its variables replaced, standing where it is written. `parent` is the number of the
    earlier stage that it starts from instead, None for an image.
    """

    number: int
    name: str
    image: Value
    parent: int | None


@dataclass(frozen=True)
class Dockerfile:
    """The instructions and the build stages of a Dockerfile; `arguments` are the ARG values that a FROM may use."""

    instructions: tuple[Instruction, ...]
    stages: tuple[Stage, ...]
    arguments: Mapping[str, Value]

    def unit(self, stage: int) -> str:
        """What a stage is called as the place that pins and launches belong to: "" when there is only one."""
        if len(self.stages) < 2 or stage < 0:
            return ""
        return self.stages[stage].name or f"stage {stage}"

    def family(self, stage: int) -> list[int]:
        """The stages that a stage is made of: itself first, then those that it starts from."""
        found: list[int] = []
        current: int | None = stage if stage >= 0 else None
        while current is not None:
            found.append(current)
            current = self.stages[current].parent
        return found

    def variables(self, at: Instruction) -> dict[str, Value]:
        """The ARG and ENV variables that an instruction sees. An ARG's default is assumed: a build may set another."""
        environment: dict[str, Value] = {}
        arguments: dict[str, Value] = {}
        for stage in reversed(self.family(at.stage)):
            arguments = {}
            for instruction in self.instructions:
                if instruction is at:
                    break
                if instruction.stage == stage and instruction.name == "ENV":
                    environment.update(settings(instruction, {**arguments, **environment}))
                elif instruction.stage == stage and instruction.name == "ARG":
                    arguments.update(_arguments(instruction, {**arguments, **environment}, self.arguments))
        return {**arguments, **environment}


def read_dockerfile(text: MappedText) -> Dockerfile:
    """The instructions and stages of a Dockerfile. What is no instruction is passed over."""
    instructions: list[Instruction] = []
    stages: list[Stage] = []
    arguments: dict[str, Value] = {}
    for instruction in _instructions(text):
        if instruction.name == "FROM":
            stages.append(_stage(instruction, stages, arguments))
        elif instruction.name == "ARG" and not stages:
            arguments.update(_arguments(instruction, arguments, {}))
        instructions.append(instruction._replace(stage=len(stages) - 1))
    return Dockerfile(tuple(instructions), tuple(stages), arguments)


def settings(instruction: Instruction, seen: Mapping[str, Value]) -> dict[str, Value]:
    """The variables that an ENV (or LABEL) instruction sets; `seen` are those that its values may use."""
    text = instruction.text
    old_form = re.match(r"(\w+)\s+(?=\S)", text.text)
    if old_form is not None:
        return {old_form[1]: substitute(text[old_form.end() : len(text.text.rstrip())], seen)}
    return {found[1]: _value(found, text, seen) for found in _SETTING.finditer(text.text) if "=" in found[0]}


def substitute(text: MappedText, variables: Mapping[str, Value]) -> Value:
    """A text with `$NAME`, `${NAME}`, `${NAME:-default}` and `${NAME:+other}` replaced.

    It is not known when one of the variables is not, and assumed when one of them is, or when a default is used.
    """
    where = text.location(0, len(text))
    pieces: list[str] = []
    assumed: list[str] = []
    defined: Location | None = None
    place = 0
    for found in _VARIABLE.finditer(text.text):
        pieces.append(text.text[place : found.start()])
        place = found.end()
        name, sign = found[1] or found[2], found[3] or ""
        value = variables.get(name) if name else None
        if name is None:
            pieces.append("$")
        elif sign.endswith("+"):
            pieces.append(found[4] if value is not None else "")
        elif value is not None:
            pieces.append(str(value.value) if value.known else HOLE)
            assumed += [value.assumed] if value.assumed else []
            defined = value.defined or value.where
        elif sign:
            pieces.append(found[4])
            assumed.append(f"default of ${name}")
        else:
            pieces.append(HOLE)
    if sum(map(len, pieces)) > len(text) + _LONGEST:
        return Value(HOLE, where, known=False)
    content = "".join([*pieces, text.text[place:]])
    return Value(content, where, HOLE not in content, ", ".join(dict.fromkeys(assumed)), defined)


def _instructions(text: MappedText) -> Iterator[Instruction]:
    lines = [found.span(1) for found in _LINE.finditer(text.text) if found[0]]
    escape = _escape(text.text, lines)
    index = 0
    while index < len(lines):
        start = lines[index][0]
        line, index = _joined(text, lines, index, escape)
        found = _INSTRUCTION.match(line.text) if line is not None else None
        if line is None or found is None:
            continue
        name, arguments = found[1].upper(), line[found.end() :]
        script, begun = [arguments], False
        for dash, _, word in _HEREDOC.findall(arguments.text) if name in ("RUN", "COPY", "ADD") else ():
            body, index = _heredoc(text, lines, index, dash == "-", word)
            if not begun and _HEREDOC.fullmatch(arguments.text.strip()):
                script = [body[: len(body.text.rstrip("\r\n").rpartition("\n")[0])]]
            else:
                script += [_line_end(arguments), body] if not begun else [body]
            begun = True
        where = text.location(start + found.start(1), lines[index - 1][1])
        yield Instruction(name, arguments, where, join(script))


def _escape(text: str, lines: Sequence[tuple[int, int]]) -> str:
    """The character that joins lines: a backslash, unless one of the directives at the top says otherwise."""
    for start, end in lines:
        if not _DIRECTIVE.match(text, start, end):
            break
        if _ESCAPE.match(text, start, end):
            return "`"
    return "\\"


def _joined(
    text: MappedText, lines: Sequence[tuple[int, int]], index: int, escape: str
) -> tuple[MappedText | None, int]:
    """The instruction that begins at a line, on one line, and the number of the line after it."""
    parts: list[MappedText] = []
    while index < len(lines):
        start, end = lines[index]
        index += 1
        content = text.text[start:end].rstrip()
        if not content.strip() or content.lstrip().startswith("#"):
            if parts:
                continue
            return None, index
        if not content.endswith(escape):
            parts.append(text[start : start + len(content)])
            break
        parts.append(text[start : start + len(content) - 1])
    return join(parts), index


def _heredoc(
    text: MappedText, lines: Sequence[tuple[int, int]], index: int, dash: bool, word: str
) -> tuple[MappedText, int]:
    """The here-document whose body begins at a line, its end word included, and the number of the line after it."""
    start = lines[index][0] if index < len(lines) else len(text)
    while index < len(lines):
        begin, end = lines[index]
        index += 1
        if (text.text[begin:end].lstrip("\t") if dash else text.text[begin:end]) == word:
            break
    return text[start : lines[index][0] if index < len(lines) else len(text)], index


def _stage(instruction: Instruction, stages: Sequence[Stage], arguments: Mapping[str, Value]) -> Stage:
    found = _STAGE.match(instruction.text.text)
    image = substitute(instruction.text[: found.end(1) if found else 0], arguments)
    wanted = str(image.value).lower()
    parent = next((stage.number for stage in reversed(stages) if stage.name and stage.name.lower() == wanted), None)
    return Stage(len(stages), (found[2] if found else None) or "", image, parent)


def _arguments(instruction: Instruction, seen: Mapping[str, Value], outside: Mapping[str, Value]) -> dict[str, Value]:
    """The values of ARG names: their defaults, or for those without one what an ARG before the first FROM gives."""
    values: dict[str, Value] = {}
    for found in _SETTING.finditer(instruction.text.text):
        name = found[1]
        if "=" in found[0]:
            values[name] = _value(found, instruction.text, {**seen, **values})._replace(
                assumed=f"default of ARG {name}"
            )
        elif name in outside:
            values[name] = outside[name]
    return values


def _value(found: re.Match[str], text: MappedText, seen: Mapping[str, Value]) -> Value:
    """The value of `NAME=value`; in single quotes nothing is replaced."""
    group = next((group for group in (2, 3, 4) if found[group] is not None), 4)
    inner = text[slice(*found.span(group))]
    if group == 3:
        return Value(inner.text, inner.location(0, len(inner)))
    value = substitute(inner, seen)
    return value._replace(value=re.sub(r"\\(.)", r"\1", value.value)) if value.known else value


def _line_end(text: MappedText) -> MappedText:
    return MappedText("\n", [text.origin[-1]] * 2, text.lines)
