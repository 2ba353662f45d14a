"""A small engine, written to a folder or a wheel: one target model whose loop and setter each test chooses."""

from __future__ import annotations

import zipfile
from pathlib import Path
from textwrap import dedent, indent

from eaglelint.derive import Derived, derive

LAYER = """
import torch
from torch import nn
from sglang.srt.layers.layernorm import RMSNorm
from sglang.srt.layers.vocab_parallel_embedding import VocabParallelEmbedding
from sglang.srt.utils import make_layers


class ToyLayer(nn.Module):
    def __init__(self, config, layer_id):
        super().__init__()
        self.self_attn = ToyAttention(config)
        self.mlp = ToyMLP(config)
        self.input_layernorm = RMSNorm(config.hidden_size)
        self.post_attention_layernorm = RMSNorm(config.hidden_size)

    def forward(self, positions, hidden_states, forward_batch, residual, captured=None):
        if residual is None:
            residual = hidden_states
            hidden_states = self.input_layernorm(hidden_states)
        else:
            hidden_states, residual = self.input_layernorm(hidden_states, residual)
        if captured is not None:
            captured.append(residual)
        hidden_states = self.self_attn(positions, hidden_states, forward_batch)
        hidden_states, residual = self.post_attention_layernorm(hidden_states, residual)
        return self.mlp(hidden_states), residual


class ToyAttention(nn.Module):
    pass


class ToyMLP(nn.Module):
    pass
"""

MODEL = """

class ToyModel(nn.Module):
    def __init__(self, config, quant_config=None, prefix=""):
        super().__init__()
        self.embed_tokens = VocabParallelEmbedding(config.vocab_size, config.hidden_size)
        self.layers = make_layers(config.num_hidden_layers, lambda idx, prefix: ToyLayer(config, idx))
        self.norm = RMSNorm(config.hidden_size)
        self.layers_to_capture = []

    def forward(self, input_ids, positions, forward_batch, input_embeds=None):
        hidden_states = self.embed_tokens(input_ids) if input_embeds is None else input_embeds
        residual = None
        aux_hidden_states = []
{loop}
        hidden_states, _ = self.norm(hidden_states, residual)
        if len(aux_hidden_states) == 0:
            return hidden_states
        return hidden_states, aux_hidden_states


class ToyForCausalLM(nn.Module):
    def __init__(self, config, quant_config=None, prefix=""):
        super().__init__()
        self.config = config
        self.model = ToyModel(config, quant_config)

    def set_eagle3_layers_to_capture(self, layer_ids=None):
{setter}


EntryClass = [ToyForCausalLM]
"""

BEFORE = """
    for i in range(len(self.layers)):
        if i in self.layers_to_capture:
            aux_hidden_states.append(hidden_states + residual)
        hidden_states, residual = self.layers[i](positions, hidden_states, forward_batch, residual)
"""

PLUS_ONE = """
    n = self.config.num_hidden_layers
    if layer_ids is None:
        self.model.layers_to_capture = [2, n // 2, n - 3]
    else:
        self.model.layers_to_capture = [val + 1 for val in layer_ids]
"""


def source(loop: str = BEFORE, setter: str = PLUS_ONE) -> str:
    """The model file with this layer loop and this body of the setter."""
    body = MODEL.format(
        loop=indent(dedent(loop).strip("\n"), " " * 8), setter=indent(dedent(setter).strip("\n"), " " * 8)
    )
    return LAYER + body


def tree(root: Path, text: str, path: str = "sglang/srt/models/toy.py") -> Path:
    """A folder with the model file in it."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return root


def wheel(root: Path, text: str) -> Path:
    """A wheel of the toy engine."""
    made = root / "sglang-9.9.9-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("sglang/srt/models/toy.py", text)
        archive.writestr("sglang-9.9.9.dist-info/METADATA", "Name: sglang\n")
    return made


def derived(root: Path, loop: str = BEFORE, setter: str = PLUS_ONE) -> Derived:
    """What is derived from the toy engine with this loop and setter."""
    (found,) = derive(str(tree(root, source(loop, setter))))
    return found
