"""Names of tensors: what each is in a head, and which releases know it so."""

from __future__ import annotations

import pytest

from eaglelint.conventions.weights import loading
from eaglelint.weights.names import Names, before, canonical, is_taken


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("midlayer.self_attn.q_proj.weight", "layers.0.self_attn.q_proj.weight"),
        ("layers.0.mlp.up_proj.weight", "layers.0.mlp.up_proj.weight"),
        ("model.layers.1.hidden_norm.weight", "layers.1.hidden_norm.weight"),
        ("draft.block.self_attn.k_proj.bias", "layers.0.self_attn.k_proj.bias"),
        ("model.fc.weight", "fc.weight"),
        ("fc.bias", "fc.bias"),
        ("norm.weight", "norm.weight"),
        ("aux_norm_mid.weight", "fc_norm.1.weight"),
        ("model.d2t", "d2t"),
        ("t2d", "t2d"),
        ("vision.patch_embed.weight", ""),
        ("optimizer.state", ""),
    ],
)
def test_what_a_tensor_is(name: str, what: str):
    assert canonical(name) == what


@pytest.mark.parametrize(
    ("name", "engine", "release", "taken"),
    [
        ("midlayer.hidden_norm.weight", "sglang", "0.4.9", True),
        ("layers.0.hidden_norm.weight", "sglang", "0.5.11", False),
        ("layers.0.hidden_norm.weight", "sglang", "0.5.12", True),
        ("model.fc.weight", "sglang", "0.5.12", True),
        ("model.fc.weight", "vllm", "0.33.0", False),
        ("model.lm_head.weight", "sglang", "0.5.12", False),
        ("layers.1.mlp.up_proj.weight", "vllm", "0.11.0", False),
        ("layers.1.mlp.up_proj.weight", "vllm", "0.11.1", True),
        ("anything.d2t", "vllm", "0.33.0", True),
        ("layers.0.hidden_norm.weight", "tokenspeed", "", True),
    ],
)
def test_where_a_release_finds_its_place(name: str, engine: str, release: str, taken: bool):
    row = loading(engine, "llama", release)
    assert row is not None
    assert is_taken(name, row) is taken


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("layers.0.self_attn.q_proj.weight", "layers.0"),
        ("model.midlayer.mlp.up_proj.weight", "model.midlayer"),
        ("model.fc.weight", "model"),
        ("fc.weight", "fc"),
    ],
)
def test_the_part_before_a_name(name: str, prefix: str):
    assert before(name) == prefix


def test_fused_and_quantised_tensors_count_for_their_parts():
    names = Names({canonical(n): n for n in ("midlayer.self_attn.qkv_proj.weight", "midlayer.mlp.up_proj.qweight")})
    assert names.has("layers.0.self_attn.k_proj.weight")
    assert names.has("layers.0.mlp.up_proj.weight")
    assert not names.has("layers.0.mlp.down_proj.weight")
    assert names.layers == (0,)
