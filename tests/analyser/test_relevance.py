"""Code that says nothing of drafters: samples are recognised by what is stored, other uses of states are left alone."""

from __future__ import annotations

from pathlib import Path

from analysed import boundaries, facts_of

STATES = """
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
kept = {}
for i in (2, 18, 33):
    model.model.layers[i].register_forward_hook(lambda m, a, out, i=i: kept.__setitem__(i, out[0]))
model(tokens)
"""


def test_states_stored_beside_their_tokens_are_a_sample(tmp_path: Path):
    code = STATES + 'torch.save({"input_ids": tokens, "h": torch.cat([kept[2], kept[18], kept[33]], -1)}, "0.pt")\n'
    (found,) = facts_of(tmp_path, {"prepare.py": code}).assemblies
    assert boundaries(found) == [3, 19, 34]


def test_features_that_are_only_joined_are_not(tmp_path: Path):
    code = STATES + "probe = torch.cat([kept[2], kept[18], kept[33]], -1).mean(1)\nprint(probe)\n"
    facts = facts_of(tmp_path, {"prepare.py": code})
    assert not facts.assemblies
    assert not facts.captures
    assert not facts.labels


def test_layers_of_an_adapter_are_not(tmp_path: Path):
    code = STATES + 'torch.save({n: p for n, p in model.named_parameters() if "lora" in n}, "adapter.pt")\n'
    assert not facts_of(tmp_path, {"prepare.py": code}).captures
