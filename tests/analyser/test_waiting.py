"""Captures that wait for a list which nothing fills, and lists that something does fill."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import defects, facts_of

MODEL = """
# vLLM model with EAGLE-3 taps
from torch import nn
from vllm.model_executor.layers.layernorm import RMSNorm


class Decoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layers = nn.ModuleList(Layer(config, i) for i in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size)
        self.taps = START

    def forward(self, input_ids, positions):
        hidden_states, residual, kept = self.embed_tokens(input_ids), None, []
        for idx, layer in enumerate(self.layers):
            if idx in self.taps:
                kept.append(hidden_states if residual is None else hidden_states + residual)
            hidden_states, residual = layer(positions, hidden_states, residual)
        hidden_states, _ = self.norm(hidden_states, residual)
        return hidden_states, kept


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.model = Decoder(config)

    SETTER
"""
WRONG_NAME = "def set_aux_hidden_state_layers(self, layers):\n        self.model.tapped = tuple(layers)"
RIGHT_NAME = "def set_aux_hidden_state_layers(self, layers):\n        self.model.taps = tuple(layers)"


def model(setter: str, start: str = "()", **changes: str) -> str:
    text = MODEL.replace("START", start).replace("SETTER", setter)
    for old, new in changes.items():
        text = text.replace(f"class {old}(nn.Module)", f"class {old}({new})")
    return text


@pytest.mark.parametrize("start", ["()", "[]", "set()", "None"])
def test_a_setter_that_fills_another_list_is_told_at_the_setter(tmp_path: Path, start: str) -> None:
    assert defects(facts_of(tmp_path, {"robin.py": model(WRONG_NAME, start)})) == {"inert-capture": 30}


def test_a_list_that_no_setter_fills_is_told_at_the_test(tmp_path: Path) -> None:
    assert defects(facts_of(tmp_path, {"robin.py": model("pass")})) == {"inert-capture": 17}


def test_a_method_of_another_name_is_a_setter_as_well(tmp_path: Path) -> None:
    setter = "def arm(self, wanted):\n        self.model.tap = [i - 1 for i in wanted]"
    assert defects(facts_of(tmp_path, {"robin.py": model(setter)})) == {"inert-capture": 30}


@pytest.mark.parametrize(
    "code",
    [
        model(RIGHT_NAME),
        model("def arm(self, wanted):\n        self.model.taps.extend(wanted)", "[]"),
        model("def arm(self, wanted):\n        setattr(self.model, 'taps', wanted)"),
        model("def arm(self, **given):\n        for name in given:\n            setattr(self.model, name, given[name])"),
        model("def arm(self):\n        fill(self.model.taps)", "[]"),
        model("pass", "(2, 16, 29)"),
        model("pass", "config.taps"),
        model("pass", Decoder="nn.Module, EagleModelMixin"),
        model("pass", Model="nn.Module, SupportsEagle3"),
        MODEL.replace("START", "()").replace("SETTER", "pass").replace("= Decoder(config)", "= build(config)"),
    ],
    ids=[
        "setter", "grown", "setattr", "by-name", "handed-on", "preset", "from-config", "mix-in", "interface", "not-made",
    ],
)  # fmt: skip
def test_a_list_that_somebody_may_fill_is_no_defect(tmp_path: Path, code: str) -> None:
    assert "inert-capture" not in defects(facts_of(tmp_path, {"robin.py": code}))


def test_another_file_that_fills_it_is_seen(tmp_path: Path) -> None:
    other = "def start(runner):\n    runner.model.taps = (2, 16, 29)\n"
    assert "inert-capture" not in defects(facts_of(tmp_path, {"robin.py": model("pass"), "run.py": other}))


def test_a_base_class_in_scope_that_fills_it_is_seen(tmp_path: Path) -> None:
    base = "\n\nclass Tapped(nn.Module):\n    def arm(self, wanted):\n        self.taps = tuple(wanted)\n"
    code = model("pass", Decoder="Tapped").replace("\n\nclass Decoder", f"{base}\n\nclass Decoder")
    assert "inert-capture" not in defects(facts_of(tmp_path, {"robin.py": code}))
