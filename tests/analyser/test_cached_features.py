"""Features that one script puts together and another one feeds to a drafter."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import boundaries, facts_of

CACHE = """
# cache of EAGLE-3 features for training
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")


def write(ids, n):
    hs = model(ids, output_hidden_states=True).hidden_states
    torch.save({"fused": torch.cat([hs[2], hs[18], hs[33]], dim=-1)}, f"cache/{n}.pt")
"""
FEED = """
# acceptance length of a draft head from cached features
import torch


def measure(n, ids, head, projector):
    fused = torch.load(f"cache/{n}.pt")["fused"]
    return CALL
"""


def runtime(folder: Path, call: str, place: str) -> list[list[int]]:
    facts = facts_of(folder, {"make_cache.py": CACHE, place: FEED.replace("CALL", call)})
    return [boundaries(a) for a in facts.assemblies if a.where.path == place]


@pytest.mark.parametrize("call", ["head(fused, ids)", "head.propose(fused, ids)", "head.fc(fused.float())"])
def test_what_a_script_feeds_to_a_drafter_is_what_another_put_together(tmp_path: Path, call: str) -> None:
    assert runtime(tmp_path, call, "bench_accept.py") == [[2, 18, 33]]


@pytest.mark.parametrize(
    ("call", "place"),
    [("projector(fused)", "bench_accept.py"), ("head(fused, ids)", "train.py")],
    ids=["no-drafter", "the-same-purpose"],
)
def test_what_says_nothing_new_is_no_second_fact(tmp_path: Path, call: str, place: str) -> None:
    assert runtime(tmp_path, call, place) == []
