"""Following code that writes samples, without running it: assignments, dicts, lists, loops over literals.

What a tensor is does not matter, only what it is called on its way into the file. Anything else becomes nameless.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from eaglelint.fingerprints.following_calls import DEEPEST, call
from eaglelint.fingerprints.named_values import HOLE, Entries, Items, Leaf, Words, Writer
from eaglelint.location import LineMap, Location

_MOST_TURNS = 16
_MOST_STEPS = 20_000


class Follower:
    """Follows one file. `found` are the calls that write, `shifted` is where the function at hand cuts a token off."""

    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self.tree = tree
        self.lines = LineMap(path, text)
        self.text_lines = text.split("\n")
        self.functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        self.steps = 0
        self.found: list[Writer] = []
        self.shifted: Location | None = None

    def follow(self) -> list[Writer]:
        """All calls that write: at the top of the file, and in each of its functions as if it were called."""
        module: dict[str, Any] = {}
        self.run(self.tree.body, module, 0)
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                names = dict(module)
                every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                names.update({arg.arg: Leaf().named(arg.arg, self.place(arg)) for arg in every})
                self.shifted = _shift(node, self)
                self.run(node.body, names, 0)
        return self.found

    def place(self, node: Any, length: int = 0) -> Location:
        """Where a node stands; for an assignment of an attribute or argument its first `length` characters."""
        start = self._offset(node.lineno, node.col_offset)
        end = start + length if length else self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return self.lines.location(start, end)

    def _offset(self, line: int, column: int) -> int:
        text = self.text_lines[line - 1] if line <= len(self.text_lines) else ""
        return self.lines.offset(line, len(text.encode("utf-8")[:column].decode("utf-8", "replace")) + 1)

    # ---- statements -----------------------------------------------------------------------------------------------

    def run(self, body: Sequence[ast.stmt], names: dict[str, Any], depth: int) -> Any:
        """Follow statements; gives what the first `return` in them returns."""
        for statement in body:
            self.steps += 1
            if self.steps > _MOST_STEPS:
                return None
            if isinstance(statement, ast.Return):
                return self.value(statement.value, names, depth)
            returned = self._statement(statement, names, depth)
            if returned is not None:
                return returned
        return None

    def _statement(self, node: ast.stmt, names: dict[str, Any], depth: int) -> Any:
        if isinstance(node, ast.Assign):
            value = self.value(node.value, names, depth)
            for target in node.targets:
                self.bind(target, value, names, depth)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self.bind(node.target, self.value(node.value, names, depth), names, depth)
        elif isinstance(node, (ast.AugAssign, ast.Expr)):
            self.value(node.value, names, depth)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            return self._loop(node, names, depth)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                value = self.value(item.context_expr, names, depth)
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, value, names, depth)
            return self.run(node.body, names, depth)
        elif isinstance(node, ast.If):
            return self.run([*node.body, *node.orelse] if depth < DEEPEST else [], names, depth)
        elif isinstance(node, ast.While):
            return self.run(node.body, names, depth)
        elif isinstance(node, ast.Try):
            return self.run([*node.body, *node.orelse, *node.finalbody], names, depth)
        return None

    def _loop(self, node: ast.For | ast.AsyncFor, names: dict[str, Any], depth: int) -> Any:
        turns = self.elements(self.value(node.iter, names, depth))
        if turns is None or len(turns) > _MOST_TURNS:
            turns = [Leaf()]
        for turn in turns:
            self.bind(node.target, turn, names, depth)
            returned = self.run(node.body, names, depth)
            if returned is not None:
                return returned
        return None

    def bind(self, target: ast.expr, value: Any, names: dict[str, Any], depth: int) -> None:
        """A value gets a name, or becomes an entry."""
        if isinstance(target, ast.Name):
            names[target.id] = value.named(target.id, self.place(target)) if isinstance(value, Leaf) else value
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = self.elements(value)
            if items is None or len(items) != len(target.elts):
                items = [Leaf()] * len(target.elts)
            for part, item in zip(target.elts, items, strict=True):
                self.bind(part, item, names, depth)
        elif isinstance(target, ast.Subscript):
            owner = self.value(target.value, names, depth)
            key = self.value(target.slice, names, depth)
            if isinstance(owner, Entries):
                self.put(owner, key, value)

    @staticmethod
    def put(owner: Entries, key: Any, value: Any) -> None:
        """A value becomes an entry of a dict; the key is one more name of it."""
        if isinstance(key, Words) and HOLE not in key.text:
            owner.entries[key.text] = value.named(key.text, key.where) if isinstance(value, Leaf) else value
        else:
            owner.open = True

    # ---- expressions ----------------------------------------------------------------------------------------------

    def value(self, node: ast.expr | None, names: dict[str, Any], depth: int) -> Any:
        """What an expression leads to."""
        self.steps += 1
        if node is None or self.steps > _MOST_STEPS:
            return Leaf()
        if isinstance(node, ast.Constant):
            return Words(node.value, self.place(node)) if isinstance(node.value, str) else node.value
        if isinstance(node, ast.Name):
            return names.get(node.id, Leaf())
        if isinstance(node, ast.JoinedStr):
            parts = [self._text(part, names, depth) for part in node.values]
            return Words("".join(parts), self.place(node))
        if isinstance(node, ast.Dict):
            return self._dict(node, names, depth)
        if isinstance(node, (ast.List, ast.Tuple)):
            return self.items(node, names, depth)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.DictComp)):
            return self._comprehension(node, names, depth)
        if isinstance(node, ast.Call):
            return call(self, node, names, depth)
        if isinstance(node, ast.BinOp):
            return self._operation(node, names, depth)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, names, depth)
        if isinstance(node, ast.IfExp):
            self.value(node.test, names, depth)
            return self.value(node.body, names, depth)
        if isinstance(node, ast.Await):
            return self.value(node.value, names, depth)
        if isinstance(node, ast.NamedExpr):
            value = self.value(node.value, names, depth)
            self.bind(node.target, value, names, depth)
            return names.get(node.target.id)
        if isinstance(node, ast.Attribute):
            return Leaf().named(node.attr, self.place(node))
        return Leaf()

    def _text(self, node: ast.expr, names: dict[str, Any], depth: int) -> str:
        inner = node.value if isinstance(node, ast.FormattedValue) else node
        value = self.value(inner, names, depth)
        if isinstance(value, Words):
            return value.text
        return str(value) if isinstance(value, int) else HOLE

    def _dict(self, node: ast.Dict, names: dict[str, Any], depth: int) -> Entries:
        made = Entries()
        for key, entry in zip(node.keys, node.values, strict=True):
            value = self.value(entry, names, depth)
            if key is not None:
                self.put(made, self.value(key, names, depth), value)
            elif isinstance(value, Entries):
                made.entries.update(value.entries)
                made.open = made.open or value.open
            else:
                made.open = True
        return made

    def items(self, node: ast.List | ast.Tuple, names: dict[str, Any], depth: int) -> Items:
        """The entries of a list or tuple as it is written."""
        made = Items()
        for entry in node.elts:
            value = self.value(entry.value if isinstance(entry, ast.Starred) else entry, names, depth)
            if not isinstance(entry, ast.Starred):
                made.items.append(value)
            else:
                items = self.elements(value)
                made.open = made.open or items is None
                made.items += items or []
        return made

    def _comprehension(
        self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp, names: dict[str, Any], depth: int
    ) -> Any:
        made: Any = Entries() if isinstance(node, ast.DictComp) else Items()
        turns = self.elements(self.value(node.generators[0].iter, names, depth))
        if turns is None or len(turns) > _MOST_TURNS or len(node.generators) > 1 or node.generators[0].ifs:
            made.open = True
            return made
        inner = dict(names)
        for turn in turns:
            self.bind(node.generators[0].target, turn, inner, depth)
            if isinstance(node, ast.DictComp):
                self.put(made, self.value(node.key, inner, depth), self.value(node.value, inner, depth))
            else:
                made.items.append(self.value(node.elt, inner, depth))
        return made

    def _operation(self, node: ast.BinOp, names: dict[str, Any], depth: int) -> Any:
        left, right = self.value(node.left, names, depth), self.value(node.right, names, depth)
        if isinstance(node.op, ast.Add) and isinstance(left, Items) and isinstance(right, Items):
            return Items([*left.items, *right.items], left.open or right.open)
        texts = [one.text if isinstance(one, Words) else HOLE for one in (left, right)]
        if isinstance(left, Words) or isinstance(right, Words):
            if isinstance(node.op, ast.Div):
                return Words("/".join(texts), self.place(node))
            if isinstance(node.op, ast.Add):
                return Words("".join(texts), self.place(node))
            if isinstance(node.op, ast.Mod):
                return Words(re.sub(r"%[-+ #0]*[\d.]*[a-zA-Z]", HOLE, texts[0]), self.place(node))
        return Leaf()

    def _subscript(self, node: ast.Subscript, names: dict[str, Any], depth: int) -> Any:
        owner = self.value(node.value, names, depth)
        key = self.value(node.slice, names, depth) if not isinstance(node.slice, ast.Slice) else None
        if isinstance(owner, Entries) and isinstance(key, Words):
            return owner.entries.get(key.text, Leaf())
        if isinstance(owner, Items) and isinstance(key, int) and -len(owner.items) <= key < len(owner.items):
            return owner.items[key]
        if isinstance(owner, Leaf) and _is_cut(node.slice):
            return owner  # a part of the same state: some tokens of it, one prompt of a batch
        return Leaf()

    def elements(self, value: Any) -> list[Any] | None:
        """What iterating gives, None when that is not known."""
        if isinstance(value, Items) and not value.open:
            return list(value.items)
        if isinstance(value, Entries) and not value.open:
            return [Words(key, self.place(self.tree.body[0])) for key in value.entries]
        return None


def _is_cut(node: ast.expr) -> bool:
    """Whether a subscript takes some tokens of a state, or the only prompt of a batch."""
    if isinstance(node, ast.Tuple):
        return any(isinstance(part, ast.Slice) for part in node.elts)
    return isinstance(node, ast.Slice) or (isinstance(node, ast.Constant) and node.value == 0)


def _shift(function: ast.AST, module: Follower) -> Location | None:
    """A slice in a function that leaves out the first or the last token."""
    for node in ast.walk(function):
        if not isinstance(node, ast.Slice):
            continue
        low, high = _plain(node.lower), _plain(node.upper)
        if (low, high) in ((None, -1), (1, None), (0, -1), (1, -1)) and node.step is None:
            return module.place(node)
    return None


def _plain(node: ast.expr | None) -> int | None:
    if node is None:
        return None
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return 99
    return value if isinstance(value, int) else 99
