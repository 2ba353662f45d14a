"""EGL410: the releases of one engine that a project names read the same ids as different states."""

from __future__ import annotations

from typing import Any

import pytest

KIMI = "KimiK25ForConditionalGeneration"


@pytest.fixture
def kimi(world: Any) -> Any:
    """A head that is taken as boundaries 3, 31, 59 before SGLang 0.5.13, and as 2, 30, 58 from there on."""
    world.drafter([2, 30, 58])
    world.target(61, architecture=KIMI)
    return world


def two_services(world: Any, old: str, new: str) -> None:
    for line, (unit, release) in enumerate([("stable", old), ("canary", new)], 1):
        world.pin("sglang", release, unit=unit, path="compose.yaml")
        world.sglang(unit=unit, path="compose.yaml", line=line * 10)


def test_two_services_with_releases_of_before_and_after_the_change(kimi: Any):
    two_services(kimi, "==0.5.12.post1", "==0.5.17")
    found = kimi.finding("EGL410")
    assert (found.severity, found.where.path) == ("warning", "compose.yaml")
    assert "SGLang 0.5.12.post1 (compose.yaml:1) captures boundaries 3, 31, 59" in found.message
    assert "SGLang 0.5.17 (compose.yaml:1) captures boundaries 2, 30, 58" in found.message
    assert "[1, 29, 57]" in found.fix.description


def test_two_releases_that_read_alike(kimi: Any):
    two_services(kimi, "==0.5.14", "==0.5.17")
    assert not kimi.findings("EGL410")


def test_ids_that_mean_the_same_in_both(world: Any):
    world.drafter([1, 29, 57])
    world.target(61, architecture=KIMI)
    two_services(world, "==0.5.12.post1", "==0.5.17")
    assert not world.findings("EGL410")


def test_a_range_that_spans_the_change(kimi: Any):
    kimi.pin("sglang", ">=0.5.11,<0.5.15")
    kimi.sglang()
    found = kimi.finding("EGL410")
    assert found.where.path == "requirements.txt"
    assert "the pinned range admits releases" in found.message


def test_a_range_on_one_side_of_the_change(kimi: Any):
    kimi.pin("sglang", ">=0.5.13,<0.5.15")
    kimi.sglang()
    assert not kimi.findings("EGL410")


def test_a_range_that_may_grow_is_not_this_rule(kimi: Any):
    kimi.pin("sglang", ">=0.5.11")
    kimi.sglang()
    assert not kimi.findings("EGL410")


def test_what_the_training_says_stands_beside_it(kimi: Any):
    kimi.pin("sglang", ">=0.5.11,<0.5.15")
    kimi.sglang()
    kimi.trained([2, 30, 58], 61)
    assert "trained on boundaries 2, 30, 58" in kimi.finding("EGL410").message
    assert not kimi.findings("EGL401")


def test_a_release_that_is_wrong_for_the_training_is_an_error_at_the_ids(kimi: Any):
    two_services(kimi, "==0.5.12.post1", "==0.5.17")
    kimi.trained([2, 30, 58], 61)
    assert kimi.finding("EGL401").severity == "error"
    assert not kimi.findings("EGL410")


def test_a_release_that_only_the_tests_of_a_project_install(kimi: Any):
    kimi.pin("sglang", "==0.5.17", path="docker/Dockerfile")
    kimi.pin("sglang", "==0.5.12", path=".github/workflows/smoke.yml", unit="smoke")
    kimi.sglang(path="docker/serve.sh")
    assert "0.5.12" in kimi.finding("EGL410").message


def test_a_lock_file_resolves_the_range_beside_it(kimi: Any):
    kimi.pin("sglang", ">=0.5.11,<0.5.15", path="pyproject.toml")
    kimi.pin("sglang", "==0.5.14", path="uv.lock")
    kimi.sglang()
    assert not kimi.findings("EGL410")


def test_the_engine_of_a_training_environment_serves_nothing(kimi: Any):
    kimi.pin("sglang", "==0.5.17")
    kimi.sglang()
    kimi.pin("sglang", "==0.5.12", path="train/requirements.txt")
    kimi.pin("specforge", "==0.2.0", path="train/requirements.txt")
    assert not kimi.findings("EGL410")


def test_a_head_without_ids_takes_the_same_default(world: Any):
    world.drafter()
    world.target(61, architecture=KIMI)
    two_services(world, "==0.5.12.post1", "==0.5.17")
    assert not world.findings("EGL410")


def test_the_release_of_a_service_that_serves_something_else(kimi: Any):
    kimi.pin("sglang", "==0.5.17", unit="chat", path="compose.yaml")
    kimi.sglang(unit="chat", path="compose.yaml")
    kimi.pin("sglang", "==0.5.12", unit="embed", path="compose.yaml")
    kimi.sglang(draft=None, algorithm=None, unit="embed", path="compose.yaml", line=30)
    assert not kimi.findings("EGL410")


def test_a_range_whose_first_releases_read_no_ids(world: Any):
    world.drafter([4, 18, 32], key="/eagle_aux_hidden_state_layer_ids")
    world.target(36)
    world.pin("vllm", ">=0.10.2,<0.12")
    world.vllm()
    assert "captures its default boundaries 2, 18, 33" in world.finding("EGL410").message
    assert not world.findings("EGL204")
