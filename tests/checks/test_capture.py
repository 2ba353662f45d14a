"""EGL113: graphs that are captured with the default layers."""

from __future__ import annotations

from typing import Any


def served(world: Any, ids: list[int], release: str, **more: Any):
    world.drafter(ids, more={"draft_vocab_size": 32000})
    world.target(36)
    world.pin("sglang", release)
    world.sglang(**more)


def test_graphs_read_the_default_where_the_ids_mean_others(world: Any):
    served(world, [3, 17, 31], "==0.5.9")
    found = world.finding("EGL113")
    assert found.severity == "error"
    assert found.where == world.facts.drafters[0].id_lists[0].where
    assert "2, 18, 33" in found.message
    assert "4, 18, 32" in found.message
    assert "0.5.11" in found.fix.description
    assert "--disable-cuda-graph" in found.fix.description


def test_ids_that_mean_the_default_are_right_in_graphs_too(world: Any):
    served(world, [1, 17, 32], "==0.5.9")
    assert not world.findings("EGL113")


def test_without_graphs_there_is_nothing_to_say(world: Any):
    served(world, [3, 17, 31], "==0.5.9", options={"disable_cuda_graph": True})
    assert not world.findings("EGL113")


def test_a_release_that_sets_the_ids_first(world: Any):
    served(world, [3, 17, 31], "==0.5.11")
    assert not world.findings("EGL113")


def test_a_command_that_may_hold_more_makes_a_warning(world: Any):
    served(world, [3, 17, 31], "==0.5.9", complete=False)
    assert world.finding("EGL113").severity == "warning"


def test_a_pinned_range_that_holds_the_defect_makes_a_warning(world: Any):
    served(world, [3, 17, 31], ">=0.5.9,<0.6")
    assert world.finding("EGL113").severity == "warning"


def test_an_unpinned_engine_is_not_held_to_its_old_releases(world: Any):
    served(world, [3, 17, 31], "")
    assert not world.findings("EGL113")


def test_ids_that_match_the_training_but_for_the_graphs_are_this_rule_alone(world: Any):
    served(world, [3, 17, 31], "==0.5.9")
    world.trained([4, 18, 32], 36)
    assert [f.rule for f in world.findings() if f.severity == "error"] == ["EGL113"]


def test_ids_that_are_wrong_while_the_graphs_are_right_are_egl401_alone(world: Any):
    served(world, [2, 18, 33], "==0.5.9")
    world.trained([2, 18, 33], 36)
    assert [f.rule for f in world.findings() if f.severity == "error"] == ["EGL401"]


def test_every_release_of_a_range_with_the_defect_is_named(world: Any):
    served(world, [3, 17, 31], ">=0.5.5,<0.5.20")
    assert "SGLang 0.5.5 to 0.5.10.post1 captures" in world.finding("EGL113").message
