"""EGL310: a release that nobody names where it decides the verdict, and one that is newer than those that were read."""

from __future__ import annotations

from typing import Any

from eaglelint.conventions.table import engine

KIMI = "KimiK25ForConditionalGeneration"


def kimi(world: Any, release: str = "") -> None:
    world.drafter([2, 30, 58])
    world.target(61, architecture=KIMI)
    if release:
        world.pin("sglang", release)
    world.sglang(options={"disable_cuda_graph": True})
    world.trained([2, 30, 58], 61)


def test_a_release_that_decides_and_that_no_file_names(world: Any):
    kimi(world)
    found = world.finding("EGL310")
    table = engine("sglang")
    assert table is not None
    assert found.severity == "info"
    assert found.where == world.facts.launches[0].where
    assert found.message.startswith("no file says which release of SGLang serves this, and the verdict depends on it: ")
    assert "as boundaries 3, 31, 59" in found.message
    assert "as boundaries 2, 30, 58" in found.message
    assert f"`sglang=={table.latest}`" in found.fix.description
    assert world.finding("EGL401").severity == "warning", "the verdict itself stays open beside it"


def test_a_release_that_is_named_is_not_asked_for(world: Any):
    kimi(world, "==0.5.17")
    assert not world.findings("EGL310")


def test_a_range_is_a_name(world: Any):
    kimi(world, ">=0.5.9")
    assert not world.findings("EGL310")


def test_a_verdict_that_holds_for_every_release_needs_none(world: Any):
    world.drafter([1, 17, 32])
    world.target(36)
    world.sglang(options={"disable_cuda_graph": True})
    world.trained([2, 18, 33], 36)
    assert not world.findings("EGL310")


def test_without_evidence_it_is_what_is_captured_that_has_to_differ(world: Any):
    world.drafter([2, 30, 58])
    world.target(61, architecture=KIMI)
    world.sglang(options={"disable_cuda_graph": True})
    assert len(world.findings("EGL310")) == 1


def test_many_readings_are_cut_short(world: Any):
    world.drafter([2, 30, 58])
    world.sglang()
    assert "; and " in world.finding("EGL310").message


def test_a_release_that_is_newer_than_the_tables_is_said_where_it_is_pinned(world: Any):
    world.drafter([1, 17, 32])
    world.target(36)
    world.pin("sglang", "==9.1")
    world.sglang()
    found = world.finding("EGL310")
    table = engine("sglang")
    assert table is not None
    assert found.message == (
        f"SGLang 9.1 is newer than {table.latest}, the last release that was verified ({table.verified}); it is judged"
        " as if it read ids as that one does"
    )
    assert found.where == world.facts.pins[0].where
    assert (found.severity, found.confidence) == ("info", "likely")
    assert "eaglelint derive" in found.fix.description


def test_it_is_said_once_for_several_targets_and_never_for_the_newest_that_was_read(world: Any):
    table = engine("vllm")
    assert table is not None
    world.drafter([2, 18, 33], key="/eagle_aux_hidden_state_layer_ids")
    world.target(36)
    world.pin("vllm", f"=={table.latest}")
    world.vllm()
    assert not world.findings("EGL310")


def test_a_mismatch_with_such_a_release_is_no_proof_and_says_why(world: Any):
    world.drafter([2, 18, 33])
    world.target(36)
    world.pin("sglang", "==9.1")
    world.sglang()
    world.trained([2, 18, 33], 36)
    found = world.finding("EGL401")
    assert found.severity == "warning"
    assert "(assumed: SGLang 9.1 reads ids as the last verified release does)" in found.message
