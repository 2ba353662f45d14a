"""EGL112: selected layers that differ in kind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eaglelint.facts import TargetConfig
from eaglelint.location import MappedText
from eaglelint.readers.json_document import read_json

TOP = "/eagle_aux_hidden_state_layer_ids"


def target(world: Any, depth: int = 8, model_type: str = "", **more: Any) -> None:
    """A target's config.json with more keys than the usual ones."""
    value = {"architectures": ["LlamaForCausalLM"], "num_hidden_layers": depth, **more}
    document = read_json(MappedText.whole("target/config.json", json.dumps(value, indent=1)))
    config = TargetConfig("target/config.json", "target", ("LlamaForCausalLM",), model_type, depth, 64, 0, "", document)
    world.lists.setdefault("targets", []).append(config)


@pytest.fixture
def served(world: Any) -> Any:
    """A head with the ids 2, 4, 6, which vLLM takes as boundaries."""
    world.drafter([2, 4, 6], key=TOP)
    world.pin("vllm", "==0.24.0")
    world.vllm()
    return world


LINEAR_3 = ["full_attention"] * 3 + ["linear_attention"] + ["full_attention"] * 4


def test_the_output_of_a_linear_attention_layer(served: Any):
    target(served, layer_types=LINEAR_3)
    found = served.finding("EGL112")
    assert (found.severity, found.where) == ("info", served.facts.drafters[0].id_lists[0].where)
    assert "boundary 4 is the output of layer 3, a linear attention layer" in found.message
    assert found.related[0].where.path == "target/config.json"


def test_layers_that_only_look_back_less_far_are_usual(served: Any):
    target(served, layer_types=["sliding_attention", "full_attention"] * 4)
    assert not served.findings("EGL112")


def test_the_same_layers_in_training_and_serving(served: Any):
    target(served, layer_types=LINEAR_3)
    served.trained([2, 4, 6], 8)
    assert not served.findings("EGL112")


def test_a_capture_without_an_engine(world: Any):
    target(world, layer_types=LINEAR_3)
    world.drafter([2, 4, 6], key=TOP)
    world.trained([2, 4, 6], 8)
    assert world.finding("EGL112").where.path == "train.py"


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"full_attention_interval": 3}, "linear attention"),
        ({"linear_attn_config": {"kda_layers": [4, 8]}}, "linear attention"),
        ({"attn_type_list": [1, 1, 1, 0, 1, 1, 1, 1]}, "linear attention"),
        ({"hybrid_override_pattern": "***M****"}, "Mamba"),
        ({"vision_config": {"deepstack_visual_indexes": [8, 16, 24]}}, "image features"),
    ],
)
def test_the_ways_in_which_configs_say_it(served: Any, more: dict[str, Any], kind: str):
    target(served, **more)
    assert kind in served.finding("EGL112").message


def test_a_scaled_embedding(world: Any):
    target(world, model_type="gemma3_text")
    world.drafter([0, 4, 6], key=TOP)
    world.pin("vllm", "==0.24.0")
    world.vllm()
    assert "boundary 0 is the embedding output" in world.finding("EGL112").message


def test_an_ordinary_target(served: Any):
    target(served)
    assert not served.findings("EGL112")
