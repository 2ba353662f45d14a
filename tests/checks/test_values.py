"""EGL201: values that no engine can take, in each form of config."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = {
    "architectures": ["LlamaForCausalLMEagle3"],
    "draft_vocab_size": 32000,
    "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 17, 32], "use_aux_hidden_state": True},
    "hidden_size": 4096,
    "model_type": "llama",
}
SPECULATOR = {
    "architectures": ["Eagle3Speculator"],
    "eagle_aux_hidden_state_layer_ids": [2, 18, 33],
    "speculators_model_type": "eagle3",
    "target_hidden_size": None,
    "transformer_layer_config": {"hidden_size": 4096, "model_type": "llama"},
}


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("intermediate_size", "12288", '/intermediate_size is "12288", a string, where a positive integer belongs'),
        ("num_hidden_layers", 0, "/num_hidden_layers is 0, where a positive integer belongs"),
        ("draft_vocab_size", -1, "/draft_vocab_size is -1, where a positive integer belongs"),
        ("hidden_size", None, "/hidden_size is null, where a positive integer belongs"),
        ("hidden_size", 4096.0, "/hidden_size is 4096.0, a floating-point number, where a positive integer belongs"),
        ("num_attention_heads", True, "/num_attention_heads is true, where a positive integer belongs"),
        ("rms_norm_eps", "1e-5", '/rms_norm_eps is "1e-5", a string, where a number belongs'),
        ("rope_theta", 0, "/rope_theta is 0, where a number above 0 belongs"),
        ("norm_before_fc", "true", '/norm_before_fc is "true", a string, where true or false belongs'),
        ("rope_scaling", "llama3", '/rope_scaling is "llama3", a string, where an object belongs'),
        ("target_hidden_size", None, "/target_hidden_size is null, where an integer belongs"),
        ("architectures", [], "/architectures is [], where at least one entry belongs"),
    ],
)
def test_a_value_that_is_impossible_is_an_error_at_its_key(world: Any, key: str, value: Any, said: str):
    config = world.config({**HEAD, key: value})
    found = world.finding("EGL201")
    assert (found.severity, found.confidence) == ("error", "proven")
    assert found.message == said
    assert found.where == config.document.where(f"/{key}")


def test_wrong_entries_of_a_list_are_one_finding(world: Any):
    world.config({**HEAD, "eagle_config": {"eagle_aux_hidden_state_layer_ids": ["1", "17", 32.5]}})
    found = world.finding("EGL201")
    assert found.message.startswith('an entry of /eagle_config/eagle_aux_hidden_state_layer_ids is "1", a string')


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("draft_vocab_size", None),
        ("num_key_value_heads", None),
        ("head_dim", None),
        ("rope_scaling", None),
        ("eagle_config", None),
        ("num_aux_hidden_states", None),
        ("eos_token_id", [1, 2]),
        ("rope_theta", 10000),
        ("rope_theta", 1e6),
        ("a_key_of_ones_own", {"any": ["thing", None]}),
    ],
)
def test_null_where_the_form_allows_it_and_unknown_keys_are_fine(world: Any, key: str, value: Any):
    world.config({**HEAD, key: value})
    assert not world.findings("EGL201")


def test_the_class_for_latent_attention_takes_a_target_width_of_null(world: Any):
    world.config({**HEAD, "architectures": ["Eagle3DeepseekV2ForCausalLM"], "target_hidden_size": None})
    assert not world.findings("EGL201")


def test_a_missing_key_is_not_this_rules(world: Any):
    world.config({"architectures": ["Eagle3Speculator"], "speculators_model_type": "eagle3"})
    assert not world.findings("EGL201")


def test_the_form_of_speculators_has_a_schema_of_its_own(world: Any):
    config = world.config({**SPECULATOR, "transformer_layer_config": {"hidden_size": "4096", "model_type": "llama"}})
    found = world.finding("EGL201")
    assert "/transformer_layer_config/hidden_size" in found.message
    assert found.where == config.document.where("/transformer_layer_config/hidden_size")


def test_a_speculators_config_may_leave_the_target_width_to_the_draft(world: Any):
    world.config(SPECULATOR)
    assert not world.findings("EGL201")


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"architectures": ["DFlashDraftModel"], "dflash_config": {"target_layer_ids": "1,9"}}, "target_layer_ids"),
        ({"architectures": ["Qwen3DSparkModel"], "dspark_markov_rank": 0}, "dspark_markov_rank"),
        ({"architectures": ["LlamaForCausalLMEagle"], "vocab_size": "32000"}, "vocab_size"),
    ],
)
def test_heads_of_other_kinds_have_their_schemas(world: Any, value: dict[str, Any], pointer: str):
    world.config({"model_type": "llama", "hidden_size": 4096, **value})
    assert pointer in world.finding("EGL201").message


def test_a_head_without_a_schema_is_left_alone(world: Any):
    world.config({"architectures": ["MedusaModel"], "hidden_size": "4096", "medusa_num_heads": 5})
    assert not world.findings("EGL201")
