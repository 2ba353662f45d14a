"""EGL205, EGL209, EGL210: can this release load the drafter at all?"""

from __future__ import annotations

from typing import Any

import pytest

IDS = {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 17, 32], "use_aux_hidden_state": True}}
TOP = {"eagle_aux_hidden_state_layer_ids": [2, 18, 33]}


def sglang(world: Any, release: str, config: dict[str, Any], **more: Any):
    made = world.config({"draft_vocab_size": 32000, "model_type": "llama", **IDS, **config})
    world.target(36)
    world.pin("sglang", release)
    world.sglang(**more)
    return made


def vllm(world: Any, release: str, config: dict[str, Any], **more: Any):
    made = world.config({"draft_vocab_size": 32000, "model_type": "llama", **TOP, **config})
    world.target(36)
    world.pin("vllm", release)
    world.vllm(**more)
    return made


def speculator(layer: str = "llama", algorithm: str = "eagle3", **more: Any) -> dict[str, Any]:
    return {
        "architectures": ["Eagle3Speculator"],
        "norm_before_residual": True,
        "speculators_config": {"algorithm": algorithm},
        "speculators_model_type": algorithm,
        "transformer_layer_config": {"hidden_size": 4096, "model_type": layer, "num_hidden_layers": 1},
        **more,
    }


class TestTheClass:
    @pytest.mark.parametrize(
        ("release", "architecture"),
        [
            ("==0.4.6.post5", "LlamaForCausalLMEagle3"),
            ("==0.5.23", "LlamaForCausalLMEagle3"),
            ("==0.5.12", "Eagle3DeepseekV2ForCausalLM"),
        ],
    )
    def test_sglang_knows_its_two_classes(self, world: Any, release: str, architecture: str):
        sglang(world, release, {"architectures": [architecture]})
        assert not world.findings("EGL205")

    @pytest.mark.parametrize(
        ("release", "architecture", "said"),
        [
            ("==0.5.14", "Qwen3ForCausalLM", "SGLang 0.5.14 has no EAGLE-3 class for Qwen3ForCausalLM"),
            ("==0.5.14", "Eagle3LlamaForCausalLM", "no EAGLE-3 class for Eagle3LlamaForCausalLM"),
            ("==0.5.11", "Eagle3DeepseekV2ForCausalLM", "no EAGLE-3 class for Eagle3DeepseekV2ForCausalLM"),
            ("==0.5.14", "Qwen2ForCausalLMEagle", "Qwen2ForCausalLMEagle is its EAGLE-1 class in SGLang 0.5.14"),
            ("==0.5.23", "Qwen3MoeForCausalLM", "is a multi-token-prediction class in SGLang 0.5.23"),
        ],
    )
    def test_another_name_is_an_error_at_the_name(self, world: Any, release: str, architecture: str, said: str):
        config = sglang(world, release, {"architectures": [architecture]})
        found = world.finding("EGL205")
        assert (found.severity, found.where) == ("error", config.document.where("/architectures"))
        assert said in found.message
        assert "LlamaForCausalLMEagle3" in found.fix.description

    def test_the_first_release_with_the_class_is_named(self, world: Any):
        sglang(world, "==0.5.10", {"architectures": ["Eagle3DeepseekV2ForCausalLM"]})
        assert "SGLang 0.5.12 is the first release that is right" in world.finding("EGL205").fix.description

    @pytest.mark.parametrize(
        ("release", "architecture"),
        [
            ("==0.8.5", "LlamaForCausalLMEagle3"),
            ("==0.9.2", "LlamaForCausalLM"),
            ("==0.10.2", "LlamaForCausalLMEagle3"),
            ("==0.24.0", "Qwen3ForCausalLM"),
            ("==0.20.0", "Eagle3MiniMaxM2ForCausalLM"),
        ],
    )
    def test_vllm_puts_eagle3_before_most_names(self, world: Any, release: str, architecture: str):
        vllm(world, release, {"architectures": [architecture]})
        assert not world.findings("EGL205")

    @pytest.mark.parametrize(
        ("release", "architecture", "said"),
        [
            ("==0.10.1.1", "LlamaForCausalLMEagle3", "no EAGLE-3 class for LlamaForCausalLMEagle3"),
            ("==0.22.1", "Qwen3ForCausalLM", "Qwen3ForCausalLM (looked up as Eagle3Qwen3ForCausalLM)"),
            ("==0.33.0", "Qwen2ForCausalLM", "Qwen2ForCausalLM (looked up as Eagle3Qwen2ForCausalLM)"),
            ("==0.17.1", "Eagle3DeepseekV2ForCausalLM", "no EAGLE-3 class for Eagle3DeepseekV2ForCausalLM"),
        ],
    )
    def test_a_name_that_no_registry_has_is_an_error(self, world: Any, release: str, architecture: str, said: str):
        vllm(world, release, {"architectures": [architecture]})
        found = world.finding("EGL205")
        assert found.severity == "error"
        assert said in found.message

    def test_a_head_without_a_name_is_not_found(self, world: Any):
        vllm(world, "==0.28.0", {})
        assert "`architectures` is missing" in world.finding("EGL205").message

    def test_a_qwen3_speculator_is_loaded_as_a_llama_head_before_024(self, world: Any):
        config = vllm(world, "==0.23.0", speculator("qwen3"))
        found = world.finding("EGL205")
        assert "for layers of type qwen3" in found.message
        assert found.where == config.document.where("/transformer_layer_config/model_type")

    @pytest.mark.parametrize(("release", "layer"), [("==0.24.0", "qwen3"), ("==0.12.0", "llama")])
    def test_a_speculator_is_routed_by_the_type_of_its_layers(self, world: Any, release: str, layer: str):
        vllm(world, release, speculator(layer))
        assert not world.findings("EGL205", "EGL209")

    def test_a_range_that_has_the_class_in_part_is_a_warning(self, world: Any):
        sglang(world, ">=0.5.10,<0.5.15", {"architectures": ["Eagle3DeepseekV2ForCausalLM"]})
        found = world.finding("EGL205")
        assert (found.severity, found.confidence) == ("warning", "possible")
        assert "SGLang 0.5.10 to 0.5.11 has no" in found.message

    def test_an_unpinned_engine_is_not_held_to_releases_without_the_class(self, world: Any):
        sglang(world, "", {"architectures": ["Eagle3DeepseekV2ForCausalLM"]})
        assert not world.findings("EGL205")

    def test_a_name_that_no_release_has_is_wrong_without_a_pin(self, world: Any):
        sglang(world, "", {"architectures": ["Qwen3ForCausalLM"]})
        assert world.finding("EGL205").severity == "error"

    def test_a_release_that_nobody_read_gives_no_proof(self, world: Any):
        sglang(world, "==0.9.0", {"architectures": ["Qwen3ForCausalLM"]})
        assert (world.finding("EGL205").severity, world.finding("EGL205").confidence) == ("warning", "likely")

    def test_under_another_method_the_name_is_not_judged(self, world: Any):
        sglang(world, "==0.5.14", {"architectures": ["Qwen3ForCausalLM"]}, algorithm="EAGLE")
        assert not world.findings("EGL205")

    def test_an_engine_whose_classes_are_not_known_is_left_alone(self, world: Any):
        world.config({"architectures": ["Qwen3ForCausalLM"], "draft_vocab_size": 32000, "model_type": "llama", **IDS})
        world.pin("tokenspeed", "==0.1.1")
        assert not world.findings("EGL205")


class TestTheForm:
    @pytest.mark.parametrize("release", ["==0.5.9", "==0.5.23", ""])
    def test_sglang_reads_no_speculators_config(self, world: Any, release: str):
        config = sglang(world, release, speculator())
        found = world.finding("EGL209")
        assert (found.severity, found.where.line) == ("error", 1)
        assert found.where == config.where

    def test_it_is_the_only_thing_to_say(self, world: Any):
        sglang(world, "==0.5.16", speculator(eagle_aux_hidden_state_layer_ids=[4, 18, 32]))
        assert {finding.rule for finding in world.findings() if finding.severity != "info"} == {"EGL209"}

    def test_vllm_has_a_parser_from_010_1_on(self, world: Any):
        vllm(world, "==0.10.0", speculator())
        assert "vLLM 0.10.1 is the first release" in world.finding("EGL209").fix.description

    @pytest.mark.parametrize(
        ("release", "algorithm", "read"),
        [("==0.21.0", "peagle", False), ("==0.22.0", "peagle", True), ("==0.19.1", "dflash", False),
         ("==0.20.0", "dflash", True), ("==0.29.0", "dflash2", False), ("==0.24.0", "dspark", False)],
    )  # fmt: skip
    def test_each_kind_of_head_came_in_its_own_release(self, world: Any, release: str, algorithm: str, read: bool):
        vllm(world, release, speculator(algorithm=algorithm, aux_hidden_state_layer_ids=[2, 18, 33]))
        assert bool(world.findings("EGL209")) is not read

    def test_a_dflash_speculator_is_not_for_sglang_either(self, world: Any):
        value = speculator(algorithm="dflash", aux_hidden_state_layer_ids=[2, 18, 33])
        sglang(world, "==0.5.20", value, algorithm="DFLASH")
        assert world.finding("EGL209").severity == "error"

    def test_the_flat_form_is_read_by_both(self, world: Any):
        sglang(world, "==0.5.20", {"architectures": ["LlamaForCausalLMEagle3"]})
        assert not world.findings("EGL209")

    def test_an_engine_whose_forms_are_not_known_is_left_alone(self, world: Any):
        world.config({"draft_vocab_size": 32000, **speculator()})
        world.pin("tokenspeed", "==0.1.1")
        assert not world.findings("EGL209")


class TestTheDepth:
    def layers(self, count: Any, architecture: str = "LlamaForCausalLMEagle3") -> dict[str, Any]:
        return {"architectures": [architecture], "num_hidden_layers": count}

    def test_sglang_takes_one_layer_up_to_0_5_11(self, world: Any):
        config = sglang(world, "==0.5.11", self.layers(2))
        found = world.finding("EGL210")
        assert (found.severity, found.where) == ("error", config.document.where("/num_hidden_layers"))
        assert "the drafter has 2 layers, and SGLang 0.5.11 takes one layer at most" in found.message
        assert "SGLang 0.5.12 is the first release that is right" in found.fix.description

    @pytest.mark.parametrize(("release", "count"), [("==0.5.12", 2), ("==0.5.11", 1), ("==0.5.23", 4)])
    def test_later_releases_take_any_number(self, world: Any, release: str, count: int):
        sglang(world, release, self.layers(count))
        assert not world.findings("EGL210")

    def test_the_class_for_latent_attention_still_takes_one(self, world: Any):
        sglang(world, "==0.5.23", self.layers(2, "Eagle3DeepseekV2ForCausalLM"))
        assert world.finding("EGL210").severity == "error"

    def test_vllm_builds_one_layer_up_to_0_11_0(self, world: Any):
        vllm(world, "==0.11.0", self.layers(3))
        assert "one layer is built, whatever the config says" in world.finding("EGL210").message

    def test_vllm_builds_them_all_from_0_11_1_on(self, world: Any):
        vllm(world, "==0.11.1", self.layers(3))
        assert not world.findings("EGL210")

    def test_a_depth_that_is_no_number_is_not_this_rules(self, world: Any):
        sglang(world, "==0.5.9", self.layers("2"))
        assert not world.findings("EGL210")
