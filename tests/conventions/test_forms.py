"""How trainers are told what to do: the data is whole, and a form leaves the right entries of its trainer."""

from __future__ import annotations

import pytest

from eaglelint.conventions import recipes, rules
from eaglelint.conventions.recipes import Form
from eaglelint.conventions.trainers import trainer, trainers


def form(name: str, command: str) -> Form:
    return next(f for f in recipes.forms() if f.trainer == name and command in f.commands)


@pytest.mark.parametrize("each", recipes.forms(), ids=lambda f: f"{f.trainer}-{f.path}-{f.step}-{f.commands[:1]}")
def test_every_form_names_entries_of_its_trainer_and_can_be_recognised(each: Form):
    known = trainer(each.trainer)
    assert known is not None
    paths = {each.path} | ({path for _, path in each.choice.values} if each.choice is not None else set())
    assert all(each.entries(path) for path in paths)
    assert each.commands or each.config or each.environment or each.calls
    assert each.evidence


def test_every_trainer_can_be_told_something():
    told = {form.trainer for form in recipes.forms()}
    assert told == {name for name in trainers() if (t := trainer(name)) is not None and t.kind == "trainer"}


def test_the_usual_readings_of_an_unknown_list_are_rules():
    assert set(recipes.unknown().rules) <= set(rules.NAMES)


def test_the_flag_of_speculators_0_4_leaves_only_the_releases_that_have_it():
    dump = form("speculators", "data_generation_offline.py")
    assert [entry.last for entry in dump.entries("datagen")] == ["0.4.0.1"]
    assert [entry.last for entry in dump.entries("datagen", "==0.7.0")] == ["0.4.0.1"]


def test_the_first_online_script_of_specforge_may_have_any_of_its_early_defaults():
    online = form("specforge", "scripts/train_eagle3_online.py")
    assert {entry.defaults(32) for entry in online.entries("online_hf")} == {(2, 16, 29), (2, 17, 29)}


@pytest.mark.parametrize(
    ("path", "ids"),
    [
        ("configs/gpt-oss-20B-eagle3.json", (1, 11, 21)),
        ("/opt/SpecForge/configs/qwen3-8b-eagle3.json", ()),
        ("configs/my-head.json", None),
    ],
)
def test_draft_configs_that_specforge_ships(path: str, ids: tuple[int, ...] | None):
    assert recipes.shipped("specforge", path) == ids
