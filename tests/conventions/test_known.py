"""Published targets and drafters: found by any usual name, and no more certain than their sources."""

from __future__ import annotations

import pytest

from eaglelint._resources import data_root
from eaglelint.conventions.known import architectures_of, known_drafter, known_drafters, known_target
from eaglelint.conventions.load import read_yaml


@pytest.mark.parametrize(
    "name",
    [
        "Qwen/Qwen3-8B",
        "qwen/qwen3-8b",
        "/data/models/Qwen3-8B",
        "./Qwen3-8B/",
        "someone/Qwen3-8B-AWQ",
        "RedHatAI/Qwen3-8B-FP8-dynamic",
        "~/.cache/hub/models--Qwen--Qwen3-8B/snapshots/0a1b2c",
    ],
)
def test_a_target_by_any_usual_name(name: str):
    found = known_target(name)
    assert found is not None
    assert (found.name, found.depth, found.hidden_size) == ("Qwen3-8B", 36, 4096)


@pytest.mark.parametrize("name", ["", "/", "someone/unheard-of", "model", "Qwen"])
def test_what_is_not_known(name: str):
    assert known_target(name) is None
    assert known_drafter(name) is None


def test_a_quantised_copy_is_told_apart():
    plain, copy = known_target("Qwen/Qwen3-8B"), known_target("Qwen/Qwen3-8B-FP8")
    assert plain is not None
    assert copy is not None
    assert (plain.quantised, copy.quantised) == (False, True)


def test_values_of_a_target_may_stand_in_a_nested_config():
    kimi, llama = known_target("moonshotai/Kimi-K2.5"), known_target("meta-llama/Llama-3.1-8B-Instruct")
    assert kimi is not None
    assert llama is not None
    assert (kimi.nested, kimi.depth, kimi.text_model_type) == ("text_config", 61, "kimi_k2")
    assert llama.nested == ""


def test_special_layers_are_named():
    hybrid = known_target("Qwen/Qwen3-Next-80B-A3B-Instruct")
    assert hybrid is not None
    ((kind, layers),) = hybrid.special
    assert kind == "linear_attention"
    assert 2 in layers
    assert 3 not in layers
    assert len(layers) == 36


def test_a_depth_from_a_single_weak_source_is_not_established():
    rows = read_yaml(data_root("rules") / "targets.yaml")["targets"]
    weak = [r["ids"][0] for r in rows if "one_source" in r.get("doubts", ()) and "num_hidden_layers" in r]
    assert weak
    for name in weak:
        found = known_target(name)
        assert found is not None
        assert not found.established


def test_a_missing_class_leaves_the_depth_established():
    found = known_target("google/gemma-3-12b-it")
    assert found is not None
    assert found.doubts == ("no_architecture",)
    assert found.established


def test_every_id_of_the_table_finds_its_own_entry():
    for row in read_yaml(data_root("rules") / "targets.yaml")["targets"]:
        for name in row["ids"]:
            found = known_target(name)
            assert found is not None
            assert found.name == row["name"]


def test_a_model_type_gives_the_architectures_of_its_targets():
    assert architectures_of("gpt_oss") == ("GptOssForCausalLM",)
    assert architectures_of("nothing") == ()


def test_a_drafter_and_what_it_was_trained_on():
    found = known_drafter("nvidia/gpt-oss-120b-Eagle3-v3")
    assert found is not None
    assert (found.ids, found.convention, found.trained, found.established) == (
        (24, 30, 36),
        "boundary",
        (24, 30, 36),
        True,
    )
    assert found.depth == 36


def test_a_drafter_without_ids_follows_the_default():
    found = known_drafter("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B")
    assert found is not None
    assert (found.ids, found.ids_place, found.trained, found.established) == (None, "none", (2, 16, 29), True)


@pytest.mark.parametrize(
    "name",
    [
        "lmsys/EAGLE3-gpt-oss-120b-bf16",  # the list was not read from the repository
        "RedHatAI/Llama-3.1-8B-Instruct-speculator.eagle3",  # what it was trained on is not stated
        "nvidia/Llama-3.3-70B-Instruct-Eagle3",  # custom layers, nowhere recorded
        "AQ-MedAI/Kimi-K2-Instruct-eagle3",  # the meaning of the list is a guess
    ],
)
def test_what_is_not_established_may_not_prove_an_error(name: str):
    found = known_drafter(name)
    assert found is not None
    assert not found.established


def test_ids_in_a_slot_that_means_something_else():
    found = known_drafter("nm-testing/Llama4-Maverick-Eagle3-Speculators")
    assert found is not None
    assert found.convention == "output_in_boundary_slot"
    assert found.trained == (2, 24, 45)


def test_counts():
    assert len(read_yaml(data_root("rules") / "targets.yaml")["targets"]) == 142
    assert len(known_drafters()) == 229
