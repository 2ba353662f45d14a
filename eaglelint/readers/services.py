"""YAML files that run things: compose services, Kubernetes containers, workflow jobs, options files of engines.

A service, container or job is the `unit` of what it starts, under the name that its pins have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from eaglelint.facts import Document, EnvironmentSetting, Launch, Value
from eaglelint.location import Location, MappedText, join
from eaglelint.project import Source
from eaglelint.readers.commands import Command, Setting
from eaglelint.readers.documents import documents, scalar_text
from eaglelint.readers.expansion import split, verbatim
from eaglelint.readers.options import options_launch
from eaglelint.readers.outer import Resolve, default, replaced, used
from eaglelint.readers.places import pointer_part
from eaglelint.readers.shell import read_commands, run_words
from eaglelint.readers.starting import Fact, facts_from
from eaglelint.readers.words import Word, unknown
from eaglelint.readers.wrappers import mount

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}", re.DOTALL)
_COMPOSE = re.compile(r"\$\$|\$(?:(\w+)|\{(\w+)(?:(:?[-?+])((?:[^{}]|\{[^}]*\})*))?\})")
_KUBERNETES = re.compile(r"\$\$\((\w+)\)|\$\((\w+)\)")
#: Keys whose text a shell runs: workflows, GitLab, SkyPilot, dstack, Buildkite.
_SCRIPT_KEYS = ("setup", "before_script", "run", "script", "commands", "command")
_ENVIRONMENT_KEYS = ("environment", "env", "envs", "variables")
_DEEPEST = 40


@dataclass(frozen=True)
class _Place:
    """Where in a document something stands: `env` are the variables set there, `form` says what kind of file it is."""

    document: Document
    pointer: str = ""
    unit: str = ""
    form: str = "yaml"
    env: Mapping[str, Value] = field(default_factory=dict)

    def below(self, key: str | int) -> str:
        """The pointer of an entry."""
        return f"{self.pointer}/{pointer_part(str(key))}"


def service_facts(source: Source) -> Iterator[Fact]:
    """What a YAML file starts."""
    yield from document_facts(documents(source))


def document_facts(every: Iterable[Document]) -> Iterator[Fact]:
    """What the documents of a YAML text start."""
    for document in every:
        yield from _walk(_Place(document, form=_form(document)), document.value, 0)


def service_scripts(source: Source) -> Iterator[tuple[str, MappedText]]:
    """The texts that a YAML file gives to a shell ("shell") or to Python ("python")."""
    for document in documents(source):
        for pointer in document.texts:
            parent, _, key = pointer.rpartition("/")
            text = scalar_text(document, pointer)
            if text is not None and (key in _SCRIPT_KEYS or key.isdigit()) and "\n" in text.text.strip():
                yield ("python" if document.get(f"{parent}/shell") == "python" else "shell"), text


def _form(document: Document) -> str:
    value = document.value
    if isinstance(value, dict):
        if isinstance(value.get("services"), dict):
            return "compose"
        if isinstance(value.get("kind"), str) and "apiVersion" in value:
            return "kubernetes"
        if isinstance(value.get("jobs"), dict):
            return "workflow"
    return "yaml"


def _walk(place: _Place, value: Any, depth: int) -> Iterator[Fact]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _walk(replace(place, pointer=place.below(index)), entry, depth + 1)
    if not isinstance(value, dict):
        return
    if isinstance(value.get("name"), str) and isinstance(value.get("image"), str):
        place = replace(place, unit=place.unit or value["name"])
    own = dict(_environment(place, value))
    for name, setting in own.items():
        yield EnvironmentSetting(name, setting)
    place = replace(place, env={**place.env, **own})
    launch = options_launch(place.document, place.pointer, value, place.unit)
    if launch is not None:
        yield launch
    if _is_container(place, value):
        yield from _container(place, value)
    else:
        yield from _scripts(place, value)
    for key, entry in value.items():
        named = place.pointer in ("/services", "/jobs") and isinstance(entry, dict)
        inner = replace(place, pointer=place.below(key), unit=key if named else place.unit)
        yield from _walk(inner, entry, depth + 1)


def _is_container(place: _Place, value: Mapping[str, Any]) -> bool:
    """Whether a mapping is a compose service or a container with a command of its own."""
    if place.pointer.startswith("/services/") and place.pointer.count("/") == 2:
        return True
    lists = [entry for entry in (value.get("command"), value.get("args")) if isinstance(entry, list) and entry]
    if isinstance(value.get("image"), (str, dict)):
        return bool(lists)
    words = value.get("command")
    return len(lists) == 2 and isinstance(words, list) and not any(re.search(r"\s", str(word)) for word in words[:2])


def _container(place: _Place, value: Mapping[str, Any]) -> Iterator[Fact]:
    """The entry point and arguments of a container: `entrypoint` and `command`, or `command` and `args`."""
    kubernetes = "args" in value or place.form == "kubernetes"
    first, second = ("command", "args") if kubernetes else ("entrypoint", "command")
    resolve = _kubernetes(place.env) if kubernetes else _compose
    words: list[Word] = []
    where: Location | None = None
    for key in (first, second):
        found = _words(place, key, value.get(key), resolve)
        if found and where is None:
            where = place.document.where(place.below(key))
        words += found
    if where is None:
        return
    given = value.get("image")
    image = "" if value.get(first) or not isinstance(given, str) else given
    items = run_words(words, where, {name: Word.of(setting) for name, setting in place.env.items()})
    yield from _with_mounts(facts_from(items, place.form, place.unit, image), _mounts(value.get("volumes")))


def _with_mounts(facts: Iterator[Fact], mounts: tuple[tuple[str, str], ...]) -> Iterator[Fact]:
    for fact in facts:
        yield replace(fact, mounts=(*fact.mounts, *mounts)) if isinstance(fact, Launch) and mounts else fact


def _mounts(volumes: Any) -> tuple[tuple[str, str], ...]:
    """The folders of the host that a compose service sees, and where it sees them."""
    found: list[tuple[str, str]] = []
    for entry in volumes if isinstance(volumes, list) else ():
        if isinstance(entry, str):
            found += mount(entry)
        elif isinstance(entry, dict) and isinstance(entry.get("source"), str) and isinstance(entry.get("target"), str):
            found.append((entry["source"], entry["target"]))
    return tuple(found)


def _words(place: _Place, key: str, value: Any, resolve: Resolve) -> list[Word]:
    """The words of a command: those of a string, or the entries of a list."""
    pattern = _COMPOSE if resolve is _compose else _KUBERNETES
    pointer = place.below(key)
    if isinstance(value, str):
        text = scalar_text(place.document, pointer)
        return split(*replaced(text, pattern, resolve)) if text is not None else []
    words: list[Word] = []
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        text = scalar_text(place.document, f"{pointer}/{index}")
        where = place.document.spans[f"{pointer}/{index}"]
        if text is not None:
            words.append(replace(verbatim(*replaced(text, pattern, resolve)), where=where))
        elif isinstance(entry, bool):
            words.append(Word(str(entry).lower(), where))
        else:
            words.append(Word.of(Value(entry, where)))
    return words


def _compose(found: re.Match[str], where: Location) -> Word | MappedText | str | None:
    """Compose takes variables from the shell that starts it and from `.env`; only defaults are in the file."""
    name, sign, given = found[1] or found[2], found[3] or "", found[4] or ""
    if name is None:
        return "$"
    if sign.endswith("-") and given:
        plain = not re.search(r"[$'\"\\]", given)
        return default(given, where, f"${name}") if plain else unknown(where, many=True)
    return unknown(where, outside=True)


def _kubernetes(env: Mapping[str, Value]) -> Resolve:
    """Kubernetes replaces `$(NAME)` by a variable of the container, and leaves everything else alone."""

    def resolve(found: re.Match[str], where: Location) -> Word | MappedText | str | None:
        if found[1] is not None:
            return found[0][1:]
        value = env.get(found[2])
        return used(value, where) if value is not None else None

    return resolve


def _scripts(place: _Place, value: Mapping[str, Any]) -> Iterator[Fact]:
    """Texts that a shell runs, in the order of their steps."""
    if value.get("shell") not in (None, "bash", "sh", "zsh") or place.pointer.endswith("/with"):
        return  # another language, or the inputs of an action
    variables = {name: Word.of(setting) for name, setting in place.env.items()}
    for key in _SCRIPT_KEYS:
        entry = value.get(key)
        text = _script(place, key, entry)
        if text is not None and re.search(r"[\s/]", text.text.strip()):
            script, insertions = replaced(text, _EXPRESSION, _workflow(place.env))
            items: list[Command | Setting] = read_commands(script, variables, insertions)
            yield from facts_from(items, place.form, place.unit)


def _script(place: _Place, key: str, entry: Any) -> MappedText | None:
    """A text for a shell; the lines of a list are run by the same shell, one after the other."""
    if not isinstance(entry, list):
        return scalar_text(place.document, place.below(key))
    lines = [scalar_text(place.document, f"{place.below(key)}/{index}") for index in range(len(entry))]
    pieces: list[MappedText] = []
    for line in lines:
        if line is None:
            return None
        pieces += [line, line.pick("\n", (len(line), len(line)))]
    return join(pieces) if pieces else None


def _workflow(env: Mapping[str, Value]) -> Resolve:
    """Of a workflow's expressions only `env.NAME` is known."""

    def resolve(found: re.Match[str], where: Location) -> Word | MappedText | str | None:
        name = re.fullmatch(r"env\.(\w+)", found[1])
        value = env.get(name[1]) if name is not None else None
        return used(value, where) if value is not None else unknown(where, outside=True)

    return resolve


def _environment(place: _Place, value: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    """The variables that a mapping sets: NAME: value, [NAME=value], or [{name, value}]."""
    for key in _ENVIRONMENT_KEYS:
        entry, pointer = value.get(key), place.below(key)
        if isinstance(entry, dict):
            for name, given in entry.items():
                if isinstance(given, (str, int, float)) or given is None:
                    yield name, _setting(place, f"{pointer}/{pointer_part(name)}", given)
        elif isinstance(entry, list):
            for index, line in enumerate(entry):
                below = f"{pointer}/{index}"
                if isinstance(line, str):
                    name, sign, given = line.partition("=")
                    text = scalar_text(place.document, below)
                    if sign and text is not None:
                        yield name, verbatim(*replaced(text[len(name) + 1 :], _COMPOSE, _compose)).value()
                    elif re.fullmatch(r"\w+", name):
                        yield name, Value(None, place.document.spans[below], known=False)
                elif isinstance(line, dict) and isinstance(line.get("name"), str):
                    given_here = "value" in line
                    where = f"{below}/value" if given_here else f"{below}/name"
                    yield line["name"], _setting(place, where, line.get("value") if given_here else None)


def _setting(place: _Place, pointer: str, given: Any) -> Value:
    """The value that a variable is given; what is not written in the file, or computed, is not known."""
    where = place.document.spans[pointer]
    text = scalar_text(place.document, pointer)
    if given is None:
        return Value(None, where, known=False)
    if text is None:
        return Value(str(given).lower() if isinstance(given, bool) else str(given), where)
    if place.form == "workflow":
        value = verbatim(*replaced(text, _EXPRESSION, _workflow(place.env))).value()
    elif place.form == "compose":
        value = verbatim(*replaced(text, _COMPOSE, _compose)).value()
    else:
        value = Value(text.text, where)
    return value._replace(where=where)
