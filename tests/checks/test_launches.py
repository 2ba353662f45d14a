"""EGL302 - EGL311 as specifications: what a person wrote into a launch, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eaglelint.facts import Argument, Launch, Value
from eaglelint.run import check
from eaglelint.settings import Settings
from tests.conftest import World, at

CHAIN = {"speculative_num_steps": "3", "speculative_eagle_topk": "1", "speculative_num_draft_tokens": "4"}
TREE = {"speculative_num_steps": "3", "speculative_eagle_topk": "4", "speculative_num_draft_tokens": "16"}
CODES = ("EGL302", "EGL303", "EGL304", "EGL305", "EGL306", "EGL307", "EGL308", "EGL309", "EGL311")


def sglang(world: World, release: str = "0.5.18", **more: Any) -> Launch:
    """A server with a published head that nothing is known of."""
    options = {**CHAIN, **more.pop("options", {})}
    if release:
        world.pin("sglang", f"=={release}")
    more.setdefault("draft", "acme/qwen3-eagle3")
    return world.sglang(target=more.pop("target", "Qwen/Qwen3-14B"), options=options, **more)


def said(world: World) -> list[str]:
    return sorted(finding.rule for finding in world.findings(*CODES))


def test_a_plain_chain_is_fine(world: World):
    sglang(world)
    assert said(world) == []


@pytest.mark.parametrize(
    ("options", "severity", "words"),
    [
        ({"speculative_num_draft_tokens": "9"}, "warning", "rewrites 9 to 4"),
        ({**TREE, "speculative_num_steps": "1", "speculative_num_draft_tokens": "6"}, "error", "5 tokens"),
        ({"speculative_num_steps": None}, "error", "without --speculative-num-steps"),
        ({"speculative_eagle_topk": None}, "error", "without --speculative-eagle-topk"),
        ({**TREE, "speculative_num_draft_tokens": None}, "error", "without --speculative-num-draft-tokens"),
    ],
)
def test_lengths_that_do_not_fit(world: World, options: dict[str, str], severity: str, words: str):
    sglang(world, options=options)
    finding = world.finding("EGL302")
    assert finding.severity == severity
    assert words in finding.message


@pytest.mark.parametrize(
    "options",
    [
        {"speculative_num_steps": None, "speculative_eagle_topk": None, "speculative_num_draft_tokens": None},
        {"speculative_num_draft_tokens": None},
        TREE,
        {**TREE, "speculative_num_steps": "1", "speculative_num_draft_tokens": "5"},
    ],
)
def test_lengths_that_fit_or_are_chosen_by_the_engine(world: World, options: dict[str, str]):
    sglang(world, options=options)
    assert said(world) == []


def test_a_block_drafter_needs_no_steps(world: World):
    sglang(world, algorithm="DFLASH", options={"speculative_num_steps": None, "speculative_eagle_topk": None})
    assert said(world) == []


def test_words_that_are_not_known_may_hold_what_is_missing(world: World):
    sglang(world, options={"speculative_eagle_topk": None}, complete=False)
    assert said(world) == []


def test_old_releases_take_the_tokens_of_a_chain_as_they_stand(world: World):
    sglang(
        world, "0.4.4.post4", target="meta-llama/Llama-3.1-8B-Instruct", options={"speculative_num_draft_tokens": "9"}
    )
    assert said(world) == []


@pytest.mark.parametrize("target", ["Qwen/Qwen3-14B", "meta-llama/Llama-3.1-8B-Instruct"])
def test_no_draft_for_a_target_that_brings_none(world: World, target: str):
    sglang(world, draft=None, target=target)
    assert world.finding("EGL303").severity == "error"


def test_no_draft_for_a_target_with_layers_of_its_own(world: World):
    sglang(world, draft=None, target="deepseek-ai/DeepSeek-V3")
    assert "EGL303" not in said(world)


def test_a_server_that_only_captures_needs_no_draft(world: World):
    sglang(world, "0.5.23", draft=None, options={"enable_return_aux_hidden_states": True})
    assert "EGL303" not in said(world)


@pytest.mark.parametrize(
    ("folder", "severity"), [("my-eagle-head", "error"), ("head", "error"), ("qwen-eagle3", "warning")]
)
def test_a_method_that_is_left_to_the_path(world: World, folder: str, severity: str):
    world.pin("vllm", "==0.19.1")
    world.drafter([2, 18, 33], path=f"{folder}/config.json")
    world.vllm(draft=folder, target="Qwen/Qwen3-8B", algorithm=None)
    assert world.finding("EGL304").severity == severity


@pytest.mark.parametrize(
    ("folder", "algorithm", "overridden"),
    [
        ("my-eagle-draft", "draft_model", "eagle (EAGLE-1)"),
        ("small-dflash", "draft_model", "dflash"),
        ("small", "draft_model", ""),
        ("my-eagle-draft", "eagle3", ""),
    ],
)
def test_a_word_in_the_path_overrides_a_method_of_another_kind(
    world: World, folder: str, algorithm: str, overridden: str
):
    world.pin("vllm", "==0.24.0")
    options = {"speculative_config.num_speculative_tokens": 3}
    world.vllm(draft=f"models/{folder}", target="Qwen/Qwen3-8B", algorithm=algorithm, options=options)
    found = world.findings("EGL304")
    assert [f.severity for f in found] == (["error"] if overridden else [])
    assert all(f"loaded as {overridden}" in f.message for f in found)


def test_a_small_language_model_as_drafter_is_no_head(world: World):
    world.pin("vllm", "==0.19.1")
    world.vllm(draft="Qwen/Qwen3-0.6B", target="Qwen/Qwen3-8B", algorithm=None)
    assert said(world) == []


@pytest.mark.parametrize(
    ("name", "release", "words"),
    [
        ("speculative_use_block_verification", "0.5.16", "0.5.22 and later"),
        ("speculative_num_draft_token_s", "0.5.16", "--speculative-num-draft-tokens"),
        ("speculative_dflash_draft_window_size", "0.5.21", "0.5.11"),
    ],
)
def test_options_that_the_release_does_not_have(world: World, name: str, release: str, words: str):
    sglang(world, release, options={name: "1"})
    finding = world.finding("EGL305")
    assert finding.severity == "error"
    assert words in finding.message


@pytest.mark.parametrize("name", ["my_own_flag", "speculative_algo", "log_level"])
def test_options_of_wrappers_and_abbreviations_are_let_pass(world: World, name: str):
    sglang(world, options={name: "EAGLE3"})
    assert "EGL305" not in said(world)


def test_a_release_that_nobody_read_may_have_anything(world: World):
    sglang(world, "0.9.0", options={"speculative_novelty": "1"})
    assert said(world) == []


def test_without_a_pin_only_what_no_release_has_is_unknown(world: World):
    sglang(world, "", options={"speculative_use_block_verification": True})
    assert said(world) == []


def keywords(world: World, **given: Any) -> None:
    arguments = tuple(
        Argument(n, n, Value(v, at("run.py", i)), at("run.py", i)) for i, (n, v) in enumerate(given.items(), 5)
    )
    draft = Value("acme/qwen3-eagle3", at("run.py", 4))
    target = Value("Qwen/Qwen3-14B", at("run.py", 3))
    world._add("launches", Launch("sglang", "python", at("run.py", 2), arguments, target, draft))


def test_keywords_are_not_abbreviated(world: World):
    world.pin("sglang", "==0.5.18")
    keywords(world, speculative_algo="EAGLE3")
    finding = world.finding("EGL305")
    assert "speculative_algorithm" in finding.message
    assert finding.where.line == 5


def test_keywords_are_compared_in_capitals_by_the_engine(world: World):
    world.pin("sglang", "==0.5.9")
    keywords(world, speculative_algorithm="eagle3", **{name: int(value) for name, value in CHAIN.items()})
    assert said(world) == []


@pytest.mark.parametrize(("release", "severity"), [("0.5.9", "error"), ("0.5.23", "error")])
def test_stages_are_refused_in_every_release(world: World, release: str, severity: str):
    sglang(world, release, options={"pp_size": "2"})
    assert world.finding("EGL306").severity == severity


def test_stages_without_speculation_concern_nobody(world: World):
    sglang(world, algorithm=None, draft=None, options={**dict.fromkeys(CHAIN), "pp_size": "2"})
    assert said(world) == []


@pytest.mark.parametrize(
    ("release", "options", "refused"),
    [
        ("0.5.14", {"speculative_accept_threshold_single": "0.9"}, True),
        ("0.5.14", {"speculative_accept_threshold_acc": "0.9"}, True),
        ("0.5.14", {"speculative_accept_threshold_acc": "1.0"}, False),
        ("0.5.14", {}, False),
        ("0.5.22", {"speculative_use_block_verification": True, **TREE}, True),
        ("0.5.22", {"speculative_use_block_verification": True}, False),
    ],
)
def test_what_rejection_sampling_does_not_go_with(world: World, release: str, options: dict[str, Any], refused: bool):
    more = {} if "speculative_use_block_verification" in options else {"speculative_use_rejection_sampling": True}
    sglang(world, release, options={**more, **options})
    assert said(world) == (["EGL307"] if refused else [])


@pytest.mark.parametrize(
    ("release", "options", "rules"),
    [
        ("0.18.0", {"rejection_sample_method": "standard"}, ["EGL311"]),
        ("0.18.0", {"rejection_sample_method": "strict"}, []),
        ("0.24.0", {"rejection_sample_method": "strict"}, ["EGL311"]),
        ("0.24.0", {"rejection_sample_method": "block"}, ["EGL311"]),
        ("0.25.0", {"rejection_sample_method": "block"}, []),
        ("0.21.0", {"draft_sample_method": "probabilistic"}, ["EGL311"]),
        ("0.22.0", {"draft_sample_method": "gumbel"}, ["EGL311"]),
        ("0.27.0", {"kv_cache_dtype": "fp8"}, []),
        ("0.27.0", {"kv_cache_dtype": "nvfp4_4over6"}, ["EGL311"]),
        ("0.33.0", {"kv_cache_dtype": "anything"}, []),
        ("0.9.2", {"acceptance_method": "typical"}, ["EGL311"]),
        ("0.26.0", {"use_heterogeneous_vocab": True}, ["EGL307"]),
        ("0.26.0", {"use_heterogeneous_vocab": False}, []),
        ("0.33.0", {"rejection_sample_method": "fly", "num_speculative_tokens": 1}, ["EGL307"]),
        ("0.33.0", {"rejection_sample_method": "fly", "num_speculative_tokens": 3}, []),
        ("0.26.0", {"synthetic_acceptance_length": 2.0}, ["EGL307"]),
        ("0.26.0", {"synthetic_acceptance_length": 2.0, "rejection_sample_method": "synthetic"}, []),
    ],
)
def test_keys_of_vllm_by_release(world: World, release: str, options: dict[str, Any], rules: list[str]):
    world.pin("vllm", f"=={release}")
    given = {"num_speculative_tokens": 3, **options}
    keys = {f"speculative_config.{name}": entry for name, entry in given.items()}
    world.vllm(draft="acme/qwen3-eagle3", target="meta-llama/Llama-3.1-8B-Instruct", options=keys)
    assert said(world) == rules


@pytest.mark.parametrize(
    ("release", "command", "rules"),
    [
        ("0.18.1", "-sc '{spec}'", ["EGL305"]),
        ("0.19.0", "-sc '{spec}'", []),
        ("0.26.0", "--spec-method eagle3 --speculative-config '{spec}'", ["EGL307"]),
        ("0.26.0", "--spec-tokens 3 --speculative-config.num_speculative_tokens 4 --spec-model d", ["EGL307"]),
        ("0.26.0", "--spec-method eagle3 --spec-model acme/h --spec-tokens 3", []),
    ],
)
def test_ways_of_writing_it_for_vllm(tmp_path: Path, release: str, command: str, rules: list[str]):
    spec = '{"method": "eagle3", "model": "acme/h", "num_speculative_tokens": 3}'
    words = command.replace("{spec}", spec)
    (tmp_path / "serve.sh").write_text(f"vllm serve meta-llama/Llama-3.1-8B-Instruct {words}\n")
    (tmp_path / "requirements.txt").write_text(f"vllm=={release}\n")
    found = check([str(tmp_path)], Settings()).findings
    assert [finding.rule for finding in found if finding.rule in CODES] == rules


@pytest.mark.parametrize(("size", "severity"), [(2, "error"), (1, "warning"), (4, None)])
def test_the_drafts_own_tensor_parallel_size(world: World, size: int, severity: str | None):
    world.pin("vllm", "==0.26.0")
    options = {
        "tensor_parallel_size": "4",
        "speculative_config.num_speculative_tokens": 3,
        "speculative_config.draft_tensor_parallel_size": size,
    }
    world.vllm(draft="acme/qwen3-eagle3", target="Qwen/Qwen3-14B", options=options)
    assert [finding.severity for finding in world.findings("EGL306")] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("release", "backend", "refused"),
    [
        ("0.5.4", "fa3", True),
        ("0.5.4", "flashinfer", False),
        ("0.5.9", "triton", True),
        ("0.5.9", "fa3", False),
        ("0.5.14", "triton", False),
        ("0.5.14", "flashmla", True),
        ("0.4.9", "triton", False),
    ],
)
def test_trees_over_pages_by_release_and_backend(world: World, release: str, backend: str, refused: bool):
    sglang(world, release, options={**TREE, "page_size": "16", "attention_backend": backend})
    assert ("EGL307" in said(world)) is refused


def test_a_backend_that_the_engine_chooses_is_not_judged(world: World):
    sglang(world, "0.5.9", options={**TREE, "page_size": "16"})
    assert said(world) == []


@pytest.mark.parametrize("release", ["0.5.4.post1", "0.5.6.post2", "0.5.8"])
def test_the_second_scheduler_drafts_chains(world: World, release: str):
    launch = sglang(world, release, options=TREE)
    world.lists["launches"] = [
        launch.__class__(**{**vars(launch), "environment": (("SGLANG_ENABLE_SPEC_V2", Value("1", at("serve.sh"))),)})
    ]
    assert said(world) == ["EGL307"]


@pytest.mark.parametrize(
    ("release", "options", "severity"),
    [
        ("0.5.1.post3", {"enable_lora": True, "lora_paths": "a=b"}, "warning"),
        ("0.5.9", {"enable_lora": True, "lora_paths": "a=b"}, "error"),
        ("0.5.9", {"lora_paths": "a=b"}, "error"),
    ],
)
def test_adapters_and_a_draft_do_not_go_together(world: World, release: str, options: dict[str, Any], severity: str):
    sglang(world, release, options=options)
    assert world.finding("EGL307").severity == severity


def test_later_releases_serve_adapters_beside_a_draft(world: World):
    sglang(world, "0.5.19", options={"enable_lora": True, "lora_paths": "a=b"})
    assert said(world) == []


def test_a_target_that_the_release_lets_not_through(world: World):
    world.pin("vllm", "==0.12.0")
    options = {"speculative_config.num_speculative_tokens": 3}
    world.vllm(draft="acme/glm-eagle3", target="zai-org/GLM-4.5-Air", options=options)
    assert world.finding("EGL307").severity == "error"


def test_an_override_reaches_sglangs_drafter(world: World):
    sglang(world, options={"json_model_override_args": {"rope_scaling": {"factor": 2.0}}})
    assert world.finding("EGL308").severity == "warning"


@pytest.mark.parametrize("value", [{}, "{}"])
def test_an_empty_override_rewrites_nothing(world: World, value: Any):
    sglang(world, options={"json_model_override_args": value})
    assert said(world) == []


@pytest.mark.parametrize(("reach", "said_of"), [(8192, True), (65536, False)])
def test_vllms_overrides_do_not_reach_the_drafter(world: World, reach: int, said_of: bool):
    world.pin("vllm", "==0.26.0")
    world.drafter([2, 18, 33], more={"max_position_embeddings": reach})
    options = {
        "speculative_config.num_speculative_tokens": 3,
        "hf_overrides": {"rope_parameters": {}},
        "max_model_len": "32768",
    }
    world.vllm(target="Qwen/Qwen3-8B", options=options)
    assert bool(world.findings("EGL308")) is said_of


@pytest.mark.parametrize(
    ("engine", "tokens", "fits"), [("sglang", 12, True), ("sglang", 6, False), ("vllm", 11, True), ("vllm", 20, False)]
)
def test_blocks_have_the_size_of_the_head(world: World, engine: str, tokens: int, fits: bool):
    world.drafter(
        path="head/config.json", method="dflash", more={"architectures": ["DFlashDraftModel"], "block_size": 12}
    )
    if engine == "sglang":
        world.pin("sglang", "==0.5.18")
        world.sglang(target="Qwen/Qwen3-8B", algorithm="DFLASH", options={"speculative_num_draft_tokens": str(tokens)})
    else:
        world.pin("vllm", "==0.26.0")
        options = {"speculative_config.num_speculative_tokens": tokens}
        world.vllm(target="Qwen/Qwen3-8B", algorithm="dflash", options=options)
    assert bool(world.findings("EGL309")) is not fits


@pytest.mark.parametrize(
    ("algorithm", "release", "words"),
    [("eagle3", "0.5.9", "EAGLE3"), ("EAGLE-3", "0.5.20", "EAGLE3"), ("DSPARK", "0.5.12", "0.5.16")],
)
def test_algorithms_that_the_release_does_not_take(world: World, algorithm: str, release: str, words: str):
    sglang(world, release, algorithm=algorithm)
    finding = world.finding("EGL311")
    assert words in finding.message


@pytest.mark.parametrize(("algorithm", "release"), [("eagle3", "0.5.12"), ("ACME_TREES", "0.5.20")])
def test_algorithms_in_any_case_and_those_of_plug_ins(world: World, algorithm: str, release: str):
    sglang(world, release, algorithm=algorithm)
    assert "EGL311" not in said(world)


def test_a_default_that_something_may_override_is_a_warning(world: World):
    launch = sglang(world)
    arguments = tuple(
        a._replace(value=Value("2", a.where, assumed="default of $PP")) if a.name == "pp_size" else a
        for a in (*launch.arguments, Argument("pp_size", "--pp-size", Value("2", at("serve.sh", 9)), at("serve.sh", 9)))
    )
    world.lists["launches"] = [launch.__class__(**{**vars(launch), "arguments": arguments})]
    finding = world.finding("EGL306")
    assert (finding.severity, finding.confidence) == ("warning", "likely")


def test_a_value_that_is_not_known_is_not_judged(world: World):
    launch = sglang(world)
    arguments = tuple(a._replace(value=Value(None, a.where, known=False)) for a in launch.arguments)
    world.lists["launches"] = [launch.__class__(**{**vars(launch), "arguments": arguments})]
    assert said(world) == []


def tensorrt(world: World, **keys: Any) -> None:
    given = {"speculative_config.decoding_type": "Eagle", **{f"speculative_config.{k}": v for k, v in keys.items()}}
    arguments = tuple(
        Argument(n, n.split(".")[1], Value(v, at("options.yaml", i)), at("options.yaml", i))
        for i, (n, v) in enumerate(given.items(), 2)
    )
    draft = Value(keys["speculative_model_dir"], at("options.yaml", 3)) if "speculative_model_dir" in keys else None
    target = Value("meta-llama/Llama-3.1-8B-Instruct", at("serve.sh", 2))
    world._add("launches", Launch("tensorrt-llm", "yaml", at("serve.sh", 2), arguments, target, draft))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"speculative_model_dir": "/head", "max_draft_len": 3}, []),
        ({"speculative_model_dir": "/head"}, ["EGL302"]),
        ({"max_draft_len": 3}, ["EGL303"]),
        ({"speculative_model_dir": "/head", "max_draft_len": 3, "max_draft_lens": 4}, ["EGL305"]),
        ({"speculative_model_dir": "/head", "max_draft_len": 3, "a_key_of_a_newer_release": 4}, []),
        ({"speculative_model_dir": "/head", "max_draft_len": 0}, ["EGL311"]),
    ],
)
def test_tensorrt_llm(world: World, keys: dict[str, Any], expected: list[str]):
    tensorrt(world, **keys)
    assert said(world) == expected


@pytest.mark.parametrize(("release", "missing"), [("0.23.0", True), ("0.33.0", False)])
def test_the_tokens_of_a_speculators_head_given_as_draft(world: Any, release: str, missing: bool):
    world.config(
        {
            "architectures": ["Eagle3Speculator"],
            "eagle_aux_hidden_state_layer_ids": [2, 18, 33],
            "speculators_config": {
                "algorithm": "eagle3",
                "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": 3}],
                "verifier": {"name_or_path": "Qwen/Qwen3-8B"},
            },
            "speculators_model_type": "eagle3",
            "transformer_layer_config": {"hidden_size": 4096, "num_hidden_layers": 1},
        }
    )
    world.pin("vllm", f"=={release}")
    world.vllm(draft="head", target="Qwen/Qwen3-8B")
    assert bool(world.findings("EGL302")) == missing
