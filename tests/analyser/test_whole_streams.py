"""Layers that return a pair with a residual in it: whether the first of the two is the complete stream."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import boundaries, defects, facts_of

MODEL = """
# SGLang model with EAGLE-3 capture
from sglang.srt.layers.layernorm import RMSNorm
from torch import nn


class Decoder(nn.Module):
    def forward(self, input_ids, positions, forward_batch):
        hidden_states, residual, aux_hidden_states = self.embed_tokens(input_ids), None, []
        for i, layer in enumerate(self.layers):
            if i in (2, 16, 29):
                aux_hidden_states.append(hidden_states)
            hidden_states, residual = layer(positions, hidden_states, forward_batch, residual)
        END
        return hidden_states, aux_hidden_states
"""


@pytest.mark.parametrize(
    "end",
    [
        "hidden_states, _ = self.norm(hidden_states, residual)",
        "hidden_states = self.norm(hidden_states + residual)",
        "hidden_states = self.norm(residual + hidden_states)",
        "pass",
    ],
)
def test_a_branch_without_its_residual_is_told(tmp_path: Path, end: str) -> None:
    facts = facts_of(tmp_path, {"heron.py": MODEL.replace("END", end)})
    assert defects(facts) == {"residual-not-added": 12}


def test_what_the_final_norm_takes_alone_is_the_stream(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"heron.py": MODEL.replace("END", "hidden_states = self.out_norm(hidden_states)")})
    assert defects(facts) == {}
    assert boundaries(facts.captures[0]) == [2, 16, 29]
