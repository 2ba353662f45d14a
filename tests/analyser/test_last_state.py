"""The verifier's last state out of vLLM's extraction: it is stored before the final norm, whoever reads it back."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import boundaries, facts_of

DUMP = """
# states for the EAGLE-3 head
from vllm import LLM

llm = LLM(
    model="Qwen/Qwen3-8B",
    speculative_config={
        "method": "extract_hidden_states",
        "num_speculative_tokens": 1,
        "draft_model_config": {"hf_config": {"eagle_aux_hidden_state_layer_ids": [2, 18, 33, 36]}},
    },
)
"""
READ = """
# loss of the EAGLE-3 head
import torch
import torch.nn.functional as F
from safetensors import safe_open
from safetensors.torch import load_file
from torch import nn


class Teacher(nn.Module):
    def __init__(self, state):
        super().__init__()
        self.norm = nn.RMSNorm(4096)
        self.lm_head = nn.Linear(4096, 151936, bias=False)
        self.matrix = state["lm_head.weight"]

    def forward(self, last):
        return self.lm_head(last)

    def multiplied(self, last):
        return torch.matmul(last, self.matrix.t())

    def normed(self, last):
        return self.lm_head(self.norm(last))


class States(torch.utils.data.Dataset):
    def __init__(self, files):
        self.files = files

    def __getitem__(self, n):
        *aux, last = load_file(self.files[n])["hidden_states"].unbind(1)
        return {"aux": torch.cat(aux, dim=-1), "last": last}


def loss(path, lm_head, norm, state, weight):
    hs = load_file(path)["hidden_states"]
    return USE
"""
WRONG = [
    "lm_head(hs[:, -1])",
    "lm_head(hs[:, 3].to('cuda'))",
    "Teacher(state)(hs[:, -1, :])",
    "Teacher(state).multiplied(hs[:, -1])",
    "hs[:, -1] @ state['lm_head.weight'].T",
    "F.linear(hs[:, -1].float(), lm_head.weight)",
]
RIGHT = ["lm_head(norm(hs[:, -1]))", "Teacher(state).normed(hs[:, -1])", "hs[:, -1] @ weight", "lm_head(hs[:, 2])"]


def found(folder: Path, use: str, pin: str) -> list[str]:
    files = {"dump.py": DUMP, "loss.py": READ.replace("USE", use), "requirements.txt": pin}
    return [d.confidence for d in facts_of(folder, files).defects if d.kind == "final-state-norm-mismatch"]


@pytest.mark.parametrize("use", WRONG)
@pytest.mark.parametrize("pin", ["vllm==0.22.1\n", ""], ids=["pinned", "unpinned"])
def test_an_extracted_last_state_goes_through_the_norm_before_the_head(tmp_path: Path, use: str, pin: str) -> None:
    assert "proven" in found(tmp_path, use, pin)


@pytest.mark.parametrize("use", RIGHT)
def test_a_reader_that_applies_the_norm_or_uses_another_matrix_is_right(tmp_path: Path, use: str) -> None:
    assert "proven" not in found(tmp_path, use, "vllm==0.22.1\n")


def test_a_sample_of_the_data_set_is_followed_by_its_key(tmp_path: Path) -> None:
    code = READ.replace("USE", "hs") + "\n\ndef step(batch, lm_head):\n    return lm_head(batch['last'])\n"
    facts = facts_of(tmp_path, {"dump.py": DUMP, "loss.py": code})
    line = code.splitlines().index("    return lm_head(batch['last'])") + 1
    assert line in [d.where.line for d in facts.defects if d.confidence == "likely"]


def test_an_old_release_drops_the_last_state_only(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"dump.py": DUMP, "requirements.txt": "vllm==0.17.1\n"})
    assert boundaries(facts.captures[0]) == [2, 18, 33]
