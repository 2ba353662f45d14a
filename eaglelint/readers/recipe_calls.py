"""Recipes in Python code: keywords of a trainer's functions, and dictionaries with a trainer's keys.

Only literals count, and names that a file gives one text or list. What code computes is the analyser's.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from eaglelint.conventions import recipes
from eaglelint.facts import Recipe, Value
from eaglelint.location import Location, MappedText
from eaglelint.project import Source
from eaglelint.readers.recipes import recipes_of_given

#: How deep a dictionary nests what it gives.
_DEEPEST = 4


def read_calls(source: Source) -> Iterator[Recipe]:
    """The recipes that a Python file holds. Raises UnreadableSource; a file that is no Python has none."""
    forms = [(index, form) for index, form in enumerate(recipes.forms()) if form.calls or form.literals]
    names = [name for _, form in forms for name in (*form.calls[:1], *form.literals)]
    if not re.search("|".join(map(re.escape, names)).encode(), source.data):
        return
    text = source.text
    try:
        tree = ast.parse(text.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    reader = _Reader(text, tree)
    for index, form in forms:
        for given, where in reader.given(form.calls, form.literals):
            yield from recipes_of_given(index, given, where)


class _Reader:
    """The literals of one file with their places."""

    def __init__(self, text: MappedText, tree: ast.Module) -> None:
        self._text = text
        self._lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text.text)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self._nodes = list(ast.walk(tree))
        self._constants = self._named()

    def _named(self) -> dict[str, ast.expr]:
        """Names that are given exactly one literal in the file."""
        found: dict[str, list[ast.expr]] = {}
        for node in self._nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                found.setdefault(node.targets[0].id, []).append(node.value)
        return {name: values[0] for name, values in found.items() if len(values) == 1}

    def given(
        self, calls: tuple[str, ...], literals: Mapping[str, str]
    ) -> Iterator[tuple[Mapping[str, Value], Location]]:
        """What is given to some functions of the file together, and by each dictionary with one of some keys."""
        told: dict[str, Value] = {}
        first: ast.Call | None = None
        for node in self._nodes:
            if isinstance(node, ast.Call) and _name(node.func) in calls:
                first = first if first is not None or _name(node.func) != calls[0] else node
                told |= {word.arg: self._value(word.value) for word in node.keywords if word.arg is not None}
        if first is not None:
            yield told, self._place(first)
        for node in self._nodes:
            keys = (
                [key.value for key in node.keys if isinstance(key, ast.Constant)] if isinstance(node, ast.Dict) else []
            )
            for key, prefix in literals.items():
                if key in keys and isinstance(node, ast.Dict):
                    yield dict(self._entries(node, f"{prefix}.", 0)), self._place(node)

    def _entries(self, node: ast.Dict, prefix: str, depth: int) -> Iterator[tuple[str, Value]]:
        for key, entry in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and depth < _DEEPEST:
                name = f"{prefix}{key.value}"
                yield name, self._value(entry)
                inner = self._constants.get(entry.id, entry) if isinstance(entry, ast.Name) else entry
                if isinstance(inner, ast.Dict):
                    yield from self._entries(inner, f"{name}.", depth + 1)

    def _value(self, node: ast.expr) -> Value:
        written = self._constants.get(node.id, node) if isinstance(node, ast.Name) else node
        try:
            value: Any = ast.literal_eval(written)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return Value(None, self._place(node), known=False)
        value = list(value) if isinstance(value, (list, tuple, set)) else value
        return Value(value, self._place(written), defined=self._place(node) if written is not node else None)

    def _place(self, node: ast.expr) -> Location:
        start = self._offset(node.lineno, node.col_offset)
        return self._text.location(start, self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0))

    def _offset(self, line: int, column: int) -> int:
        """The character at a line and a column that counts bytes."""
        if line > len(self._lines):
            return len(self._text)
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode("utf-8", "ignore"))


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
