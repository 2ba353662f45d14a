"""What a head is made of: the tensors of each kind of drafter, with the shapes that its config gives them.

Names are canonical: the first decoder layer is `layers.0`, nothing stands before it. A size of 0 is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from eaglelint.weights.dimensions import Dimensions

#: The first layer of every head, and the one that midlayer stands for.
FIRST = "layers.0."


class Parameter(NamedTuple):
    """A tensor of a head. `part` is "attention", "mlp" or "norm". `formula` says in words what the shape is made of."""

    name: str
    shape: tuple[int, ...]
    part: str
    formula: str = ""

    @property
    def module(self) -> str:
        """The name of the module that holds it."""
        return self.name.rpartition(".")[0]


#: Modules that checkpoints may hold as one, and what that one stands for.
FUSED = {
    "qkv_proj": ("q_proj", "k_proj", "v_proj"),
    "gate_up_proj": ("gate_proj", "up_proj"),
    "fused_qkv_a_proj": ("q_a_proj", "kv_a_proj_with_mqa"),
    "fused_qkv_a_proj_with_mqa": ("q_a_proj", "kv_a_proj_with_mqa"),
}
#: What stands for the weight of a module that is quantised.
QUANTISED = frozenset(("qweight", "weight_packed", "weight_scale", "weight_scale_inv", "qzeros", "weight_scale_2"))


def layer_parameters(layout: str, sizes: Dimensions, layer: int = 0) -> Iterator[Parameter]:
    """The tensors of one decoder layer of a drafter class ("llama", "qwen3", "mla").

    The first layer takes the embedding beside the states, so twice the width.
    """
    before = f"layers.{layer}."
    width = sizes.hidden * (2 if layer == 0 else 1)
    given = "2 x hidden_size" if layer == 0 else "hidden_size"
    attention = _latent if layout == "mla" else _heads
    yield from attention(f"{before}self_attn.", sizes, width, given)
    if layout == "qwen3":
        for name in ("q_norm", "k_norm"):
            yield Parameter(f"{before}self_attn.{name}.weight", (sizes.head_dim,), "norm")
    for name in ("gate_proj", "up_proj"):
        shape = (sizes.intermediate, sizes.hidden)
        yield Parameter(f"{before}mlp.{name}.weight", shape, "mlp", "[intermediate_size, hidden_size]")
    shape = (sizes.hidden, sizes.intermediate)
    yield Parameter(f"{before}mlp.down_proj.weight", shape, "mlp", "[hidden_size, intermediate_size]")
    names = (
        ("input_layernorm", "hidden_norm", "post_attention_layernorm") if layer == 0 else ("post_attention_layernorm",)
    )
    for name in names:
        yield Parameter(f"{before}{name}.weight", (sizes.hidden,), "norm", "[hidden_size]")


def _heads(before: str, sizes: Dimensions, width: int, given: str) -> Iterator[Parameter]:
    queries, keys = sizes.heads * sizes.head_dim, sizes.kv_heads * sizes.head_dim
    yield Parameter(
        f"{before}q_proj.weight", (queries, width), "attention", f"[num_attention_heads x head_dim, {given}]"
    )
    for name in ("k_proj", "v_proj"):
        yield Parameter(
            f"{before}{name}.weight", (keys, width), "attention", f"[num_key_value_heads x head_dim, {given}]"
        )
    shape = (sizes.hidden, queries)
    yield Parameter(f"{before}o_proj.weight", shape, "attention", "[hidden_size, num_attention_heads x head_dim]")


def _latent(before: str, sizes: Dimensions, width: int, given: str) -> Iterator[Parameter]:
    """Multi-head latent attention, as in DeepSeek."""
    rank, rope = sizes.size("kv_lora_rank"), sizes.size("qk_rope_head_dim")
    nope, value = sizes.size("qk_nope_head_dim"), sizes.size("v_head_dim")
    query = sizes.heads * (nope + rope) if nope and rope else 0
    compressed = sizes.size("q_lora_rank")
    if compressed:
        yield Parameter(f"{before}q_a_proj.weight", (compressed, width), "attention", f"[q_lora_rank, {given}]")
        yield Parameter(
            f"{before}q_b_proj.weight", (query, compressed), "attention", "[heads x (nope + rope), q_lora_rank]"
        )
        yield Parameter(f"{before}q_a_layernorm.weight", (compressed,), "norm", "[q_lora_rank]")
    down = rank + rope if rank and rope else 0
    yield Parameter(
        f"{before}kv_a_proj_with_mqa.weight", (down, width), "attention", f"[kv_lora_rank + qk_rope_head_dim, {given}]"
    )
    up = sizes.heads * (nope + value) if nope and value else 0
    yield Parameter(f"{before}kv_b_proj.weight", (up, rank), "attention", "[heads x (nope + v), kv_lora_rank]")
    yield Parameter(f"{before}kv_a_layernorm.weight", (rank,), "norm", "[kv_lora_rank]")
    shape = (sizes.hidden, sizes.heads * value)
    yield Parameter(f"{before}o_proj.weight", shape, "attention", "[hidden_size, heads x v_head_dim]")
