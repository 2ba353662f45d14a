"""EGL405: the drafter's length; EGL406: its position embedding; EGL408: its type."""

from __future__ import annotations

from typing import Any

import pytest

from eaglelint.facts import EnvironmentSetting, Recipe, Value
from eaglelint.location import Location

TOP = "/eagle_aux_hidden_state_layer_ids"
LONG = {"options": {"max_model_len": 32768}}


def vllm(world: Any, release: str, positions: Any = 2048, launch: dict[str, Any] | None = None, **more: Any) -> None:
    world.drafter([2, 18, 33], key=TOP, more={"max_position_embeddings": positions, **more})
    world.target(36)
    world.pin("vllm", release)
    world.vllm(**(launch if launch is not None else LONG))


def sglang(world: Any, release: str, positions: int = 2048, length: int | None = 32768, **more: Any) -> None:
    world.drafter([1, 17, 32], more={"max_position_embeddings": positions, **more})
    world.target(36)
    world.pin("sglang", release)
    world.sglang(options={"context_length": length})


class TestLength:
    def test_vllm_stops_drafting(self, world: Any):
        vllm(world, "==0.22.1")
        found = world.finding("EGL405")
        assert (found.severity, found.where.path) == ("warning", "head/config.json")
        assert "the drafter has 2048 positions, and 32768 are served" in found.message
        assert "vLLM 0.22.1 drafts nothing any more" in found.message
        assert "0.27.0 is the first release that is right" in found.fix.description

    @pytest.mark.parametrize("release", ["==0.27.0", "==0.30.0", ">=0.28"])
    def test_newer_releases_raise_it_themselves(self, world: Any, release: str):
        vllm(world, release)
        assert not world.findings("EGL405")

    def test_the_newest_raises_only_what_it_can_compute(self, world: Any):
        vllm(world, "==0.33.0", rope_scaling={"rope_type": "yarn", "factor": 2.0})
        assert "limits the whole server" in world.finding("EGL405").message

    def test_sglang_refuses(self, world: Any):
        sglang(world, "==0.5.18")
        found = world.finding("EGL405")
        assert found.severity == "error"
        assert "SGLang 0.5.18 refuses to start" in found.message
        assert "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1" in found.fix.description

    def test_a_variable_makes_sglang_raise_it(self, world: Any):
        sglang(world, "==0.5.18")
        value = Value("1", Location("serve.sh", 1))
        world.lists["environment"] = [EnvironmentSetting("SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN", value)]
        assert not world.findings("EGL405")

    def test_early_sglang_reads_past_the_end(self, world: Any):
        sglang(world, "==0.4.9.post6")
        assert "reads past the end" in world.finding("EGL405").message

    @pytest.mark.parametrize("positions", [32768, 65536])
    def test_a_drafter_that_is_long_enough(self, world: Any, positions: int):
        sglang(world, "==0.5.18", positions)
        assert not world.findings("EGL405")

    def test_scaling_makes_a_drafter_longer(self, world: Any):
        sglang(world, "==0.5.18", 8192, rope_scaling={"type": "linear", "factor": 4.0})
        assert not world.findings("EGL405")

    def test_the_length_of_the_target_where_the_launch_gives_none(self, world: Any):
        world.drafter([1, 17, 32], more={"max_position_embeddings": 4096})
        world.pin("sglang", "==0.5.18")
        world.sglang(target="Qwen/Qwen3-8B")
        found = world.finding("EGL405")
        assert "40960 are served (Qwen/Qwen3-8B's own length)" in found.message

    def test_a_target_whose_length_is_not_known(self, world: Any):
        sglang(world, "==0.5.18", length=None)
        assert not world.findings("EGL405")

    def test_an_argument_that_rewrites_configs_is_another_rules(self, world: Any):
        vllm(world, "==0.22.1", launch={"options": {"max_model_len": 32768, "hf_overrides": "{}"}})
        assert not world.findings("EGL405")

    def test_a_length_of_the_drafter_that_is_asked_for(self, world: Any):
        vllm(world, "==0.22.1", launch={"options": {"max_model_len": 32768, "speculative_config.max_model_len": 2048}})
        assert not world.findings("EGL405")

    def test_an_engine_of_which_nothing_is_known(self, world: Any):
        world.drafter([1, 17, 32], more={"max_position_embeddings": 2048})
        world.pin("tokenspeed", "==0.1.0")
        world.sglang(draft=None)
        assert not world.findings("EGL405")


class TestRope:
    def test_a_key_that_the_release_does_not_read(self, world: Any):
        sglang(world, "==0.5.9", 40960, rope_parameters={"rope_theta": 1000000.0, "rope_type": "default"})
        found = world.finding("EGL406")
        assert "runs with theta 10000 instead of theta 1e+06" in found.message
        assert "`rope_theta`" in found.fix.description

    def test_the_release_that_reads_it(self, world: Any):
        sglang(world, "==0.5.10", 40960, rope_parameters={"rope_theta": 1000000.0, "rope_type": "default"})
        assert not world.findings("EGL406")

    def test_the_default_base_needs_no_key(self, world: Any):
        sglang(world, "==0.5.9", 40960, rope_parameters={"rope_theta": 10000.0, "rope_type": "default"})
        assert not world.findings("EGL406")

    def test_both_keys_with_the_same_value(self, world: Any):
        both = {"rope_theta": 5000.0, "rope_parameters": {"rope_theta": 5000.0, "rope_type": "default"}}
        sglang(world, "==0.5.9", 40960, **both)
        assert not world.findings("EGL406")

    def test_two_bases_in_one_config(self, world: Any):
        both = {"rope_theta": 10000.0, "rope_parameters": {"rope_theta": 1000000.0, "rope_type": "default"}}
        sglang(world, "==0.5.18", 40960, **both)
        assert "`rope_theta` is 10000, and `rope_parameters` gives 1e+06" in world.finding("EGL406").message

    def test_scaling_that_is_not_seen(self, world: Any):
        scaled = {"rope_theta": 10000.0, "rope_type": "yarn", "factor": 4.0}
        vllm(world, "==0.10.2", 40960, rope_parameters=scaled)
        assert "instead of theta 10000, yarn x 4" in world.finding("EGL406").message

    @pytest.mark.parametrize(("theta", "findings"), [(10000.0, 0), (1000000.0, 1)])
    def test_the_base_of_the_training(self, world: Any, theta: float, findings: int):
        world.drafter([1, 17, 32], more={"max_position_embeddings": 40960, "rope_theta": theta})
        world.drafter([1, 17, 32], path="train/draft.json", more={"rope_theta": 10000.0})
        world.target(36)
        world.pin("sglang", "==0.5.18")
        world.sglang()
        draft, run = Value("train/draft.json", Location("run.yaml", 2)), Location("run.yaml", 1)
        output = Value("head", Location("run.yaml", 3))
        world.lists["recipes"] = [Recipe("specforge", "sglang_capture", "train", run, 0, draft=draft, output=output)]
        assert len(world.findings("EGL406")) == findings

    def test_a_head_whose_base_is_not_the_targets_is_right(self, world: Any):
        sglang(world, "==0.5.18", 40960, rope_theta=10000.0)
        assert not world.findings("EGL406")


class TestType:
    @pytest.mark.parametrize("spelling", ["float16", "half"])
    def test_a_head_that_is_cast(self, world: Any, spelling: str):
        vllm(world, "==0.28.0", 40960, {"options": {"dtype": spelling}}, torch_dtype="bfloat16")
        found = world.finding("EGL408")
        assert (found.severity, found.where.path) == ("warning", "serve.sh")
        assert "float16" in found.message
        assert "bfloat16 (head/config.json" in found.message

    @pytest.mark.parametrize(("asked", "own"), [("bfloat16", "bfloat16"), ("auto", "bfloat16"), ("float16", "float16")])
    def test_types_that_agree(self, world: Any, asked: str, own: str):
        vllm(world, "==0.28.0", 40960, {"options": {"dtype": asked}}, torch_dtype=own)
        assert not world.findings("EGL408")

    def test_a_head_of_unknown_type_is_not_held_to_bfloat16(self, world: Any):
        vllm(world, "==0.28.0", 40960, {"options": {"dtype": "float16"}})
        assert not world.findings("EGL408")

    def test_sglang_takes_a_missing_type_for_float16(self, world: Any):
        world.drafter([1, 17, 32], more={"max_position_embeddings": 40960})
        world.pin("sglang", "==0.5.18")
        world.sglang(target="Qwen/Qwen3-8B")
        found = world.finding("EGL408")
        assert (
            "gives no type, which SGLang 0.5.18 takes for float16, while Qwen/Qwen3-8B runs in bfloat16"
            in found.message
        )

    def test_so_it_does_for_eagle_1_heads(self, world: Any):
        world.drafter(None, method="eagle", more={"architectures": ["LlamaForCausalLMEagle"], "torch_dtype": "float16"})
        world.pin("sglang", "==0.5.18")
        world.sglang(target="Qwen/Qwen3-8B", algorithm="EAGLE")
        assert "config says float16, while Qwen/Qwen3-8B runs in bfloat16" in world.finding("EGL408").message

    def test_that_a_cast_makes_an_eagle_1_head_overflow_is_not_known(self, world: Any):
        world.drafter(
            None, method="eagle", more={"architectures": ["LlamaForCausalLMEagle"], "torch_dtype": "bfloat16"}
        )
        world.pin("sglang", "==0.5.18")
        world.sglang(target="Qwen/Qwen3-8B", algorithm="EAGLE", options={"dtype": "float16"})
        assert not world.findings("EGL408")

    def test_a_key_that_old_sglang_does_not_read(self, world: Any):
        world.drafter([1, 17, 32], more={"max_position_embeddings": 40960, "dtype": "bfloat16"})
        world.pin("sglang", "==0.4.9.post6")
        world.sglang(target="Qwen/Qwen3-8B")
        assert "does not read `dtype`" in world.finding("EGL408").message

    @pytest.mark.parametrize("key", ["dtype", "torch_dtype"])
    def test_newer_sglang_reads_both_keys(self, world: Any, key: str):
        world.drafter([1, 17, 32], more={"max_position_embeddings": 40960, key: "bfloat16"})
        world.pin("sglang", "==0.5.18")
        world.sglang(target="Qwen/Qwen3-8B")
        assert not world.findings("EGL408")

    def test_vllm_gives_the_drafter_the_targets_type(self, world: Any):
        world.drafter([2, 18, 33], key=TOP, more={"max_position_embeddings": 40960})
        world.pin("vllm", "==0.28.0")
        world.vllm(target="Qwen/Qwen3-8B")
        assert not world.findings("EGL408")

    def test_a_quantised_copy_whose_type_is_not_known(self, world: Any):
        world.drafter([1, 17, 32], more={"max_position_embeddings": 40960})
        world.pin("sglang", "==0.5.18")
        world.sglang(target="Qwen/Qwen3-8B-AWQ")
        assert not world.findings("EGL408")
