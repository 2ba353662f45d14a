"""`rules/heads/`: what engines make of drafter configs is whole, backed by evidence, and as the releases have it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from eaglelint._resources import data_root
from eaglelint.conventions import head_schema, versions
from eaglelint.conventions.heads import Form, HeadRules, head_rules
from eaglelint.conventions.load import read_yaml
from eaglelint.conventions.table import engine

FILES = sorted((data_root("rules") / "heads").glob("*.yaml"))
FLAT, SPECULATORS = Form("flat"), Form("speculators", "eagle3")


def rules(name: str) -> HeadRules:
    found = head_rules(name)
    assert found is not None
    return found


def nothing(pointer: str) -> Any:
    return None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
class TestTheFiles:
    def test_each_follows_the_schema(self, path: Path):
        data = read_yaml(path)
        head_schema.HeadFile.model_validate(data)
        assert data["engine"] == path.stem

    def test_the_published_schema_accepts_it(self, path: Path):
        plain = json.loads(json.dumps(yaml.safe_load(path.read_text(encoding="utf-8")), default=str))
        jsonschema.Draft202012Validator(json.loads(head_schema.text())).validate(plain)

    def test_its_releases_were_read(self, path: Path):
        known = engine(path.stem)
        assert known is not None
        named = [row[side] for row in _rows(read_yaml(path)) for side in ("first", "last") if side in row]
        assert set(named) <= set(known.read), "a border is a release that was read"

    def test_it_can_be_asked_for(self, path: Path):
        assert head_rules(path.stem) is not None


def _rows(value: Any) -> list[dict[str, Any]]:
    """All mappings in the data of a file."""
    if isinstance(value, list):
        return [row for entry in value for row in _rows(entry)]
    if not isinstance(value, dict):
        return []
    return [value, *(row for entry in value.values() for row in _rows(entry))]


def test_the_published_schema_is_current():
    written = (data_root("schemas") / "head.schema.json").read_text(encoding="utf-8")
    assert written == head_schema.text(), "run `python -m eaglelint.conventions.head_schema > schemas/head.schema.json`"


def test_an_engine_without_a_file_says_nothing():
    assert head_rules("lmdeploy") is None
    assert head_rules("no such engine") is None


@pytest.mark.parametrize(
    ("name", "release", "architecture", "found"),
    [
        ("sglang", "0.4.4.post2", "LlamaForCausalLMEagle3", "llama"),
        ("sglang", "0.5.11", "Eagle3DeepseekV2ForCausalLM", ""),
        ("sglang", "0.5.12", "Eagle3DeepseekV2ForCausalLM", "mla"),
        ("sglang", "0.5.20", "LlamaForCausalLMEagle", "eagle1"),
        ("sglang", "0.5.20", "LlamaForCausalLM", ""),
        ("vllm", "0.8.5", "SomethingElse", "llama"),
        ("vllm", "0.9.0.1", "LlamaForCausalLM", "llama"),
        ("vllm", "0.10.1.1", "LlamaForCausalLMEagle3", ""),
        ("vllm", "0.10.2", "LlamaForCausalLMEagle3", "llama"),
        ("vllm", "0.23.0", "Qwen3ForCausalLM", ""),
        ("vllm", "0.24.0", "Qwen3ForCausalLM", "qwen3"),
        ("vllm", "0.18.0", "DeepseekV3ForCausalLM", "mla"),
        ("vllm", "0.22.0", "PEagleDraftModel", "llama"),
    ],
)
def test_the_class_for_a_name(name: str, release: str, architecture: str, found: str):
    said = rules(name).head_class(release, FLAT, [architecture], nothing)
    assert (said.found.name if said.found is not None else "") == found


def test_the_first_name_that_is_known_counts():
    said = rules("sglang").head_class("0.5.20", FLAT, ["Unheard", "LlamaForCausalLMEagle3"], nothing)
    assert said.name == "LlamaForCausalLMEagle3"


def test_speculators_heads_are_routed_by_their_layers():
    def qwen3(pointer: str) -> Any:
        return "qwen3" if pointer == "/transformer_layer_config/model_type" else None

    found = [rules("vllm").head_class(release, SPECULATORS, [], qwen3).found for release in ("0.23.0", "0.24.0")]
    assert [row.name if row else None for row in found] == [None, "qwen3"]


@pytest.mark.parametrize(
    ("name", "release", "form", "read"),
    [
        ("sglang", "0.5.23", SPECULATORS, False),
        ("sglang", "0.5.23", FLAT, True),
        ("vllm", "0.10.0", SPECULATORS, False),
        ("vllm", "0.10.1", SPECULATORS, True),
        ("vllm", "0.29.0", Form("speculators", "dflash2"), False),
        ("tokenspeed", "", SPECULATORS, None),
    ],
)
def test_which_form_is_read(name: str, release: str, form: Form, read: bool | None):
    assert rules(name).reads(release, form) is read


@pytest.mark.parametrize(
    ("name", "release", "kind", "pointers"),
    [
        ("sglang", "0.5.11", "llama", 0),
        ("sglang", "0.5.12", "llama", 2),
        ("vllm", "0.21.0", "mla", 0),
        ("vllm", "0.22.0", "mla", 2),
        ("vllm", "0.33.0", "qwen3", 4),
        ("rtp-llm", "", "", 0),
    ],
)
def test_how_fc_is_sized(name: str, release: str, kind: str, pointers: int):
    width = rules(name).width(release, FLAT, kind)
    assert width is not None
    assert (len(width.pointers), width.otherwise) == (pointers, 3)


def test_every_class_of_every_release_has_a_width():
    for name in ("sglang", "vllm"):
        known = engine(name)
        assert known is not None
        for release in known.read:
            for row in rules(name).classes:
                if row.kind == "eagle3" and row.scope.covers(release, FLAT):
                    assert rules(name).width(release, FLAT, row.name) is not None, (name, release, row.name)


@pytest.mark.parametrize("text", ["0.5.11", "0.5.11+cu128"])
def test_local_parts_of_a_release_do_not_count(text: str):
    assert versions.parse(text) is not None
    assert rules("sglang").depth(text, FLAT, "llama") is not None
