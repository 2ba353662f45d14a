"""Model cards: what the front matter of a README says of the drafter beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import basename
from typing import Any

from eaglelint.conventions import recipes, trainers
from eaglelint.errors import DocumentError
from eaglelint.facts import Document, LayerIds, Recipe, Value
from eaglelint.project import Source
from eaglelint.readers.documents import read_yaml

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
#: Keys under which cards name the target of a drafter.
_TARGETS = ("base_model", "target_model", "verifier")


def read_card(source: Source) -> Iterator[Recipe]:
    """The card that a README is: the target that it names, and ids with the trainer that its tags name.

    Raises UnreadableSource.
    """
    if basename(source.path).lower() not in ("readme.md", "model_card.md", "modelcard.md"):
        return
    found = _FRONT.match(source.text.text)
    if found is None:
        return
    try:
        every = read_yaml(source.text[slice(*found.span(1))])
    except DocumentError:
        return  # front matter that no one can read is no evidence, and its card no file of the pipeline
    for document in every:
        if isinstance(document.value, dict):
            yield from _of_front(document)


def _of_front(document: Document) -> Iterator[Recipe]:
    target = next((value for key in _TARGETS if (value := _name(document, key)) is not None), None)
    ids = next(_lists(document, document.value, ""), None)
    if target is None and ids is None:
        return
    where = ids.where if ids is not None else target.where if target is not None else document.where("")
    yield Recipe(_trainer(document), "", "card", where, ids=ids, target=target)


def _name(document: Document, key: str) -> Value | None:
    """The model that a key names: a text, or the only entry of a list."""
    for pointer in (f"/{key}", f"/{key}/0"):
        value = document.get(pointer)
        if isinstance(value, str) and value and not (pointer.endswith("/0") and document.has(f"/{key}/1")):
            return Value(value, document.spans[pointer])
    return None


def _lists(document: Document, value: Any, pointer: str) -> Iterator[LayerIds]:
    for key, entry in value.items() if isinstance(value, dict) else ():
        below = f"{pointer}/{key}"
        whole = isinstance(entry, list) and all(isinstance(i, int) and not isinstance(i, bool) for i in entry)
        if whole and len(entry) > 1 and key in recipes.unknown().keys:
            yield LayerIds(below, tuple(entry), document.spans[below])
        yield from _lists(document, entry, below)


def _trainer(document: Document) -> str:
    """The trainer that the tags or the library name, "" for none or several."""
    tags = document.get("/tags")
    names = [*(tags if isinstance(tags, list) else ()), document.get("/library_name"), document.get("/trained_with")]
    found = {
        t.name for name in names if isinstance(name, str) and (t := trainers.trainer(name)) and t.kind == "trainer"
    }
    return found.pop() if len(found) == 1 else ""
