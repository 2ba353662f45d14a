"""vLLM that is started on a head in the form of speculators serves its target with it."""

from __future__ import annotations

from typing import Any

HEAD = {
    "architectures": ["Eagle3Speculator"],
    "draft_vocab_size": 32000,
    "eagle_aux_hidden_state_layer_ids": [2, 18, 33],
    "speculators_config": {
        "algorithm": "eagle3",
        "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": 3}],
        "verifier": {"architectures": ["Qwen3ForCausalLM"], "name_or_path": "Qwen/Qwen3-8B"},
    },
    "speculators_model_type": "eagle3",
    "transformer_layer_config": {"hidden_size": 4096, "model_type": "llama", "num_hidden_layers": 1},
}


def test_the_head_names_its_target_and_its_tokens(world: Any):
    config = world.config(HEAD)
    world.pin("vllm", "==0.20.0")
    world.vllm(draft=None, target="./head", algorithm=None)
    pipeline = world.pipeline()
    (launch,) = pipeline.launches
    assert (launch.draft.value, launch.target.value) == ("./head", "Qwen/Qwen3-8B")
    assert launch.target.where == config.document.where("/speculators_config/verifier/name_or_path")
    given = {argument.name: argument.value.value for argument in launch.arguments}
    assert given == {"speculative_config.method": "eagle3", "speculative_config.num_speculative_tokens": 3}
    (serving,) = pipeline.servings
    assert serving.captured(36) == (2, 18, 33)


def test_what_the_command_says_of_speculation_is_left_alone(world: Any):
    world.config(HEAD)
    world.vllm(draft=None, target="./head", algorithm="ngram")
    assert not world.pipeline().launches


def test_another_engine_does_no_such_thing(world: Any):
    world.config(HEAD)
    world.sglang(draft=None, target="./head", algorithm=None)
    assert not world.pipeline().launches


def test_a_published_head_is_known_by_its_hub_id(world: Any):
    world.pin("vllm", "==0.20.0")
    world.vllm(draft=None, target="RedHatAI/Qwen3-8B-Thinking-speculator.eagle3", algorithm=None)
    (pipeline,) = [pipeline for pipeline in world.pipelines() if pipeline.name]
    assert pipeline.published.repo == "RedHatAI/Qwen3-8B-Thinking-speculator.eagle3"
    assert pipeline.target.depth == 36


def test_a_plain_target_stays_one(world: Any):
    world.config(HEAD)
    world.vllm(draft=None, target="Qwen/Qwen3-8B", algorithm=None)
    assert not world.pipeline().launches
