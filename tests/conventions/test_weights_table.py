"""The table of what drafter classes make of checkpoints: valid, in order, with evidence, in step with the others."""

from __future__ import annotations

from itertools import pairwise

import pytest

from eaglelint._resources import data_root
from eaglelint.conventions import versions
from eaglelint.conventions.heads import head_rules
from eaglelint.conventions.load import read_yaml
from eaglelint.conventions.table import engine
from eaglelint.conventions.weights import Loading, _rows, loading, newest, norms
from eaglelint.conventions.weights_schema import WeightsFile

KINDS = sorted({(row.engine, row.name) for row in _rows()})


def rows(kind: tuple[str, str]) -> list[Loading]:
    return [row for row in _rows() if (row.engine, row.name) == kind]


def test_the_file_follows_its_schema():
    WeightsFile.model_validate(read_yaml(data_root("rules") / "weights.yaml"))


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_rows_follow_each_other_and_every_one_has_evidence(kind: tuple[str, str]):
    own = rows(kind)
    for row in own:
        assert versions.order(row.first) <= versions.order(row.last)
        assert row.evidence
    for one, other in pairwise(own):
        assert versions.order(one.last) < versions.order(other.first)


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_classes_are_those_of_the_head_tables_and_reach_to_the_newest_release(kind: tuple[str, str]):
    name, head = kind
    table, rules = engine(name), head_rules(name)
    assert table is not None
    assert rules is not None
    assert head in {row.name for row in rules.classes if row.kind == "eagle3"}
    if table.versioning == "pep440":
        own = rows(kind)
        assert own[-1].last == table.latest
        assert all(bound in table.known for row in own for bound in (row.first, row.last))


def test_a_release_between_two_that_were_read_is_taken_for_the_older():
    found = loading("vllm", "llama", "0.15.0")
    assert found is not None
    assert found.first == "0.11.1"


def test_a_release_beyond_the_last_is_taken_for_the_last_and_one_before_the_first_for_none():
    last = loading("sglang", "llama", "99.0")
    assert last is not None
    assert last.first == "0.5.12"
    assert loading("sglang", "llama", "0.4.3") is None
    assert loading("sglang", "mla", "0.5.11") is None
    assert loading("lmdeploy", "llama", "") is None


def test_the_newest_of_each_engine():
    assert [row.engine for row in newest("llama")] == ["sglang", "vllm", "tokenspeed"]


def test_norms_are_counted_by_the_states():
    by_state = next(norm for norm in norms() if "{i}" in norm.tensor)
    assert by_state.tensors(2) == ("fc_norm.0.weight", "fc_norm.1.weight")
