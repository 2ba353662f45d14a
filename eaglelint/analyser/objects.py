"""Attributes, items and names of the values of the domain.

Objects from outside are known only by the names of their attributes: `layers` is a list of decoder layers,
`num_hidden_layers` is N, `norm` the final norm, and so on (see patterns). Everything else stays an opaque object that
remembers what is assigned to it.
"""

from __future__ import annotations

import builtins
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eaglelint.analyser import attributes, items, patterns
from eaglelint.analyser.file_values import Files, FileText, PathV
from eaglelint.analyser.operations import truth, with_state
from eaglelint.analyser.target_values import ConfigV, HFOutput, HFStates, Layer, LayerResult, Layers, ModelV, Module
from eaglelint.analyser.values import (
    MISSING,
    ClassV,
    Deferred,
    DictV,
    External,
    FuncV,
    Fused,
    ListV,
    Method,
    Obj,
    Plain,
    RankStart,
    SetV,
    Special,
    Stacked,
    Tensor,
    Unknown,
    V,
    new_storage,
)
from eaglelint.boundary import State

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame

_BUILTINS = frozenset(dir(builtins))
#: Modules that fragments of code use without importing them.
_LOOSE_MODULES = {
    "torch": "torch",
    "os": "os",
    "np": "numpy",
    "json": "json",
    "pathlib": "pathlib",
    "F": "torch.nn.functional",
}
_MODEL_WORDS = ("model", "target", "decoder", "llm", "verifier", "teacher", "runner", "engine", "base")
#: Parameter names that say nothing of which saved tensor they take.
_GENERIC = frozenset(
    {"hidden_states", "hidden_state", "hidden", "h", "x", "input", "inputs", "states", "target", "output"}
)
_KEPT = frozenset({"data", "T", "mT"})
_TENSOR_FACTS = frozenset({"shape", "dtype", "device", "ndim", "is_cuda", "grad", "requires_grad", "names"})


class Objects:
    """Access to names, attributes and items for one run."""

    def __init__(self, run: Interpreter) -> None:
        self.run = run
        self._anonymous: dict[str, ModelV] = {}
        self._opaque = 0

    # ---- states --------------------------------------------------------------------------------------------------

    def state(self, model: ModelV, boundary: int) -> Tensor:
        """Boundary b of a model as a fresh tensor."""
        depth = self.run.depth_of(model)
        return Tensor(State(int(boundary)), new_storage(), model=model, depth=depth)

    def hf_length(self, states: HFStates) -> int:
        """Number of entries: N + 1 for a whole tuple."""
        depth = self.run.depth_of(states.model) + 1
        return max(0, (depth if states.stop is None else min(states.stop, depth)) - states.start)

    def hf_state(self, states: HFStates, index: int) -> Tensor:
        """Entry `index` of `hidden_states`: boundary index, the last one after the final norm."""
        boundary = states.start + index
        tensor = self.state(states.model, boundary)
        return with_state(tensor, normed=True) if boundary == tensor.depth else tensor

    def as_stream(self, result: LayerResult) -> Tensor:
        """What a layer returned, taken as the complete stream."""
        return replace(self.state(result.model, result.boundary), trace=result.trace, layer_out=True)

    def as_branch(self, result: LayerResult) -> Tensor:
        """The first entry of what a layer returned: on engines the branch that still needs its residual."""
        stream = self.as_stream(result)
        if result.model.framework in ("sglang", "vllm"):
            return replace(stream, state=stream.state._replace(part="branch"))
        return stream

    def as_residual(self, result: LayerResult) -> Tensor:
        """The second entry of what a fused-residual layer returned."""
        stream = self.as_stream(result)
        return replace(stream, state=stream.state._replace(part="residual"))

    def part(self, stream: Tensor, part: str) -> Tensor:
        """The branch or the residual of a stream."""
        return replace(stream, state=stream.state._replace(part=part), storage=new_storage())

    def unpack_layer(self, result: LayerResult, names: list[str], whole: bool = False) -> list[V]:
        """What a layer returned, unpacked into these names: a residual among them tells a fused-residual layer.

        `whole` when what follows takes the first of them for the complete stream.
        """
        if whole:
            return [self.as_stream(result), *(Unknown("layer output") for _ in names[1:])]
        if len(names) >= 2 and patterns.is_residual(names[1]):
            branch = self.part(self.as_stream(result), "branch")
            rest: list[V] = [Unknown("layer output") for _ in names[2:]]
            return [branch, self.as_residual(result), *rest]
        if len(names) >= 2 and patterns.is_residual(names[0]):
            branch = self.part(self.as_stream(result), "branch")
            return [self.as_residual(result), branch]
        return [self.as_branch(result), *(Unknown("layer output") for _ in names[1:])]

    def layer(self, model: ModelV, index: int) -> Layer:
        """Layer `index` of a model, always the same object."""
        made = model.layers.get(int(index))
        if made is None:
            made = model.layers[int(index)] = Layer(model, int(index))
        return made

    # ---- models --------------------------------------------------------------------------------------------------

    def model_of(self, thing: V) -> ModelV:
        """The model that an object is or belongs to, made on demand."""
        if isinstance(thing, ModelV):
            return thing
        if isinstance(thing, Layer | Layers | Module):
            return thing.model
        if isinstance(thing, Obj):
            found = thing.attrs.get("%model")
            if isinstance(found, ModelV):
                return found
            framework = thing.cls.scope.framework() if thing.cls is not None else ""
            if not framework:
                framework = next((e for e in ("sglang", "vllm") if thing.path.startswith(e)), "own")
            made = ModelV(framework, stock=False, owner=thing)
            thing.attrs["%model"] = made
            return made
        return ModelV("own", stock=False)

    def anonymous(self, frame: Frame) -> ModelV:
        """The model that a fragment or function without a model of its own speaks of."""
        key = frame.scope.path
        if key not in self._anonymous:
            self._anonymous[key] = ModelV(frame.scope.framework(), stock=False)
        return self._anonymous[key]

    def parameter(self, name: str, node: Any, frame: Frame) -> V:
        """The value of a parameter that no call in scope gives."""
        lowered = name.lower()
        hint = self.run.world.hint(frame.function, name)
        if hint is not MISSING:
            return hint
        if lowered in ("self", "cls") or any(lowered == w or lowered.endswith("_" + w) for w in _MODEL_WORDS):
            model = ModelV(frame.scope.framework(), stock=frame.scope.framework() == "hf")
            return Obj(name, attrs={"%model": model}, where=frame.scope.spot(node))
        if lowered in attributes.CONFIGS or lowered.endswith("_config"):
            return ConfigV(self.anonymous(frame))
        unknown = Unknown(name, frame.scope.spot(node))
        return self.run.world.by_key(name, unknown) if lowered not in _GENERIC else unknown

    def free_name(self, name: str, frame: Frame, node: Any) -> V:
        """A name that nothing in scope binds."""
        if name in _BUILTINS:
            return External(f"builtins.{name}")
        if frame.scope.loose and name in _LOOSE_MODULES:
            return External(_LOOSE_MODULES[name])
        found = self.run.world.star_name(name, frame.scope)
        if found is not MISSING:
            return found
        if frame.scope.loose and name.endswith("start_layer"):
            return RankStart(0)
        if frame.scope.loose and (name.endswith("end_layer") or name in patterns.DEPTH_NAMES):
            return self.run.depth_of(self.anonymous(frame))
        if name in ("self", "model") and frame.scope.loose:
            made = Obj(name, attrs={"%model": self.anonymous(frame)})
            frame.scope.names[name] = made
            return made
        if frame.scope.loose and name in attributes.CONFIGS:
            return ConfigV(self.anonymous(frame))
        return Unknown(name, frame.scope.spot(node))

    def result_of(self, obj: Obj, site: CallSite) -> V:
        """What calling an opaque object gives: another opaque object of the same model."""
        model = obj.attrs.get("%model")
        name = obj.name.rsplit(".", 1)[-1]
        if name in patterns.EMBED_NAMES and isinstance(model, ModelV):
            return Module("embed", model) if name == "get_input_embeddings" else self.state(model, 0)
        if name in ("get_text_config", "get_config") and isinstance(model, ModelV):
            return ConfigV(model, nested=name == "get_text_config")
        if "." not in obj.name and isinstance(model, ModelV):
            from eaglelint.analyser.models import run_model

            return run_model(self.run, model, site)
        if name in ("forward", "__call__", "generate") and isinstance(model, ModelV):
            from eaglelint.analyser.models import run_model

            return run_model(self.run, model, site)
        return Obj(f"{obj.name}()", attrs={"%model": model} if model else {}, where=obj.where)

    # ---- attributes ----------------------------------------------------------------------------------------------

    def attribute(self, owner: V, name: str, frame: Frame, node: Any) -> V:
        """owner.name"""
        if isinstance(owner, External):
            return External(f"{owner.path}.{name}")
        if isinstance(owner, Obj):
            return self._of_object(owner, name, frame, node)
        if isinstance(owner, ModelV):
            return attributes.of_model(self.run, owner, owner, name)
        if isinstance(owner, Layer):
            return attributes.of_layer(owner, name)
        if isinstance(owner, ConfigV):
            return self.run.world.config_attribute(self.run, owner, name, frame, node)
        if isinstance(owner, HFOutput):
            return attributes.of_output(self.run, owner, name)
        if isinstance(owner, ClassV):
            found = owner.lookup(name)
            return found if found is not MISSING else Unknown(f"{owner.name}.{name}")
        if isinstance(owner, Tensor | Fused | Stacked | Plain):
            if name in _KEPT:
                return owner
            return Unknown(name) if name in _TENSOR_FACTS else Method(owner, name)
        if isinstance(owner, LayerResult):
            return Method(self.as_stream(owner), name)
        if isinstance(owner, DictV) and name == "files" and owner.origin is not None:
            return ListV(list(owner.items), owner.open)  # the names of numpy's archive
        if isinstance(owner, Module | Layers) and name in ("weight", "bias"):
            return Plain(new_storage(), f"{getattr(owner, 'kind', 'layers')}.{name}")
        if isinstance(owner, PathV):
            return attributes.of_path(owner, name)
        if isinstance(owner, Special):
            special = owner.attribute(self.run, name)
            return special if special is not MISSING else Method(owner, name)
        if isinstance(owner, Unknown):
            reason = f"{owner.reason}.{name}" if owner.reason else name
            if name in patterns.DEPTH_NAMES and name != "end_layer" and frame.scope.loose:
                return self.run.depth
            return Unknown(reason, owner.where) if name not in ("append", "extend") else Method(owner, name)
        if isinstance(
            owner, str | ListV | DictV | SetV | tuple | FileText | Files | Module | Layers | HFStates | FuncV | bytes
        ):
            return Method(owner, name)
        if isinstance(owner, int | float):
            return owner if name == "value" else Method(owner, name)  # the member of an enumeration
        return Method(owner, name)

    def _of_object(self, obj: Obj, name: str, frame: Frame, node: Any) -> V:
        if name in obj.attrs:
            found = obj.attrs[name]
            if isinstance(found, Deferred):
                found = obj.attrs[name] = self.run.world.used(self.run, found)
            return found
        if obj.cls is not None:
            found = obj.cls.lookup(name)
            if isinstance(found, FuncV):
                if any(d.rsplit(".", 1)[-1] in ("property", "cached_property") for d in found.decorators):
                    return self.run.call_function(replace(found, bound=obj), [], {})
                if any(d == "staticmethod" for d in found.decorators):
                    return found
                return replace(found, bound=obj)
            if found is not MISSING:
                return found
        special = self.run.world.object_attribute(self.run, obj, name, frame, node)
        if special is not MISSING:
            return special
        model = obj.attrs.get("%model")
        if obj.cls is not None and not isinstance(model, ModelV) and self._model_like(name):
            model = self.model_of(obj)
        if isinstance(model, ModelV):
            return attributes.of_model(self.run, model, obj, name)
        return attributes.child(obj, name)

    @staticmethod
    def _model_like(name: str) -> bool:
        return (
            name in patterns.LAYER_LISTS
            or name in patterns.DEPTH_NAMES
            or name in patterns.NORM_NAMES
            or name in patterns.EMBED_NAMES
            or name in patterns.HEAD_NAMES
            or name in attributes.CONFIGS
            or name == "start_layer"
        )

    def set_attribute(self, owner: V, name: str, value: V, frame: Frame, node: Any) -> None:
        """owner.name = value"""
        if isinstance(owner, Unknown):
            return
        if isinstance(owner, External):
            self.run.world.patched_outside(self.run, f"{owner.path}.{name}", value, frame, node)
            return
        if isinstance(owner, ClassV):
            owner.attrs[name] = value
            return
        if isinstance(owner, Layer):
            self.run.touch(owner)
            (owner.obj.attrs if owner.obj is not None else owner.attrs)[name] = value
            if name == "forward":
                from eaglelint.analyser.models import replace_layer

                replace_layer(self.run, owner, value, node, frame)
            return
        if not isinstance(owner, Obj | ModelV):
            return
        self.run.touch(owner)
        value = self.run.rec.stored(self.run, value, node, frame, owner)
        if self._model_like(name):
            model = self.model_of(owner)
            if name in patterns.LAYER_LISTS and isinstance(value, ListV):
                value = attributes.own_layers(self.run, model, value)
            elif isinstance(value, Unknown) or (
                isinstance(value, Obj) and value.cls is None and name not in attributes.CONFIGS
            ):
                return
        if patterns.CAPTURE_LISTS.search(name) and truth(value) is False:
            value = Unknown(f"{owner.name}.{name}" if isinstance(owner, Obj) else name, frame.scope.spot(node))
        owner.attrs[name] = value
        self.run.rec.wrote(self.run, owner, name, value, node, frame)
        if isinstance(owner, ModelV) and name == "forward":
            self.run.world.hooked(self.run, owner)

    # ---- items ---------------------------------------------------------------------------------------------------

    def item(self, owner: V, key: V, frame: Frame, node: Any) -> V:
        """owner[key]"""
        return items.item(self.run, owner, key, frame, node)

    def set_item(self, owner: V, key: V, value: V, frame: Frame, node: Any) -> None:
        """owner[key] = value"""
        items.set_item(self.run, owner, key, value, frame, node)

    def opaque_key(self, key: V) -> str:
        """A dict key for a value that is not known."""
        self._opaque += 1
        return f"\x00{self._opaque}"
