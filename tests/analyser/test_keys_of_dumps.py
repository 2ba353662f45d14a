"""Keys that a reader asks a dump for: those that the writer never wrote, whatever the reader's script is called."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import facts_of

DUMP = """
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")


def dump(ids, n):
    hs = model(ids, output_hidden_states=True).hidden_states
    torch.save({"input_ids": ids, "low": hs[4], "mid": hs[16], "high": hs[31]}, f"states/sample_{n}.pt")
"""
READ = """
import torch
from pathlib import Path


class States:
    def __init__(self):
        self.files = sorted(Path("states").glob("sample_*.pt"))

    def __getitem__(self, i):
        s = torch.load(self.files[i])
        return torch.cat([s["low"], s["KEY"], s["high"]], dim=-1)
"""


def kinds(folder: Path, key: str) -> list[str]:
    files = {"dump_states.py": DUMP, "training/data.py": READ.replace("KEY", key)}
    return [defect.kind for defect in facts_of(folder, files).defects]


def test_a_key_that_is_not_written_is_reported_in_the_reader(tmp_path: Path):
    assert kinds(tmp_path, "middle") == ["dump-layout-mismatch"]


@pytest.mark.parametrize("key", ["low", "mid", "high"])
def test_keys_that_are_written_are_not(tmp_path: Path, key: str):
    assert kinds(tmp_path, key) == []
