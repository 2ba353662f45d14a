"""What releases do with a drafter's length, position embedding and type: the data, and who asks for which release."""

from __future__ import annotations

from itertools import pairwise

import pytest

from eaglelint._resources import data_root
from eaglelint.conventions import contract, versions
from eaglelint.conventions.load import read_yaml
from eaglelint.conventions.table import engine

RAW = read_yaml(data_root("rules") / "contract.yaml")
ROWS = [row for part in ("context_length", "rope", "dtype") for row in RAW[part]]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['engine']}-{row['first']}")
def test_every_range_begins_and_ends_at_releases_of_its_engine_and_has_evidence(row: dict[str, object]):
    table = engine(str(row["engine"]))
    assert table is not None
    assert {row["first"], row["last"]} <= {*table.known}
    assert versions.order(str(row["first"])) <= versions.order(str(row["last"]))
    assert row["evidence"]


@pytest.mark.parametrize("part", ["context_length", "rope", "dtype"])
def test_the_ranges_of_an_engine_do_not_overlap(part: str):
    for name in {row["engine"] for row in RAW[part]}:
        rows = sorted((r for r in RAW[part] if r["engine"] == name), key=lambda r: versions.order(r["first"]))
        for one, other in pairwise(rows):
            assert versions.order(one["last"]) < versions.order(other["first"])


def effects(name: str, specifier: str) -> list[str]:
    return [row.effect for row in contract.context_lengths(name, specifier)]


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("==0.4.9", ["past_end"]),
        ("==0.5.14", ["refused"]),
        ("==0.5.3", []),  # between two releases that were read
        (">=0.5.10,<0.6", ["refused"]),
        ("==9.9", ["refused"]),
    ],
)
def test_short_drafters_on_sglang(release: str, expected: list[str]):
    assert effects("sglang", release) == expected


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("==0.19.1", ["stops"]),
        ("==0.27.0", ["raised"]),
        ("==0.30.0", ["raised"]),
        (">=0.26,<0.28", ["stops", "raised"]),
    ],
)
def test_short_drafters_on_vllm(release: str, expected: list[str]):
    assert effects("vllm", release) == expected


def test_an_engine_that_is_not_known():
    assert not contract.context_lengths("homegrown", "")
    assert not contract.type_rules("vllm", "==0.28.0")  # it gives the drafter the target's type


@pytest.mark.parametrize(
    ("given", "model_type", "expected"),
    [
        ("bfloat16", "llama", "bfloat16"),
        ("", "llama", "float16"),
        ("float32", "llama", "float16"),
        ("", "gemma3_text", "bfloat16"),
    ],
)
def test_the_type_of_a_drafter_on_sglang(given: str, model_type: str, expected: str):
    (rule,) = contract.type_rules("sglang", "==0.5.18")
    assert rule.chosen(given, model_type) == expected


@pytest.mark.parametrize(
    ("name", "word"),
    [("/m/Qwen3-32B-w8a8-QuaRot", "quarot"), ("acme/llama-spinquant", "spinquant"), ("Qwen/Qwen3-8B-FP8", "")],
)
def test_names_of_rotated_models(name: str, word: str):
    assert contract.rotation().named(name) == word


def test_a_word_within_a_word_is_none():
    assert not contract.rotation().named("acme/protein-llama")
