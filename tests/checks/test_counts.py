"""EGL206: how many states are captured, and for how many fc is built."""

from __future__ import annotations

from typing import Any

import pytest

NESTED = "/eagle_config/eagle_aux_hidden_state_layer_ids"
TOP = "/eagle_aux_hidden_state_layer_ids"


def served(
    world: Any,
    engine: str,
    release: str,
    ids: list[int] | None,
    key: str,
    architecture: str = "Qwen3MoeForCausalLM",
    **more: Any,
):
    config = world.drafter(ids, key=key, more=more)
    world.target(94, architecture=architecture)
    world.pin(engine, release)
    getattr(world, engine)()
    return config


@pytest.mark.parametrize("count", [2, 4, 5])
def test_sglang_takes_three_states_up_to_0_5_11(world: Any, count: int):
    config = served(world, "sglang", "==0.5.11", list(range(10, 10 + 8 * count, 8)), NESTED)
    found = world.finding("EGL206")
    assert (found.severity, found.where) == ("error", config.id_lists[0].where)
    assert f"builds fc for 3 states, whatever the config says, and captures {count}" in found.message
    assert "SGLang 0.5.12 is the first release that is right" in found.fix.description


@pytest.mark.parametrize(("release", "ids"), [("==0.5.12", [1, 20, 40, 60]), ("==0.5.11", [1, 46, 90])])
def test_later_releases_count_the_ids_that_they_capture_by(world: Any, release: str, ids: list[int]):
    served(world, "sglang", release, ids, NESTED)
    assert not world.findings("EGL206")


def test_a_number_that_disagrees_with_the_ids_is_wrong_at_the_number(world: Any):
    config = served(world, "sglang", "==0.5.16", [1, 46, 90], NESTED, num_aux_hidden_states=4)
    found = world.finding("EGL206")
    assert found.where == config.document.where("/num_aux_hidden_states")
    assert "builds fc for 4 states by `num_aux_hidden_states`" in found.message
    assert "write `num_aux_hidden_states`: 3" in found.fix.description


def test_the_class_for_latent_attention_does_not_read_the_number(world: Any):
    more = {"architectures": ["Eagle3DeepseekV2ForCausalLM"], "num_aux_hidden_states": 4}
    served(world, "sglang", "==0.5.16", [1, 46, 90], NESTED, **more)
    assert not world.findings("EGL206")


@pytest.mark.parametrize("release", ["==0.22.0", "==0.28.0", "==0.33.0"])
def test_vllm_captures_by_the_top_level_and_does_not_size_fc_by_it(world: Any, release: str):
    config = served(world, "vllm", release, [2, 46, 91, 93], TOP)
    found = world.finding("EGL206")
    assert (found.severity, found.where) == ("error", config.where)
    assert "finds none of them and builds it for 3 states, and captures 4: boundaries 2, 46, 91, 93" in found.message
    assert "write `num_aux_hidden_states`: 4" in found.fix.description


@pytest.mark.parametrize(
    "more",
    [
        {"num_aux_hidden_states": 4},
        {"architectures": ["Eagle3Qwen3ForCausalLM"]},
        {"architectures": ["Qwen3ForCausalLM"], "num_aux_layers": 4},
    ],
)
def test_the_number_or_a_class_that_counts_the_top_level_settles_it(world: Any, more: dict[str, Any]):
    served(world, "vllm", "==0.28.0", [2, 46, 91, 93], TOP, **more)
    assert not world.findings("EGL206")


def test_no_number_but_three_fits_vllm_up_to_0_21(world: Any):
    served(world, "vllm", "==0.21.0", [2, 46, 91, 93], TOP, num_aux_hidden_states=4)
    assert "whatever the config says" in world.finding("EGL206").message


def test_in_the_form_of_speculators_the_number_stands_with_the_layers(world: Any):
    layers = {"hidden_size": 4096, "model_type": "llama", "num_hidden_layers": 1}
    value = {
        "architectures": ["Eagle3Speculator"],
        "eagle_aux_hidden_state_layer_ids": [2, 46, 91, 93],
        "num_aux_hidden_states": 4,
        "speculators_model_type": "eagle3",
        "transformer_layer_config": layers,
    }
    config = world.config(value)
    world.target(94, architecture="Qwen3MoeForCausalLM")
    world.pin("vllm", "==0.28.0")
    world.vllm()
    found = world.finding("EGL206")
    assert found.where == config.document.where("/transformer_layer_config")
    assert "write `num_aux_hidden_states`: 4 in `transformer_layer_config`" in found.fix.description
    assert "not passed on to the drafter" in world.finding("EGL211").message


def test_ids_that_are_not_read_are_egl204s(world: Any):
    served(world, "vllm", "==0.30.0", [1, 45, 90, 92], NESTED)
    defects = {finding.rule: finding.defect for finding in world.findings("EGL204", "EGL206")}
    assert defects["EGL204"] == defects["EGL206"]  # and of the two EGL204 names the cause


def test_a_head_that_declares_a_number_and_no_ids_captures_three(world: Any):
    config = served(world, "sglang", "==0.5.16", None, NESTED, num_aux_hidden_states=4)
    found = world.finding("EGL206")
    assert found.where == config.document.where("/num_aux_hidden_states")
    assert "captures 3, its default 2, N // 2, N - 3" in found.message


def test_where_the_missing_ids_are_known_it_is_egl202s(world: Any):
    served(world, "sglang", "==0.5.16", None, NESTED, num_aux_hidden_states=4)
    world.trained([2, 46, 91, 93], 94)
    assert not world.findings("EGL206")
    assert world.finding("EGL202").severity == "error"


def test_an_id_that_stands_twice_is_egl203s(world: Any):
    served(world, "sglang", "==0.5.16", [1, 46, 46], NESTED, num_aux_hidden_states=2)
    assert not world.findings("EGL206")


def test_tokenspeed_sizes_llama_heads_by_the_top_level(world: Any):
    world.drafter([1, 30, 60, 90])
    world.target(94, architecture="Qwen3MoeForCausalLM")
    world.pin("tokenspeed", "==0.1.1")
    assert "builds it for 3 states, and captures 4" in world.finding("EGL206").message


def test_a_range_of_releases_that_disagree_is_a_warning(world: Any):
    served(world, "sglang", ">=0.5.11,<0.5.14", [1, 20, 40, 60], NESTED)
    assert world.finding("EGL206").severity == "warning"


@pytest.mark.parametrize("release", ["", ">=0.5.10"])
def test_releases_nobody_pinned_are_not_held_against_the_head(world: Any, release: str):
    served(world, "sglang", release, [1, 20, 40, 60], NESTED)
    assert not world.findings("EGL206")


class TestWithoutAnEngine:
    def test_two_numbers_in_one_config_are_a_warning(self, world: Any):
        world.drafter([1, 17, 32], more={"num_aux_hidden_states": 5})
        found = world.finding("EGL206")
        assert found.severity == "warning"
        assert "`num_aux_hidden_states` is 5, and 3 ids are declared" in found.message

    def test_one_list_that_agrees_is_enough(self, world: Any):
        world.drafter([1, 17, 32], more={"num_aux_hidden_states": 3}, more_lists={TOP: [2, 18, 33, 36]})
        assert not world.findings("EGL206")
