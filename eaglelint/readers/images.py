"""What containers of a Dockerfile's stages run, what is run to build them, and their environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from eaglelint.errors import DocumentError
from eaglelint.facts import EnvironmentSetting, Launch
from eaglelint.location import Location, MappedText
from eaglelint.project import Source
from eaglelint.readers.commands import Command, Setting
from eaglelint.readers.containers import Dockerfile, Instruction, read_dockerfile, settings
from eaglelint.readers.documents import read_json
from eaglelint.readers.shell import read_commands, run_words
from eaglelint.readers.starting import Fact, facts_from
from eaglelint.readers.words import Word
from eaglelint.readers.written import is_script


def image_facts(source: Source) -> Iterator[Fact]:
    """What a Dockerfile starts: in its RUN instructions, and as the last ENTRYPOINT and CMD of each stage."""
    yield from dockerfile_facts(source.text)


def dockerfile_facts(text: MappedText) -> Iterator[Fact]:
    """The same for the text of one."""
    dockerfile = read_dockerfile(text)
    for instruction in dockerfile.instructions:
        unit = dockerfile.unit(instruction.stage)
        if instruction.name == "ENV":
            for name, value in settings(instruction, dockerfile.variables(instruction)).items():
                yield EnvironmentSetting(name, value)
        elif instruction.name == "RUN":
            words = _exec_form(instruction)
            variables = _variables(dockerfile, instruction)
            items = (
                read_commands(instruction.script, variables)
                if words is None
                else run_words(words, instruction.where, variables)
            )
            yield from facts_from(items, "dockerfile", unit)
        elif instruction.name in ("COPY", "ADD") and "<<" in instruction.text.text:
            variables = _variables(dockerfile, instruction)
            later = {name: variables[name] for name in _environment(dockerfile) & set(variables)}
            for text in _written(instruction, variables):
                yield from facts_from(read_commands(text, later), "dockerfile", unit)
    for stage in dockerfile.stages:
        yield from _started(dockerfile, stage.number)


def image_scripts(source: Source) -> Iterator[MappedText]:
    """The texts that a Dockerfile gives to a shell."""
    for instruction in read_dockerfile(source.text).instructions:
        if instruction.name in ("RUN", "CMD", "ENTRYPOINT") and _exec_form(instruction) is None:
            yield instruction.script


def _started(dockerfile: Dockerfile, stage: int) -> Iterator[Fact]:
    """What a container of a stage runs, when the stage says something about it."""
    own = _last(dockerfile, [stage], "ENTRYPOINT"), _last(dockerfile, [stage], "CMD")
    if own == (None, None):
        return
    family = dockerfile.family(stage)
    entrypoint, command = _last(dockerfile, family, "ENTRYPOINT"), _last(dockerfile, family, "CMD")
    if own[0] is not None and own[1] is None:
        command = None  # a new entry point empties the command of the image below
    last = max((i for i in (entrypoint, command) if i is not None), key=lambda i: i.where.start)
    variables = _variables(dockerfile, last)
    image = str(dockerfile.stages[family[-1]].image.value)
    items: list[Command | Setting] = []
    first = _exec_form(entrypoint) if entrypoint is not None else []
    second = _exec_form(command) if command is not None else []
    if first is None and entrypoint is not None:
        items = read_commands(entrypoint.script, variables)
    elif second is None and command is not None and not first:
        items = read_commands(command.script, variables)
    else:
        where = (entrypoint or command or last).where
        items = run_words([*(first or ()), *(second or ())], where, variables)
    mounts = _copied(dockerfile, family)
    for fact in facts_from(items, "dockerfile", dockerfile.unit(stage), "" if entrypoint is not None else image):
        yield replace(fact, mounts=(*fact.mounts, *mounts)) if isinstance(fact, Launch) else fact


def _environment(dockerfile: Dockerfile) -> set[str]:
    """The names that ENV sets: unlike those of ARG, a container has them."""
    return {name for i in dockerfile.instructions if i.name == "ENV" for name in settings(i, {})}


def _written(instruction: Instruction, variables: dict[str, Word]) -> Iterator[MappedText]:
    """The scripts that `COPY <<EOF /start.sh` writes; Docker has replaced the variables in them that it knows."""
    for item in read_commands(instruction.script, variables):
        body = item.stdin if isinstance(item, Command) else None
        if isinstance(item, Command) and body is not None and is_script(item.words[-1].content, body.content):
            yield body.written or instruction.script


def _last(dockerfile: Dockerfile, stages: list[int], name: str) -> Instruction | None:
    """The instruction of that name that counts: the last one of the nearest stage that has one."""
    for stage in stages:
        found = [i for i in dockerfile.instructions if i.stage == stage and i.name == name]
        if found:
            return found[-1]
    return None


def _variables(dockerfile: Dockerfile, at: Instruction) -> dict[str, Word]:
    return {name: Word.of(value) for name, value in dockerfile.variables(at).items()}


def _exec_form(instruction: Instruction) -> list[Word] | None:
    """The words of an instruction in exec form, a JSON list of strings; None for the shell form."""
    if not instruction.text.text.lstrip().startswith("["):
        return None
    try:
        document = read_json(instruction.text)
    except DocumentError:
        return None  # Docker takes a broken list for a command line, too
    if not isinstance(document.value, list) or not all(isinstance(entry, str) for entry in document.value):
        return None
    words = []
    for index, entry in enumerate(document.value):
        where: Location = document.spans[f"/{index}"]
        words.append(Word(entry, where, document.texts.get(f"/{index}")))
    return words


def _copied(dockerfile: Dockerfile, family: list[int]) -> tuple[tuple[str, str], ...]:
    """The folders and files of the project that COPY puts into an image, and where."""
    found = []
    for instruction in dockerfile.instructions:
        if instruction.stage in family and instruction.name == "COPY" and "<<" not in instruction.text.text:
            *sources, target = re.findall(r"[^\s\[\],\"]+", instruction.text.text) or [""]
            found += [(name, target) for name in sources if not name.startswith(("/", "$"))]
    return tuple(found)
