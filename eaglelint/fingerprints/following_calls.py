"""Following calls in the code that writes samples: containers, paths, helpers, and the calls that write."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from eaglelint.fingerprints.named_values import HOLE, Entries, Items, Leaf, Words, Writer

if TYPE_CHECKING:
    from eaglelint.fingerprints.following import Follower

#: Calls that write, by the last part of their name: where the value and where the path stands.
_WRITERS = {"save": (0, 1), "save_file": (0, 1), "dump": (0, 1), "savez": (None, 0), "savez_compressed": (None, 0)}
#: Calls whose result holds their first argument: what is done to a tensor but its name.
_SAME = frozenset(
    (
        *("asarray", "array", "ascontiguousarray", "as_tensor", "from_numpy", "tensor", "pin_memory", "requires_grad_"),
        *("squeeze", "unsqueeze", "contiguous", "clone", "detach", "numpy", "copy", "astype", "view", "reshape"),
        *("type", "cpu", "cuda", "to", "half", "float", "bfloat16"),
    )
)
_MODULES = frozenset(("torch", "np", "numpy", "jnp"))
_JOINS = frozenset(("stack", "cat", "concat", "concatenate", "hstack", "vstack"))
#: Helpers within helpers that are followed.
DEEPEST = 4


def call(run: Follower, node: ast.Call, names: dict[str, Any], depth: int) -> Any:
    """What a call gives; a call that writes is remembered."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    owner = run.value(node.func.value, names, depth) if isinstance(node.func, ast.Attribute) else None
    given = run.items(ast.List(elts=node.args), names, depth).items
    keywords = {word.arg: run.value(word.value, names, depth) for word in node.keywords if word.arg}
    if name in _WRITERS:
        splat = [run.value(word.value, names, depth) for word in node.keywords if not word.arg]
        _write(run, name, node, given, keywords, splat)
    if isinstance(owner, Entries):
        return _of_dict(run, owner, name, given, keywords)
    if isinstance(owner, Items) and name in ("append", "extend") and given:
        owner.items += [given[0]] if name == "append" else run.elements(given[0]) or []
        return None
    if isinstance(owner, Words) and name in ("joinpath", "format", "with_name", "with_suffix"):
        return _of_text(run, owner, name, given, node)
    return _result(run, name, node, owner, given, keywords, depth)


def _of_dict(run: Follower, owner: Entries, name: str, given: list[Any], keywords: Mapping[str, Any]) -> Any:
    """A method of a dict."""
    if name == "values":
        return Items(list(owner.entries.values()), owner.open)
    if name == "items":
        where = run.place(run.tree.body[0])
        return Items([Items([Words(key, where), value]) for key, value in owner.entries.items()], owner.open)
    if name == "keys":
        return Items(run.elements(owner) or [], owner.open)
    if name == "update":
        for other in (*given, Entries(dict(keywords))):
            if isinstance(other, Entries):
                owner.entries.update(other.entries)
            else:
                owner.open = True
        return None
    if name in ("get", "pop", "setdefault") and given and isinstance(given[0], Words):
        return owner.entries.get(given[0].text, Leaf())
    return Leaf()


def _of_text(run: Follower, owner: Words, name: str, given: list[Any], node: ast.Call) -> Words:
    """A method of a string or path."""
    parts = [one.text if isinstance(one, Words) else HOLE for one in given]
    if name == "joinpath":
        return Words("/".join([owner.text, *parts]), run.place(node))
    if name == "format":
        return Words(re.sub(r"\{[^{}]*\}", HOLE, owner.text), run.place(node))
    return Words(HOLE, run.place(node))


def _result(
    run: Follower, name: str, node: ast.Call, owner: Any, given: list[Any], keywords: Mapping[str, Any], depth: int
) -> Any:
    """A call of anything else."""
    if name == "dict":
        made = Entries(dict(given[0].entries) if given and isinstance(given[0], Entries) else {})
        for word in node.keywords:
            if word.arg:
                run.put(made, Words(word.arg, run.place(word, len(word.arg))), keywords[word.arg])
        return made
    if name in ("list", "tuple", "reversed", *_JOINS) and given:
        items = run.elements(given[0])
        if items is not None:
            return Items(items[::-1] if name == "reversed" else items)
        return given[0] if isinstance(given[0], Items) else Leaf()
    if name in ("zip", "enumerate"):
        return _rows(run, name, given)
    if name in ("Path", "PurePath", "str", "fspath", "open", "resolve", "expanduser"):
        return given[0] if given and isinstance(given[0], Words) else owner if isinstance(owner, Words) else Leaf()
    if name == "join" and given and not isinstance(owner, Words):
        parts = [one.text if isinstance(one, Words) else HOLE for one in given]
        return Words("/".join(parts), run.place(node))
    if name in _SAME:
        of_module = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") in _MODULES
        held = given[0] if (owner is None or of_module) and given else owner
        return held if isinstance(held, (Leaf, Items)) else Leaf()
    function = run.functions.get(name) if owner is None else None
    if function is not None and depth < DEEPEST:
        return _helper(run, function, given, keywords, depth)
    return Leaf()


def _rows(run: Follower, name: str, given: list[Any]) -> Items:
    """zip and enumerate."""
    columns = [run.elements(one) for one in given]
    if any(column is None for column in columns) or not columns:
        return Items([], True)
    if name == "enumerate":
        return Items([Items([place, item]) for place, item in enumerate(columns[0] or [])])
    return Items([Items(list(row)) for row in zip(*[column or [] for column in columns], strict=False)])


def _helper(run: Follower, node: ast.FunctionDef, given: list[Any], keywords: Mapping[str, Any], depth: int) -> Any:
    """What a function of the same file returns."""
    names: dict[str, Any] = {}
    every = [*node.args.posonlyargs, *node.args.args]
    for place, arg in enumerate([*every, *node.args.kwonlyargs]):
        value = given[place] if place < len(given) and place < len(every) else keywords.get(arg.arg, Leaf())
        names[arg.arg] = value.named(arg.arg, run.place(arg)) if isinstance(value, Leaf) else value
    value = run.run(node.body, names, depth + 1)
    return value if value is not None else Leaf()


def _write(
    run: Follower, name: str, node: ast.Call, given: list[Any], keywords: Mapping[str, Any], splat: list[Any]
) -> None:
    """Remember that a call writes a file."""
    value_at, path_at = _WRITERS[name]
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if name == "save" and getattr(owner, "id", "") in ("np", "numpy"):
        value_at, path_at = 1, 0
    path = given[path_at] if path_at < len(given) else keywords.get("f", keywords.get("filename"))
    if value_at is None:
        value: Any = Entries()
        for place, one in enumerate(given[1:]):
            value.entries[f"arr_{place}"] = one
        for other in splat:
            value.open = value.open or not isinstance(other, Entries) or other.open
            value.entries.update(other.entries if isinstance(other, Entries) else {})
        for word in node.keywords:
            if word.arg and word.arg != "file":
                run.put(value, Words(word.arg, run.place(word, len(word.arg))), keywords[word.arg])
    else:
        value = given[value_at] if value_at < len(given) else keywords.get("obj", keywords.get("tensors"))
    text = path.text if isinstance(path, Words) else HOLE
    run.found.append(Writer(text, value, run.place(node), run.shifted))
