"""Defects that need two places to be seen: norms at both ends, one list read two ways, setters and what waits for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import boundaries, defects, facts_of

LAST_STATE = """
# dump for the EAGLE-3 head
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
kept = {}


def keep(module, args, output):
    kept["verifier_last"] = output[0] if isinstance(output, tuple) else output


HOOKED.register_forward_hook(keep)


def dump(ids, n):
    model(ids)
    torch.save({"ids": ids, "verifier_last": kept["verifier_last"]}, f"out/{n}.pt")
"""
HEAD = """
# distillation loss of the EAGLE-3 head
import torch


class Verifier(torch.nn.Module):
    def __init__(self, norm, lm_head):
        super().__init__()
        self.norm, self.lm_head = norm, lm_head

    def forward(self, verifier_last):
        return self.lm_head(USED)
"""


@pytest.mark.parametrize(
    ("hooked", "used", "wrong"),
    [
        ("model.model.layers[-1]", "verifier_last", True),
        ("model.model.layers[-1]", "self.norm(verifier_last)", False),
        ("model.model.norm", "verifier_last", False),
        ("model.model.norm", "self.norm(verifier_last)", True),
    ],
    ids=["raw-into-head", "normed-by-the-reader", "normed-by-the-writer", "normed-twice"],
)
def test_the_final_norm_is_applied_exactly_once(tmp_path: Path, hooked: str, used: str, wrong: bool) -> None:
    files = {"dump.py": LAST_STATE.replace("HOOKED", hooked), "loss.py": HEAD.replace("USED", used)}
    facts = facts_of(tmp_path, files)
    assert ("final-state-norm-mismatch" in defects(facts)) is wrong


TWO_LOOPS = """
# EAGLE-3 taps of the test runner
import torch

WANTED = (2, 20, 37)
SHIFTED = [i - 1 for i in WANTED]


def prefill(model, h):
    kept = []
    for i, layer in enumerate(model.layers):
        if i in WANTED:
            kept.append(h.clone())
        h = layer(h)
    return torch.cat(kept, dim=-1)


def decode(model, h):
    kept = []
    for i, layer in enumerate(model.layers):
        h = layer(h)
        if i in IDS:
            kept.append(h.clone())
    return torch.cat(kept, dim=-1)
"""


def test_one_list_before_and_after_the_layer_is_told(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"runner.py": TWO_LOOPS.replace("IDS", "WANTED")})
    assert defects(facts) == {"capture-before-after-mixed": 22}


def test_a_list_that_is_shifted_for_the_other_place_is_right(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"runner.py": TWO_LOOPS.replace("IDS", "SHIFTED")})
    assert defects(facts) == {}
    assert [boundaries(a) for a in facts.assemblies] == [[2, 20, 37], [2, 20, 37]]


ENGINE_MODEL = """
# an overlay with EAGLE-3 capture
from torch import nn


class Layer(nn.Module):
    def __init__(self, config, layer_id):
        super().__init__()
        self._capture_here = False

    def forward(self, positions, hidden_states, residual, captured):
        if residual is None:
            residual = hidden_states
        else:
            hidden_states, residual = self.input_norm(hidden_states, residual)
        if self._capture_here:
            captured.append(residual.clone())
        return self.mlp(hidden_states), residual


class Decoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config, i) for i in range(config.num_hidden_layers))

    def forward(self, ids, positions):
        hidden_states, residual, captured = self.embed_tokens(ids), None, []
        for layer in self.layers:
            hidden_states, residual = layer(positions, hidden_states, residual, captured)
        hidden_states, _ = self.norm(hidden_states, residual)
        return hidden_states, captured


class ForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = Decoder(config)

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        n = len(self.model.layers)
        wanted = [2, n // 2, n - 3] if layer_ids is None else [i + 1 for i in layer_ids]
        ARM

    def forward(self, ids, positions):
        return self.model(ids, positions)
"""


def test_a_setter_that_writes_what_nobody_reads_is_told(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"falcon.py": ENGINE_MODEL.replace("ARM", "self.model.marked = wanted")})
    assert list(defects(facts)) == ["inert-capture"]


def test_a_setter_that_arms_the_layers_captures_what_enters_them(tmp_path: Path) -> None:
    arm = "for k in wanted:\n            self.model.layers[k]._capture_here = True"
    facts = facts_of(tmp_path, {"falcon.py": ENGINE_MODEL.replace("ARM", arm)})
    assert defects(facts) == {}
    assert boundaries(facts.captures[0], 36) == [2, 18, 33]


OUTER = (
    '{"architectures": ["Qwen3VLForConditionalGeneration"], "model_type": "qwen3_vl", "text_config": '
    '{"num_hidden_layers": 36, "hidden_size": 4096, "vocab_size": 151936}}'
)


@pytest.mark.parametrize(
    ("read", "wrong"),
    [
        ('config.get("num_hidden_layers", 32)', True),
        ('config["num_hidden_layers"]', True),
        ('config["text_config"]["num_hidden_layers"]', False),
        ('config.get("text_config", config).get("num_hidden_layers")', False),
    ],
)
def test_the_depth_of_a_multimodal_target_stands_in_its_text_config(tmp_path: Path, read: str, wrong: bool) -> None:
    code = f"""
    # layers for EAGLE-3
    import json
    config = json.load(open("models/qwen3-vl/config.json"))
    depth = {read}
    """
    facts = facts_of(tmp_path, {"plan.py": code, "models/qwen3-vl/config.json": OUTER})
    assert ("nested-target-config" in defects(facts)) is wrong


def test_a_file_of_unknown_name_proves_no_missing_key(tmp_path: Path) -> None:
    code = """
    # eagle3
    import sys
    import torch
    from transformers import AutoModelForCausalLM
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
    def write(ids, path):
        hs = model(ids, output_hidden_states=True).hidden_states
        torch.save({"aux_states": torch.cat([hs[2], hs[18], hs[33]], dim=-1)}, path)
    def read():
        return torch.load(sys.argv[1])["labels"]
    """
    assert defects(facts_of(tmp_path, {"dump.py": code})) == {}


def test_a_server_that_python_starts_is_a_launch_with_the_place_of_each_key(tmp_path: Path) -> None:
    code = """
    from vllm import LLM

    spec = {
        "method": "eagle3",
        "model": "heads/llama",
        "num_speculative_tokens": 3,
    }
    llm = LLM(model="meta-llama/Llama-3.1-8B-Instruct", speculative_config=spec, max_model_len=4096)
    """
    facts = facts_of(tmp_path, {"serve.py": code})
    launch = facts.launches[0]
    assert launch.engine == "vllm"
    assert launch.draft is not None
    assert (launch.draft.value, launch.draft.where.line) == ("heads/llama", 6)
    argument = launch.get("speculative_config.num_speculative_tokens")
    assert argument is not None
    assert (argument.value.value, argument.where.line) == (3, 7)


def test_a_command_that_python_starts_is_a_launch_with_the_place_of_each_word(tmp_path: Path) -> None:
    code = """
    import subprocess

    command = [
        "python", "-m", "sglang.launch_server",
        "--model-path", "models/llama",
        "--speculative-algorithm", "EAGLE3",
        "--speculative-draft-model-path", "drafter",
    ]
    subprocess.Popen(command)
    """
    facts = facts_of(tmp_path, {"serve.py": code})
    launch = facts.launches[0]
    assert launch.engine == "sglang"
    argument = launch.get("speculative_algorithm")
    assert argument is not None
    assert (argument.value.value, argument.value.where.line) == ("EAGLE3", 7)
