"""The JSON Schemas of drafter configs: real shapes are valid, impossible values are not, and shared fields agree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from eaglelint._resources import data_root

NAMES = ("sglang", "vllm", "speculators", "dflash", "dspark", "eagle1")
LAYER = {
    "attention_bias": False,
    "head_dim": 128,
    "hidden_act": "silu",
    "hidden_size": 5120,
    "intermediate_size": 25600,
    "max_position_embeddings": 40960,
    "model_type": "llama",
    "num_attention_heads": 40,
    "num_hidden_layers": 1,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-06,
    "rope_scaling": None,
    "rope_theta": 1000000,
    "vocab_size": 151936,
}
#: One config as its writer leaves it, by schema.
WHOLE: dict[str, dict[str, Any]] = {
    "sglang": {
        **LAYER,
        "architectures": ["LlamaForCausalLMEagle3"],
        "draft_vocab_size": 32000,
        "eagle_config": {
            "eagle_aux_hidden_state_layer_ids": [1, 31, 60],
            "next_layer_regular": True,
            "parallel_draft_step": 1,
            "use_aux_hidden_state": True,
            "use_last_layernorm": True,
        },
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
    },
    "vllm": {
        **LAYER,
        "architectures": ["Eagle3LlamaForCausalLM"],
        "draft_vocab_size": 32000,
        "eagle_aux_hidden_state_layer_ids": [2, 32, 61],
        "norm_before_residual": True,
        "num_aux_hidden_states": 3,
    },
    "speculators": {
        "architectures": ["Eagle3Speculator"],
        "auto_map": {"": "speculators.models.eagle3.Eagle3SpeculatorConfig"},
        "draft_vocab_size": 32000,
        "dtype": "bfloat16",
        "eagle_aux_hidden_state_layer_ids": None,
        "norm_before_residual": True,
        "speculators_config": {
            "algorithm": "eagle3",
            "default_proposal_method": "greedy",
            "proposal_methods": [
                {"accept_tolerance": 0.0, "proposal_type": "greedy", "speculative_tokens": 3, "verifier_accept_k": 1}
            ],
            "verifier": {"architectures": ["Qwen3ForCausalLM"], "name_or_path": "Qwen/Qwen3-32B"},
        },
        "speculators_model_type": "eagle3",
        "speculators_version": "0.7.0",
        "target_hidden_size": None,
        "transformer_layer_config": {**LAYER, "architectures": ["LlamaForCausalLM"]},
    },
    "dflash": {
        **LAYER,
        "architectures": ["DFlashDraftModel"],
        "block_size": 16,
        "dflash_config": {"mask_token_id": 151669, "target_layer_ids": [1, 16, 31, 46, 61]},
        "layer_types": ["full_attention"] * 5,
        "num_hidden_layers": 5,
        "num_target_layers": 64,
    },
    "dspark": {
        **LAYER,
        "architectures": ["Qwen3DSparkModel"],
        "dspark_block_size": 7,
        "dspark_markov_rank": 128,
        "dspark_target_layer_ids": [1, 31, 60],
    },
    "eagle1": {**LAYER, "architectures": ["LlamaForCausalLMEagle"], "bias": True},
}


def schema(name: str) -> dict[str, Any]:
    text = (data_root("schemas") / f"drafter-{name}.schema.json").read_text(encoding="utf-8")
    value: dict[str, Any] = json.loads(text)
    return value


def errors(name: str, value: Any) -> list[str]:
    found = Draft202012Validator(schema(name)).iter_errors(value)
    return sorted("/" + "/".join(map(str, error.absolute_path)) for error in found)


@pytest.mark.parametrize("name", NAMES)
class TestEachSchema:
    def test_is_one_and_says_what_it_is(self, name: str):
        found = schema(name)
        Draft202012Validator.check_schema(found)
        assert found["$id"] == f"urn:eaglelint:schema:drafter-{name}"
        assert found["title"]
        assert found["description"]

    def test_accepts_what_its_writers_write(self, name: str):
        assert errors(name, WHOLE[name]) == []

    def test_accepts_keys_that_it_does_not_know(self, name: str):
        assert errors(name, {**WHOLE[name], "our_run": {"id": 7}}) == []

    def test_describes_every_field(self, name: str):
        assert not [pointer for pointer, field in fields(schema(name)) if not field.get("description")]

    def test_is_a_whole_file_without_references(self, name: str):
        assert "$ref" not in json.dumps(schema(name))


def fields(value: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field of a schema, however deep, without those that only narrow another."""
    for key, field in value.get("properties", {}).items():
        yield f"{pointer}/{key}", field
        yield from fields(field, f"{pointer}/{key}")
        yield from fields(field.get("items", {}), f"{pointer}/{key}/*")


@pytest.mark.parametrize(
    ("name", "change", "where"),
    [
        ("sglang", {"hidden_size": "5120"}, "/hidden_size"),
        ("sglang", {"target_hidden_size": None}, "/target_hidden_size"),
        ("sglang", {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, "31"]}},
         "/eagle_config/eagle_aux_hidden_state_layer_ids/1"),
        ("vllm", {"num_aux_hidden_states": 0}, "/num_aux_hidden_states"),
        ("vllm", {"norm_before_residual": 1}, "/norm_before_residual"),
        ("speculators", {"speculators_config": {"verifier": {}, "proposal_methods": []}},
         "/speculators_config/proposal_methods"),
        ("speculators", {"transformer_layer_config": {"head_dim": "128"}}, "/transformer_layer_config/head_dim"),
        ("dflash", {"block_size": 0}, "/block_size"),
        ("dflash", {"dflash_config": {"target_layer_ids": 5}}, "/dflash_config/target_layer_ids"),
        ("dspark", {"dspark_markov_rank": -1}, "/dspark_markov_rank"),
        ("eagle1", {"num_hidden_layers": None}, "/num_hidden_layers"),
    ],
)  # fmt: skip
def test_an_impossible_value_is_found_where_it_stands(name: str, change: dict[str, Any], where: str):
    assert errors(name, {**WHOLE[name], **change}) == [where]


def test_a_speculators_config_needs_what_its_readers_need():
    for key in ("speculators_model_type", "speculators_config", "transformer_layer_config"):
        value = {k: v for k, v in WHOLE["speculators"].items() if k != key}
        assert errors("speculators", value) == ["/"]


def test_a_field_that_several_forms_share_is_the_same_in_all():
    keys = {f"/{entry}" for entry in LAYER} | {"/draft_vocab_size", "/norm_output"}
    shared: dict[str, set[str]] = {}
    for name in NAMES:
        for pointer, field in fields(schema(name)):
            key = pointer.removeprefix("/transformer_layer_config")
            if key in keys:
                shared.setdefault(key, set()).add(json.dumps(field, sort_keys=True))
    assert set(shared) == keys
    assert {key: len(texts) for key, texts in shared.items() if len(texts) > 1} == {}
