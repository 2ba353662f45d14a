"""`eaglelint engines`: every engine and trainer, what one does with ids, narrowed by release and target."""

from __future__ import annotations

import json

import pytest

from eaglelint.conventions.table import engine, engines
from eaglelint.conventions.trainers import trainers

LMDEPLOY = """\
LMDeploy
c77593721 (2025-11-26) to 1263d5cd (2026-08-21); verified 2026-08-22, read
targets that are not named can not be served
boundary b is the residual stream after b of N layers; dropped: left out, so that fc gets one state too few

Ids in the drafter's config are not read; the default boundaries are captured; default 2, N // 2, N - 3
  c77593721 (2025-11-26) to 1263d5cd (2026-08-21): pytorch/models/llama.py and pytorch/configurations/llama.py
    boundary 0 unknown, boundary N unknown, beyond unknown
    how sure: read
    the layers are written into the code
    [1263d5cd lmdeploy/pytorch/configurations/llama.py:26-28]
    [1263d5cd lmdeploy/pytorch/models/llama.py:266]
"""

KIMI = """\
SGLang
0.4.4.post1 to 0.5.23, 43 of 70 read; verified 2026-11-29, executed

For moonshotai/Kimi-K2.5, 61 layers
  0.5.13: boundary i + 1 for every id when the first id is 1, boundary i for every id otherwise
    [1, 29, 57] are boundaries 2, 30, 58
    [2, 30, 58] are boundaries 2, 30, 58
    [2, 30, 61] are boundaries 2, 30, 61, of which 61 is not captured
    without ids it captures boundaries 2, 30, 58 (2, N // 2, N - 3)
    ids are read from eagle_config.eagle_aux_hidden_state_layer_ids
    eagle_config.use_aux_hidden_state false switches the capture off
"""


def test_all_of_them_with_the_day_on_which_they_were_verified(said):
    lines = said("engines").out.splitlines()
    names = [line.split()[0] for line in lines if line.startswith("  ")]
    assert names == [*engines(), *(n for n in trainers() if n != "transformers"), "transformers"]
    assert next(line for line in lines if line.split()[:1] == ["sglang"]) == (
        "  sglang             2026-11-29  executed   0.4.4.post1 to 0.5.23, 43 of 70 read"
    )
    found = json.loads(said("engines", "--format", "json").out)
    assert {row["name"]: row["verified"] for row in found}["vllm"] == "2026-11-29"


def test_one_engine(said):
    assert said("engines", "lmdeploy") == (LMDEPLOY, "", 0)


def test_one_release_for_one_target(said):
    found = said("engines", "sglang@0.5.13", "--target", "moonshotai/Kimi-K2.5")
    assert found.out.startswith(KIMI)
    for words in (
        "\n    boundary 0: ends with an error; boundary N: left out, so that fc gets one state too few; beyond:",
        "\n    order of the layers, whatever that of the list; a state that is named twice is captured once\n",
        "\n    how sure: executed\n",
        "\n    [0.5.13 models/kimi_k25.py:834 (setter)]\n",
    ):
        assert words in found.out
    assert "broken:" not in found.out
    assert "broken: graphs for the target's verify step" in (
        said("engines", "sglang@0.5.10", "--target", "moonshotai/Kimi-K2.5").out
    )


def test_a_release_narrows(said):
    whole, narrow = said("engines", "sglang").out, said("engines", "sglang@0.4.9").out
    assert "deepseek_v2.py" in whole
    assert "deepseek_v2.py" not in narrow
    assert "0.4.9 to 0.5.21: llama.py" in narrow
    assert "\nBroken\n  0.4.9 to 0.5.10.post1: graphs for" in narrow
    assert "0.17.0 to 0.23.0: eagle_aux_hidden_state_layer_ids (top level) (model runner V2)" in (
        said("engines", "vllm@0.20.2").out
    )
    assert "(model runner V2)" not in said("engines", "vllm@0.16.0").out


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("sglang@9.9", "9.9 is newer than 0.5.23, the last release that was verified, and taken to be like it"),
        ("vllm@9", "9 is newer than 0.33.0, the last release that was verified, and taken to be like it"),
        ("sglang@0.5.9.post7", "0.5.9.post7 is not among the known releases, and taken to be like its neighbours"),
        ("vllm@0.15.0", "0.15.0 was not read, and is taken to be like its neighbours"),
        ("tokenspeed@0.1.1", "0.1.1: this table knows tokenspeed by commits, and the newest ones are shown"),
    ],
)
def test_a_release_that_nobody_read_is_said(said, asked: str, words: str):
    assert said("engines", asked).out.splitlines()[2] == words


def test_a_verified_release_needs_no_such_words(said):
    table = engine("sglang")
    assert table is not None
    for release in (table.latest, "0.5.9"):
        assert "taken to be like" not in said("engines", f"sglang@{release}").out


def test_a_trainer_and_one_path_through_it(said):
    whole = said("engines", "specforge", "--depth", "36").out
    assert "without ids it captures boundaries 2, 19, 33, written as ids 1, N // 2, N - 4\n" in whole
    assert "; fixed in bdbea66b\n" in whole
    path = said("engines", "modelopt:megatron").out
    assert path.splitlines()[3].startswith("Path megatron")
    assert path.count("Path ") == 1
    assert "its export always writes the ids as outputs of layers in no order in eagle_config.eagle_aux" in path


def test_how_all_engines_serve_a_target(said):
    lines = said("engines", "--target", "openai/gpt-oss-120b").out.splitlines()
    assert lines[0] == "for openai/gpt-oss-120b, 36 layers"
    assert lines[1].startswith("  sglang 0.5.23: boundary i for every id when the largest id is N")
    assert "  lmdeploy: can not serve it (unsupported)" in lines
    rows = json.loads(said("engines", "--target", "openai/gpt-oss-120b", "--format", "json").out)
    assert {row["engine"]: row["default"] for row in rows}["openvino-genai"] == [3, 19, 34]


def test_a_page_as_json(said):
    found = json.loads(said("engines", "lmdeploy", "--format", "json").out)
    assert found["name"] == "lmdeploy"
    assert found["sections"][0]["rows"][0]["evidence"][1] == "1263d5cd lmdeploy/pytorch/models/llama.py:266"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sglnag",), "unknown engine or trainer 'sglnag'; did you mean 'sglang'?"),
        (("boundaries",), "unknown engine or trainer 'boundaries'"),
        (("vllm@new",), "'new' is no release and no range of releases, in 'vllm@new'"),
        (("vllm", "--target", "Qwen/Qwen3-9B"), "unknown target 'Qwen/Qwen3-9B'; did you mean"),
    ],
)
def test_a_wrong_call(said, arguments, message):
    found = said("engines", *arguments)
    assert (found.out, found.status) == ("", 2)
    assert message in found.err


@pytest.mark.parametrize("name", [*engines(), *trainers()])
def test_every_page_can_be_printed(said, name: str):
    for more in ((), ("--target", "Qwen/Qwen3-8B")):
        found = said("engines", name, *more)
        assert (found.err, found.status) == ("", 0)
        assert "_" not in found.out.splitlines()[0]
