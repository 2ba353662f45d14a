"""`eaglelint drafters`: what is known of a published drafter, and what a release would make of it."""

from __future__ import annotations

import json

import pytest

from eaglelint.conventions.known import known_drafters

V3 = """\
nvidia/gpt-oss-120b-Eagle3-v3
  head        EAGLE-3 for openai/gpt-oss-120b (36 layers)
  trainer     NVIDIA Model Optimizer
  ids         [24, 30, 36] under eagle_config (eagle_config.eagle_aux_hidden_state_layer_ids)
  meaning     id i is the input of layer i: boundary i
  trained on  boundaries 24, 30, 36
  how sure    established; from public threads, because the ids contain N
  flags       norm_before_fc true
  note        readers of the top level and of eagle_config have both seen the list
  sources
    vllm-project/recipes@8959cf64189c:models/openai/gpt-oss-120b.yaml
    https://github.com/ggml-org/llama.cpp/pull/25794
    https://github.com/lightseekorg/tokenspeed/pull/526
    https://github.com/sgl-project/sglang/issues/32226
    https://github.com/sgl-project/sglang/pull/32334

SGLang 0.5.15
  takes [24, 30, 36] from eagle_config.eagle_aux_hidden_state_layer_ids as boundaries 25, 31, 37 (id i is the output \
of layer i: boundary i + 1)
  wrong: every state is one layer late (boundary 37 can not be captured)
  no ids make it capture boundaries 24, 30, 36
  with its config as it stands, SGLang 0.5.17 to 0.5.23 would be right
"""


def test_what_a_release_makes_of_a_drafter_and_which_one_is_right(said):
    assert said("drafters", "nvidia/gpt-oss-120b-Eagle3-v3", "--engine", "sglang@0.5.15") == (V3, "", 0)


def verdict(said, name: str, engine: str) -> list[str]:
    """What stands below the sources: the engine's part."""
    return said("drafters", name, "--engine", engine).out.split("\n\n", 1)[1].splitlines()


def test_ids_that_would_be_right(said):
    lines = verdict(said, "thoughtworks/MiniMax-M2.5-Eagle3", "vllm@0.22.1")
    assert lines[0] == "vLLM 0.22.1 (V1)"
    assert lines[2:4] == [
        "  wrong: every state is one layer early",
        "  right would be [2, 31, 59] in eagle_config.eagle_aux_hidden_state_layer_ids",
    ]


def test_a_release_that_is_right(said):
    assert verdict(said, "nvidia/gpt-oss-120b-Eagle3-v3", "sglang@0.5.17")[2] == "  right: it was trained on these"
    assert verdict(said, "AngelSlim/Qwen3-8B_eagle3", "sglang@0.5.9")[1:] == [
        "  takes its default boundaries 2, 18, 33",
        "  right: it was trained on these",
    ]


def test_ids_that_are_not_read(said):
    lines = verdict(said, "nvidia/gpt-oss-120b-Eagle3-v3", "vllm@0.33.0")
    assert lines[:2] == ["vLLM 0.33.0 (V2)", "  takes its default boundaries 2, 18, 33 ([24, 30, 36] is not read)"]
    assert lines[3] == "  right would be [24, 30, 36] in eagle_aux_hidden_state_layer_ids (top level)"


def test_what_is_not_known_is_no_verdict(said):
    lines = verdict(said, "nvidia/Llama-3.3-70B-Instruct-Eagle3", "vllm@0.33.0")
    assert lines[1:] == [
        "  takes its default boundaries 2, 40, 77",
        "  whether that is right is not known: what it was trained on is not",
    ]


def test_a_target_that_a_release_can_not_serve(said):
    lines = verdict(said, "lightseekorg/kimi-k2.5-eagle3-mla", "vllm@0.17.1")
    assert lines[1].startswith(
        "  it can not be served: vllm 0.17.1 lets only targets through whose model type contains"
    )


def test_a_newer_release_than_the_last_verified_one_is_said(said):
    lines = verdict(said, "AngelSlim/Qwen3-8B_eagle3", "sglang@9.9")
    assert lines[-1].startswith("  note: 9.9 is newer than 0.5.23, the last release that was verified")


def test_a_key_that_switches_the_capture_off(said):
    lines = verdict(said, "lmsys/Qwen3-235B-A22B-EAGLE3", "sglang@0.5.23")
    assert lines[2] == "  right: it was trained on these"
    found = json.loads(
        said("drafters", "nvidia/gpt-oss-120b-Eagle3-v2", "--engine", "sglang@0.5.23", "--format", "json").out
    )
    assert found["served"][0]["notes"] == ["eagle_config.use_aux_hidden_state switches the capture off"]


def test_all_of_them(said):
    lines = said("drafters").out.splitlines()
    assert [line.split()[0] for line in lines] == list(known_drafters())
    assert lines[0].endswith("EAGLE-3    boundaries 2, 16, 29")
    judged = said("drafters", "--engine", "sglang@0.5.15").out.splitlines()
    assert dict(line.split(maxsplit=1) for line in judged)["nvidia/gpt-oss-120b-Eagle3-v3"] == "differs"


def test_json(said):
    found = json.loads(
        said("drafters", "nvidia/gpt-oss-120b-Eagle3-v3", "--engine", "sglang@0.5.15", "--format", "json").out
    )
    assert (found["ids"], found["trained"], found["established"]) == ([24, 30, 36], [24, 30, 36], True)
    assert found["served"] == [
        {
            "engine": "SGLang 0.5.15",
            "outcome": "differs",
            "key": "/eagle_config/eagle_aux_hidden_state_layer_ids",
            "rule": "plus_one",
            "captured": [25, 31],
            "right_ids": None,
            "right_place": "/eagle_config/eagle_aux_hidden_state_layer_ids",
            "notes": [],
        }
    ]
    assert found["right_releases"] == ["SGLang 0.5.17 to 0.5.23"]
    assert len(json.loads(said("drafters", "--format", "json").out)) == len(known_drafters())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nvidia/gpt-oss-120b-Eagle3-v4",), "unknown drafter 'nvidia/gpt-oss-120b-Eagle3-v4'; did you mean"),
        (("qqq",), "unknown drafter 'qqq'\n"),
        (("nvidia/gpt-oss-120b-Eagle3-v3", "--engine", "specforge"), "specforge is a trainer, no engine"),
        (("nvidia/gpt-oss-120b-Eagle3-v3", "--engine", "sglan"), "did you mean 'sglang'?"),
    ],
)  # fmt: skip
def test_a_wrong_call(said, arguments, message):
    found = said("drafters", *arguments)
    assert (found.out, found.status) == ("", 2)
    assert message in found.err


@pytest.mark.parametrize("engine", ["sglang", "vllm", "tokenspeed", "atom", "llama.cpp", "mlx-vlm", "openvino-genai"])
def test_every_drafter_can_be_judged_for_every_release(said, engine: str):
    found = said("drafters", "--engine", engine)
    assert (found.err, found.status) == ("", 0)
    assert len(found.out.splitlines()) == len(known_drafters())
