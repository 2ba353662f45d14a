"""One list of ids that is used on both sides of the layers, by hooks and by tests in layer loops."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import boundaries, defects, facts_of

SIDES = """
# features of an EAGLE-3 head
import torch
from transformers import AutoModelForCausalLM

TAPS = (2, 18, 33)
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
before, after = {}, {}


def enter(i):
    def hook(module, args):
        before[i] = args[0].detach().clone()
    return hook


def leave(i):
    def hook(module, args, output):
        after[i] = (output[0] if isinstance(output, tuple) else output).detach().clone()
    return hook


for slot, i in enumerate(TAPS):
    model.model.layers[i].register_forward_pre_hook(enter(i))
handles = [model.model.layers[SECOND].register_forward_hook(leave(i)) for i in sorted(TAPS)]


def train_features(ids):
    model(ids)
    return torch.cat([before[i] for i in TAPS], dim=-1)
REST
"""
OTHER = """

def serve_features(ids):
    model(ids)
    return torch.cat([after[i] for i in TAPS], dim=-1)
"""
LOOP = """

def serve_features(model, h):
    kept = []
    for i, layer in enumerate(model.layers):
        h = layer(h)
        if i in TAPS:
            kept.append(h.clone())
    return torch.cat(kept, dim=-1)
"""


@pytest.mark.parametrize(
    ("second", "rest", "line"), [("i", OTHER, 25), ("i - 1", LOOP, 37)], ids=["two-hooks", "hook-and-loop"]
)
def test_the_same_ids_before_and_after_the_layers_are_told(tmp_path: Path, second: str, rest: str, line: int) -> None:
    facts = facts_of(tmp_path, {"features.py": SIDES.replace("SECOND", second).replace("REST", rest)})
    assert defects(facts) == {"capture-before-after-mixed": line}


def test_a_shift_by_one_makes_both_sides_agree(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"features.py": SIDES.replace("SECOND", "i - 1").replace("REST", OTHER)})
    assert defects(facts) == {}
    assert [boundaries(a) for a in facts.assemblies] == [[2, 18, 33], [2, 18, 33]]


def test_layers_that_are_looked_at_from_both_sides_are_no_mixture(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"features.py": SIDES.replace("SECOND", "i").replace("REST", "")})
    assert defects(facts) == {}


def test_a_choice_between_the_sides_is_no_mixture(tmp_path: Path) -> None:
    code = SIDES.replace("SECOND", "i").replace("REST", OTHER)
    code = code.replace(
        "for slot, i in enumerate(TAPS):\n    model",
        "for slot, i in enumerate(TAPS):\n    if SIDE == 'in':\n        model",
    )
    assert defects(facts_of(tmp_path, {"features.py": code})) == {}
