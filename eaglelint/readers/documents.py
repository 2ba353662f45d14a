"""JSON, YAML and TOML documents in which every value and key has its place."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from eaglelint.errors import DocumentError
from eaglelint.facts import Document
from eaglelint.location import MappedText
from eaglelint.project import Source
from eaglelint.readers.json_document import read_json, string_text
from eaglelint.readers.toml_document import read_toml
from eaglelint.readers.yaml_document import read_yaml

__all__ = ["DocumentError", "documents", "read_json", "read_toml", "read_yaml", "scalar_text", "string_text"]

_READERS: dict[str, Callable[[MappedText], list[Document]]] = {
    "json": lambda text: [read_json(text)],
    "notebook": lambda text: [read_json(text)],
    "toml": lambda text: [read_toml(text)],
    "yaml": read_yaml,
}


@lru_cache(maxsize=8)
def documents(source: Source) -> list[Document]:
    """The documents in a JSON, YAML or TOML file (of YAML there may be several); none in a file of another kind.

    Several readers ask for the same file one after the other, so the last few are kept. Raises DocumentError, and
    UnreadableSource for a file that is no text.
    """
    reader = _READERS.get(source.kind)
    return reader(source.text) if reader is not None else []


def scalar_text(document: Document, pointer: str) -> MappedText | None:
    """The content of the string at a pointer, decoded, each character with its place; None when there is no string.

    So a command in a block scalar, or JSON inside a quoted one, points into the file that a person edits.
    """
    return document.texts.get(pointer)
