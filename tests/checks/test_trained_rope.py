"""EGL406: what the release of a trainer makes of the position embedding in a draft config."""

from __future__ import annotations

from typing import Any

import pytest

from eaglelint.facts import Recipe, Value
from eaglelint.findings import Finding
from eaglelint.location import Location

YARN = {"rope_scaling": {"rope_type": "yarn", "factor": 40}}
LLAMA3 = {"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}


def trained(world: Any, release: str, draft: dict[str, Any], head: dict[str, Any] | None = None) -> list[Finding]:
    """What is said of a draft config, or of the head that was exported from it."""
    if head is not None:
        world.drafter([1, 17, 32], more={"max_position_embeddings": 40960, **head})
    world.drafter([1, 17, 32], path="train/draft.json", more={"max_position_embeddings": 40960, **draft})
    world.target(36)
    if release:
        world.pin("specforge", release)
    config, output = Value("train/draft.json", Location("run.sh", 2)), Value("head", Location("run.sh", 3))
    run = Recipe("specforge", "online_hf", "train", Location("run.sh", 1), 1, draft=config, output=output)
    world.lists["recipes"] = [run]
    return world.findings("EGL406")


def test_a_scaling_that_the_trainer_does_not_have(world: Any):
    (found,) = trained(world, "==0.1.0", YARN)
    assert (found.severity, found.where.path) == ("warning", "train/draft.json")
    assert "asks for yarn, which SpecForge 0.1.0 does not have: it stops" in found.message
    assert "linear or dynamic" in found.fix.description


@pytest.mark.parametrize("release", ["==0.2.0", "", ">=0.1"])
def test_of_other_and_unknown_releases_nothing_is_said(world: Any, release: str):
    assert not trained(world, release, YARN)


def test_a_base_that_the_trainer_does_not_take(world: Any):
    (found,) = trained(world, "==0.1.0", {"rope_theta": 1000000.0}, {"rope_theta": 1000000.0})
    assert found.where.path == "head/config.json"
    assert "trains with theta 10000 whatever the draft config says, but the config gives theta 1e+06" in found.message


def test_a_scaling_that_the_trainer_leaves_out(world: Any):
    (found,) = trained(world, "==0.1.0", LLAMA3, LLAMA3)
    assert "trains with theta 10000 whatever" in found.message
    assert "llama3 x 8" in found.message


@pytest.mark.parametrize("own", [{}, {"rope_theta": 10000.0}, {"rope_scaling": {"rope_type": "linear", "factor": 2.0}}])
def test_what_the_trainer_does_take_is_right(world: Any, own: dict[str, Any]):
    assert not trained(world, "==0.1.0", own, own)
