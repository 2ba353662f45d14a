"""Service units of systemd: what they start and in which environment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from eaglelint.facts import EnvironmentSetting, Value
from eaglelint.location import Location, MappedText, join
from eaglelint.project import Source
from eaglelint.readers.commands import Command, Setting
from eaglelint.readers.expansion import split
from eaglelint.readers.outer import replaced, used
from eaglelint.readers.shell import run_words, without_returns
from eaglelint.readers.starting import Fact, facts_from
from eaglelint.readers.words import Word, unknown
from eaglelint.readers.wrappers import assignment

_KEY = re.compile(r"\s*(\w+)\s*=\s*")
_REFERENCE = re.compile(r"\$\$|\$(?:(\w+)|\{(\w+)\})|%(.)")


def unit_facts(source: Source) -> Iterator[Fact]:
    """What a service unit starts. Names in an EnvironmentFile are not known."""
    environment, _ = _read(source)
    for name, setting in environment.items():
        yield EnvironmentSetting(name, setting)
    for items in unit_commands(source):
        yield from facts_from(items, "shell")


def _read(source: Source) -> tuple[dict[str, Value], list[MappedText]]:
    """The environment of a unit, and its command lines."""
    environment: dict[str, Value] = {}
    commands: list[MappedText] = []
    for key, value in _entries(without_returns(source.text)):
        if key == "Environment":
            for word in split(*replaced(value, _REFERENCE, _specifiers)):
                pair = assignment(word)
                if pair is not None:
                    environment[pair[0]] = pair[1].value()
        elif key in ("ExecStart", "ExecStartPre", "ExecStartPost"):
            if not value.text.strip():
                commands = []
            else:
                commands.append(value)
    return environment, commands


def unit_commands(source: Source) -> Iterator[list[Command | Setting]]:
    """The commands of each command line of a service unit."""
    environment, commands = _read(source)
    variables = {name: Word.of(setting) for name, setting in environment.items()}
    for command in commands:
        text = command[len(command.text) - len(command.text.lstrip("-@:+!| ")) :]

        def resolve(found: re.Match[str], where: Location) -> Word | MappedText | str | None:
            name = found[1] or found[2]
            if name is None:
                return _specifiers(found, where)
            setting = environment.get(name)
            return used(setting, where) if setting is not None else unknown(where, many=True, outside=True)

        words = split(*replaced(text, _REFERENCE, resolve))
        yield run_words(words, text.location(0, len(text)), variables)


def _specifiers(found: re.Match[str], where: Location) -> Word | MappedText | str | None:
    """`%%` and `$$` are themselves; other specifiers are only known to systemd."""
    if found[0] in ("$$", "%%"):
        return found[0][0]
    return unknown(where) if found[3] else None


def _entries(text: MappedText) -> Iterator[tuple[str, MappedText]]:
    """The keys and values of a unit file, with joined lines on one; comments between joined lines are left out."""
    parts: list[MappedText] = []
    for found in re.finditer(r"[^\n]*(?:\n|$)", text.text):
        line = found[0].rstrip("\n")
        if line.lstrip().startswith(("#", ";")) or (not line.strip() and not parts):
            continue
        more = line.endswith("\\")
        parts.append(text[found.start() : found.start() + len(line) - (1 if more else 0)])
        if more:
            parts.append(text[found.start() + len(line) - 1 : found.start() + len(line)].replace_text(" "))
            continue
        whole = join(parts)
        parts = []
        key = _KEY.match(whole.text)
        if key is not None:
            yield key[1], whole[key.end() :]
