"""Which names are of one model."""

from __future__ import annotations

import pytest

from eaglelint.conventions.naming import same_model


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("Qwen/Qwen3-8B", "RedHatAI/Qwen3-8B-FP8-dynamic"),
        ("Qwen/Qwen3-32B", "/models/qwen3-32b-awq"),
        ("meta-llama/Llama-3.1-8B-Instruct", "unsloth/Meta-Llama-3.1-8B-Instruct"),
        ("acme/Storyteller-9B", "/data/storyteller-9b-w4a16-g128"),
        ("moonshotai/Kimi-K2.5", "nvidia/Kimi-K2.5-NVFP4"),
    ],
)
def test_copies_of_one_model(one: str, other: str):
    assert same_model(one, other) is True
    assert same_model(other, one) is True


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "deepseek-ai/DeepSeek-R1-Distill-Llama-8B"),
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-14B"),
        ("acme/Storyteller-9B", "acme/Storyteller-27B"),
        ("acme/my-llama", "acme/my-qwen"),
    ],
)
def test_different_models(one: str, other: str):
    assert same_model(one, other) is False


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Qwen/Qwen3-8B", "/models/target"),
        ("acme/Storyteller", "acme/Narrator"),
        ("acme/Storyteller-9B", "acme/Narrator-9B"),
        ("Qwen/Qwen3-8B", "acme/qwen3-8b-house-style"),
    ],
)
def test_names_that_do_not_tell(one: str, other: str):
    assert same_model(one, other) is None
