"""`eaglelint inspect`: a folder as each engine sees it, by headers alone."""

from __future__ import annotations

import json
import struct
import time
from pathlib import Path
from typing import Any

import pytest
import tensor_files
from click.testing import CliRunner

from eaglelint.cli.inspect import command

CONFIG = {
    "architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "hidden_size": 8, "intermediate_size": 16,
    "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4, "vocab_size": 32,
    "draft_vocab_size": 8, "norm_before_residual": True,
    "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 17, 32], "use_aux_hidden_state": True},
}  # fmt: skip
TENSORS = {"fc.weight": "BF16 [8, 24]", "lm_head.weight": "BF16 [8, 8]", "d2t": "I64 [8] = 0 0 0 0 4 4 9 9"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "head").mkdir()
    (tmp_path / "head/config.json").write_text(json.dumps(CONFIG, indent=1))
    (tmp_path / "head/model.safetensors").write_bytes(tensor_files.described("m.safetensors", TENSORS))
    return tmp_path / "head"


def inspect(*arguments: str) -> str:
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def data(*arguments: str) -> dict[str, Any]:
    return json.loads(inspect(*arguments, "--format", "json"))


def test_each_release_that_is_asked_for_has_its_boundaries(folder: Path):
    said = data(
        "head",
        "--target",
        "Qwen/Qwen3-8B",
        "--engine",
        "sglang@0.5.9",
        "--engine",
        "vllm@0.21.0",
        "--engine",
        "vllm@0.33.0",
    )
    views = [(view["engine"], view["release"], view["ids"], view["boundaries"]) for view in said["views"]]
    assert views == [
        ("SGLang", "0.5.9", [1, 17, 32], [2, 18, 33]),
        ("vLLM", "0.21.0", None, [2, 18, 33]),
        ("vLLM", "0.33.0", None, [2, 18, 33]),
    ]


def test_the_head_is_described_whoever_reads_it(folder: Path):
    head = data("head")["head"]
    assert head["ids"] == [{"key": "eagle_config.eagle_aux_hidden_state_layer_ids", "ids": [1, 17, 32], "line": 16}]
    assert (head["fc"], head["states"], head["draft_vocab_size"]) == ([8, 24], 3, 8)
    assert head["flags"]["norm_before_residual"] is True
    assert head["files"][0]["tensors"] == 3
    assert head["maps"] == [{"path": "head/model.safetensors", "kind": "d2t", "length": 8, "tokens": 8, "last": 16}]


def test_what_an_engine_does_not_read_and_what_would_be_reported_stand_with_it(folder: Path):
    text = inspect("head", "--engine", "sglang@0.5.20", "--target", "Qwen/Qwen3-8B")
    assert "SGLang 0.5.20" in text
    assert "ignored     `norm_before_residual`" in text
    assert "EGL207" in text
    assert "boundaries  2, 18, 33" in text
    assert "lm_head     its own, 8 rows" in text


def test_without_an_engine_the_newest_of_each_is_asked(folder: Path):
    assert {"SGLang", "vLLM", "tokenspeed"} <= {view["engine"] for view in data("head")["views"]}


def test_without_a_depth_formulas_stand_for_boundaries(folder: Path):
    assert "boundaries  2, N // 2, N - 3" in inspect("head", "--engine", "vllm@0.33.0")
    assert "boundaries  2, 12, 21 (2, N // 2, N - 3)" in inspect("head", "--engine", "vllm@0.33.0", "--depth", "24")


@pytest.mark.parametrize("path", ["head", "head/config.json", "head/model.safetensors"])
def test_folder_config_and_weights_name_the_same_head(folder: Path, path: str):
    assert data(path)["head"]["path"] == "head/config.json"


def test_a_gitignore_hides_nothing_that_is_named(folder: Path):
    (folder.parent / ".gitignore").write_text("*.safetensors\nhead/\n")
    assert data("head")["head"]["files"][0]["path"] == "head/model.safetensors"


def test_what_can_not_be_read_and_what_would_run_are_said(folder: Path):
    (folder / "model.safetensors").unlink()
    evil = {"x": tensor_files.Call(tensor_files.Name("os", "system"), ("true",))}
    (folder / "pytorch_model.bin").write_bytes(tensor_files.torch_zip(evil, {}))
    assert "unpickling it would call os.system" in inspect("head")
    (folder / "pytorch_model.bin").write_bytes(b"PK\3\4broken")
    assert "breaks off" in inspect("head")


def test_a_folder_of_tensors_without_a_drafter_lists_them(folder: Path):
    (folder / "config.json").unlink()
    assert data("head")["head"]["files"][0]["format"] == "safetensors"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "no such file or folder"),
        (["."], "no config.json and no tensors"),
        (["head", "--engine", "sglagn"], "did you mean 'sglang'"),
        (["head", "--engine", "specforge"], "only engines load drafters"),
        (["head", "--engine", "sglang@what"], "no release"),
    ],
)
def test_a_wrong_call_is_told_so(folder: Path, arguments: list[str], said: str):
    from eaglelint.errors import UsageError

    with pytest.raises(UsageError, match=said):
        CliRunner().invoke(command, arguments, catch_exceptions=False)


def test_a_hundred_gigabytes_in_shards_take_under_a_second(folder: Path):
    (folder / "model.safetensors").unlink()
    size, index = 25 * 10**9, {}
    for number in range(1, 5):
        name = f"model-{number:05}-of-00004.safetensors"
        rows = size // 2 // 1000 // 200
        entries, at = {}, 0
        for tensor in range(200):
            entries[f"block.{number}.{tensor}.weight"] = {
                "dtype": "BF16", "shape": [rows, 1000], "data_offsets": [at, at + rows * 2000],
            }  # fmt: skip
            at += rows * 2000
        index |= dict.fromkeys(entries, name)
        header = json.dumps(entries).encode()
        with (folder / name).open("wb") as stream:
            stream.write(struct.pack("<Q", len(header)) + header)
            stream.truncate(8 + len(header) + at)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    inspect("head", "--engine", "sglang")  # imports
    begin = time.process_time()
    said = data("head", "--engine", "sglang", "--engine", "vllm")
    taken = time.process_time() - begin
    files = said["head"]["files"]
    assert sum(file["bytes"] for file in files) == 100 * 10**9
    assert sum(file["tensors"] for file in files) == 800
    assert taken < 1, taken
