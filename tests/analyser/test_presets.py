"""Where the numbers are written that choose the states of a concatenation."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import facts_of

RUNNER = """
# acceptance of an EAGLE-3 head, without an engine
from dataclasses import dataclass

import torch
from transformers import AutoModelForCausalLM


@dataclass
class Options:
    wanted: tuple = (2, 18, 33)


class Runner:
    def __init__(self):
        self.model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
        self.wanted = (2, 18, 33)

    def features(self, ids):
        states = self.model(ids, output_hidden_states=True).hidden_states
        parts = []
        for slot, b in enumerate(self.wanted):
            parts.append(states[b])
        return torch.cat(JOINED, dim=-1)
"""


@pytest.mark.parametrize(
    ("joined", "line"),
    [
        ("[states[b] for b in self.wanted]", 17),
        ("[states[b] for b in sorted(self.wanted)]", 17),
        ("[states[b] for b in list(self.wanted)]", 17),
        ("[states[b] for b in Options().wanted]", 11),
        ("parts", 17),
    ],
)
def test_a_preset_is_where_its_numbers_are_written(tmp_path: Path, joined: str, line: int) -> None:
    facts = facts_of(tmp_path, {"bench.py": RUNNER.replace("JOINED", joined)})
    preset = facts.assemblies[0].preset
    assert preset is not None
    assert preset.line == line


def test_states_that_are_named_one_by_one_have_no_preset(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"bench.py": RUNNER.replace("JOINED", "[states[2], states[18], states[33]]")})
    assert facts.assemblies[0].preset is None
