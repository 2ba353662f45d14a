"""Run configurations, commands and model cards of trainers: who is told what, and where that is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from eaglelint.facts import Facts, Recipe
from eaglelint.guard import Guard
from eaglelint.project import discover
from eaglelint.readers.recipes import joined
from eaglelint.reading import read
from eaglelint.settings import Settings

Reader = Callable[..., Facts]


@pytest.fixture
def facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    monkeypatch.chdir(tmp_path)

    def write(**files: str) -> Facts:
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        guard = Guard()
        found = read(discover(["."], settings=Settings()), Settings(), guard)
        assert not guard.tracebacks
        return found

    return write


def only(found: Facts) -> Recipe:
    (recipe,) = found.recipes
    return recipe


def ids(recipe: Recipe) -> tuple[object, ...] | None:
    return recipe.ids.ids if recipe.ids is not None else None


def text(recipe: Recipe, field: str) -> object:
    value = getattr(recipe, field)
    return value.value if value is not None else None


SPECFORGE = """\
model:
  target_model_path: Qwen/Qwen3-4B
  draft_model_config: draft/eagle3.json
  aux_hidden_state_layer_ids: [3, 17, 30]
training: {strategy: eagle3}
output_dir: outputs/q4
"""


def test_a_run_configuration_of_specforge(facts: Reader):
    recipe = only(facts(run_dot_yaml=SPECFORGE))
    assert (recipe.trainer, recipe.path, recipe.step) == ("specforge", "sglang_capture", "train")
    assert ids(recipe) == (3, 17, 30)
    assert recipe.ids is not None
    assert (recipe.ids.where.line, recipe.ids.where.column) == (4, 31)
    assert [text(recipe, f) for f in ("target", "draft", "output")] == [
        "Qwen/Qwen3-4B",
        "draft/eagle3.json",
        "outputs/q4",
    ]
    assert recipe.stored is None


def test_the_same_as_json(facts: Reader):
    told = {"model": {"target_model_path": "t", "target_backend": "sglang", "aux_hidden_state_layer_ids": [1, 2, 3]}}
    assert ids(only(facts(run_dot_json=json.dumps(told)))) == (1, 2, 3)


def test_a_run_for_another_kind_of_head_says_so(facts: Reader):
    assert only(facts(run_dot_yaml=SPECFORGE.replace("eagle3}", "dflash}"))).path == "other"


def test_training_on_stored_states_says_where_it_says_so(facts: Reader):
    recipe = only(facts(run_dot_yaml=SPECFORGE + "data: {hidden_states_path: cache/hs}\n"))
    assert recipe.stored is not None
    assert recipe.stored.line == 7


def test_a_recipe_of_modelopt(facts: Reader):
    recipe = only(
        facts(
            r_dot_yaml="metadata: {recipe_type: speculative_eagle}\nmodel: {model_name_or_path: t}\n"
            "eagle:\n  eagle_architecture_config:\n    eagle_aux_hidden_state_layer_ids:\n      - 1\n      - 9\n"
            "training: {output_dir: out}\n"
        )
    )
    assert (recipe.trainer, ids(recipe), text(recipe, "output")) == ("modelopt", (1, 9), "out")


def test_a_modelopt_head_without_auxiliary_states_is_another_kind(facts: Reader):
    recipe = only(
        facts(
            r_dot_yaml="metadata: {recipe_type: speculative_eagle}\n"
            "eagle: {eagle_architecture_config: {use_aux_hidden_state: false}}\n"
        )
    )
    assert recipe.path == "other"


@pytest.mark.parametrize(
    ("yaml", "trainer", "path"),
    [
        ("recipe: TrainEagle3Recipe\nrecipe_args: {aux_layer_ids: [1, 5, 9]}\n", "nemo-automodel", "all"),
        (
            "policy:\n  model_name: t\n  draft: {enabled: true, aux_layer_indices: [1, 5, 9]}\n",
            "nemo-rl",
            "all",
        ),
        (
            "model: {target_model_path: t}\n"
            "inference: {inference_engine_type: vllm, aux_hidden_states_layers: [1, 5, 9]}\n",
            "torchspec",
            "vllm",
        ),
        (
            "model: {target_model_path: t}\ninference: {inference_engine_type: sgl, "
            "aux_hidden_states_layers: [1, 5, 9]}\n",
            "torchspec",
            "sgl",
        ),
        (
            "verifier: {verifier_name_or_path: t}\ndraft: {target_layer_ids: [1, 5, 9]}\n",
            "speculators",
            "train",
        ),
    ],
)
def test_run_configurations_of_other_trainers(facts: Reader, yaml: str, trainer: str, path: str):
    recipe = only(facts(run_dot_yaml=yaml))
    assert (recipe.trainer, recipe.path, ids(recipe)) == (trainer, path, (1, 5, 9))


def test_a_draft_that_is_switched_off_is_no_recipe(facts: Reader):
    found = facts(run_dot_yaml="policy:\n  model_name: t\n  draft: {enabled: false, aux_layer_indices: null}\n")
    assert not found.recipes


def test_a_list_whose_writer_is_not_known(facts: Reader):
    recipe = only(facts(train_dot_yaml="base_model: Qwen/Qwen3-4B\ncapture:\n  aux_layers: [2, 18, 33]\n"))
    assert (recipe.trainer, ids(recipe), text(recipe, "target")) == ("", (2, 18, 33), "Qwen/Qwen3-4B")


@pytest.mark.parametrize(
    "document",
    [
        "capture: {aux_layers: [2]}\n",  # one layer makes no head
        "architectures: [X]\naux_layer_ids: [2, 18, 33]\n",  # the config of a model
        "layers_to_transform: [2, 18, 33]\n",  # an adapter's
        "aux_layers: [a, b]\n",
        "- aux_layers\n",
    ],
)
def test_documents_that_tell_a_trainer_nothing(facts: Reader, document: str):
    assert not facts(x_dot_yaml=document).recipes


@pytest.mark.parametrize(
    ("command", "trainer", "path", "expected"),
    [
        (
            "python scripts/data_generation_offline.py --target-model-path t --layer-ids 2 18 33 35 --seed 1",
            "speculators",
            "datagen",
            (2, 18, 33, 35),
        ),
        ("python scripts/launch_vllm.py t --target-layer-ids 4 18 -- --port 1", "speculators", "datagen", (4, 18)),
        (
            "torchrun --nproc_per_node 2 scripts/train.py --verifier-name-or-path t --target-layer-ids 4 18",
            "speculators",
            "train",
            (4, 18),
        ),
        ("speculators train --verifier-name-or-path t --target-layer-ids 4 18", "speculators", "train", (4, 18)),
        (
            "speculators convert h --algorithm eagle3 --verifier t "
            """--algorithm-kwargs '{"eagle_aux_hidden_state_layer_ids": [1, 23]}'""",
            "speculators",
            "convert_eagle3",
            (1, 23),
        ),
        ("python collect/compute_hidden_states_hf.py --model t --aux-layers 3,9", "modelopt", "hf", (3, 9)),
        ("python compute_hidden_states_vllm.py --model t --aux-layers=3,9", "modelopt", "vllm_dump", (3, 9)),
        (
            "specforge train --config run.yaml model.aux_hidden_state_layer_ids=[3,9,30]",
            "specforge",
            "sglang_capture",
            (3, 9, 30),
        ),
        (
            "python3 -m torchspec.train_entry --config c.yaml inference.inference_engine_type=hf "
            "inference.aux_hidden_states_layers='[3, 9, 30]'",
            "torchspec",
            "hf",
            (3, 9, 30),
        ),
        ("torchrun tools/train_eagle3_online.py --draft_model_config_path d.json", "angelslim", "online", None),
        ("python scripts/prepare_hidden_states.py --target-model-path t", "specforge", "sglang_capture", None),
        (
            "./launch_train.sh --config r.yaml eagle.eagle_architecture_config.eagle_aux_hidden_state_layer_ids=[3,9]",
            "modelopt",
            "hf",
            (3, 9),
        ),
    ],
)
def test_commands(facts: Reader, command: str, trainer: str, path: str, expected: tuple[int, ...] | None):
    recipe = only(facts(run_dot_sh=f"#!/bin/bash\n{command}\n"))
    assert (recipe.trainer, recipe.path, ids(recipe)) == (trainer, path, expected)


@pytest.mark.parametrize(
    "command",
    [
        "python scripts/train.py --epochs 3",  # anybody's training script
        "python main.py --config r.yaml",
        "python my_launch.py --target-layer-ids 1 2",
        "speculators prepare-data --model t",
        "python data_generation_offline.py --endpoint http://x --output o",  # it takes states off a server
    ],
)
def test_commands_that_tell_no_trainer_of_layers(facts: Reader, command: str):
    assert not facts(run_dot_sh=f"{command}\n").recipes


def test_a_preset_stands_in_the_place_of_ids(facts: Reader):
    recipe = only(facts(run_dot_sh="python compute_hidden_states_hf.py --model t --aux-layers eagle\n"))
    assert (ids(recipe), recipe.preset, recipe.path) == (None, "eagle", "hf")


def test_ids_that_are_not_known_are_not_the_default(facts: Reader):
    recipe = only(facts(run_dot_sh='python compute_hidden_states_hf.py --model t --aux-layers "$1"\n'))
    assert (ids(recipe), recipe.complete) == (None, False)


def test_ids_in_the_environment(facts: Reader):
    recipe = only(facts(run_dot_sh="export EAGLE_CAPTURE_IDS=[2,14,25,28]\n"))
    assert (recipe.path, ids(recipe)) == ("vllm_streaming", (2, 14, 25, 28))


def test_a_command_wins_over_the_configuration_that_it_names(facts: Reader):
    found = facts(
        run_dot_yaml=SPECFORGE,
        go_dot_sh="specforge train -c run.yaml model.aux_hidden_state_layer_ids=[5,9,13] output_dir=outputs/b\n",
    )
    command = next(r for r in found.recipes if r.configured is not None)
    whole = joined(command, next(r for r in found.recipes if r is not command))
    assert (ids(whole), text(whole, "target"), text(whole, "output")) == ((5, 9, 13), "Qwen/Qwen3-4B", "outputs/b")
    assert whole.ids is not None
    assert whole.ids.where.path == "go.sh"


def test_a_card_names_the_target_and_the_trainer(facts: Reader):
    front = "---\nbase_model:\n- Qwen/Qwen3-4B\ntags: [eagle3, specforge]\n"
    front += "aux_hidden_state_layer_ids: [1, 17, 32]\n---\n# Head\n"
    recipe = only(facts(head__README_dot_md=front))
    assert (recipe.step, recipe.trainer, text(recipe, "target")) == ("card", "specforge", "Qwen/Qwen3-4B")
    assert ids(recipe) == (1, 17, 32)


@pytest.mark.parametrize(
    "card", ["# Head\n", "---\n- a\n---\n", "---\nbase_model: [a: b\n---\n", "---\ntags: []\n---\n"]
)
def test_cards_that_say_nothing(facts: Reader, card: str):
    assert not facts(README_dot_md=card).recipes


GENERATE = """\
# \u00e9\u00e9
VERIFIER = "Qwen/Qwen3-8B"
data = DataGenArgs(train_data_path="sharegpt", layer_ids=[2, 18, 33, 35])
run_e2e(verifier_name_or_path=VERIFIER, output_path="./out", data_gen_args=data, **more)
"""


def test_arguments_of_a_trainers_functions(facts: Reader):
    recipe = only(facts(gen_dot_py=GENERATE))
    assert (recipe.trainer, recipe.path, ids(recipe)) == ("speculators", "datagen", (2, 18, 33, 35))
    assert (text(recipe, "target"), text(recipe, "output")) == ("Qwen/Qwen3-8B", "./out")
    assert recipe.ids is not None
    assert (recipe.ids.where.line, recipe.ids.where.column) == (3, 58)


def test_a_dictionary_with_a_trainers_keys(facts: Reader):
    code = """layers = {"eagle_aux_hidden_state_layer_ids": [3, 9]}\nconfig = {"eagle_architecture_config": layers}\n"""
    recipe = only(facts(train_dot_py=code))
    assert (recipe.trainer, recipe.path, ids(recipe)) == ("modelopt", "hf", (3, 9))


@pytest.mark.parametrize(
    "code",
    [
        "run_e2e(verifier_name_or_path='t', output_path='o')\n",  # no data were generated
        "DataGenArgs(layer_ids=[1, 2])\n",  # of what target is not said
        "DataGenArgs(train_data_path='x', layer_ids=[1, 2]\n",  # no Python
        "config = {'architecture_config': {'eagle_aux_hidden_state_layer_ids': [1, 2]}}\n",
    ],
)
def test_code_that_tells_no_trainer_of_layers(facts: Reader, code: str):
    assert not facts(train_dot_py=code).recipes


def test_layers_that_code_computes_are_not_the_default(facts: Reader):
    recipe = only(facts(gen_dot_py=GENERATE.replace("[2, 18, 33, 35]", "layers_of(model)")))
    assert (ids(recipe), recipe.preset) == (None, "?")
