"""What trainers do with ids, where they put the states, and what they write."""

from __future__ import annotations

import pytest

from eaglelint.conventions.trainers import Recipe, Trainer, trainer


def named(name: str) -> Trainer:
    found = trainer(name)
    assert found is not None
    return found


def only(name: str, path: str, specifier: str | None = None) -> Recipe:
    (recipe,) = named(name).recipe(path, specifier)
    return recipe


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("SpecForge", "specforge"),
        ("NVIDIA/Model-Optimizer", "modelopt"),
        ("nvidia-modelopt", "modelopt"),
        ("SafeAILab/EAGLE", "eagle"),
        ("nemo_automodel", "nemo-automodel"),
    ],
)
def test_a_trainer_by_any_usual_name(spelling: str, name: str):
    assert named(spelling).name == name


def test_an_unknown_trainer():
    assert trainer("homegrown") is None


def test_speculators_extracted_one_layer_late_in_0_3_and_0_4():
    late, right = only("speculators", "datagen", "==0.4.0"), only("speculators", "datagen", ">=0.5")
    assert late.boundaries([2, 14, 25, 27], 28) == (3, 15, 26, 28)
    assert late.defaults(28) == (3, 15, 26)
    assert right.boundaries([2, 14, 25, 28], 28) == (2, 14, 25, 28)
    assert right.last_is_verifier
    assert right.last_state == "pre_norm"


def test_specforge_had_the_middle_layer_one_late_for_seven_weeks():
    defaults = [r.defaults(32) for r in named("specforge").recipe("online_hf")]
    assert defaults == [(2, 16, 29), (2, 17, 29), (2, 16, 29), (2, 16, 29)]


def test_ids_that_go_through_an_engine_follow_that_engine():
    recipe = only("specforge", "sglang_capture")
    assert (recipe.rule, recipe.engine) == ("engine", "sglang")
    assert recipe.boundaries([1, 15, 28], 32) is None
    assert recipe.boundaries(None, 32) == (2, 16, 29)
    assert recipe.run_config == ("model.aux_hidden_state_layer_ids",)


def test_the_same_key_holds_different_states_in_different_trainers():
    holds = {}
    for name, path in (("modelopt", "hf"), ("angelslim", "offline"), ("specforge", "sglang_capture_dflash")):
        layout = only(name, path).layout
        assert layout is not None
        holds[name] = layout.holds("hidden_states")
    assert holds == {"modelopt": "last_state", "angelslim": "aux", "specforge": "aux"}


def test_what_model_optimizer_dumps_through_vllm_is_one_layer_early_and_not_normed():
    right, early = only("modelopt", "hf"), only("modelopt", "vllm_dump")
    assert right.defaults(36) == (2, 18, 33)
    assert early.defaults(36) == (1, 17, 32)
    assert (right.last_state, early.last_state) == ("post_norm", "pre_norm")
    assert {d.id for d in early.defects} >= {"dump_one_layer_early", "last_state_unflagged"}


def test_what_exporters_write():
    exports = {}
    for name, path, specifier in (
        ("speculators", "train", "==0.7.0"),
        ("modelopt", "hf", None),
        ("eagle", "online", None),
    ):
        export = only(name, path, specifier).exports
        assert export is not None
        exports[name] = (export.ids, export.key, export.convention)
    assert exports == {
        "speculators": ("always", "/eagle_aux_hidden_state_layer_ids", "boundary"),
        "modelopt": ("always", "/eagle_config/eagle_aux_hidden_state_layer_ids", "output"),
        "eagle": ("never", "", ""),
    }


def test_the_last_entry_of_the_hugging_face_tuple_is_normed():
    assert only("transformers", "output_hidden_states").last_state == "post_norm"
