"""What engines make of ids, release by release: what a person would look up, and what a table must not get wrong."""

from __future__ import annotations

import subprocess
import sys

import pytest

from eaglelint.conventions.known import KnownTarget, known_target
from eaglelint.conventions.records import Gate, Reading
from eaglelint.conventions.table import Engine, Target, engine

LLAMA = Target(("LlamaForCausalLM",), "llama", 32)
KIMI = Target(("KimiK25ForConditionalGeneration",), "kimi_k25", 61)
GPT_OSS = Target(("GptOssForCausalLM",), "gpt_oss", 36)
DEEPSEEK = Target(("DeepseekV3ForCausalLM",), "deepseek_v3", 61)
NESTED = "/eagle_config/eagle_aux_hidden_state_layer_ids"
TOP = "/eagle_aux_hidden_state_layer_ids"


def table(name: str) -> Engine:
    found = engine(name)
    assert found is not None
    return found


def target(name: str) -> KnownTarget:
    found = known_target(name)
    assert found is not None
    return found


def one(name: str, release: str, who: object, **more: str) -> Reading:
    readings = table(name).readings(f"=={release}", who, **more)  # type: ignore[arg-type]
    assert len(readings) == 1, [(r.rule, r.runner, r.model_files) for r in readings]
    return readings[0]


# SGLang


@pytest.mark.parametrize(
    ("release", "expected"),
    [("0.5.10", (3, 31, 59)), ("0.5.12.post1", (3, 31, 59)), ("0.5.13", (2, 30, 58)), ("0.5.23", (2, 30, 58))],
)
def test_kimi_reads_a_list_that_starts_with_two_as_boundaries_from_0_5_13_on(release: str, expected: tuple[int, ...]):
    assert one("sglang", release, KIMI).captured([2, 30, 58], 61) == expected


@pytest.mark.parametrize("release", ["0.5.9", "0.5.13", "0.5.23"])
def test_deepseek_reads_a_list_that_starts_with_one_as_outputs_in_every_release(release: str):
    assert one("sglang", release, DEEPSEEK).captured([1, 29, 57], 61) == (2, 30, 58)


def test_ids_that_are_right_for_kimi_whatever_the_release():
    asked = {r.ids_for((2, 30, 58), 61) for r in table("sglang").readings(">=0.5.10", KIMI)}
    assert asked == {(1, 29, 57)}


def test_gpt_oss_takes_the_last_boundary_from_0_5_17_on():
    before, after = one("sglang", "0.5.16", GPT_OSS), one("sglang", "0.5.17", GPT_OSS)
    assert before.boundaries([24, 30, 36], 36) == (25, 31, 37)
    assert before.captured([24, 30, 36], 36) == (25, 31)
    assert before.unreachable([24, 30, 36], 36) == (36,)
    assert after.captured([24, 30, 36], 36) == (24, 30, 36)
    assert after.captured([2, 18, 33], 36) == (3, 19, 34)


def test_the_default_is_written_in_boundaries_and_never_shifted():
    reading = one("sglang", "0.5.9", LLAMA)
    assert reading.captured(None, 32) == (2, 16, 29)
    assert reading.captured([2, 16, 29], 32) == (3, 17, 30)


def test_minimax_m3_with_pictures_shifts_its_default_too():
    m3 = Target(("MiniMaxM3SparseForConditionalGeneration",), "minimax_m3", 60)
    assert one("sglang", "0.5.20", m3).defaults(60) == (3, 31, 58)
    assert one("vllm", "0.33.0", m3._replace(architectures=("LlamaForCausalLM",))).defaults(60) == (2, 30, 57)


def test_ids_are_not_read_before_0_4_9():
    reading = one("sglang", "0.4.8.post1", LLAMA)
    assert reading.rule == "ignored"
    assert reading.keys == ()
    assert reading.captured([5, 6, 7], 32) == (2, 16, 29)


def test_sglang_reads_only_the_nested_list_and_can_be_switched_off_from_0_5_8_on():
    assert one("sglang", "0.5.7", LLAMA).keys == (NESTED,)
    assert one("sglang", "0.5.7", LLAMA).gates == ()
    assert one("sglang", "0.5.8", LLAMA).gates == (Gate("/eagle_config/use_aux_hidden_state"),)


@pytest.mark.parametrize(("release", "has"), [("0.4.8.post1", False), ("0.4.9", True), ("0.5.10.post1", True),
                                              ("0.5.11", False)])  # fmt: skip
def test_graphs_are_captured_with_the_default_layers_up_to_0_5_10(release: str, has: bool):
    defect = table("sglang").graph_defect(release)
    assert (defect is not None) == has
    named = {d.id for r in table("sglang").readings(f"=={release}", LLAMA) for d in r.defects}
    assert ("cuda_graph_uses_default_layers" in named) == has
    assert defect is None or defect.fixed_in == "0.5.11"


@pytest.mark.parametrize(
    ("release", "status", "tensor"),
    [("0.5.16", "ok", "stream"), ("0.5.17", "broken", "branch"), ("0.5.23", "broken", "branch")],
)
def test_gemma_3_captures_the_wrong_tensor_from_0_5_17_on(release: str, status: str, tensor: str):
    gemma = Target(("Gemma3ForConditionalGeneration",), "gemma3", 62)
    reading = one("sglang", release, gemma)
    assert (reading.status, reading.tensor) == (status, tensor)
    assert ("residual_not_added" in {d.id for d in reading.defects}) == (status == "broken")


def test_qwen_3_5_captures_nothing_until_0_5_22():
    qwen = Target(("Qwen3_5ForConditionalGeneration",), "qwen3_5", 64)
    broken, fixed = table("sglang").readings(">=0.5.20", qwen)
    assert (broken.first, broken.last, broken.status, broken.rule) == ("0.5.20", "0.5.21", "broken", "nothing_captured")
    assert broken.captured([1, 31, 60], 64) is None
    assert [d.fixed_in for d in broken.defects] == ["0.5.22"]
    assert (fixed.first, fixed.last, fixed.status) == ("0.5.22", "0.5.23", "ok")


def test_a_target_that_a_release_can_not_serve_is_unsupported():
    assert one("sglang", "0.4.10", GPT_OSS).status == "unsupported"
    assert one("sglang", "0.5.9", Target(("ArceeForCausalLM",), "arcee", 36)).status == "unsupported"


def test_kimi_with_pictures_can_not_be_served_before_0_5_10():
    assert one("sglang", "0.5.9", KIMI).status == "unsupported"


def test_releases_that_can_not_serve_the_target_are_left_out_where_others_can():
    assert [r.first for r in table("sglang").readings(">=0.4.9,<0.5.2", GPT_OSS)] == ["0.5.1"]


def test_boundary_zero_and_the_last_one_by_release():
    assert one("sglang", "0.5.21", LLAMA).reach == ("1", "N - 1")
    assert one("sglang", "0.5.22", LLAMA).reach == ("0", "N - 1")
    assert one("sglang", "0.5.21", LLAMA).unreachable([-1, 15, 31], 32) == (-1, 31)


def test_states_arrive_ascending_and_once_whatever_the_list():
    reading = one("sglang", "0.5.23", LLAMA)
    assert reading.captured([28, 1, 15, 1], 32) == (2, 16, 29)
    assert reading.ids_for((29, 2, 16), 32) is None


def test_dflash_heads_have_a_rule_of_their_own():
    assert one("sglang", "0.5.23", KIMI, method="dflash").boundaries([2, 30, 58], 61) == (3, 31, 59)
    assert table("sglang").readings("==0.5.9", KIMI, method="dflash") == ()


def test_a_server_that_only_extracts_names_its_layers_on_the_command_line():
    reading = one("sglang", "0.5.23", GPT_OSS, purpose="extraction")
    assert reading.arguments == ("return_aux_hidden_state_layer_ids",)
    assert reading.captured([24, 30, 36], 36) == (24, 30, 36)
    assert table("sglang").readings("==0.5.22", GPT_OSS, purpose="extraction") == ()


# vLLM


def test_llama_drops_the_last_boundary_until_0_18():
    before, after = one("vllm", "0.17.1", LLAMA), one("vllm", "0.18.0", LLAMA)
    assert before.captured([2, 16, 32], 32) == (2, 16)
    assert before.unreachable([0, 16, 32], 32) == (0, 32)
    assert after.captured([0, 16, 32], 32) == (0, 16, 32)


def test_deepseek_takes_the_last_boundary_from_0_25_on():
    assert one("vllm", "0.24.0", DEEPSEEK, runner="V1").captured([2, 30, 61], 61) == (2, 30)
    assert one("vllm", "0.25.0", DEEPSEEK, runner="V1").captured([2, 30, 61], 61) == (2, 30, 61)


def test_ids_of_the_drafter_are_not_read_before_0_11_1():
    assert one("vllm", "0.11.0", LLAMA).captured([5, 6, 7], 32) == (2, 16, 29)
    assert one("vllm", "0.11.1", LLAMA).captured([5, 6, 7], 32) == (5, 6, 7)


def test_the_nested_list_is_read_by_the_first_runner_only():
    assert one("vllm", "0.21.0", LLAMA).keys == (TOP,)
    assert one("vllm", "0.33.0", LLAMA, runner="V1").keys == (TOP, NESTED)
    assert NESTED not in one("vllm", "0.33.0", LLAMA).keys


@pytest.mark.parametrize(
    ("release", "name", "runners"),
    [
        ("0.16.0", "meta-llama/Llama-3.1-8B-Instruct", ("V1",)),
        ("0.21.0", "meta-llama/Llama-3.1-8B-Instruct", ("V1",)),
        ("0.22.0", "meta-llama/Llama-3.1-8B-Instruct", ("V1",)),
        ("0.22.1", "Qwen/Qwen3-8B", ("V2",)),
        ("0.23.0", "meta-llama/Llama-3.1-8B-Instruct", ("V2",)),
        ("0.23.0", "nvidia/Llama-3.1-8B-Instruct-FP8", ("V1",)),
        ("0.24.0", "nvidia/Llama-3.1-8B-Instruct-FP8", ("V2",)),
        ("0.26.0", "openai/gpt-oss-120b", ("V1",)),
        ("0.26.0", "Qwen/Qwen3-Next-80B-A3B-Instruct", ("V1",)),
        ("0.28.0", "meta-llama/Llama-3.1-8B-Instruct", ("V2",)),
        ("0.29.0", "openai/gpt-oss-120b", ("V2",)),
    ],
)
def test_which_runner_serves_a_target(release: str, name: str, runners: tuple[str, ...]):
    assert table("vllm").runners_for(release, target(name)) == runners


def test_a_target_that_is_not_known_may_run_on_either():
    assert table("vllm").runners_for("0.26.0") == ("V2", "V1")
    assert {r.runner for r in table("vllm").readings("==0.26.0")} == {"V1", "V2"}


def test_keys_of_block_drafters_carry_their_shift():
    key = "/dflash_config/target_layer_ids"
    assert one("vllm", "0.33.0", LLAMA, method="dflash").boundaries([1, 15, 28], 32, key) == (2, 16, 29)
    assert one("vllm", "0.21.0", LLAMA, method="dflash").boundaries([1, 15, 28], 32, key) == (1, 15, 28)
    assert one("vllm", "0.33.0", LLAMA, method="dflash").boundaries([2, 16, 29], 32, TOP) == (2, 16, 29)


def test_an_empty_list_counts_as_none_in_vllm_and_as_a_list_in_sglang():
    assert one("vllm", "0.33.0", LLAMA).captured([], 32) == (2, 16, 29)
    assert one("sglang", "0.5.23", LLAMA).captured([], 32) == ()


def test_the_allow_list_refuses_targets_up_to_0_21():
    refused = one("vllm", "0.18.0", target("MiniMaxAI/MiniMax-M2"))
    assert (refused.status, [d.id for d in refused.defects]) == ("unsupported", ["target_refused"])
    assert one("vllm", "0.19.0", target("Qwen/Qwen3-8B")).status == "ok"


def test_extraction_takes_ids_as_boundaries_and_has_no_default():
    reading = one("vllm", "0.33.0", LLAMA, purpose="extraction")
    assert reading.captured([2, 16, 29, 32], 32) == (2, 16, 29, 32)
    assert reading.defaults(32) is None
    assert reading.duplicates == "rejected"


def test_the_transformers_backend_keeps_the_order_of_the_list():
    wrapped = Target(("TransformersForCausalLM",), "llama", 32)
    assert one("vllm", "0.33.0", wrapped).captured([29, 2, 16], 32) == (29, 2, 16)


# Releases


def test_a_release_newer_than_the_last_one_read_is_beyond():
    reading = one("sglang", "0.9.0", KIMI)
    assert reading.beyond
    assert reading.captured([2, 30, 58], 61) == (2, 30, 58)
    assert not one("sglang", "0.5.23", KIMI).beyond
    assert all(not r.beyond for r in table("sglang").readings(">=0.5.9", KIMI))


def test_nothing_is_known_to_follow_the_last_release():
    assert table("sglang").readings(f">{table('sglang').latest}", LLAMA) == ()


def test_a_release_between_two_that_were_read_may_be_like_either():
    readings = table("sglang").readings("==0.5.1", GPT_OSS)
    assert [(r.first, r.rule) for r in readings] == [("0.5.1", "plus_one")]
    early = table("sglang").readings("==0.5.3", Target(("ApertusForCausalLM",), "apertus", 32))
    assert [r.status for r in early] == ["ok"]


def test_local_builds_and_release_candidates_are_releases():
    assert one("sglang", "0.5.9+cu128", DEEPSEEK).captured([2, 30, 58], 61) == (3, 31, 59)
    assert table("vllm").readings("==0.19.0rc1", LLAMA)[0].rule == "as_is"


def test_a_range_gives_each_reading_once_with_its_first_and_last_release():
    readings = table("sglang").readings(">=0.5.11,<0.5.15", DEEPSEEK)
    assert [(r.first, r.last, r.rule) for r in readings] == [
        ("0.5.11", "0.5.11", "plus_one"),
        ("0.5.12", "0.5.12.post1", "plus_one"),
        ("0.5.13", "0.5.13.post1", "plus_one_if_first_is_one"),
        ("0.5.14", "0.5.14", "plus_one_if_first_is_one"),
    ]


def test_what_is_no_specifier_is_told():
    with pytest.raises(ValueError, match="latest"):
        table("sglang").readings("latest", LLAMA)


# Targets


def test_an_unknown_target_gives_one_reading_where_all_are_read_alike():
    (reading,) = table("sglang").readings("==0.5.9")
    assert (reading.rule, reading.zero, reading.end) == ("plus_one", "unknown", "unknown")
    assert reading.unreachable([-1, 31], 32) == ()


def test_an_unknown_target_gives_every_alternative_where_they_differ():
    rules = {r.rule for r in table("sglang").readings("==0.5.23", Target(("SomethingForCausalLM",), "", 0))}
    assert rules == {"plus_one", "plus_one_if_first_is_one", "as_is_if_max_is_n"}


def test_a_target_known_by_its_model_type_alone():
    assert table("sglang").readings("==0.5.17", Target((), "gpt_oss", 36))[0].rule == "as_is_if_max_is_n"


# The other engines


def test_a_name_is_found_in_any_spelling():
    assert table("TensorRT-LLM").name == table("tensorrt_llm").name == "tensorrt-llm"
    assert engine("triton") is None


def test_tensorrt_llm_takes_layers_from_its_own_configuration():
    (reading,) = table("tensorrt-llm").readings(None, GPT_OSS)
    assert reading.keys == ()
    assert reading.arguments == ("speculative_config.eagle3_layers_to_capture",)
    assert reading.ids_for((24, 30, 36), 36) == (23, 29, 35)


def test_tokenspeed_by_published_release():
    assert [r.rule for r in table("tokenspeed").readings("==0.1.0", KIMI)] == ["ignored"]
    (reading,) = table("tokenspeed").readings("==0.1.1", KIMI)
    assert reading.captured([1, 29, 60], 61) == (2, 30)
    assert reading.unreachable([1, 29, 60], 61) == (60,)
    assert table("tokenspeed").readings(None, KIMI) == (reading,)


def test_atom_switches_off_where_the_flag_is_missing_and_without_eagle_config_does_not():
    (reading,) = table("atom").readings(None, GPT_OSS)
    (gate,) = reading.gates
    assert gate.off({"/eagle_config": {}}.get)
    assert not gate.off({}.get)
    assert not gate.off({"/eagle_config": {}, "/eagle_config/use_aux_hidden_state": True}.get)


def test_lmdeploy_serves_llama_alone():
    assert [r.rule for r in table("lmdeploy").readings(None, LLAMA)] == ["ignored"]
    assert [r.status for r in table("lmdeploy").readings(None, GPT_OSS)] == ["unsupported"]


def test_nothing_is_parsed_before_it_is_asked_for():
    code = (
        "import sys, eaglelint.conventions.table, eaglelint.conventions.known, eaglelint.conventions.trainers;"
        "sys.exit(any(m in sys.modules for m in ('yaml', 'pydantic', 'jsonschema')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
