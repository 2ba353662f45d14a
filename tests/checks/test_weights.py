"""EGL404, EGL601 to EGL608, EGL210: weights against the config and the engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tensor_files
from weighing import LAYER, codes, findings, head

from eaglelint.findings import Finding

NARROW = {"target_hidden_size": 16}


def one(found: list[Finding], rule: str) -> Finding:
    assert codes(found) == [rule], [f"{f.rule} {f.message}" for f in found]
    return found[0]


def silent(found: list[Finding]) -> bool:
    assert not found, [f"{f.rule} {f.message}" for f in found]
    return True


@pytest.mark.parametrize("pin", ["sglang==0.5.11", "sglang==0.5.23", "vllm==0.11.0", "vllm==0.33.0", "sglang>=0.5.11"])
def test_a_whole_head_is_fine_everywhere(tmp_path: Path, pin: str):
    assert silent(findings(tmp_path, tensors=head(), pin=pin))


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin", "model.pt"])
def test_every_format_of_weights_is_judged(tmp_path: Path, name: str):
    found = one(findings(tmp_path, tensors=head(fc__weight="BF16 [8, 16]"), name=name), "EGL601")
    assert found.where.path.endswith(f"head/{name}")


def test_of_a_class_that_the_engine_does_not_have_no_tensor_is_missing(tmp_path: Path):
    """The Qwen3 class of another engine would have norms of queries and keys."""
    found = findings(tmp_path, config={"architectures": ["Qwen3ForCausalLM"]}, tensors=head())
    assert codes(found) == ["EGL205"]


class TestFc:
    def test_the_number_of_states_and_both_shapes_are_named(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head(fc__weight="BF16 [8, 32]")), "EGL601")
        assert (found.severity, found.confidence) == ("error", "proven")
        assert "[8, 32]" in found.message
        assert "4 states of 8" in found.message
        assert "[8, 24]" in found.message

    def test_a_width_that_is_no_multiple_of_the_target_s_is_a_matter_of_widths(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head(fc__weight="BF16 [8, 36]")), "EGL404")
        assert "no whole number" in found.message

    def test_a_number_that_the_config_gives_counts_like_ids(self, tmp_path: Path):
        config = {"num_aux_hidden_states": 4, "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 3, 5, 8]}}
        assert silent(findings(tmp_path, config=config, tensors=head(fc__weight="BF16 [8, 32]")))

    def test_a_head_of_the_last_state_has_no_fc_to_judge(self, tmp_path: Path):
        config = {"eagle_config": {"use_aux_hidden_state": False}}
        found = findings(tmp_path, config=config, tensors=head(fc__weight="BF16 [8, 16]"))
        assert "EGL601" not in codes(found)

    def test_packed_numbers_have_no_shape_to_judge(self, tmp_path: Path):
        assert silent(findings(tmp_path, tensors=head(fc__weight="U8 [8, 12]")))


class TestNames:
    def test_the_first_release_that_knows_the_names_is_said(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head("layers.0."), pin="sglang==0.5.10"), "EGL604")
        assert "layers.0.* (10 tensors)" in found.message
        assert found.fix is not None
        assert "SGLang 0.5.12" in found.fix.description

    @pytest.mark.parametrize("pin", ["sglang==0.5.12", "vllm==0.9.1", "vllm==0.33.0"])
    def test_releases_that_know_both_names_are_fine(self, tmp_path: Path, pin: str):
        assert silent(findings(tmp_path, tensors=head("layers.0."), pin=pin))

    def test_a_bounded_range_that_holds_both_kinds_of_releases_is_a_warning(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head("layers.0."), pin="sglang>=0.5.9,<0.5.14"), "EGL604")
        assert found.severity == "warning"

    def test_without_a_pin_old_releases_are_nobody_s_business(self, tmp_path: Path):
        assert silent(findings(tmp_path, tensors=head("layers.0."), pin="sglang"))

    def test_sglang_takes_names_that_begin_with_model(self, tmp_path: Path):
        named = {name if name in ("lm_head.weight", "d2t", "t2d") else f"model.{name}": t for name, t in head().items()}
        assert silent(findings(tmp_path, tensors=named))

    def test_vllm_does_not(self, tmp_path: Path):
        named = {name if name in ("lm_head.weight", "d2t", "t2d") else f"model.{name}": t for name, t in head().items()}
        assert "refuses" in one(findings(tmp_path, tensors=named, pin="vllm==0.20.0"), "EGL604").message

    def test_a_prefix_that_nobody_knows_is_wrong_without_an_engine_in_scope(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head("draft.block."), pin=""), "EGL604")
        assert "draft.block.*" in found.message

    def test_layers_that_one_engine_in_use_does_not_know_are_said_of_that_one(self, tmp_path: Path):
        found = findings(tmp_path, tensors=head("layers.0."), pin="sglang==0.5.11")
        assert "vLLM" not in one(found, "EGL604").message

    def test_fused_projections_are_the_same_tensors(self, tmp_path: Path):
        tensors = head(
            midlayer__self_attn__qkv_proj__weight="BF16 [16, 16]", midlayer__mlp__gate_up_proj__weight="BF16 [32, 8]"
        )
        for name in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj"):
            del tensors[f"midlayer.{name}.weight"]
        assert silent(findings(tmp_path, tensors=tensors))


class TestParts:
    def test_a_part_that_is_missing_is_named(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head(midlayer__hidden_norm__weight=None)), "EGL606")
        assert "layers.0.hidden_norm.weight" in found.message

    def test_nothing_is_missing_from_weights_that_are_not_whole(self, tmp_path: Path):
        index = {"weight_map": dict.fromkeys(("fc.weight", "norm.weight"), "model-1.safetensors")}
        index["weight_map"]["lm_head.weight"] = "model-2.safetensors"
        files = {
            "head/model.safetensors.index.json": json.dumps(index).encode(),
            "head/model-1.safetensors": tensor_files.described(
                "m.safetensors", {"fc.weight": "BF16 [8, 24]", "norm.weight": "BF16 [8]"}
            ),
        }
        assert silent(findings(tmp_path, files=files))

    def test_shards_that_are_numbered_and_not_all_there_are_not_whole(self, tmp_path: Path):
        tensors = {"fc.weight": "BF16 [8, 24]"}
        assert silent(findings(tmp_path, tensors=tensors, name="model-00001-of-00002.safetensors"))

    def test_quantised_parts_are_there_under_other_names(self, tmp_path: Path):
        tensors = head(midlayer__mlp__up_proj__weight=None, midlayer__mlp__up_proj__weight_packed="I32 [16, 1]")
        assert silent(findings(tmp_path, tensors=tensors))

    @pytest.mark.parametrize("place", ["top", "nested"])
    def test_a_norm_that_is_declared_and_stored_is_fine(self, tmp_path: Path, place: str):
        nested = {"eagle_aux_hidden_state_layer_ids": [1, 5, 8], "norm_before_fc": True}
        config = {"norm_before_fc": True} if place == "top" else {"eagle_config": nested}
        assert silent(findings(tmp_path, config=config, tensors=head(input_norm__weight="BF16 [24]")))

    def test_a_norm_for_each_state_must_be_there_for_each(self, tmp_path: Path):
        norms = {"fc_norm__0__weight": "BF16 [8]", "fc_norm__1__weight": "BF16 [8]"}
        found = one(findings(tmp_path, config={"fc_norm": True}, tensors=head(**norms)), "EGL606")
        assert "fc_norm.2.weight" in found.message
        assert found.where.path.endswith("config.json")

    def test_older_names_of_these_norms_count(self, tmp_path: Path):
        norms = {f"aux_norm_{name}__weight": "BF16 [8]" for name in ("low", "mid", "high")}
        assert silent(findings(tmp_path, config={"use_aux_norm": True}, tensors=head(**norms)))

    def test_config_and_tensors_that_agree_leave_the_engine_to_another_rule(self, tmp_path: Path):
        found = findings(
            tmp_path,
            config={"norm_before_fc": True},
            tensors=head(input_norm__weight="BF16 [24]"),
            pin="sglang==0.5.15",
        )
        assert codes(found) == ["EGL207"]


class TestGeometry:
    def test_all_wrong_shapes_are_one_finding(self, tmp_path: Path):
        changes = {
            "midlayer__self_attn__q_proj__weight": "BF16 [16, 16]",
            "midlayer__self_attn__o_proj__weight": "BF16 [8, 16]",
        }
        found = one(findings(tmp_path, tensors=head(**changes)), "EGL608")
        assert "q_proj" in found.message
        assert "o_proj" in found.message
        assert "[num_attention_heads x head_dim, 2 x hidden_size]" in found.message

    def test_further_layers_take_one_width(self, tmp_path: Path):
        second = {
            f"layers.1.{name}": text.replace(", 16]", ", 8]") if "self_attn" in name else text
            for name, text in LAYER.items()
        }
        tensors = {**head("layers.0."), **second, "layers.1.mlp.down_proj.weight": "BF16 [8, 16]"}
        assert silent(findings(tmp_path, config={"num_hidden_layers": 2}, tensors=tensors))

    def test_sizes_that_are_not_given_are_not_judged(self, tmp_path: Path):
        tensors = head(midlayer__mlp__gate_proj__weight="BF16 [48, 8]")
        assert silent(findings(tmp_path, without=("intermediate_size",), tensors=tensors))

    def test_heads_of_keys_are_those_of_queries_when_they_are_not_given(self, tmp_path: Path):
        changes = {f"midlayer__self_attn__{name}_proj__weight": "BF16 [8, 16]" for name in "kv"}
        assert silent(findings(tmp_path, without=("num_key_value_heads",), tensors=head(**changes)))

    def test_latent_attention_has_shapes_of_its_own(self, tmp_path: Path):
        config = {
            "architectures": ["Eagle3DeepseekV2ForCausalLM"], "model_type": "kimi_k2", "q_lora_rank": 6,
            "kv_lora_rank": 5, "qk_nope_head_dim": 4, "qk_rope_head_dim": 2, "v_head_dim": 3,
        }  # fmt: skip
        attention = {
            "q_a_proj": "[6, 16]", "q_b_proj": "[12, 6]", "kv_a_proj_with_mqa": "[7, 16]", "kv_b_proj": "[14, 5]",
            "o_proj": "[8, 6]", "q_a_layernorm": "[6]", "kv_a_layernorm": "[5]",
        }  # fmt: skip
        plain = {name: text for name, text in head("layers.0.").items() if "self_attn" not in name}
        tensors = {
            **plain,
            **{f"layers.0.self_attn.{name}.weight": f"BF16 {shape}" for name, shape in attention.items()},
        }
        assert silent(findings(tmp_path / "right", config=config, tensors=tensors))
        tensors["layers.0.self_attn.kv_a_proj_with_mqa.weight"] = "BF16 [7, 8]"
        found = one(findings(tmp_path / "wrong", config=config, tensors=tensors), "EGL608")
        assert "kv_lora_rank + qk_rope_head_dim" in found.message


class TestWidth:
    def test_a_width_that_no_tensor_has_is_one_finding_at_the_config(self, tmp_path: Path):
        config, target = {"hidden_size": 16}, {"hidden_size": 16}
        found = one(findings(tmp_path, config=config, target=target, tensors=head()), "EGL608")
        assert "8 wide" in found.message
        assert found.where.path.endswith("config.json")

    def test_where_it_is_not_the_target_s_either_the_target_is_named(self, tmp_path: Path):
        assert codes(findings(tmp_path, config={"hidden_size": 16}, tensors=head())) == ["EGL404"]

    def test_an_fc_for_the_target_s_width_is_right_where_the_config_forgets_it(self, tmp_path: Path):
        tensors = head(fc__weight="BF16 [8, 48]", embed_tokens__weight="BF16 [32, 8]")
        found = findings(tmp_path, target={"hidden_size": 16}, tensors=tensors, pin="vllm==0.24.0")
        assert codes(found) == ["EGL404"]


class TestDepth:
    def test_fewer_layers_in_the_weights_than_in_the_config(self, tmp_path: Path):
        found = one(findings(tmp_path, config={"num_hidden_layers": 2}, tensors=head("layers.0.")), "EGL210")
        assert found.where.path.endswith("config.json")
        assert "layer 0" in found.message

    def test_more_layers_in_the_weights_than_in_the_config(self, tmp_path: Path):
        tensors = {**head("layers.0."), "layers.1.mlp.gate_proj.weight": "BF16 [16, 8]"}
        assert "layers 0 and 1" in one(findings(tmp_path, tensors=tensors), "EGL210").message


class TestLmHead:
    def test_random_rows_are_an_error(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head(lm_head__weight=None)), "EGL602")
        assert "random" in found.message

    @pytest.mark.parametrize("pin", ["vllm==0.11.1", "vllm==0.33.0"])
    def test_vllm_borrows_it_for_the_whole_vocabulary_only(self, tmp_path: Path, pin: str):
        without = head(lm_head__weight=None, d2t=None, t2d=None)
        assert silent(findings(tmp_path / "full", config={"draft_vocab_size": 32}, tensors=without, pin=pin))
        found = one(findings(tmp_path / "reduced", tensors=head(lm_head__weight=None), pin=pin), "EGL602")
        assert "first 8 rows" in found.message

    def test_sglang_borrows_it_when_the_size_is_null(self, tmp_path: Path):
        without = head(lm_head__weight=None, d2t=None, t2d=None)
        assert silent(findings(tmp_path, config={"draft_vocab_size": None}, tensors=without))

    def test_what_can_not_be_read_is_not_missing(self, tmp_path: Path):
        pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
        assert silent(findings(tmp_path, files={"head/model.safetensors": pointer}))

    def test_a_truncated_file_is_said_and_nothing_more(self, tmp_path: Path):
        whole = tensor_files.described("m.safetensors", head())
        found = one(findings(tmp_path, files={"head/model.safetensors": whole[:300]}), "EGL001")
        assert found.where.path.endswith("head/model.safetensors")

    def test_a_full_size_without_an_engine_is_left_open(self, tmp_path: Path):
        without = head(lm_head__weight=None, d2t=None, t2d=None)
        assert silent(findings(tmp_path, config={"draft_vocab_size": 32}, tensors=without, pin=""))


class TestEmbedding:
    def test_a_narrow_head_needs_its_own(self, tmp_path: Path):
        for number, pin in enumerate(("sglang==0.5.16", "vllm==0.10.0", "vllm==0.33.0")):
            found = findings(
                tmp_path / str(number), config=NARROW, target={"hidden_size": 16}, pin=pin,
                tensors=head(fc__weight="BF16 [8, 48]"),
            )  # fmt: skip
            assert one(found, "EGL603").severity == "error"

    def test_and_may_bring_it(self, tmp_path: Path):
        tensors = head(fc__weight="BF16 [8, 48]", embed_tokens__weight="BF16 [32, 8]")
        assert silent(findings(tmp_path, config=NARROW, target={"hidden_size": 16}, tensors=tensors))

    @pytest.mark.parametrize(
        ("pin", "severity"),
        [("sglang==0.5.17", "warning"), ("vllm==0.10.2", "warning"), ("vllm==0.9.0.1", "error"), ("vllm==0.12.0", "")],
    )
    def test_a_surplus_one_is_replaced_refused_or_kept(self, tmp_path: Path, pin: str, severity: str):
        found = findings(tmp_path, tensors=head(embed_tokens__weight="BF16 [32, 8]"), pin=pin)
        assert [f.severity for f in found if f.rule == "EGL603"] == ([severity] if severity else [])


class TestBias:
    def test_a_bias_of_fc_needs_the_flag(self, tmp_path: Path):
        found = one(findings(tmp_path, tensors=head(fc__bias="BF16 [8]")), "EGL605")
        assert "drops" in found.message
        assert silent(findings(tmp_path / "declared", config={"bias": True}, tensors=head(fc__bias="BF16 [8]")))

    def test_vllm_has_no_place_for_it_and_takes_the_flag_for_another_one(self, tmp_path: Path):
        found = findings(tmp_path, config={"bias": True}, tensors=head(fc__bias="BF16 [8]"), pin="vllm==0.24.0")
        assert codes(found) == ["EGL605", "EGL605"]
        assert "o_proj" in found[0].message
        assert "fc.bias" in found[1].message

    def test_a_declared_bias_without_a_tensor_is_random(self, tmp_path: Path):
        found = one(findings(tmp_path, config={"bias": True}, tensors=head()), "EGL605")
        assert found.where.path.endswith("config.json")

    def test_early_releases_always_build_one(self, tmp_path: Path):
        found = [f for f in findings(tmp_path, tensors=head(), pin="sglang==0.4.8.post1") if f.rule == "EGL605"]
        assert "always" in found[0].message

    def test_biases_of_the_attention(self, tmp_path: Path):
        tensors = head(
            midlayer__self_attn__q_proj__bias="BF16 [8]",
            midlayer__self_attn__k_proj__bias="BF16 [4]",
            midlayer__self_attn__v_proj__bias="BF16 [4]",
            midlayer__self_attn__o_proj__bias="BF16 [8]",
        )
        config = {"attention_bias": True}
        assert silent(findings(tmp_path / "new", config=config, tensors=tensors, pin="vllm==0.16.0"))
        assert codes(findings(tmp_path / "old", config=config, tensors=tensors, pin="vllm==0.14.1")) == ["EGL605"]
        assert codes(findings(tmp_path / "sglang", config=config, tensors=tensors)) == ["EGL605"]


class TestTied:
    def test_with_a_reduced_vocabulary_it_is_wrong_without_weights_too(self, tmp_path: Path):
        found = one(findings(tmp_path, config={"tie_word_embeddings": True}), "EGL607")
        assert found.where.path.endswith("config.json")

    def test_vllm_does_not_read_the_flag(self, tmp_path: Path):
        assert silent(findings(tmp_path, config={"tie_word_embeddings": True}, tensors=head(), pin="vllm==0.24.0"))

    def test_with_an_lm_head_of_its_own_that_is_ignored(self, tmp_path: Path):
        config = {"tie_word_embeddings": True, "draft_vocab_size": 32}
        tensors = head(lm_head__weight="BF16 [32, 8]", d2t=None, t2d=None)
        assert "ignored" in one(findings(tmp_path, config=config, tensors=tensors), "EGL607").message

    def test_with_neither_it_is_fine(self, tmp_path: Path):
        config = {"tie_word_embeddings": True, "draft_vocab_size": 32}
        assert silent(findings(tmp_path, config=config, tensors=head(lm_head__weight=None, d2t=None, t2d=None)))

    def test_without_an_engine_it_is_a_warning(self, tmp_path: Path):
        found = one(findings(tmp_path, config={"tie_word_embeddings": True}, tensors=head(), pin=""), "EGL607")
        assert found.severity == "warning"
        assert "SGLang" in found.message


class TestOtherHeads:
    def test_weights_of_other_models_are_not_judged(self, tmp_path: Path):
        config = {"architectures": ["DFlashDraftModel"], "dflash_config": {"target_layer_ids": [1, 5]}, "block_size": 8}
        found = findings(
            tmp_path, config=config, without=("eagle_config",), tensors={"fc.weight": "BF16 [8, 8]"}, pin=""
        )
        assert not [code for code in codes(found) if code.startswith(("EGL6", "EGL7"))]

    def test_files_of_tensors_elsewhere_are_not_opened(self, tmp_path: Path):
        assert silent(findings(tmp_path, tensors=head(), files={"data/sample.safetensors": b"nothing", "x.pt": b"?"}))

    def test_what_training_leaves_beside_the_weights_is_not_loaded(self, tmp_path: Path):
        files = {"head/optimizer.pt": b"?", "head/training_args.bin": b"?", "head/rng_state.pth": b"?"}
        assert silent(findings(tmp_path, tensors=head(), files=files))
