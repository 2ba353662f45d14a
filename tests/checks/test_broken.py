"""EGL114: releases that capture nothing, or the wrong tensor, for a target."""

from __future__ import annotations

from typing import Any

import pytest

QWEN = "Qwen3_5ForConditionalGeneration"
GEMMA = "Gemma3ForConditionalGeneration"


def served(world: Any, release: str, architecture: str, ids: list[int] | None = None, engine: str = "sglang"):
    config = world.drafter(ids)
    world.target(64, architecture=architecture)
    world.pin(engine, release)
    getattr(world, engine)()
    return config


@pytest.mark.parametrize("release", ["==0.5.11", "==0.5.21"])
def test_a_target_for_which_nothing_is_captured_is_an_error_at_the_ids(world: Any, release: str):
    config = served(world, release, QWEN, [1, 31, 60])
    found = world.finding("EGL114")
    assert (found.severity, found.confidence, found.where) == ("error", "proven", config.id_lists[0].where)
    assert f"captures nothing for {QWEN}, whatever the ids" in found.message
    assert "0.5.20 models/qwen3_5.py:1550,1795" in found.message
    assert "SGLang 0.5.22 is the first release that captures them" in found.fix.description


@pytest.mark.parametrize("release", ["==0.5.17", "==0.5.19", "==0.5.23"])
def test_a_target_whose_residual_is_not_added_has_no_newer_release_that_is_right(world: Any, release: str):
    served(world, release, GEMMA, [1, 31, 60])
    found = world.finding("EGL114")
    assert found.severity == "error"
    assert "captures the wrong tensor" in found.message
    assert "SGLang 0.5.16 was" in found.fix.description


@pytest.mark.parametrize(
    ("release", "architecture"),
    [
        ("==0.5.16", GEMMA),
        ("==0.5.22", QWEN),
        ("==0.5.18", "MiniMaxM3SparseForCausalLM"),
        ("==0.5.19", "Qwen3ForCausalLM"),
    ],
)
def test_releases_and_targets_that_work_are_left_alone(world: Any, release: str, architecture: str):
    served(world, release, architecture, [1, 31, 60])
    assert not world.findings("EGL114")


def test_without_ids_it_is_said_at_the_launch(world: Any):
    served(world, "==0.5.16", "MiniMaxM3SparseForCausalLM")
    assert world.finding("EGL114").where == world.facts.launches[0].where
    assert not world.findings("EGL202")


def test_vllm_has_such_releases_too(world: Any):
    served(world, "==0.17.0", QWEN, [2, 32, 61], engine="vllm")
    assert "vLLM 0.20.0 is the first release" in world.finding("EGL114").fix.description


def test_a_range_of_which_a_part_is_broken_is_a_warning(world: Any):
    served(world, ">=0.5.20,<0.5.23", QWEN, [1, 31, 60])
    found = world.finding("EGL114")
    assert (found.severity, found.confidence) == ("warning", "possible")
    assert "of the releases that may run, SGLang 0.5.20 to 0.5.21" in found.message


def test_an_open_range_whose_newest_release_works_is_fine(world: Any):
    served(world, ">=0.5.12", QWEN, [1, 31, 60])
    assert not world.findings("EGL114")


def test_an_open_range_whose_newest_release_is_broken_is_a_warning(world: Any):
    served(world, ">=0.5.12", GEMMA, [1, 31, 60])
    assert world.finding("EGL114").severity == "warning"


def test_a_capture_that_shares_storage_is_no_error(world: Any):
    served(world, "==0.5.16", "Gemma4ForCausalLM", [1, 31, 60])
    assert (world.finding("EGL114").severity, world.finding("EGL114").confidence) == ("warning", "likely")


def test_a_head_of_the_last_state_alone_needs_no_capture(world: Any):
    world.drafter(more={"eagle_config": {"use_aux_hidden_state": False}})
    world.target(64, architecture=QWEN)
    world.pin("sglang", "==0.5.14")
    world.sglang()
    assert not world.findings("EGL114")


def test_a_target_that_is_not_known_is_not_judged(world: Any):
    world.drafter([1, 31, 60])
    world.pin("sglang", "==0.5.19")
    world.sglang(target="someone/a-model")
    assert not world.findings("EGL114")
