"""The functions of a release that read layer ids from a drafter's config, so that a change of them is noticed."""

from __future__ import annotations

import ast
import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

#: Keys of a drafter's config from which ids are read, and the flag that switches them off.
KEYS = ("eagle_aux_hidden_state_layer_ids", "use_aux_hidden_state", "target_layer_ids", "eagle_config")


def id_readers(archive: Path) -> dict[str, str]:
    """`file:function` -> a digest of its code, for every function that names one of the keys; comments do not count."""
    found: dict[str, str] = {}
    with zipfile.ZipFile(archive) as files:
        for name in sorted(files.namelist()):
            if not name.startswith(("beside/sglang/", "beside/vllm/")):
                continue
            text = files.read(name).decode("utf-8", "replace")
            try:
                tree = ast.parse(text)
            except SyntaxError:
                continue
            for function in _functions(tree):
                code = ast.unparse(function)
                if any(f"'{key}'" in code or f".{key}" in code for key in KEYS):
                    found[f"{name.removeprefix('beside/')}:{function.name}"] = hashlib.sha256(code.encode()).hexdigest()
    return found


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node


def changed(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """What became of the functions that read ids, in words."""
    for name in sorted(set(old) | set(new)):
        if name not in old:
            yield f"{name} reads ids and is new"
        elif name not in new:
            yield f"{name} is gone"
        elif old[name] != new[name]:
            yield f"{name} has changed"
