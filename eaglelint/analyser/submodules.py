"""The modules inside a model by their names, as `named_modules` and `get_submodule` give them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from eaglelint.analyser import patterns
from eaglelint.analyser.strings import as_text
from eaglelint.analyser.target_values import ModelV, Module
from eaglelint.analyser.values import HOLE, ListV, Unknown, V

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter

#: Methods of a model that this module answers.
METHODS = frozenset({"named_modules", "named_children", "modules", "get_submodule"})
_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks|decoder_layers)\.(\d+)$")
#: Parts that hold the decoder: asked for the names inside them, `layers` comes first.
_DECODERS = frozenset({"model", "decoder", "transformer", "language_model"})


def method(run: Interpreter, model: ModelV, name: str, site: CallSite) -> V:
    """A model's modules: all with their names, all without, or the one of a name."""
    if name == "get_submodule":
        return submodule(run, model, site.get(0, "target"))
    pairs = _named(run, model, site)
    if name == "named_children":
        return ListV(pairs, open=True)
    return ListV(pairs if name == "named_modules" else [module for _, module in pairs], kind="generator")


def submodule(run: Interpreter, model: ModelV, name: V) -> V:
    """The module of a name such as `model.layers.3` or `model.norm`."""
    text = as_text(name)
    if HOLE in text:
        return Unknown("name of a module", getattr(name, "where", None), getattr(name, "index", False))
    found = _LAYER.search(text)
    if found is not None:
        index = int(found.group(1))
        return run.objects.layer(model, index) if index < run.depth_of(model) else Unknown("no such layer")
    last = text.rsplit(".", 1)[-1]
    if last in patterns.NORM_NAMES:
        return Module("norm", model)
    if last in patterns.EMBED_NAMES:
        return Module("embed", model)
    if last in patterns.HEAD_NAMES:
        return Module("lm_head", model)
    return model if not text or last in _DECODERS else Unknown(text)


def _named(run: Interpreter, model: ModelV, site: CallSite) -> list[V]:
    """The pairs of `named_modules`, without what is inside of layers."""
    owner = patterns.dotted(site.node.func).split(".")[:-1]
    inner = len(owner) > 1 and owner[-1] in _DECODERS and owner[-2] not in ("self", "cls")
    prefix = "" if inner else "model."
    layers = [(f"{prefix}layers.{i}", run.objects.layer(model, i)) for i in range(run.depth_of(model))]
    pairs: list[V] = [("", model), (f"{prefix}embed_tokens", Module("embed", model)), *layers]
    pairs.append((f"{prefix}norm", Module("norm", model)))
    if prefix:
        pairs.append(("lm_head", Module("lm_head", model)))
    return pairs
