"""EGL301: a method that does not draft with this kind of head."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("algorithm", "head", "right"),
    [("EAGLE", "eagle3", "EAGLE3"), ("NEXTN", "eagle3", "EAGLE3"), ("EAGLE3", "eagle", "EAGLE")],
)
def test_sglang(world: Any, algorithm: str, head: str, right: str):
    world.drafter([1, 17, 32] if head == "eagle3" else None, method=head)
    world.target(36)
    world.sglang(algorithm=algorithm)
    found = world.finding("EGL301")
    assert found.severity == "error"
    assert (found.where.path, found.where.line) == ("serve.sh", 4)
    assert right in found.fix.description


@pytest.mark.parametrize("method", ["eagle", "mtp", "draft_model"])
def test_vllm(world: Any, method: str):
    world.drafter([2, 18, 33])
    world.vllm(algorithm=method)
    assert "eagle3" in world.finding("EGL301").fix.description


@pytest.mark.parametrize(
    ("algorithm", "head"),
    [("EAGLE3", "eagle3"), ("eagle3", "eagle3"), ("EAGLE", "eagle"), ("NEXTN", "mtp"), ("EAGLE", "mtp")],
)
def test_pairs_that_fit(world: Any, algorithm: str, head: str):
    world.drafter(None, method=head)
    world.sglang(algorithm=algorithm)
    assert not world.findings("EGL301")


def test_a_head_that_is_only_a_default_makes_a_warning(world: Any):
    world.drafter([1, 17, 32])
    world.sglang(algorithm="EAGLE", assumed="default of $DRAFT")
    found = world.finding("EGL301")
    assert (found.severity, found.confidence) == ("warning", "likely")


def test_a_method_that_is_not_written_is_not_this_rules(world: Any):
    world.drafter([1, 17, 32])
    world.vllm(algorithm=None)
    assert not world.findings("EGL301")


def test_nothing_is_said_of_ids_that_this_method_never_asks_for(world: Any):
    world.drafter([4, 18, 32], key="/eagle_aux_hidden_state_layer_ids")
    world.target(36)
    world.pin("sglang", "==0.5.16")
    world.trained([9, 18, 27], 36)
    world.sglang(algorithm="EAGLE")
    assert [finding.rule for finding in world.findings()] == ["EGL301"]
