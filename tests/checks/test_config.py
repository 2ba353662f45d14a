"""EGL202 and EGL203: ids that are missing, and ids that nothing can capture."""

from __future__ import annotations

from typing import Any

import pytest

from eaglelint.location import Location


def served(world: Any, ids: list[int] | None, release: str, depth: int = 36, architecture: str = "Qwen3ForCausalLM"):
    world.drafter(ids)
    world.target(depth, architecture=architecture)
    world.pin("sglang", release)
    world.sglang()


class TestUndeclared:
    def test_a_known_capture_that_differs_from_the_guess_is_an_error(self, world: Any):
        served(world, None, "==0.5.14", 80, "LlamaForCausalLM")
        world.trained([4, 40, 76], 80)
        found = world.finding("EGL202")
        assert found.severity == "error"
        assert found.where == world.facts.drafters[0].where
        assert "4, 40, 76" in found.message
        assert "guesses boundaries 2, 40, 77" in found.message
        assert "[3, 39, 75]" in found.fix.description

    def test_a_capture_of_the_default_is_worth_an_info(self, world: Any):
        served(world, None, "==0.5.14", 80, "LlamaForCausalLM")
        world.trained([2, 40, 77], 80)
        assert world.finding("EGL202").severity == "info"

    def test_without_a_capture_the_guess_is_named(self, world: Any):
        served(world, None, "==0.5.14", 80, "LlamaForCausalLM")
        found = world.finding("EGL202")
        assert found.severity == "warning"
        assert "2, 40, 77" in found.message

    def test_an_empty_eagle_config_is_the_object_that_lacks_the_ids(self, world: Any):
        world.drafter(None, more={"eagle_config": {"use_aux_hidden_state": True}})
        world.target(36)
        world.pin("sglang", "==0.5.14")
        world.sglang()
        assert world.finding("EGL202").where == world.facts.drafters[0].document.where("/eagle_config")

    def test_each_engine_is_named_with_its_guess(self, world: Any):
        served(world, None, "==0.5.14", 36)
        world.pin("vllm", "==0.28.0")
        world.vllm(line=20)
        message = world.finding("EGL202").message
        assert "SGLang 0.5.14 guesses" in message
        assert "vLLM 0.28.0 guesses" in message

    def test_a_capture_that_a_defect_explains_is_not_held_against_the_config(self, world: Any):
        served(world, None, "==0.5.14")
        world.trained([0, 1, 2], 36)
        world.defect("early-layers-captured")
        assert not world.findings("EGL202")

    def test_without_an_engine_the_shared_default_is_compared(self, world: Any):
        world.drafter(None)
        world.target(36)
        world.trained([4, 18, 31], 36)
        found = world.finding("EGL202")
        assert found.severity == "error"
        assert "2, 18, 33" in found.message

    @pytest.mark.parametrize("method", ["eagle", "dflash", "mtp", "unknown"])
    def test_other_heads_need_no_ids(self, world: Any, method: str):
        world.drafter(None, method=method)
        world.target(36)
        world.sglang(algorithm="EAGLE")
        assert not world.findings("EGL202", "EGL203")

    def test_the_draft_config_of_a_training_run_is_not_the_served_head(self, world: Any):
        world.drafter([1, 17, 32])
        world.drafter(None, path="train/draft.json")
        world.target(36)
        world.pin("sglang", "==0.5.14")
        world.sglang()
        assert not world.findings("EGL202")

    def test_the_draft_config_that_a_trainer_starts_from_is_no_head(self, world: Any):
        world.drafter(None, path="configs/qwen3-8b-eagle3.json")
        assert not world.findings("EGL202")


class TestImpossible:
    def test_the_last_boundary_where_the_loop_stops_before_it(self, world: Any):
        served(world, [1, 17, 35], "==0.5.14")
        found = world.finding("EGL203")
        assert found.severity == "error"
        assert "id 35" in found.message
        assert "boundaries 0 to 35" in found.message

    def test_the_last_boundary_where_it_is_captured(self, world: Any):
        served(world, [24, 30, 36], "==0.5.20", 36, "GptOssForCausalLM")
        assert not world.findings("EGL203")

    def test_the_embedding_where_it_is_captured(self, world: Any):
        served(world, [-1, 17, 32], "==0.5.14")
        assert not world.findings("EGL203")

    def test_the_embedding_where_the_server_crashes_on_it(self, world: Any):
        served(world, [-1, 17, 32], "==0.5.14", 36, "LlamaForCausalLM")
        assert "boundary 0" in world.finding("EGL203").message

    def test_the_last_boundary_in_a_part_of_a_pinned_range_is_another_rules(self, world: Any):
        served(world, [24, 30, 36], ">=0.5.16,<0.5.19", 36, "GptOssForCausalLM")
        assert not world.findings("EGL203")

    def test_the_last_boundary_in_a_part_of_an_open_range_is_a_warning(self, world: Any):
        served(world, [24, 30, 36], ">=0.5.16", 36, "GptOssForCausalLM")
        found = world.finding("EGL203")
        assert found.severity == "warning"
        assert "SGLang 0.5.16" in found.message

    def test_an_id_that_stands_twice(self, world: Any):
        served(world, [1, 17, 17], "==0.5.14")
        assert "17 stands more than once" in world.finding("EGL203").message

    def test_an_empty_list(self, world: Any):
        served(world, [], "==0.5.14")
        assert world.finding("EGL203").severity == "error"

    def test_an_unsorted_list_is_an_info_where_layers_are_captured_in_order(self, world: Any):
        served(world, [32, 1, 17], "==0.5.14")
        assert world.finding("EGL203").severity == "info"

    def test_an_id_beyond_the_target_without_any_engine(self, world: Any):
        world.drafter([1, 17, 40])
        world.target(36)
        assert world.finding("EGL203").severity == "error"

    def test_a_default_that_collides_in_a_small_target(self, world: Any):
        served(world, None, "==0.5.14", 4)
        found = world.finding("EGL203")
        assert "2, 2, 1" in found.message
        assert found.severity == "error"

    def test_a_default_with_room(self, world: Any):
        served(world, None, "==0.5.14", 8)
        assert not world.findings("EGL203")

    def test_the_place_is_the_list(self, world: Any):
        served(world, [1, 17, 17], "==0.5.14")
        where: Location = world.finding("EGL203").where
        assert where == world.facts.drafters[0].id_lists[0].where


def test_a_guess_that_depends_on_an_unknown_depth_is_named_by_its_formulas(world: Any):
    world.drafter(None)
    world.pin("sglang", "==0.5.14")
    world.sglang(target="/models/unheard-of")
    message = world.finding("EGL202").message
    assert "guesses 2, N // 2, N - 3" in message


class TestPublishedHeads:
    def test_a_head_known_to_follow_the_default(self, world: Any):
        world.pin("vllm", "==0.29.0")
        world.vllm("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", "meta-llama/Llama-3.1-8B-Instruct")
        found = world.finding("EGL202")
        assert found.severity == "info"
        assert "2, 16, 29" in found.message

    def test_a_head_known_not_to_follow_the_default(self, world: Any):
        world.pin("vllm", "==0.29.0")
        launch = world.vllm("nvidia/Llama-3.3-70B-Instruct-Eagle3", "meta-llama/Llama-3.3-70B-Instruct")
        found = world.finding("EGL202")
        assert found.severity == "warning"
        assert found.where == launch.draft.where
        assert "2, 40, 77" in found.message

    def test_ids_of_a_head_are_judged_without_its_config(self, world: Any):
        world.pin("sglang", "==0.5.15")
        launch = world.sglang("nvidia/gpt-oss-120b-Eagle3-v3", "openai/gpt-oss-120b")
        found = world.finding("EGL401")
        assert found.severity == "error"
        assert found.where == launch.draft.where
        assert "SGLang 0.5.17" in found.fix.description
        assert not world.findings("EGL204")

    def test_a_head_that_no_table_has_is_not_judged(self, world: Any):
        world.pin("sglang", "==0.5.15")
        world.sglang("someone/some-eagle3-head", "openai/gpt-oss-120b")
        assert not world.findings()
