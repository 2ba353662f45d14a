"""Flags that a setter sets on an object whose class never reads them: EGL105."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import facts_of

from eaglelint.facts import Defect

CODE = """
from torch import nn


class PlaneModel(BASE):
    def __init__(self, config):
        self.layers = config.layers
        self.layers_to_capture = ()

    def forward(self, input_ids, positions):
        hidden_states, residual = self.embed_tokens(input_ids), None
        aux_hidden_states = []
        for i, layer in enumerate(self.layers):
            if i in self.layers_to_capture:
                aux_hidden_states.append(hidden_states if residual is None else hidden_states + residual)
            hidden_states, residual = layer(positions, hidden_states, residual)
        INSIDE
        return hidden_states, aux_hidden_states


class PlaneForCausalLM(nn.Module):
    def __init__(self, config):
        self.model = PlaneModel(config)
        self.capture_aux_hidden_states = False

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        SET
        self.model.layers_to_capture = [i + 1 for i in layer_ids or (1, 15, 28)]

    def forward(self, input_ids, positions):
        hidden_states = self.model(input_ids, positions)
        READ
        return hidden_states
"""
INNER = "self.model.capture_aux_hidden_states = True"
OWN = "if self.capture_aux_hidden_states:\n            hidden_states, aux = hidden_states"
EVERYWHERE = "if self.model.capture_aux_hidden_states:\n            hidden_states, aux = hidden_states"


def inert(folder: Path, what: str, read: str = OWN, inside: str = "pass", base: str = "nn.Module") -> list[Defect]:
    code = CODE.replace("SET", what).replace("READ", read).replace("INSIDE", inside).replace("BASE", base)
    return [defect for defect in facts_of(folder, {"plane.py": code}).defects if defect.kind == "inert-capture"]


def test_a_flag_that_its_object_does_not_read_has_no_effect(tmp_path: Path):
    (found,) = inert(tmp_path, f"self.capture_aux_hidden_states = True\n        {INNER}")
    assert found.details["severity"] == "info"
    assert "set on PlaneModel here, which reads it nowhere: it has no effect" in str(found.details["message"])
    assert found.where.line == 28


def test_a_flag_on_the_wrong_object_captures_nothing(tmp_path: Path):
    (found,) = inert(tmp_path, INNER)
    assert "severity" not in found.details
    assert "PlaneForCausalLM waits for its own" in str(found.details["message"])
    assert [step.where.line for step in found.related] == [32]


@pytest.mark.parametrize(
    ("read", "inside", "base"),
    [
        (EVERYWHERE, "pass", "nn.Module"),
        (OWN, "if self.capture_aux_hidden_states: self.count = len(aux_hidden_states)", "nn.Module"),
        (OWN, "if getattr(self, 'capture_aux_hidden_states', False): self.count = 1", "nn.Module"),
        (OWN, "pass", "Elsewhere"),
    ],
    ids=["read-from-outside", "read-by-itself", "read-by-name", "inherits-what-is-not-in-scope"],
)
def test_a_flag_that_something_may_read_is_left_alone(tmp_path: Path, read: str, inside: str, base: str):
    assert inert(tmp_path, INNER, read, inside, base) == []


def test_so_is_one_that_the_object_itself_waits_for(tmp_path: Path):
    assert inert(tmp_path, "self.capture_aux_hidden_states = True") == []
