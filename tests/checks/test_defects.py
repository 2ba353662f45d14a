"""What the analyser proves, as findings: words, severities, and what excuses a defect."""

from __future__ import annotations

from typing import Any

import pytest

from eaglelint.facts import Step
from eaglelint.location import Location


def at(path: str, line: int = 1) -> Location:
    """A place for which only the line matters."""
    return Location(path, line, 1, line, 1, line * 100, line * 100)


def test_a_defect_brings_its_own_words(world: Any):
    world.defect("concat-drops-wrong-state", details={"message": "the slice drops boundary 25"})
    assert world.finding("EGL412").message == "the slice drops boundary 25"


def test_a_likely_defect_is_a_warning(world: Any):
    world.defect("concat-drops-wrong-state", confidence="likely")
    assert world.finding("EGL412").severity == "warning"


def test_a_possible_defect_is_silent(world: Any):
    world.defect("concat-drops-wrong-state", confidence="possible")
    assert not world.findings()


@pytest.mark.parametrize(
    ("kind", "code", "severity"),
    [
        ("unreachable-layer", "EGL101", "error"),
        ("residual-not-added", "EGL102", "error"),
        ("captured-tensor-aliased", "EGL103", "warning"),
        ("rank-relative-layer-index", "EGL104", "warning"),
        ("inert-capture", "EGL105", "warning"),
        ("final-state-norm-mismatch", "EGL107", "error"),
        ("early-layers-captured", "EGL108", "warning"),
        ("all-layers-concatenated", "EGL109", "error"),
        ("lossy-dump-dtype", "EGL111", "info"),
        ("hook-output-not-stream", "EGL115", "error"),
        ("capture-before-after-mixed", "EGL116", "warning"),
        ("nested-target-config", "EGL411", "error"),
        ("dump-layout-mismatch", "EGL413", "error"),
    ],
)
def test_every_kind_is_reported_where_it_is_even_without_details(world: Any, kind: str, code: str, severity: str):
    defect = world.defect(kind)
    found = world.finding(code)
    assert (found.severity, found.where) == (severity, defect.where)
    assert "None" not in found.message


def test_a_kind_that_no_rule_has_is_left_to_others(world: Any):
    world.defect("something-new")
    assert not world.findings()


class TestUnreachable:
    """EGL101."""

    def test_an_id_beyond_a_known_depth(self, world: Any):
        details = {"ids": [40], "all": [2, 20, 37, 40], "highest": 39, "depth_known": True}
        world.defect("unreachable-layer", details=details)
        found = world.finding("EGL101")
        assert "id 40 can never match" in found.message
        assert "0 to 39" in found.message
        assert "after the loop" in found.fix.description

    def test_an_id_relative_to_an_unknown_depth(self, world: Any):
        details = {"ids": [94, 96], "all": [2, 94, 96], "highest": 93, "depth_known": False}
        world.defect("unreachable-layer", details=details)
        assert "ids N, N + 2 can never match here" in world.finding("EGL101").message
        assert "0 to N - 1" in world.finding("EGL101").message

    def test_minus_one_is_the_tap_of_the_embedding_where_the_file_takes_it(self, world: Any):
        world.captured([0], 36, path="taps.py")
        world.defect("unreachable-layer", where=at("taps.py", 9), details={"ids": [-1], "highest": 35})
        assert not world.findings("EGL101")

    def test_minus_one_is_lost_where_nothing_takes_the_embedding(self, world: Any):
        world.captured([2], 36, path="taps.py")
        world.defect("unreachable-layer", where=at("taps.py", 9), details={"ids": [-1], "highest": 35})
        assert world.finding("EGL101").severity == "error"

    def test_the_embedding_does_not_excuse_an_id_beyond_the_end(self, world: Any):
        world.captured([0], 36, path="taps.py")
        world.defect("unreachable-layer", where=at("taps.py", 9), details={"ids": [-1, 36], "highest": 35})
        assert world.findings("EGL101")

    def test_it_speaks_for_a_rank_relative_count_in_the_same_file(self, world: Any):
        world.defect("unreachable-layer", where=at("worker.py", 9), details={"ids": [80], "highest": 79})
        world.defect("rank-relative-layer-index", where=at("worker.py", 8))
        assert [f.rule for f in world.findings()] == ["EGL101"]


class TestRankRelative:
    """EGL104."""

    def test_more_than_one_pipeline_rank_makes_an_error(self, world: Any):
        world.defect("rank-relative-layer-index")
        world.vllm(draft=None, algorithm=None, options={"pipeline_parallel_size": "2"})
        found = world.finding("EGL104")
        assert found.severity == "error"
        assert "2 pipeline ranks" in found.message
        assert found.related[-1].where.path == "serve.sh"

    def test_so_it_does_for_a_server_of_the_drafter(self, world: Any):
        world.drafter([2, 18, 33])
        world.target(36)
        world.defect("rank-relative-layer-index")
        world.sglang(options={"pp_size": 4})
        assert world.finding("EGL104").severity == "error"

    def test_so_it_does_for_a_server_of_a_drafter_that_the_code_belongs_to_no_more_than_to_another(self, world: Any):
        world.defect("rank-relative-layer-index")
        world.vllm(draft="acme/heron-eagle3", options={"pipeline_parallel_size": "2"})
        world.vllm(draft="acme/egret-eagle3", path="other.sh")
        found = world.finding("EGL104")
        assert found.severity == "error"
        assert found.related[-1].where.path == "serve.sh"

    @pytest.mark.parametrize("ranks", ["1", 1, True, None, "two"])
    def test_one_rank_or_an_unknown_number_makes_a_warning(self, world: Any, ranks: object):
        world.defect("rank-relative-layer-index")
        world.vllm(draft=None, algorithm=None, options={"pipeline_parallel_size": ranks})
        assert world.finding("EGL104").severity == "warning"


class TestFinalNorm:
    """EGL107."""

    def test_it_says_where_the_state_comes_from(self, world: Any):
        steps = (Step(at("dump.py", 4), "boundary 36 captured"),)
        world.defect("final-state-norm-mismatch", details={"stored": "un-normed", "consumed": "normed"}, related=steps)
        found = world.finding("EGL107")
        assert "before the final norm at dump.py:4" in found.message
        assert found.related == steps

    def test_twice_normed(self, world: Any):
        world.defect("final-state-norm-mismatch", details={"stored": "normed", "consumed": "un-normed"})
        assert "applied again" in world.finding("EGL107").message

    def test_ends_that_a_name_ties_together_make_a_warning(self, world: Any):
        steps = (Step(at("dump.py", 4), "boundary 36 captured"),)
        world.defect("final-state-norm-mismatch", confidence="likely", related=steps)
        assert world.finding("EGL107").severity == "warning"


def test_states_that_only_names_tie_together_are_no_flow(world: Any):
    steps = (Step(at("layer.py", 4), "named hidden_states"), Step(at("model.py", 9), "named hidden_states"))
    world.defect("final-state-norm-mismatch", related=steps)
    assert not world.findings("EGL107")


def test_one_list_for_both_sides_of_the_layer_names_both_sets(world: Any):
    steps = (Step(at("run.py", 11), "before"), Step(at("run.py", 21), "after"))
    details = {"ids": [2, 20, 37], "offsets": [0, 1]}
    world.defect("capture-before-after-mixed", details=details, related=steps)
    message = world.finding("EGL116").message
    assert "[2, 20, 37] means boundaries 2, 20, 37 at run.py:11 and 3, 21, 38 at run.py:21" in message


def test_an_outer_config_names_key_nested_config_and_value(world: Any):
    world.defect("nested-target-config", details={"key": "num_hidden_layers", "nested": "llm_config", "value": 36})
    assert "`num_hidden_layers` is read from the outer config, but stands in its `llm_config` (36)" in (
        world.finding("EGL411").message
    )


def test_a_drafters_own_depth_is_named_as_such(world: Any):
    world.defect("nested-target-config", details={"key": "num_hidden_layers", "drafter": "heads/a/config.json"})
    found = world.finding("EGL411")
    assert "heads/a/config.json" in found.message
    assert found.fix is not None
    assert "target" in found.fix.description


@pytest.mark.parametrize(
    ("known", "said"), [(True, ("id 35", "boundary 36")), (False, ("id N - 1", "boundary N"))], ids=["known", "unknown"]
)
def test_an_id_that_a_condition_leaves_out(world: Any, known: bool, said: tuple[str, str]):
    world.defect("unreachable-layer", details={"ids": [35], "boundary": 36, "depth": 36, "depth_known": known})
    found = world.finding("EGL101")
    assert all(words in found.message for words in said)
    assert found.fix is not None
    assert "after the loop" in found.fix.description


def test_a_setter_that_nobody_reads_names_both_attributes(world: Any):
    world.defect("inert-capture", details={"written": "layers_to_capture", "read": "_take"})
    message = world.finding("EGL105").message
    assert "`layers_to_capture` is set here and read nowhere; the capture waits for `_take`" in message


def test_a_capture_that_nothing_arms(world: Any):
    world.defect("inert-capture", details={"read": "aux_layers"})
    assert "which nothing sets" in world.finding("EGL105").message


def test_defects_are_reported_without_a_drafter_and_with_one(world: Any):
    world.defect("residual-not-added", where=at("model.py", 5))
    assert world.finding("EGL102")
    world.drafter([2, 18, 33])
    assert world.finding("EGL102")


class TestCast:
    """EGL111 where the code leaves the type to the checkpoint."""

    @staticmethod
    def cast(world: Any, stored: str, target: str) -> None:
        world.defect("lossy-dump-dtype", details={"stored": stored, "computed": "auto", "target": target})

    def test_the_tables_know_the_type(self, world: Any):
        self.cast(world, "float16", "Qwen/Qwen3-8B")
        found = world.finding("EGL111")
        assert found.severity == "info"
        assert "computes in bfloat16" in found.message

    def test_the_same_type_loses_nothing(self, world: Any):
        self.cast(world, "bfloat16", "Qwen/Qwen3-8B")
        assert not world.findings("EGL111")

    def test_a_target_that_nothing_knows(self, world: Any):
        self.cast(world, "float16", "acme/heron")
        assert not world.findings("EGL111")
