"""`eaglelint convert`: ids of one reader as ids of another, the exact words, and what can not be converted and why."""

from __future__ import annotations

import json

import pytest

KIMI = ("--target", "moonshotai/Kimi-K2.5")

SGLANG_TO_VLLM = """\
for moonshotai/Kimi-K2.5, 61 layers

2,30,58 from SGLang 0.5.13: boundary i + 1 for every id when the first id is 1, boundary i for every id otherwise
   2  boundary 2 (output of layer 1, input of layer 2)
  30  boundary 30 (output of layer 29, input of layer 30)
  58  boundary 58 (output of layer 57, input of layer 58)

  to vLLM 0.33.0 (V2): id i is the input of layer i: boundary i
    [2, 30, 58]
    in eagle_aux_hidden_state_layer_ids (top level) or eagle_config.layer_ids
    note: these are its default: without ids it captures the same
"""

GRAPHS = """\
for moonshotai/Kimi-K2.5, 61 layers

2,30,58 from SGLang 0.5.10: id i is the output of layer i: boundary i + 1
   2  boundary 3 (output of layer 2, input of layer 3)
  30  boundary 31 (output of layer 30, input of layer 31)
  58  boundary 59 (output of layer 58, input of layer 59)
  note: graphs for the target's verify step are captured with the default layers before the ids are set, so decoding \
reads the default boundaries while eager forwards (prefill, batches above the largest graph) read the ids (fixed in \
0.5.11)

  to boundaries: number b is the residual stream after b layers
    [3, 31, 59]
"""

IMPOSSIBLE = """\
for Qwen/Qwen3-8B, 36 layers

1,17,36 from SGLang 0.5.23: id i is the output of layer i: boundary i + 1
   1  boundary 2 (output of layer 1, input of layer 2)
  17  boundary 18 (output of layer 17, input of layer 18)
  36  boundary 37, which no layer has; left out, so that fc gets one state too few

  to TensorRT-LLM: boundary i + 1, and id -1 is the last state after the final norm
    impossible: for it, boundary 37 is left out, so that fc gets one state too few
"""


@pytest.mark.parametrize(
    ("arguments", "text", "status"),
    [
        (("2,30,58", "--from", "sglang@0.5.13", "--to", "vllm@0.33.0", *KIMI), SGLANG_TO_VLLM, 0),
        (("2,30,58", "--from", "sglang@0.5.10", "--to", "boundaries", *KIMI), GRAPHS, 0),
        (("1,17,36", "--from", "sglang@0.5.23", "--to", "trtllm", "--target", "Qwen/Qwen3-8B"), IMPOSSIBLE, 1),
    ],
)
def test_the_words(said, arguments, text, status):
    assert said("convert", *arguments) == (text, "", status)


def answers(said, *arguments: str) -> list[list[object]]:
    """For each thing that the ids may mean, the answers: ids, or the reason why there are none."""
    found = json.loads(said("convert", *arguments, "--format", "json").out)["conversions"]
    return [[a["ids"] if a["ids"] is not None else a["reason"] for a in c["to"]] or [c["reason"]] for c in found]


def one(said, *arguments: str) -> object:
    found = answers(said, *arguments)
    assert len(found) == 1
    assert len(found[0]) == 1, found
    return found[0][0]


@pytest.mark.parametrize(
    ("ids", "source", "wanted", "result"),
    [
        ("2,30,58", "sglang@0.5.10", "vllm@0.33.0", [3, 31, 59]),
        ("2,30,58", "sglang@0.5.13", "vllm@0.33.0", [2, 30, 58]),
        ("1,29,57", "sglang@0.5.12", "vllm@0.33.0", [2, 30, 58]),
        ("1,29,57", "sglang@0.5.23", "vllm@0.33.0", [2, 30, 58]),
        ("[2, 30, 58]", "vllm", "sglang@0.5.23", [1, 29, 57]),
        ("3,31,59", "vllm", "sglang@0.5.23", [3, 31, 59]),
        ("2,30,58", "vllm", "tokenspeed", [1, 29, 57]),
        ("1,29,61", "tokenspeed", "vllm@0.33.0", [2, 30, 61]),
        ("1 29 57", "modelopt:hf", "speculators:train@0.9.0", [2, 30, 58]),
        ("1,29,57", "modelopt:vllm_dump", "sglang@0.5.23", [29, 57, 1]),
        ("1,29,57", "specforge:online_custom", "hf", [2, 30, 58]),
        ("2,30,58", "hf", "specforge:online_custom", [1, 29, 57]),
        ("0,30,-3", "hf", "boundaries", [0, 30, 59]),
        ("58,2,30", "vllm", "sglang@0.5.23", [1, 29, 57]),
        ("default", "sglang@0.5.23", "vllm@0.33.0", [2, 30, 58]),
        ("default", "mlx-vlm", "vllm@0.33.0", "it concatenates in the order of the layers, and these states stand in"
         " another order"),
    ],
)  # fmt: skip
def test_ids_for_kimi_k2_5(said, ids, source, wanted, result):
    assert one(said, ids, "--from", source, "--to", wanted, *KIMI) == result


@pytest.mark.parametrize(
    ("ids", "source", "wanted", "reason"),
    [
        ("2,30,61", "hf", "sglang@0.5.23", "it captures the residual stream, and the last state after the final norm is"
         " none of it"),
        ("2,30,61", "boundaries", "hf", "hidden_states[N] is after the final norm; boundary N needs a hook on the last"
         " layer"),
        ("2,30,61", "boundaries", "sglang@0.5.10", "for it, boundary 61 is left out, so that fc gets one state too"
         " few"),
        ("2,30,61", "boundaries", "sglang@0.5.23", "for it, boundary 61 ends with an error"),
        ("1,29,60", "tokenspeed", "vllm", "id 60 stands for no state"),
        ("30,2,58", "hf", "vllm@0.33.0", "it concatenates in the order of the layers, and these states stand in another"
         " order"),
        ("3,30", "boundaries", "specforge:sglang_capture", None),
        ("3,30", "boundaries", "specforge:online_custom", None),
        ("2,30", "boundaries", "nemo-automodel", "it takes exactly 3 ids"),
        ("2,30,62", "boundaries", "vllm@0.33.0", "[62] lies outside 0 to 61"),
        ("3,31,59", "boundaries", "eagle", "it takes no ids; it captures its default boundaries 2, 30, 58"),
        ("1,29,57", "sglang", "lmdeploy", "it can not serve this target"),
    ],
)  # fmt: skip
def test_what_can_not_be_converted_is_named_with_the_reason(said, ids, source, wanted, reason):
    found = said("convert", ids, "--from", source, "--to", wanted, *KIMI)
    if reason is None:
        assert found.status == 0
        return
    assert found.status == 1
    assert {r for group in answers(said, ids, "--from", source, "--to", wanted, *KIMI) for r in group} == {reason}


def test_every_reading_of_releases_that_are_left_open(said):
    found = said("convert", "2,30,58", "--from", "sglang", "--to", "boundaries", *KIMI)
    assert [line.split(":")[0] for line in found.out.splitlines() if " from " in line] == [
        "2,30,58 from SGLang 0.5.10 to 0.5.10.post1",
        "2,30,58 from SGLang 0.5.11 to 0.5.12.post1",
        "2,30,58 from SGLang 0.5.13 to 0.5.23",
    ]
    assert found.out.endswith("several readings are possible; a release (NAME@RELEASE) and --target narrow them\n")


def test_every_rule_of_targets_that_are_left_open(said):
    found = answers(said, "2,30,58", "--from", "sglang@0.5.23", "--to", "boundaries", "--depth", "61")
    assert found == [[[3, 31, 59]], [[3, 31, 59]], [[2, 30, 58]]]


def test_a_reader_that_captures_its_default_whatever_the_ids_say(said):
    found = said("convert", "1,2,3", "--from", "sglang@0.4.8.post1", "--to", "vllm@0.11.0", "--depth", "32")
    assert found.status == 0
    assert "note: ids are not read: the default boundaries are captured\n" in found.out
    assert "no ids: it reads no ids; its default is boundaries 2, 16, 29\n" in found.out


def test_a_path_of_a_trainer_that_follows_an_engine(said):
    found = said("convert", "2,30,58", "--from", "specforge:sglang_capture", "--to", "boundaries", *KIMI)
    assert "from SpecForge sglang_capture with SGLang 0.5.13 to 0.5.23: boundary i + 1 for every id when" in found.out


def test_a_release_that_nobody_read_is_said_to_be_taken_for_another(said):
    newer = said(
        "convert", "1,15,28", "--from", "sglang@9.0", "--to", "boundaries", "--target", "meta-llama/Llama-3.1-8B"
    )
    assert (
        "note: 9.0 is newer than 0.5.23, the last release that was verified (2026-11-29), and taken to be like it\n"
        in (newer.out)
    )
    odd = said("convert", "1,15,28", "--from", "sglang@0.5.9.post7", "--to", "boundaries", "--depth", "32")
    assert "note: 0.5.9.post7 is not among the known releases, and taken to be like its neighbours\n" in odd.out


def test_tensorrt_llm_has_an_id_for_the_last_state_after_the_final_norm(said):
    assert one(said, "[-1, 5]", "--from", "tensorrt-llm", "--to", "hf", "--depth", "36") == [6, 36]
    assert one(said, "6,36", "--from", "hf", "--to", "tensorrt-llm", "--depth", "36") == [5, -1]


def test_dflash_ids_are_outputs_in_both_engines(said):
    arguments = ("1,17,33", "--from", "sglang@0.5.23", "--to", "vllm@0.33.0", "--method", "dflash", "--depth", "36")
    found = json.loads(said("convert", *arguments, "--format", "json").out)["conversions"]
    places = {p: a["ids"] for c in found for a in c["to"] for p in a["places"]}
    assert places["dflash_config.target_layer_ids"] == [1, 17, 33]
    assert places["eagle_aux_hidden_state_layer_ids (top level)"] == [2, 18, 34]


@pytest.mark.parametrize(
    ("ids", "source", "message"),
    [
        ("2,x", "sglang", "'2,x' is no list of ids; write numbers with commas between them, or `default`"),
        ("", "sglang", "'' is no list of ids"),
        ("2", "sglan", "unknown engine or trainer 'sglan'; did you mean 'sglang'?"),
        ("2", "qqq", "unknown engine or trainer 'qqq'; known are sglang, vllm,"),
        ("2", "sglang@x", "'x' is no release and no range of releases, in 'sglang@x'"),
        ("2", "@", "'@' is no reader; write NAME, NAME@RELEASE or NAME:PATH"),
        ("2", "hf@4", "hf has no releases"),
        ("2", "modelopt:foo", "modelopt has no path 'foo'; its paths are dflash, hf, megatron,"),
        ("2", "sglang:foo", "sglang has no path 'foo'; only trainers have several"),
    ],
)
def test_a_wrong_reader_or_list(said, ids, source, message):
    found = said("convert", ids, "--from", source, "--to", "vllm")
    assert (found.out, found.status) == ("", 2)
    assert message in found.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--target", "moonshotai/Kimi-K2.55"), "unknown target 'moonshotai/Kimi-K2.55'; did you mean"),
        (("--target", "a/b"), "unknown target 'a/b'; without --target, give --depth"),
        (("--depth", "0"), "Invalid value for '--depth'"),
    ],
)
def test_a_wrong_target(said, options, message):
    found = said("convert", "2", "--from", "sglang", "--to", "vllm", *options)
    assert (found.out, found.status) == ("", 2)
    assert message in found.err


def test_releases_without_auxiliary_states(said):
    found = said("convert", "2", "--from", "sglang@0.4.0", "--to", "vllm")
    assert found == ("sglang@0.4.0 reads no ids of auxiliary states\n", "", 1)
