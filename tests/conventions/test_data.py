"""The convention files: each is what its schema says, complete, in order, and backed by evidence."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import jsonschema
import pytest
import yaml

from eaglelint._resources import data_root
from eaglelint.boundary import evaluate
from eaglelint.conventions import known_schema, rules, schema, versions
from eaglelint.conventions.load import read_yaml
from eaglelint.conventions.table import engine, engines
from eaglelint.conventions.trainers import trainer, trainers

FOLDER = data_root("rules") / "conventions"
ENGINES = sorted(FOLDER.glob("*.yaml"))
TRAINERS = sorted((FOLDER / "trainers").glob("*.yaml"))


def ids(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", ENGINES, ids=ids)
def test_an_engine_file_follows_the_schema(path: Path):
    schema.EngineFile.model_validate(read_yaml(path))


@pytest.mark.parametrize("path", TRAINERS, ids=ids)
def test_a_trainer_file_follows_the_schema(path: Path):
    schema.TrainerFile.model_validate(read_yaml(path))


def test_targets_and_drafters_follow_the_schema():
    known_schema.TargetsFile.model_validate(read_yaml(data_root("rules") / "targets.yaml"))
    known_schema.DraftersFile.model_validate(read_yaml(data_root("rules") / "drafters.yaml"))


def test_the_published_schema_is_current():
    written = (data_root("schemas") / "convention.schema.json").read_text(encoding="utf-8")
    assert written == schema.text(), "run `python -m eaglelint.conventions.schema > schemas/convention.schema.json`"


@pytest.mark.parametrize("path", [*ENGINES, *TRAINERS], ids=ids)
def test_the_published_schema_accepts_our_own_files(path: Path):
    plain = json.loads(json.dumps(yaml.safe_load(path.read_text(encoding="utf-8")), default=str))
    jsonschema.Draft202012Validator(json.loads(schema.text())).validate(plain)


def test_the_rules_of_the_schema_are_those_of_the_code():
    assert set(schema.Rule.__args__) == set(rules.NAMES)  # type: ignore[attr-defined]


def test_every_file_is_an_engine_or_a_trainer_that_can_be_asked_for():
    assert {p.stem for p in ENGINES} == set(engines())
    assert {p.stem for p in TRAINERS} == set(trainers())


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("sglang", 56 + 8), ("vllm", 57 + 5), ("tokenspeed", 3), ("atom", 2), ("atom-sglang", 1), ("atom-vllm", 2),
        ("llama.cpp", 2), ("tensorrt-llm", 1), ("lmdeploy", 1), ("mlx-vlm", 1), ("openvino-genai", 1), ("rtp-llm", 1),
        ("onnxruntime-genai", 1),
    ],
)  # fmt: skip
def test_no_entry_gets_lost(name: str, entries: int):
    found = engine(name)
    assert found is not None
    assert len(found.entries) == entries


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("specforge", {"online_hf": 4, "online_custom": 1, "sglang_capture": 1, "sglang_capture_dflash": 1}),
        ("modelopt", {"hf": 1, "megatron": 1, "vllm_dump": 1, "vllm_streaming": 1, "trtllm_dump": 1, "dflash": 1}),
        ("speculators", {"research": 1, "datagen": 2, "train": 2, "train_legacy_data": 1, "convert_eagle3": 1,
                         "convert_dflash": 1}),
        ("angelslim", {"online": 1, "offline": 1}), ("torchspec", {"vllm": 2, "hf": 1, "sgl": 1}),
        ("eagle", {"online": 1}),
        ("nemo-automodel", {"all": 1}), ("nemo-rl", {"all": 1}), ("baldeagle", {"offline": 1}),
    ],
)  # fmt: skip
def test_no_recipe_gets_lost(name: str, paths: dict[str, int]):
    found = trainer(name)
    assert found is not None
    assert Counter(r.path for r in found.recipes) == paths


@pytest.mark.parametrize("name", [n for n in engines() if (e := engine(n)) is not None and e.versioning == "pep440"])
def test_ranges_begin_and_end_at_releases_that_were_read(name: str):
    found = engine(name)
    assert found is not None
    assert list(found.read) == sorted(found.read, key=versions.order)
    for item in (*found.entries, *found.locations, *found.runners, *found.allow_list):
        assert item.first in found.read, item
        assert item.last in found.read, item
        assert versions.order(item.first) <= versions.order(item.last), item


@pytest.mark.parametrize("name", ["sglang", "vllm"])
def test_no_architecture_is_read_by_two_entries_of_one_file_at_once(name: str):
    found = engine(name)
    assert found is not None
    for release in found.read:
        here = [
            (architecture, e.reading.model_files[0])
            for e in found.entries
            if versions.within(release, e.first, e.last)
            for architecture in e.architectures_at(release)
        ]
        assert len(here) == len(set(here)), release


@pytest.mark.parametrize("name", engines())
def test_formulas_can_be_evaluated(name: str):
    found = engine(name)
    assert found is not None
    for entry in found.entries:
        for formula in entry.reading.default:
            assert isinstance(evaluate(formula, 32), int)


@pytest.mark.parametrize("name", engines())
def test_every_entry_has_evidence(name: str):
    found = engine(name)
    assert found is not None
    assert all(e.reading.evidence for e in found.entries)
    assert all(d.evidence for d in found.defects)


def test_what_is_only_suspected_is_marked_so():
    late = engine("openvino-genai")
    assert late is not None
    assert {r.certainty for r in late.readings()} == {"suspected"}
