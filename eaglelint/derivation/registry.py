"""vLLM's registry of models: which class serves an architecture, and in which file it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from eaglelint.analyser import calls
from eaglelint.analyser.calls import CallSite
from eaglelint.analyser.sources import Code
from eaglelint.analyser.values import ClassV, Deferred, Unknown, V
from eaglelint.errors import UnreadableSource

if TYPE_CHECKING:
    from eaglelint.derivation.surroundings import EngineWorld

#: An entry of the registry: ("module", "Class").
_REGISTERED = re.compile(r'\(\s*"([\w.]+)",\s*"(\w+)",?\s*\)')


def read(code: Code) -> dict[str, str]:
    """Class -> module of the registry; {} for engines without one."""
    for source in code.python:
        if source.path.endswith("model_executor/models/registry.py"):
            return {m[1]: m[0] for m in _REGISTERED.findall(source.data.decode("utf-8", "replace"))}
    return {}


def model(run: Any, world: EngineWorld, site: CallSite) -> V:
    """An instance of the class that the registry names for the architectures of the call."""
    names = calls.iterate(run, site.kwargs.get("architectures")) or []
    for name in names:
        cls = _class(run, world, site.frame.scope.path, name) if isinstance(name, str) else None
        if cls is not None:
            return world.instance_of(run, cls, CallSite([], {"vllm_config": world.config}, site.node, site.frame))
    return Unknown("the language model is chosen by the config")


def _class(run: Any, world: EngineWorld, here: str, name: str) -> ClassV | None:
    """The class of a name; where a package has one for each platform, the one beside the file that asks."""
    module = world.registry(here).get(name)
    for path in _places(world.code, here, module, name) if module else ():
        scope = world.load(run, path)
        found = scope.names.get(name) if scope is not None else None
        if isinstance(found, Deferred):
            found = world.used(run, found)
        if isinstance(found, ClassV):
            return found
    return None


def _places(code: Code, here: str, module: str, name: str) -> Iterator[str]:
    """The files in which a class of the registry may stand, the most likely one first."""
    root = here[: here.rfind("vllm/")] if "vllm/" in here else ""
    if "." not in module:
        yield f"{root}vllm/model_executor/models/{module}.py"
        return
    package = root + module.replace(".", "/")
    if here.startswith(f"{package}/"):
        yield here
        folder = here.rpartition("/")[0]
        yield from (s.path for s in code.python if s.path.rpartition("/")[0] == folder and _defines(s, name))
    yield f"{package}.py"
    yield f"{package}/__init__.py"


def _defines(source: Any, name: str) -> bool:
    try:
        return f"class {name}(".encode() in source.data
    except UnreadableSource:
        return False
