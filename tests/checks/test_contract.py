"""EGL401: the boundaries that the engine captures against those of the training."""

from __future__ import annotations

from typing import Any

import pytest

NESTED = "/eagle_config/eagle_aux_hidden_state_layer_ids"
TOP = "/eagle_aux_hidden_state_layer_ids"


def served(world: Any, ids: list[int], release: str, trained: list[int], depth: int = 36, **more: Any) -> None:
    """A head on one SGLang server, trained on some boundaries of a Qwen3 target."""
    world.drafter(ids)
    world.target(depth, architecture=more.pop("architecture", "Qwen3ForCausalLM"))
    world.pin("sglang", release)
    world.trained(trained, depth, **more)
    world.sglang()


def test_the_default_numbers_as_ids_are_one_layer_late(world: Any):
    served(world, [2, 18, 33], "==0.5.14", [2, 18, 33])
    found = world.finding("EGL401")
    assert found.severity == "error"
    assert found.where.path == "head/config.json"
    assert "trained on boundaries 2, 18, 33" in found.message
    assert "as boundaries 3, 19, 34" in found.message
    assert "every state is one layer late" in found.message
    assert "SGLang 0.5.14" in found.message
    assert "[1, 17, 32]" in found.fix.description


def test_the_right_ids_are_left_alone(world: Any):
    served(world, [1, 17, 32], "==0.5.14", [2, 18, 33])
    assert not world.findings("EGL401")


def test_the_trace_runs_from_the_capture_to_the_server(world: Any):
    served(world, [2, 18, 33], "==0.5.14", [2, 18, 33])
    found = world.finding("EGL401")
    places = [(step.where.path, step.where.line) for step in found.related]
    assert places[:4] == [("dump.py", 7), ("dump.py", 9), ("train.py", 11), ("requirements.txt", 1)]
    assert ("serve.sh", 3) in places
    assert places[-1][0] == "target/config.json"


def test_the_fix_replaces_only_the_numbers_that_are_wrong(world: Any):
    served(world, [1, 18, 33], "==0.5.14", [2, 18, 33])
    found = world.finding("EGL401")
    assert found.fix.applicability == "safe"
    assert [edit.text for edit in found.fix.edits] == ["17", "32"]


def test_the_embedding_is_called_by_its_name(world: Any):
    served(world, [-1, 2, 30], "==0.5.9", [3, 31, 59], 61, architecture="DeepseekV3ForCausalLM")
    found = world.finding("EGL401")
    assert "the embedding instead of boundary 3" in found.message
    assert "0 can not be captured" in found.message
    assert "[2, 30, 58]" in found.fix.description


def test_a_newer_release_that_reads_the_ids_as_meant_is_named(world: Any):
    served(world, [2, 30, 58], "==0.5.12.post1", [2, 30, 58], 61, architecture="DeepseekV3ForCausalLM")
    found = world.finding("EGL401")
    assert "[1, 29, 57]" in found.fix.description
    assert "SGLang 0.5.13" in found.fix.description


def test_without_a_pin_releases_that_disagree_make_a_warning_that_names_each(world: Any):
    world.drafter([2, 30, 58])
    world.target(61, architecture="DeepseekV3ForCausalLM")
    world.trained([2, 30, 58], 61)
    world.sglang()
    found = world.finding("EGL401")
    assert found.severity == "warning"
    assert "boundaries 3, 31, 59" in found.message
    assert "boundaries 2, 30, 58" in found.message
    assert "[1, 29, 57]" in found.fix.description


def test_without_a_pin_releases_that_agree_are_judged_as_one(world: Any):
    served(world, [2, 18, 33], "", [2, 18, 33])
    assert world.finding("EGL401").severity == "error"


def test_an_assumed_capture_is_at_most_a_warning(world: Any):
    served(world, [2, 18, 33], "==0.5.14", [2, 18, 33], assumed="default of $LAYERS")
    found = world.finding("EGL401")
    assert (found.severity, found.confidence) == ("warning", "likely")
    assert "default of $LAYERS" in found.message


def test_a_merely_possible_capture_proves_nothing(world: Any):
    served(world, [2, 18, 33], "==0.5.14", [2, 18, 33], confidence="possible")
    assert not world.findings("EGL401")


@pytest.mark.parametrize("purpose", ["runtime"])
def test_what_a_benchmark_feeds_says_nothing_of_the_training(world: Any, purpose: str):
    served(world, [9, 17, 30], "==0.5.14", [2, 18, 33], purpose=purpose)
    assert not world.findings("EGL401")


def test_training_code_that_contradicts_itself_is_not_judged_here_when_one_of_it_is_served(world: Any):
    served(world, [1, 17, 32], "==0.5.14", [2, 18, 33])
    world.trained([2, 18, 34], 36, path="online.py")
    assert not world.findings("EGL401")


def test_training_code_that_contradicts_itself_is_wrong_when_none_of_it_is_served(world: Any):
    served(world, [2, 18, 33], "==0.5.14", [2, 18, 33])
    world.trained([2, 18, 34], 36, path="online.py")
    found = world.finding("EGL401")
    assert "2, 18, 33" in found.message
    assert "2, 18, 34" in found.message
    assert found.fix is None


def test_training_code_goes_before_bare_captures(world: Any):
    served(world, [1, 17, 32], "==0.5.14", [2, 18, 33])
    world.captured([5, 6, 7], 36)
    assert not world.findings("EGL401")


def test_a_capture_alone_is_evidence_without_the_verifiers_state(world: Any):
    world.drafter([2, 18, 33])
    world.target(36)
    world.pin("sglang", "==0.5.14")
    world.sglang()
    world.captured([2, 18, 33, 36], 36)
    found = world.finding("EGL401")
    assert "trained on boundaries 2, 18, 33 (captured at dump.py:7)" in found.message
    assert "[1, 17, 32]" in found.fix.description


def test_a_capture_alone_may_hold_a_fourth_auxiliary_state(world: Any):
    world.drafter([24, 30, 33, 36])
    world.target(36, architecture="GptOssForCausalLM")
    world.pin("sglang", "==0.5.20")
    world.sglang()
    world.captured([24, 30, 33, 36], 36)
    assert not world.findings("EGL401")


def test_a_capture_that_only_feeds_a_runtime_says_nothing_of_the_training(world: Any):
    served(world, [1, 17, 32], "==0.5.14", [5, 6, 7], purpose="runtime")
    world.captured([5, 6, 7], 36)
    assert not world.findings("EGL401")


def test_a_release_newer_than_the_tables_proves_nothing(world: Any):
    served(world, [2, 18, 33], "==9.9.9", [2, 18, 33])
    found = world.finding("EGL401")
    assert (found.severity, found.confidence) == ("warning", "likely")


def test_a_likely_capture_is_at_most_a_warning(world: Any):
    served(world, [2, 18, 33], "==0.5.14", [2, 18, 33], confidence="likely")
    assert world.finding("EGL401").severity == "warning"


def test_what_changes_within_a_pinned_range_is_another_rules(world: Any):
    served(world, [3, 17, 31], ">=0.4.8,<0.5", [4, 18, 32], architecture="LlamaForCausalLM")
    assert not world.findings("EGL401")
    assert "captures its default boundaries 2, 18, 33" in world.finding("EGL410").message


def test_a_pinned_range_of_which_every_release_is_wrong(world: Any):
    served(world, [2, 18, 33], ">=0.5.12,<0.5.15", [2, 18, 33])
    assert world.finding("EGL401").severity == "error"
    assert not world.findings("EGL410")


def test_an_unpinned_engine_is_not_held_to_releases_that_read_no_ids(world: Any):
    served(world, [3, 17, 31], "", [4, 18, 32], architecture="LlamaForCausalLM")
    assert not world.findings("EGL401")


def test_a_head_whose_capture_is_switched_off_is_not_judged_by_its_ids(world: Any):
    world.drafter([2, 18, 33], more={"eagle_config": {"use_aux_hidden_state": False}})
    world.target(36)
    world.pin("sglang", "==0.5.14")
    world.trained([2, 18, 33], 36)
    world.sglang()
    assert [finding.rule for finding in world.findings("EGL202", "EGL204", "EGL208", "EGL401")] == ["EGL208"]


def test_the_same_boundaries_in_two_conventions_are_right_for_two_engines(world: Any):
    world.drafter([1, 17, 32], more_lists={TOP: [2, 18, 33]})
    world.target(36)
    world.pin("sglang", "==0.5.20")
    world.pin("vllm", "==0.28.0")
    world.trained([2, 18, 33], 36)
    world.sglang()
    world.vllm(line=30)
    assert not world.findings("EGL401", "EGL204")


def test_one_finding_for_two_servers_that_read_one_list(world: Any):
    world.drafter([2, 18, 33])
    world.target(36)
    world.pin("sglang", "==0.5.14", unit="a", path="compose.yaml")
    world.pin("sglang", "==0.5.20", unit="b", path="compose.yaml")
    world.trained([2, 18, 33], 36)
    world.sglang(unit="a", path="compose.yaml")
    world.sglang(unit="b", path="compose.yaml", line=20)
    found = world.finding("EGL401")
    assert "SGLang 0.5.14" in found.message
    assert "SGLang 0.5.20" in found.message


def test_a_state_that_can_not_be_captured_is_not_another_state(world: Any):
    served(world, [1, 17, 35], "==0.5.14", [2, 18, 36])
    assert not world.findings("EGL401")
    assert world.finding("EGL203").severity == "error"


def test_a_defect_that_explains_the_capture_speaks_alone(world: Any):
    served(world, [1, 17, 32], "==0.5.14", [2, 18])
    world.defect("concat-drops-wrong-state", details={"kept": [2, 18], "dropped": [33]})
    assert not world.findings("EGL401")
    found = world.finding("EGL412")
    assert found.severity == "error"
    assert "boundary 33 is dropped" in found.message
    assert "fed boundaries 2, 18 only" in found.message


def test_an_unknown_target_depth_is_no_proof_where_the_default_depends_on_it(world: Any):
    world.drafter([1, 17, 32])
    world.pin("sglang", "==0.5.14")
    world.sglang(target="/models/unheard-of")
    world.trained([2, 18, 33], 36)
    assert not world.findings("EGL401")


def test_the_list_of_another_length_is_replaced_whole(world: Any):
    served(world, [2, 18], "==0.5.14", [2, 18, 33])
    (edit,) = world.finding("EGL401").fix.edits
    assert edit.text.split() == ["1,", "17,", "32"]


def test_a_dump_that_is_read_under_another_key(world: Any):
    world.defect("dump-layout-mismatch", details={"wanted": "aux", "written": ["aux_states", "final"]})
    found = world.finding("EGL413")
    assert "`aux`" in found.message
    assert "aux_states, final" in found.message
