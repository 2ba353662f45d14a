"""YAML with positions, from the events of PyYAML's C parser.

The values are those of its SafeLoader, with three differences: nothing but plain values is ever built (a timestamp
stays text, an unknown tag is passed over), keys are text as written (`on:` is "on"), and `1e5` is a number as people
mean it. Aliases and nesting are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import yaml
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    MappingStartEvent,
    ScalarEvent,
)
from yaml.nodes import ScalarNode

from eaglelint.errors import DocumentError
from eaglelint.facts import Document
from eaglelint.location import MappedText
from eaglelint.readers.places import Span, Spans, placed_document, pointer_part, refuse_many
from eaglelint.readers.scalar_text import scalar_text

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 100
#: How many times the values that are written may be multiplied by aliases.
_MOST_COPIES = 20
_TAG = "tag:yaml.org,2002:"
_FLOAT = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]{1,3}")
_TEMPLATE = re.compile(r"(?<!\$)\{\{|\{%")
_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*(?:\s+|(?=[\[{]))(?:#[^\r\n]*\s*)*)+")


@dataclass
class _Node:
    """A value as written: `items` of a sequence, `entries` (key, its span, value) of a mapping, else a plain value.

    `merges` are the values of the merge keys `<<` of a mapping, `key` is the key whose value comes next.
    """

    start: int
    end: int
    value: Any = None
    items: list[_Node] | None = None
    entries: list[tuple[str, Span, _Node]] | None = None
    merges: list[_Node] = field(default_factory=list)
    is_open: bool = False
    is_merge: bool = False
    key: _Node | None = None


def read_yaml(text: MappedText) -> list[Document]:
    """The documents of a YAML stream; raises DocumentError with the place of what is wrong."""
    try:
        roots, written = _compose(text)
        return [_document(root, text, written) for root in roots]
    except yaml.reader.ReaderError as error:
        character = chr(error.character) if isinstance(error.character, int) else str(error.character)
        place = max(0, text.text.find(character))
        raise DocumentError(text.location(place, place + 1), f"not YAML: {error.reason}") from None
    except UnicodeEncodeError as error:
        raise DocumentError(text.location(error.start, error.start + 1), "not YAML: half a character") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = mark.index if mark is not None else 0
        template = _TEMPLATE.search(text.text) is not None
        reason = "not YAML before it is rendered: a template" if template else f"not YAML: {error.problem}"
        raise DocumentError(text.location(place, place + 1), reason, template) from None


def _compose(text: MappedText) -> tuple[list[_Node], int]:
    """The root nodes of the documents, and how many nodes are written; an alias is the node that it names."""
    roots: list[_Node] = []
    anchors: dict[str, _Node] = {}
    stack: list[_Node] = []
    written = 0
    event: Any
    for event in yaml.parse(text.text, Loader=_Loader):
        if isinstance(event, DocumentStartEvent):
            anchors = {}
        elif isinstance(event, CollectionEndEvent):
            _close(stack.pop(), event)
        elif isinstance(event, (AliasEvent, ScalarEvent, CollectionStartEvent)):
            written += 1
            refuse_many(text, written, "YAML")
            node = _alias(event, anchors, text) if isinstance(event, AliasEvent) else _node(event, text.text)
            if event.anchor and not isinstance(event, AliasEvent):
                anchors[event.anchor] = node
            _attach(node, event, stack, roots, text.text)
            if isinstance(event, CollectionStartEvent):
                if len(stack) >= _DEEPEST:
                    raise DocumentError(text.location(node.start, node.start + 1), "YAML that is nested too deeply")
                node.is_open = True
                stack.append(node)
    return roots, written


def _alias(event: Any, anchors: dict[str, _Node], text: MappedText) -> _Node:
    place = event.start_mark.index
    node = anchors.get(event.anchor)
    if node is None or node.is_open:
        why = "names no anchor above it" if node is None else "stands inside of what it names"
        raise DocumentError(text.location(place, place + 1), f"not YAML: the alias *{event.anchor} {why}")
    return node


def _node(event: Any, text: str) -> _Node:
    start, end = event.start_mark.index, event.end_mark.index
    if event.anchor or event.tag:
        properties = _PROPERTIES.match(text, start, end if isinstance(event, ScalarEvent) else len(text))
        start = properties.end() if properties else start
    if isinstance(event, MappingStartEvent):
        return _Node(start, end, entries=[])
    if isinstance(event, CollectionStartEvent):
        return _Node(start, end, items=[])
    # A block scalar ends where the next token begins.
    trimmed = max(start, start + len(text[start:end].rstrip())) if text[start : start + 1] not in "'\"" else end
    return _Node(start, trimmed, _plain_value(event))


def _attach(node: _Node, event: Any, stack: list[_Node], roots: list[_Node], text: str) -> None:
    """Put a node where it belongs: into the sequence or mapping that is open, or at the top."""
    if not stack:
        roots.append(node)
        return
    parent = stack[-1]
    if parent.items is not None:
        parent.items.append(node)
    elif parent.key is None:
        parent.key = node
        if isinstance(event, ScalarEvent):
            node.is_merge = event.value == "<<" and event.implicit[0] and event.tag is None
            node.value = event.value
    elif parent.entries is not None:
        key, parent.key = parent.key, None
        if key.is_merge:
            parent.merges.append(node)
        elif key.items is None and key.entries is None:
            parent.entries.append((key.value, (key.start, key.end), node))
        else:  # a sequence or mapping as a key: its text has to do
            parent.entries.append((text[key.start : key.end], (key.start, key.end), node))


def _close(node: _Node, event: Any) -> None:
    """Set the end of a collection: its bracket, or in block style the end of its last entry."""
    node.is_open = False
    if event.start_mark.index < event.end_mark.index:
        node.end = event.end_mark.index
    elif node.items:
        node.end = max(node.start, node.items[-1].end if node.items[-1].end > node.start else node.start)
    elif node.entries:
        _, span, value = node.entries[-1]
        node.end = max(span[1], value.end if value.end > span[1] else span[1])


def _plain_value(event: Any) -> Any:
    """The value of a scalar as SafeLoader gives it, or its text where that would be no plain value."""
    value: str = event.value
    if event.tag is None or event.tag == "!":
        tag = _implied_tag(value) if event.implicit[0] and event.tag is None else "str"
    else:
        tag = event.tag.removeprefix(_TAG)
    if tag == "null":
        return None
    if tag not in ("bool", "int", "float") or len(value) > 100:
        return value
    try:
        node = ScalarNode(_TAG + tag, value)
        if tag == "bool":
            return SafeConstructor.bool_values[value.lower()]
        if tag == "int":
            return SafeConstructor().construct_yaml_int(node)
        return float(value) if _FLOAT.fullmatch(value) else SafeConstructor().construct_yaml_float(node)
    except (ValueError, IndexError, KeyError, ConstructorError):
        return value


def _implied_tag(value: str) -> str:
    resolvers = yaml.SafeLoader.yaml_implicit_resolvers
    for tag, pattern in [*resolvers.get(value[:1], []), *resolvers.get(None, [])]:
        if pattern.match(value):
            return str(tag).removeprefix(_TAG)
    return "float" if _FLOAT.fullmatch(value) else "str"


def _document(root: _Node, text: MappedText, written: int) -> Document:
    spans = Spans({}, {}, [])
    budget = [written * _MOST_COPIES + 1000]

    def expand(node: _Node, pointer: str, depth: int) -> Any:
        budget[0] -= 1
        if budget[0] < 0 or depth > _DEEPEST:
            why = "YAML whose aliases multiply too much" if budget[0] < 0 else "YAML that is nested too deeply"
            raise DocumentError(text.location(node.start, node.start + 1), why)
        spans.values[pointer] = (node.start, node.end)
        if node.items is not None:
            return [expand(item, f"{pointer}/{index}", depth + 1) for index, item in enumerate(node.items)]
        if node.entries is None:
            return node.value
        mapping = {}
        entries = list(_entries(node, spans.duplicates, budget))
        for key, span, value in entries:
            below = f"{pointer}/{pointer_part(key)}"
            spans.keys[below] = span
            mapping[key] = expand(value, below, depth + 1)
        return mapping

    value = expand(root, "", 0)
    return placed_document(value, text, partial(_known, spans), scalar_text, duplicates=bool(spans.duplicates))


def _known(spans: Spans, _: str) -> Spans:
    return spans


def _entries(node: _Node, duplicates: list[Span], budget: list[int]) -> Iterator[tuple[str, Span, _Node]]:
    """The entries that count: of several with one key its own last one, else that of the first merged mapping."""
    own: dict[str, tuple[str, Span, _Node]] = {}
    for entry in node.entries or ():
        if entry[0] in own:
            duplicates.append(own[entry[0]][1])
        own[entry[0]] = entry
    merged: dict[str, tuple[str, Span, _Node]] = {}
    waiting = list(reversed(node.merges))
    while waiting and budget[0] >= 0:
        mapping = waiting.pop()
        budget[0] -= 1 + len(mapping.entries or ())
        waiting.extend(reversed(mapping.items or mapping.merges))
        of_this = {entry[0]: entry for entry in mapping.entries or ()}
        merged = {**of_this, **merged}
    yield from {**merged, **own}.values()
