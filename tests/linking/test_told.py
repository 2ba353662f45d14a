"""What trainers were told becomes evidence: by each trainer's own rule, for the head that the recipe makes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from eaglelint.checks.contract import aux_layers_mismatch, right_by_one_reading
from eaglelint.facts import Facts
from eaglelint.guard import Guard
from eaglelint.linking.records import Training
from eaglelint.pipeline import Pipeline, link
from eaglelint.project import discover
from eaglelint.reading import read
from eaglelint.settings import Settings

Linked = Callable[[Mapping[str, Any]], dict[str, Pipeline]]

SHAPE = {"architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 32000, "hidden_size": 4096}


def head(ids: list[int] | None = None, **more: Any) -> str:
    nested = {"eagle_config": {"eagle_aux_hidden_state_layer_ids": ids}} if ids is not None else {}
    return json.dumps({**SHAPE, **nested, **more})


@pytest.fixture
def linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Linked:
    monkeypatch.chdir(tmp_path)

    def write(files: Mapping[str, Any]) -> dict[str, Pipeline]:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        guard = Guard()
        facts: Facts = read(discover(["."], settings=Settings()), Settings(), guard)
        assert not guard.tracebacks
        return {pipeline.name: pipeline for pipeline in link(facts, Settings())}

    return write


def best(pipeline: Pipeline) -> list[Training]:
    return list(pipeline.evidence.best)


def boundaries(pipeline: Pipeline) -> tuple[int, ...] | None:
    (said,) = best(pipeline)
    return said.at(pipeline.depth)


SERVE = 'vllm serve Qwen/Qwen3-8B --speculative-config \'{"method": "eagle3", "model": "./head"}\'\n'
SPECFORGE = """\
model: {target_model_path: Qwen/Qwen3-8B, aux_hidden_state_layer_ids: [3, 17, 30]}
training: {strategy: eagle3}
output_dir: outputs/q8
"""


DRAFT = "training: {{strategy: eagle3}}\nmodel: {{target_model_path: Qwen/Qwen3-8B, draft_model_config: {}}}\n"


class TestTrainers:
    """Each trainer's ids by its own rule, for Qwen3-8B with 36 layers."""

    @pytest.mark.parametrize(
        ("files", "expected"),
        [
            ({"run.yaml": SPECFORGE}, (4, 18, 31)),
            (
                {
                    "r.yaml": "metadata: {recipe_type: speculative_eagle}\nmodel: {model_name_or_path: Qwen/Qwen3-8B}\n"
                    "eagle: {eagle_architecture_config: {eagle_aux_hidden_state_layer_ids: [3, 17, 30]}}\n"
                },
                (4, 18, 31),
            ),
            (
                {
                    "r.yaml": "recipe: TrainEagle3Recipe\nrecipe_args:\n  aux_layer_ids: [3, 17, 30]\n"
                    "  target_model_name_or_path: Qwen/Qwen3-8B\n"
                },
                (4, 18, 31),
            ),
            (
                {
                    "r.yaml": "policy:\n  model_name: Qwen/Qwen3-8B\n"
                    "  draft: {enabled: true, aux_layer_indices: [3, 17, 30]}\n"
                },
                (4, 18, 31),
            ),
            (
                {
                    "r.yaml": "model: {target_model_path: Qwen/Qwen3-8B}\n"
                    "inference: {inference_engine_type: vllm, aux_hidden_states_layers: [3, 17, 30]}\n"
                },
                (4, 18, 31),
            ),
            (
                {"t.sh": "python compute_hidden_states_vllm.py --model Qwen/Qwen3-8B --aux-layers 3,17,30\n"},
                (3, 17, 30),  # the dump that hands outputs to an engine of boundaries
            ),
            (
                {"t.sh": "python compute_hidden_states_trtllm.py --model Qwen/Qwen3-8B --aux-layers 3,17,30\n"},
                (4, 18, 31),
            ),
            (
                {
                    "t.sh": "python scripts/data_generation_offline.py --target-model-path Qwen/Qwen3-8B "
                    "--layer-ids 3 17 30 35\n"
                },
                (4, 18, 31),  # one late, and the last is the verifier's
            ),
            (
                {"t.sh": "python scripts/launch_vllm.py Qwen/Qwen3-8B --target-layer-ids 3 17 30\n"},
                (3, 17, 30),
            ),
            (
                {
                    "t.sh": "python scripts/launch_vllm.py Qwen/Qwen3-8B --target-layer-ids 3 17 30 36 "
                    "--no-include-last-layer\n"
                },
                (3, 17, 30),
            ),
            ({"t.sh": "export EAGLE_CAPTURE_IDS=[3,17,30,36]\n"}, (3, 17, 30)),
        ],
    )
    def test_explicit_ids(self, linked: Linked, files: dict[str, str], expected: tuple[int, ...]):
        found = linked({"head/config.json": head(), "serve.sh": SERVE, **files})
        assert boundaries(found["head"]) == expected

    @pytest.mark.parametrize(
        ("command", "expected"),
        [
            ("python scripts/data_generation_offline.py --target-model-path Qwen/Qwen3-8B --output-dir g", (3, 19, 34)),
            ("python scripts/launch_vllm.py Qwen/Qwen3-8B --hidden-states-path h", (2, 18, 33)),
            ("python compute_hidden_states_vllm.py --model Qwen/Qwen3-8B --output-dir h", (1, 17, 32)),
            ("python compute_hidden_states_hf.py --model Qwen/Qwen3-8B --aux-layers eagle", (2, 18, 33)),
            ("python generate_data_fused_features.py --outdir o", (2, 18, 33)),
            ("deepspeed eagle/traineagle3/main.py --basepath Qwen/Qwen3-8B --savedir head", (2, 18, 33)),
        ],
    )
    def test_defaults(self, linked: Linked, command: str, expected: tuple[int, ...]):
        found = linked({"head/config.json": head(), "serve.sh": SERVE, "t.sh": command + "\n"})
        assert boundaries(found["head"]) == expected


class TestOwnership:
    """Which head a recipe makes."""

    def test_the_only_head_of_a_project(self, linked: Linked):
        (told,) = linked({"export/config.json": head(), "run.yaml": SPECFORGE})["export"].told
        assert not told.named

    def test_the_head_in_the_folder_that_the_recipe_writes(self, linked: Linked):
        found = linked({"outputs/q8/epoch_2/config.json": head(), "other/config.json": head(), "run.yaml": SPECFORGE})
        (told,) = found["outputs/q8/epoch_2"].told
        assert told.named
        assert not found["other"].told

    def test_the_head_that_an_export_wrote(self, linked: Linked):
        found = linked(
            {
                "final/config.json": head(),
                "other/config.json": head(),
                "run.yaml": SPECFORGE,
                "go.sh": "specforge train -c run.yaml\n"
                "specforge export --to hf --checkpoint outputs/q8/step_9 --draft-config d.json --output-dir final\n",
            }
        )
        assert boundaries(found["final"]) == (4, 18, 31)
        assert not found["other"].told

    def test_the_head_whose_config_is_the_draft_config(self, linked: Linked):
        run = DRAFT.format("b/config.json")
        found = linked({"a/config.json": head([1, 2, 3]), "b/config.json": head([3, 17, 30]), "run.yaml": run})
        assert boundaries(found["b"]) == (4, 18, 31)
        assert not found["a"].told

    def test_a_recipe_that_names_the_head_before_one_that_may_mean_it(self, linked: Linked):
        other = SPECFORGE.replace("[3, 17, 30]", "[5, 9, 13]").replace("outputs/q8", "elsewhere")
        found = linked({"outputs/q8/config.json": head(), "run.yaml": SPECFORGE, "second.yaml": other})
        assert boundaries(found["outputs/q8"]) == (4, 18, 31)

    def test_two_recipes_that_may_mean_it_contradict_each_other(self, linked: Linked):
        other = SPECFORGE.replace("[3, 17, 30]", "[5, 9, 13]")
        found = linked({"head/config.json": head(), "run.yaml": SPECFORGE, "second.yaml": other})
        assert found["head"].training is None

    def test_a_recipe_for_another_target_says_nothing_of_the_layers(self, linked: Linked):
        other = SPECFORGE.replace("Qwen/Qwen3-8B", "Qwen/Qwen3-32B")
        found = linked(
            {"outputs/q8/config.json": head(), "serve.sh": SERVE.replace("head", "outputs/q8"), "r.yaml": other}
        )
        assert not best(found["outputs/q8"])
        assert found["outputs/q8"].told


class TestData:
    """Training on stored states is told by what stored them."""

    def test_the_dump_counts_and_not_the_recipe(self, linked: Linked):
        recipe = (
            "metadata: {recipe_type: speculative_eagle}\nmodel: {model_name_or_path: Qwen/Qwen3-8B}\n"
            "data: {offline_data_path: states}\n"
            "eagle: {eagle_architecture_config: {eagle_aux_hidden_state_layer_ids: [3, 17, 30]}}\n"
            "training: {output_dir: head}\n"
        )
        dump = "python compute_hidden_states_vllm.py --model Qwen/Qwen3-8B --aux-layers 3,17,30 --output-dir states\n"
        found = linked({"head/config.json": head(), "serve.sh": SERVE, "r.yaml": recipe, "dump.sh": dump})
        assert boundaries(found["head"]) == (3, 17, 30)

    def test_the_server_that_stored_the_states_counts(self, linked: Linked):
        script = (
            "python scripts/launch_vllm.py Qwen/Qwen3-8B --target-layer-ids 4 18 32 --hidden-states-path hs\n"
            "python scripts/train.py --verifier-name-or-path Qwen/Qwen3-8B --hidden-states-path hs --save-path head\n"
        )
        found = linked({"head/config.json": head(), "t.sh": script})
        assert boundaries(found["head"]) == (4, 18, 32)

    def test_without_the_dump_what_the_training_names_is_likely(self, linked: Linked):
        script = (
            "python scripts/train.py --verifier-name-or-path Qwen/Qwen3-8B --target-layer-ids 4 18 --save-path head\n"
        )
        found = linked({"head/config.json": head(), "t.sh": script})
        (said,) = best(found["head"])
        assert (said.at(36), said.confidence) == ((4, 18), "likely")

    def test_a_run_on_stored_states_of_unknown_layers_says_nothing(self, linked: Linked):
        run = (
            "model: {target_model_path: Qwen/Qwen3-8B}\ndata: {hidden_states_path: hs}\ntraining: {strategy: eagle3}\n"
        )
        found = linked({"head/config.json": head([5, 9, 13]), "run.yaml": run})
        assert not best(found["head"])

    def test_data_for_another_kind_of_head_are_no_evidence(self, linked: Linked):
        script = (
            "python scripts/launch_vllm.py Qwen/Qwen3-8B --target-layer-ids 4 18 32 --hidden-states-path hs\n"
            "python scripts/train.py --verifier-name-or-path Qwen/Qwen3-8B --hidden-states-path hs "
            "--speculator-type dflash --save-path block\n"
        )
        found = linked({"head/config.json": head(), "t.sh": script})
        assert not best(found["head"])


class TestDoubt:
    def test_what_is_right_by_one_reading_of_such_a_list_is_an_info_that_says_which(self, linked: Linked):
        yaml = "base_model: Qwen/Qwen3-8B\naux_hidden_state_layer_ids: [1, 17, 32]\n"
        found = linked(
            {
                "head/config.json": head([1, 17, 32]),
                "train.yaml": yaml,
                "requirements.txt": "sglang==0.5.14\n",
                "serve.sh": "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --speculative-algorithm EAGLE3 "
                "--speculative-draft-model-path head\n",
            }
        )
        (info,) = right_by_one_reading(found["head"])
        assert info.severity == "info"
        assert "fits if id i is the output of layer i" in info.message
        assert not list(aux_layers_mismatch(found["head"]))

    def test_what_fits_no_reading_is_a_mismatch(self, linked: Linked):
        yaml = "base_model: Qwen/Qwen3-8B\naux_hidden_state_layer_ids: [5, 17, 32]\n"
        found = linked(
            {
                "head/config.json": head([1, 17, 32]),
                "train.yaml": yaml,
                "requirements.txt": "sglang==0.5.14\n",
                "serve.sh": "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --speculative-algorithm EAGLE3 "
                "--speculative-draft-model-path head\n",
            }
        )
        assert list(aux_layers_mismatch(found["head"]))
        assert not list(right_by_one_reading(found["head"]))

    def test_a_list_of_an_unknown_writer_may_be_either(self, linked: Linked):
        yaml = "base_model: Qwen/Qwen3-8B\naux_hidden_state_layer_ids: [3, 17, 30]\n"
        (said,) = best(linked({"head/config.json": head(), "train.yaml": yaml})["head"])
        assert said.allows((4, 18, 31), 36)
        assert said.allows((3, 17, 30), 36)
        assert not said.allows((2, 18, 33), 36)

    def test_ids_that_go_through_an_engine_follow_its_rule_for_the_target(self, linked: Linked):
        run = SPECFORGE.replace("Qwen/Qwen3-8B", "moonshotai/Kimi-K2.5").replace("[3, 17, 30]", "[2, 30, 58]")
        (said,) = best(linked({"head/config.json": head(), "run.yaml": run})["head"])
        assert said.at(61) == (2, 30, 58)

    def test_a_script_of_specforge_of_unknown_date_may_have_had_either_default(self, linked: Linked):
        script = "torchrun scripts/train_eagle3_online.py --target-model-path Qwen/Qwen3-8B --output-dir head\n"
        (said,) = best(linked({"head/config.json": head(), "t.sh": script})["head"])
        assert said.allows((2, 18, 33), 36)
        assert said.allows((2, 19, 33), 36)

    def test_the_draft_config_that_a_trainer_ships(self, linked: Linked):
        run = (
            "model: {target_model_path: openai/gpt-oss-20b, draft_model_config: configs/gpt-oss-20B-eagle3.json}\n"
            "training: {strategy: eagle3}\n"
        )
        (said,) = best(linked({"head/config.json": head(), "run.yaml": run})["head"])
        assert said.at(24) == (2, 12, 22)

    def test_a_draft_config_that_nobody_knows(self, linked: Linked):
        found = linked({"head/config.json": head(), "run.yaml": DRAFT.format("configs/mine.json")})
        assert not best(found["head"])

    def test_a_command_with_further_arguments_leaves_the_default_open(self, linked: Linked):
        script = 'python3 -m torchspec.train_entry model.target_model_path=Qwen/Qwen3-8B "$@"\n'
        (said,) = best(linked({"head/config.json": head(), "t.sh": script})["head"])
        assert said.assumed

    def test_a_default_says_little_of_a_head_that_declares_ids(self, linked: Linked):
        run = "model: {target_model_path: Qwen/Qwen3-8B}\ntraining: {strategy: eagle3}\noutput_dir: other\n"
        (said,) = best(linked({"head/config.json": head([5, 9, 13]), "run.yaml": run})["head"])
        assert said.confidence == "likely"

    def test_a_converted_head_was_trained_as_the_original(self, linked: Linked):
        script = (
            "speculators convert nvidia/Llama-4-Maverick-17B-128E-Eagle3 --algorithm eagle3 --output-path head "
            "--verifier meta-llama/Llama-4-Maverick-17B-128E-Instruct "
            """--algorithm-kwargs '{"eagle_aux_hidden_state_layer_ids": [1, 23, 44]}'\n"""
        )
        (said,) = best(linked({"head/config.json": head(), "t.sh": script})["head"])
        assert said.at(48) == (2, 24, 45)

    def test_the_release_of_the_trainer_is_that_of_the_nearest_pin(self, linked: Linked):
        script = "python scripts/train.py --verifier-name-or-path Qwen/Qwen3-8B --legacy-data --save-path head\n"
        files = {"head/config.json": head(), "train/t.sh": script, "train/requirements.txt": "speculators==0.6.0\n"}
        assert boundaries(linked(files)["head"]) == (3, 19, 34)


MODELOPT = {"next_layer_regular": True, "parallel_draft_step": 1}


class TestLineage:
    """What the form of a config says where nothing else does."""

    def said(self, linked: Linked, ids: list[int], **nested: Any) -> list[Training]:
        config = {**SHAPE, "eagle_config": {"eagle_aux_hidden_state_layer_ids": ids, **nested}}
        found = linked({"head/config.json": json.dumps(config), "serve.sh": SERVE})
        return best(found["head"])

    @pytest.mark.parametrize("ids", [[1, 17, 32], [32, 1, 17]])
    def test_modelopt_exports_outputs_of_layers(self, linked: Linked, ids: list[int]):
        (said,) = self.said(linked, ids, **MODELOPT)
        assert (said.at(36), said.confidence) == ((2, 18, 33), "likely")

    def test_other_ids_may_have_been_rewritten(self, linked: Linked):
        assert not self.said(linked, [2, 18, 33], **MODELOPT)

    def test_a_config_of_another_form(self, linked: Linked):
        assert not self.said(linked, [1, 17, 32], use_aux_hidden_state=True)

    def test_a_recipe_says_more(self, linked: Linked):
        config = {**SHAPE, "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 17, 32], **MODELOPT}}
        found = linked({"head/config.json": json.dumps(config), "serve.sh": SERVE, "run.yaml": SPECFORGE})
        assert boundaries(found["head"]) == (4, 18, 31)
