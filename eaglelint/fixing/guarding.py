"""The proof that a changed file says the same as before everywhere but at the places of its edits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eaglelint.errors import DocumentError
from eaglelint.facts import Document
from eaglelint.findings import Edit
from eaglelint.fixing.edits import Refused
from eaglelint.location import MappedText
from eaglelint.project import Source

_DOCUMENTS = frozenset({"json", "yaml", "toml"})


def guard(source: Source, new: str, edits: Sequence[Edit]) -> None:
    """Raises Refused when the new text can not be read as the old one could, or says something else elsewhere."""
    if source.kind in _DOCUMENTS:
        _guard_documents(source, new, edits)
    elif source.kind == "python":
        _guard_python(source, new)


def _guard_documents(source: Source, new: str, edits: Sequence[Edit]) -> None:
    """Every value of the old document whose place no edit touches is in the new one."""
    from eaglelint.readers.documents import documents

    try:
        before = documents(source)
        after = documents(Source(source.path, source.kind, source.file, new.encode("utf-8")))
    except DocumentError as error:
        raise Refused(f"the file could not be read any more: {error.reason}") from None
    if len(before) != len(after):
        raise Refused("the file would hold another number of documents")
    for old, changed in zip(before, after, strict=True):
        if len(changed.duplicates) > len(old.duplicates):
            raise Refused("a key would stand twice")
        touched = [pointer for pointer in old.spans if _touches(old, pointer, edits)]
        if _without(old.value, touched) != _without(changed.value, [*touched, *_added(old, changed)]):
            raise Refused("something else in the file would change")


def _touches(document: Document, pointer: str, edits: Sequence[Edit]) -> bool:
    """Whether an edit changes the entry at a pointer: its key, a value without others in it, or the whole value."""
    key, value = document.keys.get(pointer), document.spans[pointer]
    whole = isinstance(document.get(pointer), (dict, list)) and bool(document.get(pointer))
    for edit in edits:
        if key is not None and edit.start < key.end and key.start < edit.end:
            return True
        covers = edit.start <= value.start and value.end <= edit.end
        if covers if whole else edit.start < value.end and value.start < edit.end:
            return True
    return False


def _added(old: Document, new: Document) -> list[str]:
    """The entries that only the new document has."""
    return [pointer for pointer in new.spans if pointer not in old.spans]


_GONE = object()


def _without(value: Any, pointers: Sequence[str]) -> Any:
    """A value with the nodes at some pointers left out."""
    gone = set(pointers)

    def walk(node: Any, pointer: str) -> Any:
        if pointer in gone:
            return _GONE
        if isinstance(node, dict):
            entries = {
                name: walk(item, f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}")
                for name, item in node.items()
            }
            return {name: item for name, item in entries.items() if item is not _GONE}
        if isinstance(node, list):
            items = [walk(item, f"{pointer}/{index}") for index, item in enumerate(node)]
            return [item for item in items if item is not _GONE]
        return node

    return walk(value, "")


def _guard_python(source: Source, new: str) -> None:
    """The new text is Python where the old one was."""
    from eaglelint.analyser.fragments import FragmentError, parse_module

    try:
        parse_module(source.text)
    except FragmentError:
        return
    try:
        parse_module(MappedText.whole(source.path, new))
    except FragmentError as error:
        raise Refused(f"the file could not be read any more: {error.reason}") from None
