"""Releases in YAML and JSON that run things: compose files, Kubernetes objects, workflows, and their like.

What an image, a command or a `pip` list says belongs to the service, job or container that holds it (`unit`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from eaglelint.facts import Document, EnginePin, Value
from eaglelint.location import Location, MappedText
from eaglelint.project import Source
from eaglelint.readers.containers import substitute
from eaglelint.readers.documents import documents, scalar_text
from eaglelint.readers.installs import script_pins
from eaglelint.readers.manifests import conda_pins, requirement_list
from eaglelint.readers.places import pointer_part
from eaglelint.readers.releases import image_pin
from eaglelint.readers.words import FIRST_INSERTION, Word, unknown

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}", re.DOTALL)
#: Keys whose string values name an image: compose and Kubernetes, workflow jobs and steps, SkyPilot.
_IMAGE_KEYS = ("image", "container", "uses", "image_id")


def deployment_pins(source: Source) -> Iterator[EnginePin]:
    """The pins of a YAML or JSON file."""
    for document in documents(source):
        value = document.value
        if isinstance(value, dict) and isinstance(value.get("dependencies"), list):
            yield from conda_pins(document)
        yield from _walk(document, value, "", "", {})


def _walk(document: Document, value: Any, pointer: str, unit: str, env: Mapping[str, Value]) -> Iterator[EnginePin]:
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _walk(document, entry, f"{pointer}/{index}", unit, env)
    elif isinstance(value, str):
        yield from _script(document, pointer, unit, env)
    elif isinstance(value, dict):
        if isinstance(value.get("name"), str) and isinstance(value.get("image"), str):
            unit = unit or value["name"]
        env = {**env, **_environment(document, f"{pointer}/env", value.get("env"))}
        for key, entry in value.items():
            below = f"{pointer}/{pointer_part(key)}"
            if key in _IMAGE_KEYS:
                yield from _image(document, below, entry, unit, env)
            elif key == "pip" and pointer.rpartition("/")[0] != "/dependencies":
                yield from requirement_list(document, below, "install", unit)
            named = pointer in ("/services", "/jobs") and isinstance(entry, dict)
            yield from _walk(document, entry, below, key if named else unit, env)


def _environment(document: Document, pointer: str, entry: Any) -> dict[str, Value]:
    """The values of an `env:` mapping of a workflow."""
    if not isinstance(entry, dict):
        return {}
    places = {name: document.spans.get(f"{pointer}/{pointer_part(name)}") for name in entry}
    return {
        name: Value(value if isinstance(value, str) else str(value), places[name] or document.where(pointer))
        for name, value in entry.items()
        if isinstance(value, (str, int, float)) and "${{" not in str(value)
    }


def _image(document: Document, pointer: str, entry: Any, unit: str, env: Mapping[str, Value]) -> Iterator[EnginePin]:
    if isinstance(entry, dict):  # Helm's values.yaml, or GitLab's `image: {name: ...}`
        repository, tag = entry.get("repository"), entry.get("tag")
        if isinstance(repository, str) and isinstance(tag, (str, int, float)):
            where = document.spans.get(f"{pointer}/tag") or document.where(pointer)
            yield from _pins(f"{repository}:{tag}", where, unit)
        elif isinstance(entry.get("name"), str):
            yield from _image(document, f"{pointer}/name", entry["name"], unit, env)
        return
    text = scalar_text(document, pointer)
    if text is None or (pointer.endswith("/uses") and not text.text.startswith("docker://")):
        return
    where = document.spans.get(pointer, document.where(pointer))
    if "${{" in text.text:
        content = _EXPRESSION.sub(lambda found: str(_resolved(found[1], env).value), text.text)
        yield from _pins(content, where, unit)
        return
    # Compose replaces variables by what the shell or a .env file gives.
    image = substitute(text, {})
    yield from _pins(str(image.value), where, unit, image.assumed)


def _pins(reference: str, where: Location, unit: str, assumed: str = "") -> Iterator[EnginePin]:
    pin = image_pin(re.sub(r"^docker:(?!//)", "", reference), where, unit, assumed)
    if pin is not None:
        yield pin


def _resolved(expression: str, env: Mapping[str, Value]) -> Value:
    """The value of a workflow's expression; only `env.NAME` is known."""
    found = re.fullmatch(r"env\.(\w+)", expression)
    value = env.get(found[1]) if found else None
    return value or Value("$", Location(""), known=False)


def _script(document: Document, pointer: str, unit: str, env: Mapping[str, Value]) -> Iterator[EnginePin]:
    text = scalar_text(document, pointer)
    if text is None:
        return
    text, insertions = _with_expressions(text, env)
    yield from script_pins(text, unit, {name: Word.of(value) for name, value in env.items()}, insertions)


def _with_expressions(text: MappedText, env: Mapping[str, Value]) -> tuple[MappedText, dict[str, Word]]:
    """A script in which each `${{ expression }}` is one character, and the words that these stand for."""
    content: list[str] = []
    indices: list[int] = []
    insertions: dict[str, Word] = {}
    place = 0
    for number, found in enumerate(_EXPRESSION.finditer(text.text)):
        value = _resolved(found[1], env)
        mark = chr(FIRST_INSERTION + number)
        where = text.location(*found.span())
        insertions[mark] = Word.of(value._replace(where=where, defined=value.where)) if value.known else unknown(where)
        content += [text.text[place : found.start()], mark]
        indices += range(place, found.start() + 1)
        place = found.end()
    content.append(text.text[place:])
    return text.pick("".join(content), [*indices, *range(place, len(text) + 1)]), insertions
