"""EGL107 between files: a head trained on the normed last state, and an engine that captures it before the norm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from eaglelint.boundary import State


def trained(world: Any, *, normed: bool = True, purpose: str = "training", **more: Any):
    """Training on boundaries 24, 30 and the last state of 36 layers."""
    made = world.trained([24, 30, 36], 36, purpose=purpose, **more)
    held = ((36, (State(24), State(30), State(36, normed=normed))),)
    world.lists["assemblies"] = [replace(made, states=held)]


def served(world: Any, release: str = "==0.5.22", ids: list[int] | None = None):
    world.drafter(ids or [24, 30, 36])
    world.target(36, architecture="GptOssForCausalLM")
    world.pin("sglang", release)
    return world.sglang()


def test_the_last_state_is_normed_in_training_only(world: Any):
    served(world)
    trained(world)
    found = world.finding("EGL107")
    assert (found.severity, found.confidence, str(found.where)) == ("error", "proven", "train.py:11")
    assert "boundary 36, is taken after the final norm, but SGLang 0.5.22 feeds the head" in found.message


def test_a_state_before_the_norm_is_right(world: Any):
    served(world)
    trained(world, normed=False)
    assert not world.findings("EGL107")


def test_an_engine_that_does_not_capture_it_is_of_no_concern(world: Any):
    served(world, ids=[1, 17, 32])
    trained(world)
    assert not world.findings("EGL107")


def test_what_a_home_made_runtime_feeds_is_no_training(world: Any):
    served(world)
    trained(world, purpose="runtime")
    assert not world.findings("EGL107")


def test_without_a_server_nothing_is_said(world: Any):
    world.drafter([24, 30, 36])
    world.target(36, architecture="GptOssForCausalLM")
    trained(world)
    assert not world.findings("EGL107")


def test_training_that_is_only_likely_is_a_warning(world: Any):
    served(world)
    trained(world, confidence="likely")
    assert (world.finding("EGL107").severity, world.finding("EGL107").confidence) == ("warning", "likely")
