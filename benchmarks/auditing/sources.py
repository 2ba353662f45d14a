"""The source of a release: modules by name, and which class serves which architecture."""

from __future__ import annotations

import ast
import zipfile
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from auditing.rebuilt import Module, dotted, new

_MODELS = "sglang/srt/models/"


class Sources:
    """The Python files of an archive."""

    def __init__(self, engine: str, archive: str) -> None:
        self.engine = engine
        self.zip = zipfile.ZipFile(archive)
        self.names = set(self.zip.namelist())
        self.modules: dict[str, Module | None] = {}

    def module(self, name: str) -> Module | None:
        """A module by its dotted name; None when the archive has none, or it can not be parsed."""
        if name not in self.modules:
            self.modules[name] = None
            path = name.replace(".", "/")
            for file in (f"{path}.py", f"{path}/__init__.py"):
                if file in self.names:
                    self.modules[name] = self._parsed(name, file)
                    break
        return self.modules[name]

    def _parsed(self, name: str, file: str) -> Module | None:
        try:
            tree = ast.parse(self.zip.read(file).decode("utf-8", "replace"))
        except SyntaxError:
            return None
        return Module(name, tree, self, file.endswith("/__init__.py"))

    @cached_property
    def architectures(self) -> dict[str, tuple[str, str]]:
        """Architecture -> (module, class) of everything that the release can load."""
        return dict(self._registered() if self.engine == "vllm" else self._entries())

    def _registered(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """vLLM: the dictionaries of its registry, `"Architecture": ("module", "Class")`."""
        registry = self.module("vllm.model_executor.models.registry")
        for node in ast.walk(registry.tree) if registry is not None else ():
            for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
                pair = _texts(value)
                if isinstance(key, ast.Constant) and len(pair) == 2:
                    folder = "" if pair[0].startswith("vllm.") else "vllm.model_executor.models."
                    yield str(key.value), (folder + pair[0], pair[1])

    def _entries(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """SGLang: the classes that each file of its models names as `EntryClass`."""
        for file in sorted(self.names):
            if not file.startswith(_MODELS) or not file.endswith(".py") or b"EntryClass" not in self.zip.read(file):
                continue
            name = file.removesuffix(".py").replace("/", ".")
            module = self.module(name)
            value = module.assigned.get("EntryClass") if module is not None else None
            for entry in value.elts if isinstance(value, ast.List | ast.Tuple) else [value]:
                if entry is not None and dotted(entry):
                    yield dotted(entry), (name, dotted(entry))

    def cls(self, architecture: str) -> type | None:
        """The rebuilt class that serves an architecture."""
        if architecture not in self.architectures:
            return None
        name, cls = self.architectures[architecture]
        module = self.module(name)
        found = module.find(cls) if module is not None else None
        return found[0].build(found[1]) if found is not None else None

    def instance(self, architecture: str, depth: int) -> Any:
        """A model of that architecture, None when it is not known."""
        cls = self.cls(architecture)
        return new(cls, depth) if cls is not None else None


def _texts(node: ast.AST) -> tuple[str, ...]:
    """A tuple of strings; () for anything else."""
    found = [e.value for e in node.elts if isinstance(e, ast.Constant)] if isinstance(node, ast.Tuple) else []
    return tuple(text for text in found if isinstance(text, str))
