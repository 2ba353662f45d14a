"""`eaglelint matrix`: which defaults line up, which ids have to be written; its page is current."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def cells(said, *arguments: str) -> dict[tuple[str, bool, str], dict[str, object]]:
    """The cells by trainer, whether its default layers are meant, and engine with its runner."""
    found = json.loads(said("matrix", "--format", "json", *arguments).out)
    made = {}
    for drafter in found["drafters"]:
        for trainer in drafter["trainers"]:
            for path in trainer["paths"]:
                for cell in drafter["engines"]:
                    name = cell["engine"] + (f" {cell['runner']}" if cell["runner"] else "")
                    made[f"{trainer['trainer']}:{path}", drafter["default_layers"], name] = cell
    return made


@pytest.mark.parametrize(
    ("trainer", "engine", "outcome", "right"),
    [
        ("eagle:online", "sglang", "default", None),
        ("eagle:online", "vllm V2", "default", None),
        ("eagle:online", "openvino-genai", "other_default", [1, 15, 28]),
        ("eagle:online", "atom", "refused", None),
        ("specforge:sglang_capture", "tensorrt-llm", "default", None),
        ("modelopt:hf", "sglang", "same", None),
        ("modelopt:hf", "vllm V1", "differs", [2, 16, 29]),
        ("modelopt:hf", "vllm V2", "default", None),
        ("modelopt:hf", "tokenspeed", "same", None),
        ("modelopt:hf", "atom-sglang", "differs", [2, 16, 29]),
        ("modelopt:hf", "llama.cpp", "default", None),
        ("modelopt:vllm_dump", "sglang", "differs", [0, 14, 27]),
        ("modelopt:vllm_dump", "vllm V1", "same", None),
        ("speculators:train", "sglang", "default", None),
        ("speculators:train", "vllm V2", "same", None),
        ("speculators:train", "tokenspeed", "differs", [1, 15, 28]),
        ("speculators:train", "mlx-vlm", "same", None),
    ],
)
def test_default_layers(said, trainer: str, engine: str, outcome: str, right: object):
    cell = cells(said)[trainer, True, engine]
    assert (cell["outcome"], cell["right_ids"]) == (outcome, right)


@pytest.mark.parametrize(
    ("trainer", "engine", "outcome", "right"),
    [
        ("modelopt:hf", "sglang", "same", None),
        ("modelopt:hf", "vllm V2", "other_default", [4, 18, 30]),
        ("modelopt:hf", "tensorrt-llm", "other_default", [3, 17, 29]),
        ("angelslim:online", "sglang", "other_default", [3, 17, 29]),
        ("nemo-automodel:all", "vllm V1", "other_default", [4, 18, 30]),
        ("speculators:train", "sglang", "other_default", [3, 17, 29]),
        ("speculators:train", "lmdeploy", "other_default", None),
    ],
)
def test_layers_that_somebody_chose(said, trainer: str, engine: str, outcome: str, right: object):
    cell = cells(said)[trainer, False, engine]
    assert (cell["outcome"], cell["right_ids"]) == (outcome, right)


def test_the_rule_of_sglang_for_deepseek_targets_turns_chosen_layers_around(said):
    found = cells(said, "--target", "moonshotai/Kimi-K2.5")
    assert found["modelopt:hf", True, "sglang"]["outcome"] == "same"
    assert found["modelopt:hf", False, "sglang"]["outcome"] == "differs"
    assert found["modelopt:hf", False, "sglang"]["right_ids"] == [4, 32, 59]


def test_only_what_trainers_do_now_counts(said):
    text = said("matrix").out
    assert "online_hf" not in text
    assert "research" not in text
    assert "dflash" not in text


def test_the_words(said):
    text = said("matrix").out
    assert text.startswith(
        "for a Llama target, 32 layers\n\nAngelSlim (online and offline), BaldEagle (offline), EAGLE (online)"
    )
    assert (
        "\nModelOpt (hf and megatron): trained on 2, 16, 29, declares [1, 15, 28] in"
        " eagle_config.eagle_aux_hidden_state_layer_ids\n  the same: SGLang 0.5.23, tokenspeed\n"
    ) in text
    assert (
        "\n  every state is one layer early: vLLM 0.33.0 (V1), atom-sglang, atom-vllm\n"
        "    write [2, 16, 29] in eagle_config.eagle_aux_hidden_state_layer_ids\n"
    ) in text
    assert ", where eagle_config.use_aux_hidden_state is true: ATOM\n" in (
        said("matrix", "--target", "moonshotai/Kimi-K2.5").out
    )


def test_a_wrong_call(said):
    found = said("matrix", "--target", "nobody/nothing")
    assert (found.out, found.status) == ("", 2)
    assert "unknown target 'nobody/nothing'" in found.err


def test_the_page_of_the_documentation_is_current():
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert (done.stdout + done.stderr, done.returncode) == ("", 0)
