"""EGL208: `use_aux_hidden_state` against what the head takes and what the release reads."""

from __future__ import annotations

from typing import Any

import pytest

from eaglelint.facts import EnvironmentSetting, Value
from eaglelint.location import Location

#: The rules that could say something of such a head's ids.
ALONE = ("EGL202", "EGL203", "EGL204", "EGL206", "EGL208", "EGL401")
OFF = {"eagle_config": {"use_aux_hidden_state": False}}


def served(
    world: Any, engine: str, release: str, ids: list[int] | None, more: Any, architecture: str = "GptOssForCausalLM"
):
    config = world.drafter(ids, more=more)
    world.target(36, architecture=architecture)
    world.pin(engine, release)
    getattr(world, engine)()
    return config


def test_a_head_with_ids_is_switched_off_from_0_5_8_on(world: Any):
    config = served(world, "sglang", "==0.5.8", [1, 17, 32], OFF)
    found = world.finding("EGL208")
    assert (found.severity, found.where) == ("error", config.document.where("/eagle_config/use_aux_hidden_state"))
    assert (
        "SGLang 0.5.8 captures no auxiliary states, but the ids [1, 17, 32] of 3 states are declared" in found.message
    )


def test_a_head_that_is_known_to_be_trained_on_states_is_switched_off(world: Any):
    served(world, "sglang", "==0.5.16", None, OFF)
    world.trained([2, 18, 33], 36)
    assert "trained on boundaries 2, 18, 33" in world.finding("EGL208").message
    assert not world.findings("EGL202", "EGL401")


def test_a_release_that_does_not_read_the_flag_captures_for_such_a_head_all_the_same(world: Any):
    served(world, "sglang", "==0.5.7", [1, 17, 32], OFF)
    assert not world.findings("EGL208")


@pytest.mark.parametrize(
    ("engine", "release", "reads"),
    [
        ("sglang", "==0.5.7", False),
        ("sglang", "==0.5.8", True),
        ("vllm", "==0.11.2", False),
        ("vllm", "==0.12.0", True),
        ("vllm", "==0.30.0", False),  # the second model runner, which all targets use from 0.29.0 on
        ("vllm", "==0.33.0", True),
    ],
)
def test_a_head_of_the_last_state_alone_needs_a_release_that_reads_the_flag(
    world: Any, engine: str, release: str, reads: bool
):
    config = served(world, engine, release, None, OFF)
    if reads:
        assert not world.findings(*ALONE)
        return
    found = world.finding("EGL208")
    assert (found.severity, found.where) == ("error", config.document.where("/eagle_config/use_aux_hidden_state"))
    assert "does not read: auxiliary states are captured for a head without fc" in found.message
    assert not world.findings(*(set(ALONE) - {"EGL208"}))


def test_an_empty_list_is_what_such_a_head_declares(world: Any):
    served(world, "sglang", "==0.5.16", [], OFF)
    assert not world.findings(*ALONE)


@pytest.mark.parametrize("value", [True, None])
def test_a_flag_that_is_set_or_missing_changes_nothing(world: Any, value: Any):
    more = {"eagle_config": {"use_aux_hidden_state": value}} if value is not None else {}
    served(world, "sglang", "==0.5.16", [1, 17, 32], more)
    assert not world.findings("EGL208")


class TestATOM:
    def test_a_missing_flag_counts_as_false_where_an_eagle_config_stands(self, world: Any):
        config = world.drafter([1, 17, 32])
        world.target(36, architecture="GptOssForCausalLM")
        world.pin("atom", "")
        found = world.finding("EGL208")
        assert found.where == config.document.where("/eagle_config")
        assert "is missing, which counts as false" in found.message

    def test_without_an_eagle_config_capture_is_on(self, world: Any):
        world.drafter()
        world.target(36, architecture="GptOssForCausalLM")
        world.pin("atom", "")
        assert not world.findings("EGL208")


class TestPublishedHeads:
    def test_a_record_that_is_not_established_is_worth_an_info_at_most(self, world: Any):
        world.pin("vllm", "==0.30.0")
        world.vllm("nvidia/gpt-oss-120b-Eagle3-v2", "openai/gpt-oss-120b")
        assert {finding.severity for finding in world.findings(*ALONE)} <= {"info"}

    def test_a_release_that_reads_the_flag_is_fine(self, world: Any):
        world.pin("sglang", "==0.5.16")
        world.sglang("nvidia/gpt-oss-120b-Eagle3-v2", "openai/gpt-oss-120b")
        assert not [finding for finding in world.findings(*ALONE) if finding.severity != "info"]


def test_without_an_engine_a_contradiction_is_a_warning(world: Any):
    world.drafter([1, 17, 32], more=OFF)
    assert world.finding("EGL208").severity == "warning"


def test_without_an_engine_a_head_of_the_last_state_alone_is_fine(world: Any):
    world.drafter(more=OFF)
    assert not world.findings("EGL208", "EGL202")


@pytest.mark.parametrize(
    ("value", "path", "reads"),
    [("1", "serve.sh", False), ("0", "serve.sh", True), ("1", "other.sh", True)],
)
def test_a_variable_beside_the_launch_chooses_the_model_runner(world: Any, value: str, path: str, reads: bool):
    served(world, "vllm", "==0.20.0", None, OFF)
    said = Value(value, Location(path))
    world.lists["environment"] = [EnvironmentSetting("VLLM_USE_V2_MODEL_RUNNER", said)]
    if reads:
        assert not world.findings("EGL208")
    else:
        found = world.finding("EGL208")
        assert "on model runner V2 does not read" in found.message
        assert "vllm 0.33.0 is the first" in found.fix.description
