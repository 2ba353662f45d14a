"""States that extraction commands take, and which commands are there to extract."""

from __future__ import annotations

from typing import Any

from eaglelint.linking import extraction
from eaglelint.settings import Settings

IDS = "speculative_config.draft_model_config.hf_config.eagle_aux_hidden_state_layer_ids"


def extracted(world: Any) -> list[list[int]]:
    """The boundaries of the captures that the commands of the project make."""
    found = extraction.captures(world.facts, extraction.find(world.facts, Settings()))
    return [[state.boundary for state in capture.states[0][1]] for capture in found]


def vllm(world: Any, ids: Any, target: str = "Qwen/Qwen3-8B", **more: Any) -> None:
    options = {"speculative_config.method": "extract_hidden_states", IDS: ids}
    world.vllm(draft=None, algorithm=None, target=target, options=options, **more)


def test_ids_of_vllms_extraction_are_boundaries(world: Any):
    world.pin("vllm", "==0.24.0")
    vllm(world, [2, 18, 33, 36])
    assert extracted(world) == [[2, 18, 33, 36]]


def test_ids_of_sglangs_capture_follow_its_convention(world: Any):
    world.pin("sglang", "==0.5.23")
    options = {"enable_return_aux_hidden_states": True, "return_aux_hidden_state_layer_ids": [1, 17, 32]}
    world.sglang(draft=None, target="Qwen/Qwen3-8B", options=options)
    assert extracted(world) == [[2, 18, 33]]


def test_releases_that_disagree_say_nothing(world: Any):
    world.pin("vllm", ">=0.17,<0.19")
    vllm(world, [2, 18, 33, 36])
    assert not extracted(world)


def test_ids_that_are_not_known(world: Any):
    world.pin("vllm", "==0.24.0")
    vllm(world, "$LAYERS")
    assert not extracted(world)


def test_a_serving_command_extracts_nothing(world: Any):
    world.drafter([2, 18, 33])
    world.vllm()
    assert not extraction.find(world.facts, Settings())


def test_the_evidence_of_a_drafter_holds_what_was_extracted_for_it(world: Any):
    world.drafter([2, 18, 33])
    world.target(36)
    world.pin("sglang", "==0.5.15")
    world.pin("vllm", "==0.24.0")
    world.sglang()
    vllm(world, [2, 18, 33, 36], target="target")
    found = world.finding("EGL401")
    assert "boundaries 2, 18, 33 (captured at serve.sh" in found.message
    assert "3, 19, 34" in found.message
