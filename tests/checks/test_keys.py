"""EGL204: ids where the engine in use does not look."""

from __future__ import annotations

from typing import Any

NESTED = "/eagle_config/eagle_aux_hidden_state_layer_ids"
TOP = "/eagle_aux_hidden_state_layer_ids"


def served(world: Any, ids: list[int], key: str, release: str, architecture: str = "Qwen3ForCausalLM"):
    world.drafter(ids, key=key)
    world.target(36, architecture=architecture)
    world.pin("sglang", release)
    world.sglang()


def test_a_top_level_list_chooses_no_layers_in_sglang(world: Any):
    served(world, [4, 18, 32], TOP, "==0.5.16")
    found = world.finding("EGL204")
    assert found.severity == "error"
    assert found.where == world.facts.drafters[0].id_lists[0].where
    assert "default boundaries 2, 18, 33" in found.message
    assert "[3, 17, 31]" in found.fix.description
    assert not world.findings("EGL202", "EGL401")


def test_a_list_that_means_the_default_is_worth_an_info(world: Any):
    served(world, [2, 18, 33], TOP, "==0.5.16")
    assert world.finding("EGL204").severity == "info"


def test_a_list_that_may_mean_the_default_is_at_most_a_warning(world: Any):
    served(world, [1, 17, 32], TOP, "==0.5.16")
    assert world.finding("EGL204").severity == "warning"


def test_a_known_training_says_what_the_list_means(world: Any):
    served(world, [1, 17, 32], TOP, "==0.5.16")
    world.trained([2, 18, 33], 36)
    assert world.finding("EGL204").severity == "info"


def test_a_known_training_that_differs_from_the_default_is_this_rule_alone(world: Any):
    served(world, [4, 18, 32], TOP, "==0.5.16")
    world.trained([4, 18, 32], 36)
    assert "trained on boundaries 4, 18, 32" in world.finding("EGL204").message
    assert not world.findings("EGL401", "EGL202")


def test_a_release_that_reads_no_ids_names_the_first_that_does(world: Any):
    served(world, [3, 17, 31], NESTED, "==0.4.7", "LlamaForCausalLM")
    found = world.finding("EGL204")
    assert found.severity == "error"
    assert "SGLang 0.4.9 is the first release that reads this key, as boundaries 4, 18, 32" in found.fix.description


def test_a_misspelt_key_names_the_right_one(world: Any):
    served(world, [3, 17, 31], "/aux_hidden_states_layer_ids", "==0.5.16")
    found = world.finding("EGL204")
    assert "`aux_hidden_states_layer_ids`" in found.message
    assert "`eagle_aux_hidden_state_layer_ids` under `eagle_config`: [3, 17, 31]" in found.fix.description


def test_a_list_for_each_engine_is_right(world: Any):
    world.drafter([1, 17, 32], more_lists={TOP: [2, 18, 33]})
    world.target(36)
    world.pin("sglang", "==0.5.16")
    world.pin("vllm", "==0.28.0")
    world.sglang()
    world.vllm(line=30)
    assert not world.findings("EGL204")


def test_nested_ids_are_not_seen_by_vllms_second_runner(world: Any):
    world.drafter([7, 39, 70])
    world.target(80, architecture="LlamaForCausalLM")
    world.pin("vllm", "==0.24.0")
    world.vllm()
    found = world.finding("EGL204")
    assert "default boundaries 2, 40, 77" in found.message
    assert "`eagle_aux_hidden_state_layer_ids` at the top level: [8, 40, 71]" in found.fix.description


def test_releases_nobody_pinned_are_not_this_rules(world: Any):
    served(world, [3, 17, 31], NESTED, "", "LlamaForCausalLM")
    assert not world.findings("EGL204")


def test_a_published_head_is_no_proof_of_where_its_ids_stand(world: Any):
    world.pin("sglang", "==0.5.16")
    world.sglang("deepseek-ai/eagle3_qwen3_8b_ttt7", "Qwen/Qwen3-8B")
    found = world.finding("EGL204")
    assert (found.severity, found.confidence) == ("warning", "likely")
    assert "`target_layer_ids` at the top level" in found.message


def test_the_advice_is_ids_with_which_a_newer_release_is_right(world: Any):
    world.drafter([3, 15, 30], more={"draft_vocab_size": 32000})
    world.target(36)
    world.pin("vllm", "==0.11.0")
    world.trained([4, 16, 31], 36)
    world.vllm()
    assert "write [4, 16, 31] as `eagle_aux_hidden_state_layer_ids` at the top level" in (
        world.finding("EGL204").fix.description
    )
