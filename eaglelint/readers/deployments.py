"""Releases in YAML and JSON that run things: compose files, Kubernetes objects, workflows, and their like.

What an image, a command or a `pip` list says belongs to the service, job or container that holds it (`unit`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from eaglelint.facts import Document, EnginePin, Value
from eaglelint.location import Location
from eaglelint.project import Source
from eaglelint.readers.containers import substitute
from eaglelint.readers.documents import documents, scalar_text
from eaglelint.readers.expansion import verbatim
from eaglelint.readers.installs import may_install, script_pins
from eaglelint.readers.manifests import conda_pins, requirement_list
from eaglelint.readers.outer import Resolve, replaced, used
from eaglelint.readers.places import pointer_part
from eaglelint.readers.releases import image_pin
from eaglelint.readers.words import Word, unknown

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}", re.DOTALL)
#: Keys whose string values name an image: compose and Kubernetes, workflow jobs and steps, SkyPilot.
_IMAGE_KEYS = ("image", "container", "uses", "image_id")


def deployment_pins(source: Source) -> Iterator[EnginePin]:
    """The pins of a YAML or JSON file."""
    yield from document_pins(documents(source))


def document_pins(every: Iterable[Document]) -> Iterator[EnginePin]:
    """The pins of documents."""
    for document in every:
        value = document.value
        if isinstance(value, dict) and isinstance(value.get("dependencies"), list):
            yield from conda_pins(document)
        yield from _walk(document, value, "", "", {})


def _walk(document: Document, value: Any, pointer: str, unit: str, env: Mapping[str, Value]) -> Iterator[EnginePin]:
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _walk(document, entry, f"{pointer}/{index}", unit, env)
    elif isinstance(value, str) and may_install(value):
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
        yield from _pins(verbatim(*replaced(text, _EXPRESSION, _expression(env))).content, where, unit)
        return
    # Compose replaces variables by what the shell or a .env file gives.
    image = substitute(text, {})
    yield from _pins(str(image.value), where, unit, image.assumed)


def _pins(reference: str, where: Location, unit: str, assumed: str = "") -> Iterator[EnginePin]:
    pin = image_pin(re.sub(r"^docker:(?!//)", "", reference), where, unit, assumed)
    if pin is not None:
        yield pin


def _script(document: Document, pointer: str, unit: str, env: Mapping[str, Value]) -> Iterator[EnginePin]:
    text = scalar_text(document, pointer)
    if text is not None:
        script, insertions = replaced(text, _EXPRESSION, _expression(env))
        yield from script_pins(script, unit, {name: Word.of(value) for name, value in env.items()}, insertions)


def _expression(env: Mapping[str, Value]) -> Resolve:
    """Of a workflow's expressions only `env.NAME` is known."""

    def resolve(found: re.Match[str], where: Location) -> Word:
        name = re.fullmatch(r"env\.(\w+)", found[1])
        value = env.get(name[1]) if name else None
        return used(value, where) if value is not None else unknown(where)

    return resolve
