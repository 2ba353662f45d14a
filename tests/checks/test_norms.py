"""EGL207 and EGL211: flags and fields that the release does not honour."""

from __future__ import annotations

from typing import Any

import pytest

LLAMA, MLA = "LlamaForCausalLMEagle3", "Eagle3DeepseekV2ForCausalLM"


def served(world: Any, engine: str, release: str, *, architecture: str = LLAMA, nested: Any = None, **flags: Any):
    value = {"architectures": [architecture], "draft_vocab_size": 32000, "model_type": "llama", **flags}
    value["eagle_config"] = {"eagle_aux_hidden_state_layer_ids": [1, 17, 32], **(nested or {})}
    value["eagle_aux_hidden_state_layer_ids"] = [2, 18, 33]
    config = world.config(value)
    world.target(36)
    world.pin(engine, release)
    getattr(world, engine)()
    return config


def speculator(world: Any, release: str, algorithm: str = "eagle3", **flags: Any):
    value = {
        "architectures": ["Eagle3Speculator"],
        "eagle_aux_hidden_state_layer_ids": [2, 18, 33],
        "speculators_model_type": algorithm,
        "transformer_layer_config": {"hidden_size": 4096, "model_type": "llama", "num_hidden_layers": 1},
        **flags,
    }
    config = world.config(value)
    world.target(36)
    world.pin("vllm", release)
    world.vllm()
    return config


class TestSGLang:
    @pytest.mark.parametrize("release", ["==0.4.9", "==0.5.23", ""])
    def test_no_release_reads_norm_before_residual(self, world: Any, release: str):
        config = served(world, "sglang", release, norm_before_residual=True)
        found = world.finding("EGL207")
        assert (found.severity, found.where) == ("error", config.document.where("/norm_before_residual"))
        assert "does not read `norm_before_residual` (true)" in found.message

    @pytest.mark.parametrize(
        ("flag", "last", "first"),
        [("norm_before_fc", "0.5.16", "0.5.17"), ("fc_norm", "0.5.11", "0.5.12"), ("norm_output", "0.5.11", "0.5.12"),
         ("use_aux_norm", "0.5.11", "0.5.12")],
    )  # fmt: skip
    def test_each_flag_came_in_its_own_release(self, world: Any, flag: str, last: str, first: str):
        served(world, "sglang", f"=={last}", **{flag: True})
        assert f"SGLang {first} is the first release that is right" in world.finding("EGL207").fix.description

    @pytest.mark.parametrize(
        ("flag", "first"), [("norm_before_fc", "0.5.17"), ("fc_norm", "0.5.12"), ("norm_output", "0.5.12")]
    )
    def test_and_is_read_from_then_on(self, world: Any, flag: str, first: str):
        served(world, "sglang", f"=={first}", **{flag: True})
        assert not world.findings("EGL207")

    def test_norm_before_fc_may_stand_in_eagle_config(self, world: Any):
        served(world, "sglang", "==0.5.20", nested={"norm_before_fc": True})
        assert not world.findings("EGL207")

    def test_the_class_for_latent_attention_never_reads_norm_before_fc(self, world: Any):
        served(world, "sglang", "==0.5.23", architecture=MLA, norm_before_fc=True)
        assert f"`norm_before_fc` (true) for {MLA}" in world.finding("EGL207").message

    @pytest.mark.parametrize(("release", "read"), [("==0.5.12.post1", False), ("==0.5.13", True)])
    def test_the_class_for_latent_attention_got_its_norms_later(self, world: Any, release: str, read: bool):
        served(world, "sglang", release, architecture=MLA, fc_norm=True, norm_output=True)
        assert bool(world.findings("EGL207")) is not read

    @pytest.mark.parametrize("value", [False, None])
    def test_what_is_not_set_is_right_everywhere(self, world: Any, value: Any):
        served(world, "sglang", "==0.5.9", norm_before_residual=value, norm_before_fc=value, fc_norm=value)
        assert not world.findings("EGL207")

    def test_a_class_that_is_not_found_is_judged_by_egl205_alone(self, world: Any):
        served(world, "sglang", "==0.5.9", architecture="Qwen3ForCausalLM", norm_before_fc=True)
        assert not world.findings("EGL207")

    def test_several_flags_are_several_findings(self, world: Any):
        served(world, "sglang", "==0.5.10", norm_before_fc=True, norm_output=True)
        assert len(world.findings("EGL207")) == 2

    def test_a_range_across_the_border_is_a_warning(self, world: Any):
        served(world, "sglang", ">=0.5.15,<=0.5.18", norm_before_fc=True)
        found = world.finding("EGL207")
        assert found.severity == "warning"
        assert "SGLang 0.5.15 to 0.5.16 does not read" in found.message

    def test_an_open_range_whose_newest_release_reads_it_is_fine(self, world: Any):
        served(world, "sglang", ">=0.5.10", norm_before_fc=True)
        assert not world.findings("EGL207")


class TestVLLM:
    @pytest.mark.parametrize(
        ("release", "flag", "read"),
        [
            ("==0.9.2", "norm_before_residual", False),
            ("==0.10.2", "norm_before_residual", True),
            ("==0.17.1", "norm_before_fc", False),
            ("==0.18.0", "norm_before_fc", True),
            ("==0.21.0", "fc_norm", False),
            ("==0.22.1", "fc_norm", True),
            ("==0.21.0", "norm_output", False),
            ("==0.22.1", "norm_output", True),
            ("==0.33.0", "use_aux_norm", False),
        ],
    )
    def test_the_flat_form(self, world: Any, release: str, flag: str, read: bool):
        architecture = LLAMA if release >= "==0.10.2" and not release.startswith("==0.9") else "LlamaForCausalLM"
        served(world, "vllm", release, architecture=architecture, **{flag: True})
        assert bool(world.findings("EGL207")) is not read

    def test_a_flag_in_eagle_config_is_not_seen_before_0_22(self, world: Any):
        config = served(world, "vllm", "==0.20.0", nested={"norm_before_fc": True})
        found = world.finding("EGL207")
        assert "`norm_before_fc` under `eagle_config` is true, where vLLM 0.20.0 does not look for it" in found.message
        assert found.where == config.document.where("/eagle_config/norm_before_fc")
        assert "write it as `norm_before_fc` at the top level" in found.fix.description

    @pytest.mark.parametrize(
        ("release", "flag", "read"),
        [
            ("==0.18.1", "norm_before_fc", False),
            ("==0.19.0", "norm_before_fc", True),
            ("==0.24.0", "fc_norm", False),
            ("==0.25.0", "fc_norm", True),
            ("==0.24.0", "norm_output", False),
            ("==0.25.1", "norm_output", True),
        ],
    )
    def test_the_form_of_speculators_passes_them_on_later(self, world: Any, release: str, flag: str, read: bool):
        speculator(world, release, norm_before_residual=True, **{flag: True})
        assert bool(world.findings("EGL207")) is not read

    def test_a_flag_that_speculators_and_vllm_take_differently_when_it_is_missing(self, world: Any):
        speculator(world, "==0.28.0")
        found = world.finding("EGL207")
        assert (found.severity, found.confidence) == ("warning", "likely")
        assert "which vLLM 0.28.0 takes for true and speculators for false" in found.message

    @pytest.mark.parametrize("value", [True, False])
    def test_it_is_right_either_way_once_it_is_written(self, world: Any, value: bool):
        speculator(world, "==0.28.0", norm_before_residual=value)
        assert not world.findings("EGL207")

    def test_for_parallel_drafting_both_take_its_absence_for_false(self, world: Any):
        speculator(world, "==0.28.0", "peagle")
        assert not world.findings("EGL207")

    def test_in_the_flat_form_its_absence_is_false(self, world: Any):
        served(world, "vllm", "==0.28.0")
        assert not world.findings("EGL207")

    def test_the_class_for_latent_attention_reads_no_norm_before_fc(self, world: Any):
        served(world, "vllm", "==0.33.0", architecture=MLA, norm_before_fc=True, fc_norm=True)
        assert "norm_before_fc" in world.finding("EGL207").message


class TestPublishedHeads:
    def test_a_record_is_no_proof(self, world: Any):
        world.pin("sglang", "==0.5.15")
        world.sglang("nvidia/gpt-oss-120b-Eagle3-v3", "openai/gpt-oss-120b")
        found = world.findings("EGL207")
        assert all(finding.severity == "warning" for finding in found)

    def test_what_the_release_reads_is_fine(self, world: Any):
        world.pin("sglang", "==0.5.19")
        world.sglang("nvidia/gpt-oss-120b-Eagle3-v3", "openai/gpt-oss-120b")
        assert not world.findings("EGL207")


class TestIgnoredFields:
    @pytest.mark.parametrize(
        ("engine", "release", "fields"),
        [
            ("sglang", "==0.5.18", {"attention_bias": True}),
            ("sglang", "==0.5.18", {"nested": {"use_mtp_layernorm": True}}),
            ("sglang", "==0.5.18", {"nested": {"use_last_layernorm": False}}),
            ("sglang", "==0.5.18", {"nested": {"parallel_draft_step": 2}}),
            ("vllm", "==0.28.0", {"bias": True}),
        ],
    )
    def test_a_field_that_is_not_read_is_an_info(self, world: Any, engine: str, release: str, fields: dict[str, Any]):
        served(world, engine, release, **fields)
        assert world.finding("EGL211").severity == "info"

    @pytest.mark.parametrize(
        ("engine", "release", "fields"),
        [
            ("sglang", "==0.5.18", {"attention_bias": False, "bias": True}),
            ("sglang", "==0.5.18", {"nested": {"use_mtp_layernorm": False, "parallel_draft_step": 1}}),
            ("vllm", "==0.28.0", {"attention_bias": True}),
        ],
    )
    def test_a_field_that_is_read_or_says_what_is_done_anyway_is_not(
        self, world: Any, engine: str, release: str, fields: dict[str, Any]
    ):
        served(world, engine, release, **fields)
        assert not world.findings("EGL211")
