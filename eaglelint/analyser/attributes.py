"""Attributes of models, layers, outputs and paths: what their names say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from eaglelint.analyser import patterns, submodules
from eaglelint.analyser.file_values import PathV
from eaglelint.analyser.operations import with_state
from eaglelint.analyser.target_values import ConfigV, HFOutput, HFStates, Layer, Layers, ModelV, Module
from eaglelint.analyser.values import MISSING, FuncV, ListV, Method, Obj, Plain, RankStart, Unknown, V, new_storage

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter

#: Attributes that lead from a wrapper to the model inside it.
_INNER = frozenset(
    {
        "model",
        "language_model",
        "decoder",
        "transformer",
        "base_model",
        "module",
        "backbone",
        "llm",
        "model_runner",
        "driver_worker",
        "worker",
        "inner",
        "text_model",
        "gpt_neox",
        "thinker",
    }
)
#: Names of the config of a model, and of those that are the config of the language model inside it.
CONFIGS = frozenset({"config", "hf_config", "model_config", "hf_text_config", "text_config", "llm_config", "cfg"})
_NESTED = frozenset({"text_config", "llm_config", "language_config", "hf_text_config", "get_text_config"})


def of_model(run: Interpreter, model: ModelV, owner: Obj | ModelV, name: str) -> V:
    """model.name, where `owner` is the model or the object that it belongs to."""
    if name in model.attrs:
        return model.attrs[name]
    if name in patterns.LAYER_LISTS:
        return Layers(model, 0, run.depth_of(model))
    if name == "start_layer":
        return RankStart(0)
    if name in patterns.DEPTH_NAMES:
        return run.depth_of(model)
    if name in patterns.NORM_NAMES:
        return Module("norm", model)
    if name in patterns.EMBED_NAMES and name != "get_input_embeddings":
        return Module("embed", model)
    if name in patterns.HEAD_NAMES:
        return Module("lm_head", model)
    if name in CONFIGS:
        return ConfigV(model, nested=name in _NESTED)
    if name in _INNER:
        return model
    if isinstance(owner, ModelV):
        return Method(owner, name)
    if name in submodules.METHODS:
        return Method(model, name)
    return child(owner, name)


def child(obj: Obj, name: str) -> Obj:
    """obj.name for an object that is known by its name alone: another such object, of the same model."""
    made = Obj(f"{obj.name}.{name}", where=obj.where, path=f"{obj.path}.{name}" if obj.path else "")
    model = obj.attrs.get("%model")
    if isinstance(model, ModelV):
        made.attrs["%model"] = model
    obj.attrs[name] = made
    return made


def own_layers(run: Interpreter, model: ModelV, value: ListV) -> V:
    """A list of modules that a class keeps as its layers."""
    if value.open:
        return Layers(model, 0, run.depth_of(model))
    if not model.depth and len(value.items) != run.depth:
        model.depth = len(value.items)
    for index, item in enumerate(value.items):
        layer = run.objects.layer(model, index)
        if isinstance(item, Obj) and item.cls is not None:
            layer.obj = item
    return Layers(model, 0, len(value.items))


def of_layer(layer: Layer, name: str) -> V:
    """layer.name: of the class in scope that it is an instance of, else what all decoder layers have."""
    if name in layer.attrs:
        return layer.attrs[name]
    if layer.obj is not None:
        if name in layer.obj.attrs:
            return layer.obj.attrs[name]
        if layer.obj.cls is not None:
            found = layer.obj.cls.lookup(name)
            if isinstance(found, FuncV):
                return replace(found, bound=layer.obj)
            if found is not MISSING:
                return found
    if name in ("register_forward_hook", "register_forward_pre_hook", "forward", "__call__"):
        return Method(layer, name)
    if name in ("layer_id", "layer_idx", "layer_index", "idx"):
        return layer.index
    return Unknown(f"layer.{name}", index=True)


def of_output(run: Interpreter, output: HFOutput, name: str) -> V:
    """output.name of what a model of transformers returned."""
    if name == "hidden_states":
        return HFStates(output.model) if output.all_states else Unknown("hidden_states")
    if name == "last_hidden_state":
        depth = run.depth_of(output.model)
        return with_state(run.objects.state(output.model, depth), normed=True)
    if name == "logits":
        return Plain(new_storage(), "logits")
    if name in ("keys", "items", "to_tuple", "get"):
        return Method(output, name)
    return Unknown(name)


def of_path(path: PathV, name: str) -> V:
    """path.name of a pathlib.Path."""
    text = path.text
    if name == "parent":
        return PathV(text.rsplit("/", 1)[0] if "/" in text else ".", path.note)
    last = text.rsplit("/", 1)[-1]
    if name == "name":
        return last
    if name == "stem":
        return last.rsplit(".", 1)[0]
    if name == "suffix":
        return "." + last.rsplit(".", 1)[1] if "." in last else ""
    return Method(path, name)
