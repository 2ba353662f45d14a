"""A project that carries its engine's model file is judged by that file, not by the table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from toy import BEFORE, PLUS_ONE, source, tree

from eaglelint.guard import Guard
from eaglelint.pipeline import link
from eaglelint.project import discover
from eaglelint.reading import read
from eaglelint.settings import Settings

LAUNCH = (
    "pip install sglang==0.5.9\n"
    "python -m sglang.launch_server --model-path ./target --speculative-algorithm EAGLE3 "
    "--speculative-draft-model-path ./draft\n"
)


def project(root: Path) -> Path:
    """A drafter whose ids name layer outputs, trained on boundaries 2, 18 and 33 of a Llama with 36 layers."""
    (root / "target").mkdir()
    target = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 36, "hidden_size": 64,
        "vocab_size": 100,
    }  # fmt: skip
    (root / "target" / "config.json").write_text(json.dumps(target))
    (root / "draft").mkdir()
    draft = {
        "architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "num_hidden_layers": 1, "hidden_size": 64,
        "vocab_size": 100, "draft_vocab_size": 100, "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 17, 32]},
    }  # fmt: skip
    (root / "draft" / "config.json").write_text(json.dumps(draft))
    (root / "serve.sh").write_text(LAUNCH)
    return root


def overlay(root: Path, setter: str) -> None:
    text = source(BEFORE, setter).replace("ToyForCausalLM", "LlamaForCausalLM")
    tree(root, text, "overlay/sglang/srt/models/llama.py")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return project(tmp_path)


def rules_of(root: Path) -> set[tuple[str, str]]:
    """(id rule, note) of every serving."""
    settings, guard = Settings(), Guard()
    pipelines = link(read(discover(["."], settings=settings), settings, guard), settings)
    assert not guard.findings
    return {(s.reading.rule, s.reading.note) for p in pipelines for s in p.servings}


def test_without_an_overlay_the_table_counts(here: Path) -> None:
    assert {rule for rule, _ in rules_of(here)} == {"plus_one"}


def test_an_overlay_that_takes_ids_as_they_are_replaces_the_rule(here: Path) -> None:
    overlay(here, PLUS_ONE.replace("val + 1", "val"))
    assert rules_of(here) == {("as_is", "as overlay/sglang/srt/models/llama.py in the project has it")}


def test_an_overlay_of_another_target_changes_nothing(here: Path) -> None:
    tree(here, source(BEFORE, PLUS_ONE.replace("val + 1", "val")), "overlay/sglang/srt/models/toy.py")
    assert {rule for rule, _ in rules_of(here)} == {"plus_one"}


def test_an_overlay_that_can_not_be_told_leaves_the_table(here: Path) -> None:
    overlay(here, "self.model.layers_to_capture = choose(layer_ids)")
    assert {rule for rule, _ in rules_of(here)} == {"plus_one"}
