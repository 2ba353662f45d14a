"""Forms of models beside the plain loop: platforms, hyper-connections, decoders within decoders, wrapped libraries."""

from __future__ import annotations

from pathlib import Path

from toy import BEFORE, PLUS_ONE, source, tree

from eaglelint.derive import Derived, derive

INTERFACES = """
class EagleModelMixin:
    aux_hidden_state_layers = ()

    def _set_aux_hidden_state_layers(self, layers):
        self.aux_hidden_state_layers = tuple(sorted(set(layers)))


class SupportsEagle3:
    def set_aux_hidden_state_layers(self, layers):
        inner = getattr(self, "language_model", self)
        inner.model._set_aux_hidden_state_layers(layers)

    def get_eagle3_default_aux_hidden_state_layers(self):
        n = getattr(self, "language_model", self).config.num_hidden_layers
        return (2, n // 2, n - 3)
"""

MODEL = """
from itertools import islice
import torch
from torch import nn
from vllm.model_executor.layers.layernorm import RMSNorm
from vllm.model_executor.layers.vocab_parallel_embedding import VocabParallelEmbedding
from vllm.model_executor.models.interfaces import EagleModelMixin, SupportsEagle3
from vllm.model_executor.models.utils import init_vllm_registered_model, make_layers


class ToyLayer(nn.Module):
    def __init__(self, config, prefix=""):
        super().__init__()
        self.attn = Part()
        self.mlp = Part()
        self.norm = RMSNorm(config.hidden_size)
{layer}

class Part(nn.Module):
    pass


class ToyModel(nn.Module, EagleModelMixin):
    def __init__(self, *, vllm_config, prefix=""):
        super().__init__()
        config = vllm_config.model_config.hf_config
        self.config = config
        self.embed_tokens = VocabParallelEmbedding(config.vocab_size, config.hidden_size)
        self.start_layer, self.end_layer, self.layers = make_layers(
            config.num_hidden_layers, lambda prefix: ToyLayer(config, prefix), prefix="layers"
        )
        self.norm = RMSNorm(config.hidden_size)

    def forward(self, input_ids, positions, intermediate_tensors=None, inputs_embeds=None):
        hidden_states = self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds
        residual, post, mix = None, None, None
        aux_hidden_states = []
{loop}
        if len(aux_hidden_states) > 0:
            return hidden_states, aux_hidden_states
        return hidden_states


class ToyForCausalLM(nn.Module, SupportsEagle3):
    def __init__(self, *, vllm_config, prefix=""):
        super().__init__()
        self.config = vllm_config.model_config.hf_config
        self.model = ToyModel(vllm_config=vllm_config)
"""

PLAIN_LAYER = """
    def forward(self, hidden_states, residual):
        if residual is None:
            residual = hidden_states
            hidden_states = self.norm(hidden_states)
        else:
            hidden_states, residual = self.norm(hidden_states, residual)
        return self.mlp(self.attn(hidden_states)), residual
"""

PLAIN_LOOP = """
        for idx, layer in enumerate(self.layers):
            if idx in self.aux_hidden_state_layers:
                aux_hidden_states.append(hidden_states if residual is None else hidden_states + residual)
            hidden_states, residual = layer(hidden_states, residual)
        hidden_states, _ = self.norm(hidden_states, residual)
"""

CLOSED_LAYER = '''
    def forward(self, hidden_states):
        """The residual stays inside."""
        return hidden_states + self.mlp(self.attn(self.norm(hidden_states)))
'''


def model(layer: str = PLAIN_LAYER, loop: str = PLAIN_LOOP) -> str:
    return MODEL.format(layer=layer, loop=loop.strip("\n"))


def vllm(root: Path, files: dict[str, str], registry: str = '"ToyForCausalLM": ("toy", "ToyForCausalLM"),') -> Path:
    """A vLLM with these files below `vllm/`."""
    models = "vllm/model_executor/models"
    tree(root, INTERFACES, f"{models}/interfaces.py")
    tree(root, f"MODELS = {{{registry}}}\n", f"{models}/registry.py")
    for path, text in files.items():
        tree(root, text, f"vllm/{path}")
    return root


def only(root: Path, text: str) -> Derived:
    (found,) = derive(str(vllm(root, {"model_executor/models/toy.py": text})))
    return found


def test_streams_that_are_mixed_inside_of_kernels_are_followed(tmp_path: Path) -> None:
    layer = """
    def forward(self, x, residual, post, mix):
        if residual is None:
            residual = x
            post, mix, x = mhc_pre_tilelang(x, self.fn)
        else:
            residual, post, mix, x = mhc_fused_post_pre_tilelang(x, residual, post, mix, self.fn)
        x = self.attn(x)
        residual, post, mix, x = mhc_fused_post_pre_tilelang(x, residual, post, mix, self.fn)
        return self.mlp(x), residual, post, mix
"""
    loop = """
        for idx, layer in enumerate(self.layers):
            hidden_states, residual, post, mix = layer(hidden_states, residual, post, mix)
            if idx + 1 in self.aux_hidden_state_layers:
                streams = mhc_post_tilelang(hidden_states, residual, post, mix)
                aux_hidden_states.append(streams.mean(dim=1))
        hidden_states = mhc_post_tilelang(hidden_states, residual, post, mix)
        hidden_states = self.norm(hc_head_fused_kernel_tilelang(hidden_states, self.fn))
"""
    kernels = "from vllm.kernels import (\n    hc_head_fused_kernel_tilelang, mhc_fused_post_pre_tilelang,"
    kernels += " mhc_post_tilelang, mhc_pre_tilelang,\n)\n"
    found = only(tmp_path, kernels + model(layer, loop)).reading
    assert found is not None
    assert (found.rule, found.zero, found.end, found.tensor) == ("as_is", "dropped", "captured", "mean")


def test_a_branch_between_the_halves_of_a_mix_is_not_taken_for_the_stream(tmp_path: Path) -> None:
    layer = """
    def forward(self, x, residual, post, mix):
        if residual is None:
            residual = x
            post, mix, x = mhc_pre_tilelang(x, self.fn)
        else:
            residual, post, mix, x = mhc_fused_post_pre_tilelang(x, residual, post, mix, self.fn)
        return self.mlp(self.attn(x)), residual, post, mix
"""
    loop = """
        for idx, layer in enumerate(self.layers):
            hidden_states, residual, post, mix = layer(hidden_states, residual, post, mix)
            if idx + 1 in self.aux_hidden_state_layers:
                aux_hidden_states.append(hidden_states)
        hidden_states = self.norm(mhc_post_tilelang(hidden_states, residual, post, mix))
"""
    kernels = "from vllm.kernels import mhc_fused_post_pre_tilelang, mhc_post_tilelang, mhc_pre_tilelang\n"
    found = only(tmp_path, kernels + model(layer, loop))
    assert found.reading is None
    assert found.reason == "a captured state went through something whose body is not known"


def test_a_norm_that_hands_its_residual_on_adds_nothing(tmp_path: Path) -> None:
    layer = """
    def forward(self, hidden_states, residual):
        residual = hidden_states
        hidden_states, residual = self.norm(hidden_states, residual)
        return residual + self.mlp(self.attn(hidden_states)), residual
"""
    loop = """
        for idx, layer in enumerate(self.layers):
            if idx in self.aux_hidden_state_layers:
                aux_hidden_states.append(hidden_states)
            hidden_states, residual = layer(hidden_states, residual)
        hidden_states, _ = self.norm(hidden_states, residual)
"""
    norm = """
class LayerNorm(nn.Module):
    def forward(self, hidden_states, residuals=None):
        hidden_states = layer_norm_func(hidden_states, self.weight)
        return hidden_states, residuals
"""
    text = model(layer, loop).replace("RMSNorm(config", "LayerNorm(config")
    found = only(tmp_path, text.replace("\n\nclass ToyLayer", norm + "\n\nclass ToyLayer", 1)).reading
    assert found is not None
    assert (found.rule, found.zero, found.tensor) == ("as_is", "captured", "stream")


def test_a_decoder_without_a_final_norm_ends_at_boundary_n(tmp_path: Path) -> None:
    loop = """
        for idx, layer in enumerate(self.layers):
            hidden_states = layer(hidden_states)
            if idx + 1 in self.aux_hidden_state_layers:
                aux_hidden_states.append(hidden_states)
"""
    found = only(tmp_path, model(CLOSED_LAYER, loop)).reading
    assert found is not None
    assert (found.rule, found.zero, found.end) == ("as_is", "dropped", "captured")


def test_a_decoder_that_a_model_keeps_as_its_layers(tmp_path: Path) -> None:
    text = model().replace("class ToyModel(nn.Module, EagleModelMixin)", "class ToyDecoder(nn.Module, EagleModelMixin)")
    text = text.replace("        hidden_states, _ = self.norm(hidden_states, residual)\n", "")
    text = text.replace(
        "        if len(aux_hidden_states) > 0:\n            return hidden_states, aux_hidden_states\n"
        "        return hidden_states\n",
        "        return hidden_states, residual, aux_hidden_states\n",
    ).replace(
        "hidden_states = self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds\n",
        "hidden_states = input_ids\n",
    )
    text += """

class ToyModel(nn.Module):
    def __init__(self, *, vllm_config):
        super().__init__()
        self.embed_tokens = VocabParallelEmbedding(1, 1)
        self.layers = ToyDecoder(vllm_config=vllm_config)
        self.norm = RMSNorm(1)

    def _set_aux_hidden_state_layers(self, layers):
        self.layers._set_aux_hidden_state_layers(layers)

    def forward(self, input_ids, positions, intermediate_tensors=None, inputs_embeds=None):
        hidden_states, residual, aux = self.layers(self.embed_tokens(input_ids), positions)
        hidden_states, _ = self.norm(hidden_states, residual)
        return (hidden_states, aux) if aux else hidden_states
"""
    found = only(tmp_path, text).reading
    assert found is not None
    assert (found.rule, found.zero, found.end) == ("as_is", "captured", "dropped")


def test_each_platform_wraps_the_decoder_beside_it(tmp_path: Path) -> None:
    wrapper = """

class SeeingForConditionalGeneration(nn.Module, SupportsEagle3):
    def __init__(self, *, vllm_config, prefix=""):
        super().__init__()
        self.language_model = init_vllm_registered_model(
            vllm_config=vllm_config, prefix=prefix, architectures=["ToyForCausalLM"]
        )
"""
    after = """
        for idx, layer in enumerate(self.layers):
            hidden_states, residual = layer(hidden_states, residual)
            if idx in self.aux_hidden_state_layers:
                aux_hidden_states.append(hidden_states + residual)
        hidden_states, _ = self.norm(hidden_states, residual)
"""
    files = {
        "models/toy/__init__.py": "from .one.model import SeeingForConditionalGeneration, ToyForCausalLM\n",
        "models/toy/one/model.py": model() + wrapper,
        "models/toy/other/model.py": model(PLAIN_LAYER, after) + wrapper,
    }
    registry = '"ToyForCausalLM": ("vllm.models.toy", "ToyForCausalLM"),\n'
    registry += '"SeeingForConditionalGeneration": ("vllm.models.toy", "SeeingForConditionalGeneration"),'
    found = {d.file.split("/")[-2]: d for d in derive(str(vllm(tmp_path, files, registry))) if "Seeing" in d.name}
    one, other = found["one"].reading, found["other"].reading
    assert one is not None
    assert other is not None
    assert (one.rule, other.rule) == ("as_is", "plus_one")


def test_an_optional_key_of_the_config_is_named_where_the_answer_needs_it(tmp_path: Path) -> None:
    loop = PLAIN_LOOP.replace(
        "aux_hidden_states.append(",
        "aux_hidden_states.append(other_stream(hidden_states) if self.config.block_size is not None else ",
    ).replace("hidden_states if residual is None else hidden_states + residual", "hidden_states")
    layer = CLOSED_LAYER.replace("self, hidden_states", "self, hidden_states, residual").replace(
        "return hidden_states +", "return hidden_states, None\n        return hidden_states +"
    )
    layer = layer.replace(
        "return hidden_states, None", "return hidden_states + self.mlp(self.attn(self.norm(hidden_states))), None"
    )
    found = only(tmp_path, model(layer, loop.replace("hidden_states, _ = self.norm(hidden_states, residual)", "pass")))
    assert found.without == ("block_size",)
    assert found.reading is not None
    assert "for a config without block_size" in found.reading.note


def test_a_model_of_the_transformers_library_records_by_name(tmp_path: Path) -> None:
    text = """
from torch import nn
from transformers import AutoModel
from transformers.utils.output_capturing import OutputRecorder


class WrappedForCausalLM(nn.Module):
    def __init__(self, *, vllm_config, prefix=""):
        super().__init__()
        self.config = vllm_config.model_config.hf_config
        self.model = AutoModel.from_config(self.config)
        self.names = {}
        self.asked = {}
        self.walk(self.model)

    def walk(self, module):
        for name, child in module.named_children():
            if isinstance(module, nn.ModuleList) and len(module) == self.config.num_hidden_layers:
                self.names[int(name)] = f"layers.{name}"
            self.walk(child)

    def set_aux_hidden_state_layers(self, layers):
        if self.model._can_record_outputs is None:
            self.model._can_record_outputs = {}
        for layer in layers:
            self.model._can_record_outputs[f"aux_{layer}"] = OutputRecorder(nn.Module, layer_name=self.names[layer - 1])
            self.asked[f"output_aux_{layer}"] = True

    def get_eagle3_default_aux_hidden_state_layers(self):
        return (2, self.config.num_hidden_layers // 2, self.config.num_hidden_layers - 3)

    def forward(self, input_ids, positions):
        outputs = self.model(input_ids=input_ids, return_dict=False, **self.asked)
        aux = [x[0][0, ...] for x in outputs[1:]]
        return (outputs[0][0, ...], aux) if self.asked else outputs[0]
"""
    found = only(tmp_path, text).reading
    assert found is not None
    assert (found.rule, found.zero, found.end, found.outside, found.order) == (
        "as_is", "crash", "captured", "crash", "as_listed",
    )  # fmt: skip


def test_a_layer_of_a_kind_that_the_config_names_is_a_layer(tmp_path: Path) -> None:
    builder = """

def build(config, idx):
    if config.layer_types[idx] == "full_attention":
        return ToyLayer(config, idx)
    if config.layer_types[idx] == "linear_attention":
        return ToyLayer(config, idx)
    raise ValueError(f"unknown type of layer {idx}")


class ToyAttention"""
    text = source().replace("\n\nclass ToyAttention", builder, 1)
    text = text.replace("lambda idx, prefix: ToyLayer(config, idx)", "lambda idx, prefix: build(config, idx)")
    (found,) = derive(str(tree(tmp_path, text)))
    assert found.reading is not None
    assert found.reading.rule == "plus_one"


def test_an_error_for_one_list_is_not_why_others_give_nothing(tmp_path: Path) -> None:
    loop = BEFORE.replace("aux_hidden_states.append(hidden_states + residual)", "pass")
    setter = PLUS_ONE + "        for i in self.model.layers_to_capture:\n            self.model.layers[i].seen = True\n"
    (found,) = derive(str(tree(tmp_path, source(loop, setter))))
    assert found.reading is not None
    assert found.reading.rule == "nothing_captured"
    assert found.reading.note == "the forward pass returns no auxiliary states for any ids"
