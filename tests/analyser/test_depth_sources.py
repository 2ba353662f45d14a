"""Where N is taken from: the target's config, or by mistake the drafter's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from analysed import defects, facts_of

DRAFTER = json.dumps({"architectures": ["LlamaForCausalLMEagle3"], "hidden_size": 4096, "num_hidden_layers": 1})
TARGET = json.dumps({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "num_hidden_layers": 36})
FILES = {"heads/eagle3/config.json": DRAFTER, "models/Qwen3-8B/config.json": TARGET}
PLAN = """
# layers of the EAGLE-3 head
import json
from pathlib import Path
from transformers import AutoConfig

n = DEPTH
layers = CHOSEN
"""
CHOSEN = ["[2, n // 2, n - 3]", "(1, n // 2 - 1, n - 4)", "sorted({2, n // 2, n - 3})"]
READ = [
    'json.load(open("FOLDER/config.json"))["num_hidden_layers"]',
    'json.loads(Path("FOLDER/config.json").read_text()).get("num_hidden_layers", 32)',
    'AutoConfig.from_pretrained("FOLDER").num_hidden_layers',
    'int(json.load(open("FOLDER/config.json"))["num_hidden_layers"])',
]


@pytest.mark.parametrize("read", READ)
@pytest.mark.parametrize("chosen", CHOSEN)
def test_layers_of_the_target_are_not_chosen_by_the_drafters_depth(tmp_path: Path, read: str, chosen: str) -> None:
    code = PLAN.replace("DEPTH", read).replace("CHOSEN", chosen)
    wrong = facts_of(tmp_path / "wrong", {"plan.py": code.replace("FOLDER", "heads/eagle3"), **FILES})
    right = facts_of(tmp_path / "right", {"plan.py": code.replace("FOLDER", "models/Qwen3-8B"), **FILES})
    assert (defects(wrong), defects(right)) == ({"nested-target-config": 7}, {})


@pytest.mark.parametrize("chosen", ["list(range(n))", "[n, 4096]", "[n - 1]", "[f'layers.{i}' for i in range(n)]"])
def test_a_drafters_own_layers_are_counted_by_its_depth(tmp_path: Path, chosen: str) -> None:
    code = PLAN.replace("DEPTH", READ[0]).replace("CHOSEN", chosen).replace("FOLDER", "heads/eagle3")
    assert defects(facts_of(tmp_path, {"plan.py": code, **FILES})) == {}
