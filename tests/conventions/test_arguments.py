"""What the tables of arguments say of releases, as specifications: checked against the releases themselves."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from eaglelint._resources import data_root
from eaglelint.conventions import argument_schema, versions
from eaglelint.conventions.arguments import EngineArguments, engine_arguments
from eaglelint.conventions.load import read_yaml

FILES = sorted((data_root("rules") / "arguments").glob("*.yaml"))


def arguments(name: str) -> EngineArguments:
    found = engine_arguments(name)
    assert found is not None
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_follows_the_schema(path: Path):
    argument_schema.ArgumentsFile.model_validate(read_yaml(path))
    plain = json.loads(json.dumps(yaml.safe_load(path.read_text(encoding="utf-8")), default=str))
    jsonschema.Draft202012Validator(json.loads(argument_schema.text())).validate(plain)


def test_the_published_schema_is_current():
    written = (data_root("schemas") / "arguments.schema.json").read_text(encoding="utf-8")
    assert written == argument_schema.text()


@pytest.mark.parametrize("name", [path.stem for path in FILES])
def test_ranges_of_an_argument_follow_each_other_without_overlap(name: str):
    for known in arguments(name).arguments.values():
        for before, after in zip(known.ranges, known.ranges[1:], strict=False):
            assert versions.order(before.span.until) < versions.order(after.span.since), known.name


@pytest.mark.parametrize(
    ("option", "release", "has"),
    [
        ("--speculative-draft-model", "0.5.2", True),
        ("--speculative-draft-model", "0.5.1.post3", False),
        ("--speculative-use-block-verification", "0.5.21", False),
        ("--speculative-use-block-verification", "0.5.22", True),
        ("--speculative-dflash-draft-window-size", "0.5.19", True),
        ("--speculative-dflash-draft-window-size", "0.5.20", False),
        ("--speculative-draft-model", "0.5.1.post9", None),
        ("--pp-size", "0.9.9", None),
        ("--pp-size", "0.5.6", True),
    ],
)
def test_options_of_sglang_by_release(option: str, release: str, has: bool | None):
    known = arguments("sglang")
    assert known.has(known.options[option], release) is has


@pytest.mark.parametrize(
    ("written", "release", "meant"),
    [
        ("--speculative-algo", "0.5.9", ["--speculative-algorithm"]),
        ("--speculative-draft", "0.5.1.post3", ["--speculative-draft-model-path"]),
        ("--speculative-algorithm", "0.5.9", ["--speculative-algorithm"]),
        ("--speculative-widht", "0.5.9", []),
    ],
)
def test_what_an_abbreviation_stands_for(written: str, release: str, meant: list[str]):
    assert arguments("sglang").matches(written, release) == meant


def test_an_abbreviation_may_stand_for_several():
    assert len(arguments("sglang").matches("--speculative-draft", "0.5.2")) > 1


def test_vllm_takes_no_abbreviation_for_granted():
    assert arguments("vllm").matches("--speculative-conf", "0.19.1") == []


@pytest.mark.parametrize(
    ("key", "release", "has"),
    [
        ("attention_backend", "0.20.2", False),
        ("attention_backend", "0.21.0", True),
        ("method", "0.8.5.post1", True),
        ("acceptance_method", "0.9.1", True),
        ("acceptance_method", "0.12.0", False),
        ("tensor_parallel_size", "0.16.0", True),
    ],
)
def test_keys_of_vllms_speculative_config_by_release(key: str, release: str, has: bool):
    known = arguments("vllm")
    assert known.has(known.keys("speculative_config")[key], release) is has


@pytest.mark.parametrize(
    ("release", "value", "accepted"),
    [
        ("0.5.9", "DFLASH", False),
        ("0.5.11", "DFLASH", True),
        ("0.5.15.post1", "DSPARK", False),
        ("0.5.16", "DSPARK", True),
        ("0.4.4.post1", "EAGLE3", False),
    ],
)
def test_algorithms_of_sglang_by_release(release: str, value: str, accepted: bool):
    entry = arguments("sglang").arguments["speculative_algorithm"].at(release)
    assert entry is not None
    assert (value in entry.choices) is accepted


@pytest.mark.parametrize(
    ("path", "release", "method"),
    [
        ("/models/Qwen-EAGLE-v2", "0.33.0", "eagle"),
        ("acme/eagle3-llama", "0.9.1", "eagle"),
        ("acme/eagle3-llama", "0.10.2", "eagle3"),
        ("acme/dflash-llama", "0.12.0", "draft_model"),
        ("acme/dflash-llama", "0.24.0", "dflash"),
        ("acme/small-llama", "0.24.0", "draft_model"),
    ],
)
def test_the_method_that_vllm_takes_from_a_path(path: str, release: str, method: str):
    assert arguments("vllm").guess(path, release) == method


def test_engines_without_a_table_have_none():
    assert engine_arguments("mlx-vlm") is None
