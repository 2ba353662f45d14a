"""The id rules: what an id means, and that every list of boundaries that a rule can make is found again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eaglelint.conventions import rules

DEPTHS = st.integers(min_value=1, max_value=256)
IDS = st.lists(st.integers(min_value=-3, max_value=260), max_size=6)
READING = [name for name in rules.NAMES if rules.apply(name, [1], 8) is not None]


def test_the_output_of_a_layer_is_one_boundary_above_its_input():
    assert rules.apply("plus_one", [1, 15, 28], 32) == (2, 16, 29)
    assert rules.apply("as_is", [2, 16, 29], 32) == (2, 16, 29)


def test_a_list_that_starts_with_one_is_shifted_and_any_other_is_not():
    assert rules.apply("plus_one_if_first_is_one", [1, 29, 57], 61) == (2, 30, 58)
    assert rules.apply("plus_one_if_first_is_one", [2, 30, 58], 61) == (2, 30, 58)
    assert rules.apply("plus_one_if_first_is_one", [29, 1, 57], 61) == (29, 1, 57)
    assert rules.apply("plus_one_if_first_is_one", [], 61) == ()


def test_a_list_that_holds_the_depth_is_taken_as_boundaries_and_any_other_is_shifted():
    assert rules.apply("as_is_if_max_is_n", [24, 30, 36], 36) == (24, 30, 36)
    assert rules.apply("as_is_if_max_is_n", [24, 30, 35], 36) == (25, 31, 36)
    assert rules.apply("as_is_if_max_is_n", [24, 30, 36], None) is None


def test_the_id_before_the_last_may_lead_nowhere():
    assert rules.apply("plus_one_end_as_is", [1, 34, 36], 36) == (2, 35, 36)
    assert rules.apply("plus_one_end_as_is", [35], 36) == (rules.NOWHERE,)


def test_minus_one_may_stand_for_the_last_state():
    assert rules.apply("plus_one_minus_one_is_last", [1, 15, -1], 32) == (2, 16, 32)


@pytest.mark.parametrize("name", ["ignored", "nothing_captured", "unknown"])
def test_a_rule_that_reads_no_ids_gives_none(name: str):
    assert rules.apply(name, [1, 2, 3], 32) is None
    assert rules.invert(name, [1, 2, 3], 32) is None


def test_a_rule_outside_the_set_is_a_mistake():
    with pytest.raises(ValueError, match="times_two"):
        rules.apply("times_two", [1], 32)


def test_every_rule_says_what_it_means():
    assert all(rules.MEANING[name] for name in rules.NAMES)


@given(name=st.sampled_from(READING), ids=IDS, depth=DEPTHS)
def test_boundaries_that_a_rule_makes_are_found_again(name: str, ids: list[int], depth: int):
    boundaries = rules.apply(name, ids, depth)
    assert boundaries is not None
    assert len(boundaries) == len(ids)
    if rules.NOWHERE not in boundaries:
        found = rules.invert(name, boundaries, depth)
        assert found is not None
        assert rules.apply(name, found, depth) == boundaries


@given(name=st.sampled_from(READING), boundaries=IDS, depth=DEPTHS)
def test_what_inversion_gives_maps_to_exactly_the_boundaries(name: str, boundaries: list[int], depth: int):
    ids = rules.invert(name, boundaries, depth)
    assert ids is None or rules.apply(name, ids, depth) == tuple(boundaries)


def test_some_boundaries_can_not_be_written():
    assert rules.invert("plus_one_if_first_is_one", [1, 30, 58], 61) is None
    assert rules.invert("plus_one_minus_one_is_last", [0, 16, 29], 32) is None


def test_where_two_lists_would_do_the_outputs_of_layers_are_preferred():
    assert rules.invert("plus_one_if_first_is_one", [2, 30, 58], 61) == (1, 29, 57)
    assert rules.invert("as_is_if_max_is_n", [24, 30, 36], 36) == (23, 29, 35)
