"""Named pairs of trainer and engine that do not fit, each with what goes wrong, from the conventions alone.

The numbers are those of the public reports: pull requests and issues of the engines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from eaglelint.conventions import rules
from eaglelint.conventions.known import KnownDrafter, known_drafter, known_target
from eaglelint.conventions.records import Reading, Target, TargetLike
from eaglelint.conventions.table import Engine, engine, engines
from eaglelint.conventions.trainers import Recipe, Trainer, trainer

LLAMA = Target(("LlamaForCausalLM",), "llama", 32)
DEEPSEEK = Target(("DeepseekV3ForCausalLM",), "deepseek_v3", 61)
KEY = "eagle_aux_hidden_state_layer_ids"
V3 = "nvidia/gpt-oss-120b-Eagle3-v3"
KIMI_MLA = "lightseekorg/kimi-k2.5-eagle3-mla"


def table(name: str) -> Engine:
    found = engine(name)
    assert found is not None
    return found


def made_by(name: str) -> Trainer:
    found = trainer(name)
    assert found is not None
    return found


def recipe(name: str, path: str) -> Recipe:
    return made_by(name).recipe(path)[-1]


def drafter(repo: str) -> KnownDrafter:
    found = known_drafter(repo)
    assert found is not None
    return found


def nested(ids: Sequence[int], **more: Any) -> dict[str, Any]:
    return {"eagle_config": {KEY: list(ids), **more}}


def top_level(ids: Sequence[int]) -> dict[str, Any]:
    return {KEY: list(ids)}


def config(head: KnownDrafter) -> dict[str, Any]:
    """The config of a published drafter, as far as ids go."""
    made: dict[str, Any] = {}
    for pointer in head.pointers:
        *above, name = pointer.strip("/").split("/")
        at = made
        for part in above:
            at = at.setdefault(part, {})
        at[name] = list(head.ids or ())
    return made


def value(document: Mapping[str, Any], pointer: str) -> Any:
    found: Any = document
    for part in pointer.strip("/").split("/"):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def reading(name: str, release: str, who: TargetLike, runner: str = "") -> Reading:
    found = table(name).readings(release or None, who, runner=runner)
    assert len(found) == 1, [(r.rule, r.runner) for r in found]
    return found[0]


def captured(read: Reading, document: Mapping[str, Any], depth: int) -> tuple[int, ...] | None:
    """What arrives when an engine loads this config; None when nothing does."""
    if read.status != "ok" or any(gate.off(lambda pointer: value(document, pointer)) for gate in read.gates):
        return None
    for key in read.keys if read.rule != "ignored" else ():
        ids = value(document, key)
        if ids is not None:
            return read.captured(ids, depth, key)
    return read.captured(None, depth)


def served(name: str, release: str, who: TargetLike, document: Mapping[str, Any], runner: str = "") -> object:
    return captured(reading(name, release, who, runner), document, who.depth)


def of(head: KnownDrafter) -> TargetLike:
    found = known_target(head.target)
    assert found is not None
    return found


# 1


@pytest.mark.parametrize(("name", "release"), [("vllm", "0.22.1"), ("vllm", "0.28.0"), ("atom", "")])
def test_model_optimizer_exports_outputs_where_vllm_and_atom_read_inputs(name: str, release: str):
    hf = recipe("modelopt", "hf")
    assert hf.exports is not None
    assert (hf.exports.ids, hf.exports.convention) == ("always", "output")
    exported = nested(rules.invert(hf.rule, hf.defaults(61) or (), 61) or (), use_aux_hidden_state=True)
    assert exported["eagle_config"][KEY] == [1, 29, 57]
    assert hf.defaults(61) == (2, 30, 58)
    assert served(name, release, DEEPSEEK, exported) == (1, 29, 57), "every state one layer early, by default"


# 2


def test_a_specforge_json_with_ids_is_one_layer_early_in_vllm():
    head = drafter("thoughtworks/MiniMax-M2.5-Eagle3")
    assert head.trained == (2, 31, 59)
    assert served("vllm", "0.22.1", of(head), config(head)) == (1, 30, 58)


# 3, 4


@pytest.mark.parametrize(
    ("original", "converted", "trained", "wrong"),
    [
        (
            "lmsys/Qwen3-235B-A22B-EAGLE3",
            "nm-testing/Qwen3-235B-A22B-EAGLE3-converted-speculators-lmsys",
            (2, 47, 91),
            (1, 46, 90),
        ),
        (
            "nvidia/Llama-4-Maverick-17B-128E-Eagle3",
            "nm-testing/Llama4-Maverick-Eagle3-Speculators",
            (2, 24, 45),
            (1, 23, 44),
        ),
    ],
)
def test_output_ids_that_were_copied_to_the_key_of_speculators_are_read_as_inputs(original, converted, trained, wrong):
    first, second = drafter(original), drafter(converted)
    assert first.trained == second.trained == trained
    assert first.ids == second.ids
    assert second.convention == "output_in_boundary_slot"
    assert served("vllm", "0.33.0", of(first), config(second)) == wrong
    assert served("sglang", "0.5.23", of(first), config(first)) == trained


# 5, 6


def test_what_torchspec_converts_for_vllm_is_one_layer_late_in_sglang_before_0_5_13():
    head = drafter(KIMI_MLA)
    assert head.trained == (2, 30, 58)
    assert served("sglang", "0.5.12.post1", of(head), config(head)) == (3, 31, 59)
    assert served("sglang", "0.5.13", of(head), config(head)) == (2, 30, 58)


def test_the_same_drafter_is_one_layer_late_in_tokenspeed():
    head = drafter(KIMI_MLA)
    assert served("tokenspeed", "0.1.1", of(head), config(head)) == (3, 31, 59)


# 7, 8, 9


def test_ids_that_contain_n_give_one_state_too_few_in_sglang_before_0_5_17():
    head = drafter(V3)
    assert head.trained == (24, 30, 36)
    assert served("sglang", "0.5.16", of(head), config(head)) == (25, 31), "5760 columns instead of 8640"
    assert served("sglang", "0.5.17", of(head), config(head)) == head.trained


def test_tokenspeed_ignored_them_and_then_read_n_alone_as_it_stands():
    head = drafter(V3)
    assert served("tokenspeed", "0.1.0", of(head), config(head)) == (2, 18, 33)
    assert served("tokenspeed", "0.1.1", of(head), config(head)) == (25, 31, 36)


def test_llama_cpp_computed_the_layers_and_could_not_reach_the_last():
    before, after = (entry.reading for entry in table("llama.cpp").entries)
    assert (before.rule, before.end) == ("ignored", "dropped")
    assert before.captured([24, 30, 36], 36) == (2, 18, 33)
    assert after.captured([24, 30, 36], 36) == (24, 30, 36)


# 10


@pytest.mark.parametrize(("name", "release"), [("vllm", "0.33.0"), ("sglang", "0.5.23"), ("tensorrt-llm", "")])
def test_a_drafter_of_custom_layers_that_declares_none_gets_the_default_everywhere(name: str, release: str):
    head = drafter("nvidia/Llama-3.3-70B-Instruct-Eagle3")
    assert (head.convention, head.ids_place, head.trained) == ("custom", "none", None)
    assert served(name, release, of(head), config(head)) == (2, 40, 77)
    assert not head.established, "what it was trained on is not published, so nothing is proven"


# 11


@pytest.mark.parametrize(
    ("name", "path", "given"),
    [
        ("specforge", "sglang_capture", "model.aux_hidden_state_layer_ids"),
        ("nemo-automodel", "all", "aux_layer_ids"),
        ("angelslim", "online", "/aux_hidden_states_layer_ids"),
    ],
)
def test_layers_that_a_run_chooses_are_lost_at_export(name: str, path: str, given: str):
    chosen = recipe(name, path)
    assert given in (*chosen.run_config, *chosen.keys)
    assert chosen.exports is not None
    assert chosen.exports.ids in ("never", "as_given")
    unread = {"aux_hidden_states_layer_ids": [3, 17, 30]}
    for served_by in ("sglang", "vllm", "tensorrt-llm", "tokenspeed"):
        newest = table(served_by).readings(table(served_by).latest or None, LLAMA)[0]
        assert captured(newest, unread, 32) == (2, 16, 29), served_by


# 12


def test_seven_weeks_of_specforge_had_the_middle_layer_one_late_and_no_engine_serves_that():
    wrong = made_by("specforge").recipe("online_hf")[1]
    assert (wrong.first, wrong.last) == ("94d67101 (2025-09-01)", "before bdbea66b (2025-10-20)")
    assert wrong.defaults(36) == (2, 19, 33)
    defaults = {r.defaults(36) for name in engines() for r in table(name).readings(None, LLAMA) if r.status == "ok"}
    assert (2, 19, 33) not in defaults
    assert (2, 18, 33) in defaults


# 13


@pytest.mark.parametrize(("name", "release"), [("sglang", "0.5.23"), ("tokenspeed", "0.1.1")])
def test_a_head_that_was_trained_from_model_optimizers_vllm_dump_is_served_one_layer_late(name: str, release: str):
    dump = recipe("modelopt", "vllm_dump")
    assert (dump.defaults(32), dump.last_state) == ((1, 15, 28), "pre_norm")
    assert {defect.id for defect in dump.defects} >= {"dump_one_layer_early", "last_state_unflagged"}
    assert dump.exports is not None
    exported = nested((1, 15, 28), use_aux_hidden_state=True)
    assert dump.exports.key == f"/eagle_config/{KEY}"
    assert served(name, release, LLAMA, exported) == (2, 16, 29)
    assert served("vllm", "0.28.0", LLAMA, exported, "V1") == (1, 15, 28), "right by two wrongs"


def test_tensorrt_llm_serves_its_default_to_such_a_head():
    assert served("tensorrt-llm", "", LLAMA, nested((1, 15, 28))) == (2, 16, 29)


# 14, 15


@pytest.mark.parametrize(
    ("name", "release", "runner", "default"),
    [("llama.cpp", "", "", (2, 16, 29)), ("mlx-vlm", "0.7.10", "", (1, 1, 2)), ("vllm", "0.33.0", "V2", (2, 16, 29))],
)
def test_ids_under_eagle_config_are_not_read_there(name, release, runner, default):
    found = served(name, release, LLAMA, nested((3, 17, 30)), runner)
    assert isinstance(found, tuple)
    assert tuple(sorted(found)) == default


@pytest.mark.parametrize(("name", "release"), [("sglang", "0.4.9"), ("sglang", "0.5.23"), ("atom", "")])
def test_ids_at_the_top_level_are_not_read_there(name: str, release: str):
    who = DEEPSEEK if name == "atom" else LLAMA
    default = (2, who.depth // 2, who.depth - 3)
    assert served(name, release, who, top_level((5, 6, 7))) == default


# 16


def test_sglang_and_sglang_with_the_plug_in_of_atom_read_one_drafter_differently():
    document = nested((1, 15, 28))
    assert served("sglang", "0.5.23", LLAMA, document) == (2, 16, 29)
    assert served("atom-sglang", "", LLAMA, document) == (1, 15, 28)


# 17


def test_no_convention_makes_a_known_default_of_1_21_40():
    head = drafter("SyzygyResearch/DeepSeek-V4-Flash-EAGLE3.1")
    assert (head.ids, head.depth, head.convention, head.trained) == ((1, 21, 40), 43, "mixed", None)
    default = (2, 43 // 2, 43 - 3)
    meanings = {rule: rules.apply(rule, head.ids, 43) for rule in rules.NAMES}
    assert default not in meanings.values()
    assert meanings["plus_one"] == (2, 22, 41)
    assert meanings["as_is"] == (1, 21, 40)


# 18


def test_nemo_rl_reads_the_boundaries_of_a_drafter_that_it_starts_from_as_outputs():
    start = recipe("nemo-rl", "all")
    assert start.keys == (f"/{KEY}",)
    written = recipe("speculators", "train")
    assert written.exports is not None
    assert (written.exports.key, written.exports.convention) == (f"/{KEY}", "boundary")
    assert written.defaults(32) == (2, 16, 29)
    assert start.boundaries((2, 16, 29), 32) == (3, 17, 30)


# 19


def test_qwen3_vl_adds_deepstack_behind_layers_that_are_captured():
    target = known_target("Qwen/Qwen3-VL-8B-Instruct")
    assert target is not None
    assert [(special.kind, special.layers) for special in target.special] == [("deepstack", (0, 1, 2))]
    before, after = (reading("sglang", release, target) for release in ("0.5.18", "0.5.22"))
    assert "before the deepstack addition" in before.note
    assert "holds the deepstack addition" in after.note
    assert "holds the deepstack additions" in reading("vllm", "0.33.0", target).note
    assert before.captured([1, 17, 32], 36) == after.captured([1, 17, 32], 36) == (2, 18, 33), "the same numbers"


# 20


def test_openvino_is_suspected_to_be_one_layer_late_by_default():
    read = reading("openvino-genai", "", LLAMA)
    assert captured(read, {}, 32) == (3, 17, 30)
    assert read.certainty == "suspected", "read, not run: it may never make an error"


# 21


def test_tokenspeed_captures_nothing_for_the_last_layer_and_atom_ends_for_n():
    tokenspeed = reading("tokenspeed", "0.1.1", LLAMA)
    assert captured(tokenspeed, nested((1, 15, 31)), 32) == (2, 16)
    assert captured(tokenspeed, nested((1, 15, 32)), 32) == (2, 16, 32)
    atom = reading("atom", "", DEEPSEEK)
    assert atom.end == "crash"
    assert captured(atom, nested((2, 30, 61), use_aux_hidden_state=True), 61) == (2, 30)


# 22


def test_a_json_of_specforge_for_gpt_oss_switches_the_capture_of_atom_off():
    gpt_oss = known_target("openai/gpt-oss-120b")
    assert gpt_oss is not None
    shipped = nested((1, 17, 33))
    assert served("sglang", "0.5.23", gpt_oss, shipped) == (2, 18, 34)
    assert served("atom", "", gpt_oss, shipped) is None
    assert served("atom", "", gpt_oss, {}) == (2, 18, 33), "without an eagle_config it is on"


# 23


def test_the_converter_of_speculators_drops_nested_ids():
    convert = recipe("speculators", "convert_eagle3")
    assert {defect.id for defect in convert.defects} == {"nested_ids_dropped"}
    assert convert.keys == (), "nothing of the source's config is read"
    assert convert.exports is not None
    assert (convert.exports.ids, convert.exports.key) == ("as_given", f"/{KEY}")
    assert served("vllm", "0.33.0", LLAMA, {}) == (2, 16, 29)
