"""Which JSON is the config of a drafter, which that of a target, which neither; and where a drafter lists layers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eaglelint.facts import DrafterConfig, TargetConfig
from eaglelint.project import Source
from eaglelint.readers.documents import documents
from eaglelint.readers.drafter import read_config

SHAPE = {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 1, "vocab_size": 128256}
TARGET = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 2560, "num_hidden_layers": 36}


def read(value: Any, path: str = "head/config.json") -> DrafterConfig | TargetConfig | None:
    source = Source(path, "json", Path(path), json.dumps(value, indent=2).encode())
    return read_config(source, documents(source)[0])


def drafter(**value: Any) -> DrafterConfig:
    config = read(value)
    assert isinstance(config, DrafterConfig)
    return config


def target(**value: Any) -> TargetConfig:
    config = read(value)
    assert isinstance(config, TargetConfig)
    return config


def named(architecture: str, **value: Any) -> DrafterConfig:
    return drafter(**{**SHAPE, "architectures": [architecture], **value})


class TestDrafters:
    @pytest.mark.parametrize(
        ("architecture", "dialect", "method"),
        [
            ("LlamaForCausalLMEagle3", "flat", "eagle3"),
            ("Eagle3LlamaForCausalLM", "flat", "eagle3"),
            ("Eagle3DeepseekV2ForCausalLM", "flat", "eagle3"),
            ("Qwen3Eagle3Model", "flat", "eagle3"),
            ("Eagle3DraftModel", "flat", "eagle3"),
            ("PEagleDraftModel", "flat", "eagle3"),
            ("LlamaForCausalLMEagle", "flat", "eagle"),
            ("EagleLlamaForCausalLM", "flat", "eagle"),
            ("EagleDeepSeekMTPModel", "flat", "eagle"),
            ("EagleModel", "flat", "eagle"),
            ("DFlashDraftModel", "dflash", "dflash"),
            ("DFlash2DraftModel", "dflash", "dflash"),
            ("Qwen3DSparkModel", "dspark", "dspark"),
            ("MedusaModel", "unknown", "medusa"),
            ("DeepSeekMTPModel", "unknown", "mtp"),
            ("DeepseekV3ForCausalLMNextN", "unknown", "mtp"),
            ("MLPSpeculatorPreTrainedModel", "unknown", "unknown"),
        ],
    )
    def test_by_architecture(self, architecture: str, dialect: str, method: str) -> None:
        config = named(architecture)
        assert (config.dialect, config.method) == (dialect, method)

    @pytest.mark.parametrize(
        "keys",
        [
            {"draft_vocab_size": 32000},
            {"eagle_config": {"use_aux_hidden_state": False}},
            {"eagle_aux_hidden_state_layer_ids": [2, 16, 29]},
            {"aux_hidden_states_layer_ids": [1, 15, 28], "target_model_type": "qwen3"},
            {"num_aux_hidden_states": 3},
            {"norm_before_residual": True},
        ],
    )
    def test_an_eagle3_head_that_only_its_keys_tell(self, keys: dict[str, Any]) -> None:
        assert named("LlamaForCausalLM", **keys).method == "eagle3"

    def test_a_head_under_the_name_of_eagle1_that_takes_states(self) -> None:
        assert named("LlamaForCausalLMEagle", eagle_config={"use_aux_hidden_state": True}).method == "eagle3"
        assert named("LlamaForCausalLMEagle", eagle_aux_hidden_state_layer_ids=[1, 15, 28]).method == "eagle3"

    @pytest.mark.parametrize(
        ("kind", "method"),
        [("eagle3", "eagle3"), ("peagle", "eagle3"), ("dflash", "dflash"), ("independent", "unknown")],
    )
    def test_the_format_of_speculators(self, kind: str, method: str) -> None:
        config = drafter(speculators_model_type=kind, transformer_layer_config=SHAPE)
        assert (config.dialect, config.method, config.model_type) == ("speculators", method, "")
        config = drafter(speculators_config={"algorithm": kind}, transformer_layer_config=SHAPE)
        assert (config.dialect, config.method) == ("speculators", method)

    def test_block_drafters_by_what_they_nest(self) -> None:
        ids = {"target_layer_ids": [1, 9, 17, 25, 33]}
        assert drafter(**SHAPE, dflash_config=ids).method == "dflash"
        assert named("Qwen3ForCausalLM", dflash_config=ids).method == "dflash"
        assert named("Qwen3ForCausalLM", dspark_target_layer_ids=[1, 20, 40]).method == "dspark"
        assert named("Qwen3ForCausalLM", target_layer_ids=[1, 20, 40], block_size=16).method == "dflash"
        assert named("Qwen3ForCausalLM", target_layer_ids=[1, 20, 40]).method == "unknown"

    def test_a_trainers_config_under_a_name_of_its_own(self) -> None:
        config = read({**SHAPE, "architectures": ["LlamaForCausalLMEagle3"]}, "configs/qwen3-eagle3.json")
        assert isinstance(config, DrafterConfig)
        assert (config.path, config.folder) == ("configs/qwen3-eagle3.json", "configs")

    def test_the_root_folder_has_no_name(self) -> None:
        config = read({**SHAPE, "draft_vocab_size": 1}, "config.json")
        assert isinstance(config, DrafterConfig)
        assert config.folder == ""
        assert config.where[:3] == ("config.json", 1, 1)

    def test_values_of_the_wrong_type_are_no_obstacle(self) -> None:
        config = drafter(architectures="LlamaForCausalLMEagle3", model_type=7, hidden_size="4096", eagle_config=[1])
        assert (config.architectures, config.model_type) == (("LlamaForCausalLMEagle3",), "")


class TestTargets:
    def test_an_ordinary_model(self) -> None:
        config = target(**TARGET, vocab_size=151936)
        assert (config.depth, config.hidden_size, config.vocab_size) == (36, 2560, 151936)
        assert (config.model_type, config.text_prefix) == ("qwen3", "")

    @pytest.mark.parametrize(
        "prefix",
        ["/text_config", "/llm_config", "/language_config", "/thinker_config", "/thinker_config/text_config"],
    )
    def test_a_model_that_nests_its_language_model(self, prefix: str) -> None:
        inner: Any = {"num_hidden_layers": 61, "hidden_size": 7168, "vocab_size": 163840}
        for part in reversed(prefix.split("/")[1:]):
            inner = {part: inner}
        config = target(
            architectures=["XForConditionalGeneration"], model_type="x", vision_config={"depth": 27}, **inner
        )
        assert (config.depth, config.hidden_size, config.vocab_size) == (61, 7168, 163840)
        assert config.text_prefix == prefix

    def test_the_nested_depth_counts_and_what_it_lacks_stands_outside(self) -> None:
        config = target(**TARGET, vocab_size=9, text_config={"num_hidden_layers": 48, "model_type": "x_text"})
        assert (config.depth, config.hidden_size, config.vocab_size) == (48, 2560, 9)

    def test_older_names_of_the_depth(self) -> None:
        assert target(architectures=["GPT2LMHeadModel"], model_type="gpt2", n_layer=12, n_embd=768).depth == 12

    def test_a_depth_that_is_no_number_is_not_known(self) -> None:
        assert target(**{**TARGET, "num_hidden_layers": "36"}).depth == 0

    @pytest.mark.parametrize(
        "value",
        [
            {**TARGET, "architectures": ["Qwen3ForSequenceClassification"], "num_labels": 1},
            {**TARGET, "num_nextn_predict_layers": 1},
            {**TARGET, "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 1},
            {**TARGET, "draft_vocab_size": None},
            {**TARGET, "architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next"},
            {**TARGET, "dspark_target_layer_ids": [1, 17, 36]},
            {**TARGET, "dflash_config": {"target_layer_ids": [1, 17, 33]}},
            {**TARGET, "architectures": ["Eagle2_5_VLForConditionalGeneration"], "model_type": "eagle_2_5_vl"},
            {
                "architectures": ["EagleForCausalLM"],
                "model_type": "x",
                "vision_config": {},
                "llm_config": {"n_layer": 9},
            },
        ],
    )
    def test_what_is_no_drafter(self, value: dict[str, Any]) -> None:
        assert isinstance(read(value), TargetConfig)


class TestNeither:
    @pytest.mark.parametrize(
        "value",
        [
            {"peft_type": "LORA", "layers_to_transform": [2, 18, 33], "base_model_name_or_path": "x"},
            {
                "peft_type": "LORA",
                "eagle_config": {},
                "num_hidden_layers": 1,
                "architectures": ["LlamaForCausalLMEagle3"],
            },
            {"block": 128, "layer_ids": [0, 0, 3], "topk": 16},
            {"method": "eagle3", "model": "x", "eagle_aux_hidden_state_layer_ids": [1, 2, 3]},
            {"num_hidden_layers": 36, "hidden_size": 8},
            {"metadata": {}, "weight_map": {"fc.weight": "model.safetensors"}},
            [1, 2, 3],
            "LlamaForCausalLMEagle3",
            None,
        ],
    )
    def test_other_json(self, value: Any) -> None:
        assert read(value) is None


class TestIdLists:
    def keys(self, **value: Any) -> list[tuple[str, tuple[Any, ...]]]:
        return [(ids.key, ids.ids) for ids in named("LlamaForCausalLMEagle3", **value).id_lists]

    def test_all_of_them_in_file_order(self) -> None:
        found = self.keys(
            eagle_config={"eagle_aux_hidden_state_layer_ids": [1, 15, 28], "layer_ids": [2, 16, 29]},
            eagle_aux_hidden_state_layer_ids=[2, 16, 29],
            transformer_layer_config={"eagle_aux_hidden_state_layer_ids": []},
        )
        assert found == [
            ("/eagle_config/eagle_aux_hidden_state_layer_ids", (1, 15, 28)),
            ("/eagle_config/layer_ids", (2, 16, 29)),
            ("/eagle_aux_hidden_state_layer_ids", (2, 16, 29)),
            ("/transformer_layer_config/eagle_aux_hidden_state_layer_ids", ()),
        ]

    def test_a_list_stands_where_it_is_written(self) -> None:
        [ids] = named("LlamaForCausalLMEagle3", eagle_aux_hidden_state_layer_ids=[2, 16, 29]).id_lists
        assert (ids.where.line, ids.where.end_line) == (9, 13)

    def test_entries_are_given_as_they_are(self) -> None:
        assert self.keys(eagle_aux_hidden_state_layer_ids=[-1, "2", None, 3.5])[0][1] == (-1, "2", None, 3.5)

    @pytest.mark.parametrize(
        "key",
        [
            "aux_hidden_states_layer_ids",
            "eagle_aux_hidden_states_layer_ids",
            "eagle_aux_layer_ids",
            "eagleAuxHiddenStateLayerIds",
            "layers_to_capture",
            "layer_ids",
            "target_layers",
        ],
    )
    def test_near_misses(self, key: str) -> None:
        assert self.keys(**{key: [1, 15, 28]}) == [(f"/{key}", (1, 15, 28))]

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("layer_types", ["full_attention"]),
            ("num_target_layers", 36),
            ("no_rope_layers", [1, 1, 0]),
            ("mlp_only_layers", [0]),
            ("num_hidden_layers", [12, 24]),
            ("eagle_aux_hidden_state_layer_ids", None),
            ("eagle_aux_hidden_state_layer_ids", "1,15,28"),
            ("eos_token_id", [1, 2]),
        ],
    )
    def test_what_lists_no_layers(self, key: str, value: Any) -> None:
        assert self.keys(**{key: value}) == []
