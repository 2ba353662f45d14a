"""The target's config, and Python's built-in functions where they must be exact."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eaglelint.analyser.calls import CallSite
from eaglelint.analyser.operations import truth
from eaglelint.analyser.scope import Frame
from eaglelint.analyser.values import HOLE, MISSING, ClassV, External, FuncV, ListV, Obj, Special, Unknown, V
from eaglelint.derivation.objects import ListOf, Super, bases_outside, linear
from eaglelint.derivation.pretrained import Part
from eaglelint.derivation.tensors import Crash, Dense, Packed

if TYPE_CHECKING:
    from eaglelint.derivation.execution import EngineInterpreter

_DEPTHS = frozenset({"num_hidden_layers", "n_layer", "n_layers", "num_layers", "n_hidden_layers", "decoder_layers"})
_KINDS_BY_LAYER = frozenset(
    {"layer_types", "hybrid_override_pattern", "layers_block_type", "block_configs", "attn_type_list", "layers_type"}
)


class Config(Special):
    """The config of the target: N decoder layers, a hidden size; other keys are not known, and absent when asked so.

    `without` names optional keys that this target does not have: they are None.
    """

    def __init__(self) -> None:
        self.without: frozenset[str] = frozenset()

    def attribute(self, run: Any, name: str) -> V:
        """A key of the config."""
        if name in _DEPTHS:
            return run.depth
        if name == "hidden_size":
            return 4096
        if name in _KINDS_BY_LAYER:
            return ListV([Unknown(name) for _ in range(run.depth)])
        if name.endswith("config") or name in ("get_text_config", "model_config", "decoder"):
            return self
        if name in ("get", "to_dict", "update"):
            return MISSING
        if name in self.without:
            return None
        return Unknown(f"config.{name}")

    def call_method(self, run: Any, name: str, site: CallSite) -> V:
        """get(key, default), and methods that give a config again."""
        if name == "get":
            key = site.get(0, "key")
            return site.get(1, "default") if key not in _DEPTHS else run.depth
        return self

    def has(self, name: str) -> bool:
        """Whether a key is taken to be there."""
        return name in _DEPTHS or name == "hidden_size"

    def item(self, run: Any, key: V) -> V:
        """config["key"]"""
        return self.attribute(run, key) if isinstance(key, str) else Unknown("key")


def _getattr(run: EngineInterpreter, site: CallSite) -> V:
    owner, name = site.get(0, "object"), site.get(1, "name")
    if not isinstance(name, str):
        return Unknown("getattr")
    default = site.args[2] if len(site.args) > 2 else MISSING
    if isinstance(owner, Obj) and owner.cls is not None:
        return run.objects.member(owner, name, default)
    if default is not MISSING and isinstance(owner, Config):
        return owner.attribute(run, name) if owner.has(name) else default
    if default is not MISSING and isinstance(owner, Dense):
        return owner.attrs.get(name, default)
    if default is not MISSING and isinstance(owner, ClassV):
        return run.objects.of_class(owner, name) if run.objects.find(owner, name) is not MISSING else default
    return run.objects.attribute(owner, name, site.frame, site.node)


def _hasattr(run: EngineInterpreter, site: CallSite) -> V:
    owner, name = site.get(0, "object"), site.get(1, "name")
    if isinstance(owner, Obj) and owner.cls is not None and isinstance(name, str):
        return run.objects.member(owner, name, None) is not None or name in owner.attrs
    if isinstance(owner, Config) and isinstance(name, str):
        return owner.has(name)
    if isinstance(owner, Dense):
        return name in owner.attrs
    if isinstance(owner, ClassV) and isinstance(name, str):
        return run.objects.find(owner, name) is not MISSING
    return Unknown("hasattr")


def _isinstance(run: EngineInterpreter, site: CallSite) -> V:
    value, kinds = site.get(0, "object"), site.get(1, "class")
    every = kinds if isinstance(kinds, tuple) else (kinds,)
    names = {k.path.rsplit(".", 1)[-1] for k in every if isinstance(k, External)}
    if isinstance(value, Dense | Packed):
        return bool(names & {"Tensor"})
    if isinstance(value, Part):
        return value.what == "layers" and "ModuleList" in names
    if isinstance(value, Obj) and value.cls is not None:
        if any(k in linear(value.cls) for k in every if isinstance(k, ClassV)):
            return True
        return bool(names & bases_outside(value.cls))
    if isinstance(value, tuple | ListV) and all(isinstance(k, External | ClassV) for k in every):
        return bool(names & ({"tuple", "Sequence"} if isinstance(value, tuple) else {"list", "Sequence", "Iterable"}))
    if value is None or isinstance(value, bool | int | str):
        return MISSING if names else False
    return Unknown("isinstance")


def _len(run: EngineInterpreter, site: CallSite) -> V:
    value = site.get(0, "obj")
    if isinstance(value, Part):
        return value.depth
    if isinstance(value, Obj) and value.cls is not None:
        method = run.objects.find(value.cls, "__len__")
        if isinstance(method, FuncV):
            return run.call_function(replace(method, bound=value), [], {})
    return MISSING


def _super(run: EngineInterpreter, site: CallSite) -> V:
    if len(site.args) == 2 and isinstance(site.args[0], ClassV) and isinstance(site.args[1], Obj | ClassV | ListOf):
        return Super(site.args[1], site.args[0])
    frame: Frame | None = site.frame
    func = site.frame.function
    while frame is not None and frame.parent is not None and func is not None and func.owner is None:
        frame = frame.parent
        func = frame.function
    if func is None or func.owner is None or frame is None:
        return Unknown("super")
    first = next(iter(func.node.params.params), None)
    bound = frame.names.get(first.name.value) if first is not None else None
    return Super(bound, func.owner) if isinstance(bound, Obj | ClassV | ListOf) else Unknown("super")


def _type(run: EngineInterpreter, site: CallSite) -> V:
    value = site.get(0, "object")
    return value.cls if isinstance(value, Obj | ListOf) and value.cls is not None else Unknown("type")


def _int(run: EngineInterpreter, site: CallSite) -> V:
    value = site.get(0, "x", 0)
    if isinstance(value, str) and HOLE not in value:
        try:
            return int(value)
        except ValueError:
            raise Crash("ValueError", site.frame.scope.spot(site.node)) from None
    return MISSING


def _bool(run: EngineInterpreter, site: CallSite) -> V:
    known = truth(site.get(0, "x", False))
    return Unknown("bool") if known is None else known


#: Built-in functions that the analyser's own are too lenient for.
FUNCTIONS: dict[str, Any] = {
    "getattr": _getattr, "hasattr": _hasattr, "isinstance": _isinstance, "len": _len, "super": _super, "type": _type,
    "bool": _bool,
    "int": _int,
}  # fmt: skip
