"""EGL407: served on another model than it was trained on; EGL409: one of the two is rotated; EGL404 beside them."""

from __future__ import annotations

from typing import Any

import pytest

from eaglelint.facts import Recipe, Value
from eaglelint.location import Location

TRAINED = "Qwen/Qwen3-8B"


def place(path: str, line: int) -> Location:
    return Location(path, line, 1, line, 1, line * 100, line * 100)


def told(world: Any, target: str, *, step: str = "data", path: str = "train.sh", assumed: str = "") -> None:
    """A data generator that was told of a target."""
    value = Value(target, place(path, 2), assumed=assumed)
    world.lists.setdefault("recipes", []).append(Recipe("baldeagle", "offline", step, place(path, 2), target=value))


def served(world: Any, on: str, width: int = 4096) -> None:
    world.drafter([1, 17, 32], more={"hidden_size": width, "draft_vocab_size": 32000})
    world.pin("sglang", "==0.5.18")
    world.sglang(target=on)


def test_another_model_of_the_same_shape(world: Any):
    served(world, "deepseek-ai/DeepSeek-R1-Distill-Llama-8B")
    told(world, "meta-llama/Llama-3.1-8B-Instruct")
    found = world.finding("EGL407")
    assert (found.severity, found.where) == ("warning", place("serve.sh", 3))
    assert "DeepSeek-R1-Distill-Llama-8B" in found.message
    assert "meta-llama/Llama-3.1-8B-Instruct (train.sh:2)" in found.message


@pytest.mark.parametrize(
    "served_on",
    ["Qwen/Qwen3-8B", "RedHatAI/Qwen3-8B-FP8-dynamic", "/models/qwen3-8b-awq", "/models/target", "acme/Qwen3-8B-GGUF"],
)
def test_the_target_its_copies_and_folders_that_say_nothing(world: Any, served_on: str):
    served(world, served_on)
    told(world, TRAINED)
    assert not world.findings("EGL407")


def test_a_local_folder_with_the_shape_of_the_trained_target(world: Any):
    world.target(36, path="models/mine/config.json")
    served(world, "models/mine")
    told(world, TRAINED)
    assert not world.findings("EGL407")


def test_a_local_folder_with_another_shape(world: Any):
    world.target(28, path="models/mine/config.json", width=4096)
    served(world, "models/mine")
    told(world, TRAINED)
    assert "models/mine" in world.finding("EGL407").message


def test_another_size_says_more_than_the_widths(world: Any):
    served(world, "Qwen/Qwen3-14B")
    told(world, TRAINED)
    assert world.finding("EGL407")
    assert not world.findings("EGL404")


def test_places_that_disagree_prove_nothing(world: Any):
    served(world, TRAINED)
    told(world, TRAINED)
    told(world, "meta-llama/Llama-3.1-8B-Instruct", path="old.sh")
    assert not world.findings("EGL407")


def test_what_the_drafters_config_names(world: Any):
    world.drafter([1, 15, 28], more={"target_model_name_or_path": "meta-llama/Llama-3.1-8B-Instruct"})
    world.pin("sglang", "==0.5.18")
    world.sglang(target="deepseek-ai/DeepSeek-R1-Distill-Llama-8B")
    assert "its config names" in world.finding("EGL407").message


def test_a_default_is_only_likely(world: Any):
    served(world, "deepseek-ai/DeepSeek-R1-Distill-Llama-8B")
    told(world, "meta-llama/Llama-3.1-8B-Instruct", assumed="default of $MODEL")
    found = world.finding("EGL407")
    assert found.confidence == "likely"
    assert "default of $MODEL" in found.message


def test_one_finding_for_two_launches_of_one_argument(world: Any):
    served(world, "deepseek-ai/DeepSeek-R1-Distill-Llama-8B")
    world.sglang(target="deepseek-ai/DeepSeek-R1-Distill-Llama-8B", path="b.sh")
    told(world, "meta-llama/Llama-3.1-8B-Instruct")
    assert [finding.where.path for finding in world.findings("EGL407")] == ["serve.sh", "b.sh"]


class TestRotated:
    def test_a_plain_head_on_a_rotated_copy(self, world: Any):
        served(world, "/models/Qwen3-8B-w4a4-QuaRot")
        told(world, TRAINED)
        found = world.finding("EGL409")
        assert found.where == place("serve.sh", 3)
        assert "rotated (quarot)" in found.message

    def test_the_reverse(self, world: Any):
        served(world, TRAINED)
        told(world, "/models/Qwen3-8B-spinquant")
        assert "is plain" in world.finding("EGL409").message

    def test_trained_on_the_rotated_states_that_are_served(self, world: Any):
        served(world, "/models/Qwen3-8B-QuaRot")
        told(world, "/data/Qwen3-8B-quarot")
        assert not world.findings("EGL409")

    @pytest.mark.parametrize("copy", ["Qwen/Qwen3-8B-FP8", "Qwen/Qwen3-8B-AWQ", "acme/Qwen3-8B-NVFP4"])
    def test_plain_quantisation_keeps_the_space(self, world: Any, copy: str):
        served(world, copy)
        told(world, TRAINED)
        assert not world.findings("EGL409")

    def test_nothing_is_known_of_the_training(self, world: Any):
        served(world, "/models/Qwen3-8B-QuaRot")
        assert not world.findings("EGL409")

    def test_another_model_altogether_is_the_other_rules(self, world: Any):
        served(world, "/models/Qwen3-14B-QuaRot")
        told(world, TRAINED)
        assert not world.findings("EGL409")


class TestWidth:
    def head(self, world: Any, on: str = "target", width: int = 4096, **more: Any) -> None:
        world.drafter([1, 17, 32], more=more)
        world.target(36, width=width)
        world.pin("sglang", "==0.5.18")
        world.sglang(target=on)

    def test_a_narrow_head_without_the_width_of_its_target(self, world: Any):
        self.head(world, hidden_size=2048)
        found = world.finding("EGL404")
        assert (found.severity, found.where.path) == ("error", "head/config.json")
        assert "`hidden_size` is 2048, and there is no `target_hidden_size`" in found.message
        assert "`target_hidden_size`: 4096" in found.fix.description

    def test_a_narrow_head_that_says_the_width_of_its_target(self, world: Any):
        self.head(world, hidden_size=2048, target_hidden_size=4096)
        assert not world.findings("EGL404")

    def test_a_width_that_is_not_the_targets(self, world: Any):
        self.head(world, hidden_size=4096, target_hidden_size=5120)
        assert "`target_hidden_size` is 5120" in world.finding("EGL404").message

    def test_a_width_of_null_is_none(self, world: Any):
        self.head(world, hidden_size=4096, target_hidden_size=None)
        assert not world.findings("EGL404")

    def test_a_target_that_is_not_known(self, world: Any):
        world.drafter([1, 17, 32], more={"hidden_size": 2048})
        world.pin("sglang", "==0.5.18")
        world.sglang(target="/models/unheard-of")
        assert not world.findings("EGL404")

    def test_a_drafter_of_another_kind(self, world: Any):
        world.drafter(None, method="mtp", more={"hidden_size": 2048})
        world.target(36)
        world.sglang(algorithm="NEXTN")
        assert not world.findings("EGL404")

    def test_an_eagle_1_head_under_another_target(self, world: Any):
        world.drafter(None, method="eagle", more={"architectures": ["LlamaForCausalLMEagle"], "hidden_size": 2048})
        world.target(36)
        world.sglang(algorithm="EAGLE")
        found = world.finding("EGL404")
        assert found.severity == "error"
        assert "`hidden_size` is 2048: fc takes states of that width" in found.message
        assert "target_hidden_size" not in found.fix.description


def test_a_published_head_for_another_model_is_not_asked_for_ids(world: Any):
    world.pin("sglang", "==0.5.18")
    world.sglang(draft="yuhuili/EAGLE3-LLaMA3.3-Instruct-70B", target="meta-llama/Llama-3.1-8B-Instruct")
    assert "Llama-3.3-70B" in world.finding("EGL407").message
    assert world.findings("EGL202") == []


def test_ids_beyond_another_model_are_not_reported_beside_it(world: Any):
    world.drafter([2, 32, 61], more={"hidden_size": 5120, "draft_vocab_size": 32000})
    told(world, "Qwen/Qwen3-32B")
    world.pin("sglang", "==0.5.18")
    world.sglang(target="Qwen/Qwen3-14B")
    assert "Qwen3-32B" in world.finding("EGL407").message
    assert world.findings("EGL203") == []
