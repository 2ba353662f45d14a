"""Ids that a condition leaves out before they choose a layer."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import defects, facts_of

LOOP = """
# dump for the EAGLE-3 head
import torch


def capture(model, h, ids):
    n = len(model.layers)
    CHOICE
    kept = []
    for i, layer in enumerate(model.layers):
        if i in wanted:
            kept.append(h.clone())
        h = layer(h)
    AFTER
    return torch.cat(kept, dim=-1)


def main(model, h):
    return capture(model, h, [1, 15, len(model.layers) - 1])
"""
CHOICES = [
    "wanted = [i + 1 for i in ids if i + 1 < n]",
    "wanted = {i + 1 for i in ids if not i + 1 >= n}",
    "wanted = tuple(sorted(set(i + 1 for i in ids if i + 1 < n)))",
    "wanted = [k + 1 for k in filter(lambda i: i < n - 1, ids)]",
    "wanted = set()\n    for i in ids:\n        if i + 1 < n:\n            wanted.add(i + 1)",
    "wanted = []\n    for i in ids:\n        if i + 1 >= n:\n            continue\n        wanted.append(i + 1)",
]


@pytest.mark.parametrize("choice", CHOICES)
def test_an_id_that_a_bound_leaves_out_is_never_captured(tmp_path: Path, choice: str) -> None:
    facts = facts_of(tmp_path, {"dump.py": LOOP.replace("CHOICE", choice).replace("AFTER", "pass")})
    found = [d for d in facts.defects if d.kind == "unreachable-layer"]
    assert [d.details["ids"][0] - d.details["depth"] for d in found] == [-1]
    assert found[0].details["boundary"] == found[0].details["depth"]


@pytest.mark.parametrize("choice", CHOICES)
def test_a_state_that_is_stored_after_the_loop_instead_is_not_lost(tmp_path: Path, choice: str) -> None:
    after = "if n - 1 in ids:\n        kept.append(h.clone())"
    assert defects(facts_of(tmp_path, {"dump.py": LOOP.replace("CHOICE", choice).replace("AFTER", after)})) == {}


def test_a_state_that_the_function_gives_back_is_not_lost(tmp_path: Path) -> None:
    code = LOOP.replace("CHOICE", CHOICES[0]).replace("AFTER", "pass")
    code = code.replace("return torch.cat(kept, dim=-1)", "return torch.cat(kept, dim=-1), GIVEN")
    assert defects(facts_of(tmp_path / "raw", {"dump.py": code.replace("GIVEN", "h")})) == {}
    normed = facts_of(tmp_path / "normed", {"dump.py": code.replace("GIVEN", "model.norm(h)")})
    assert list(defects(normed)) == ["unreachable-layer"]


@pytest.mark.parametrize(
    "choice",
    [
        "wanted = [i + 1 for i in ids[:2] if i + 1 < n]",
        "wanted = [i + 1 for i in ids if i != n - 1]",
        "wanted = [i for i in ids if i < n]",
    ],
    ids=["nothing-left-out", "left-out-by-name", "reachable"],
)
def test_a_bound_that_leaves_no_id_out_is_silent(tmp_path: Path, choice: str) -> None:
    assert defects(facts_of(tmp_path, {"dump.py": LOOP.replace("CHOICE", choice).replace("AFTER", "pass")})) == {}


HOOKS = """
# dump for the EAGLE-3 head
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
layers = model.model.layers
kept = {}


def keep(b):
    def hook(module, args):
        kept[b] = args[0].clone()
    return hook


for b in (2, 18, 33, 36):
    if b < len(layers):
        layers[b].register_forward_pre_hook(keep(b))
LAST


def dump(ids, n):
    model(ids)
    torch.save([kept[b] for b in sorted(kept)], f"out/{n}.pt")
"""


def test_a_layer_that_no_hook_can_precede_is_told(tmp_path: Path) -> None:
    assert defects(facts_of(tmp_path, {"dump.py": HOOKS.replace("LAST", "")})) == {"unreachable-layer": 18}


def test_a_hook_in_front_of_the_norm_takes_the_last_boundary(tmp_path: Path) -> None:
    last = "model.model.norm.register_forward_pre_hook(keep(36))"
    assert defects(facts_of(tmp_path, {"dump.py": HOOKS.replace("LAST", last)})) == {}
