"""What code says of the training, for the depth of the target."""

from __future__ import annotations

from eaglelint.boundary import SAMPLED_DEPTHS, Layers, State
from eaglelint.facts import Assembly, ByDepth
from eaglelint.linking.training import entries_for, of_assembly
from eaglelint.location import Location

DEEPEST = max(SAMPLED_DEPTHS)


def states(*boundaries: int, normed: int | None = None) -> tuple[State, ...]:
    return tuple(State(b, normed=b == normed) for b in boundaries)


def assembly(by_depth: ByDepth) -> Assembly:
    return Assembly(Location("train.py", 3), by_depth, "proven", "training", ())


def test_the_entry_of_the_targets_depth():
    entries = ((32, states(2, 16, 29)), (36, states(2, 18, 33)))
    assert entries_for(entries, 36) == ((36, states(2, 18, 33)),)


def test_code_in_which_the_depth_does_not_matter_holds_for_every_depth():
    entries = ((DEEPEST, states(3, 31, 59)),)
    assert entries_for(entries, 61) == ((61, states(3, 31, 59)),)


def test_its_last_state_is_that_of_the_target():
    entries = ((DEEPEST, states(3, 31, DEEPEST, normed=DEEPEST)),)
    assert entries_for(entries, 61) == ((61, states(3, 31, 61, normed=61)),)


def test_states_beyond_the_target_are_another_models():
    assert entries_for(((DEEPEST, states(3, 31, 70)),), 61) == ()


def test_code_of_a_target_of_another_depth_says_nothing():
    assert entries_for(((32, states(2, 16, 29)),), 36) == ()


def test_boundaries_that_do_not_depend_on_an_unknown_depth_are_fixed():
    said = of_assembly(assembly(((DEEPEST, states(3, 31, 59)),)), 0)
    assert said is not None
    assert said.boundaries == Layers.of((3, 31, 59))


def test_boundaries_that_depend_on_an_unknown_depth_stay_a_table():
    said = of_assembly(assembly(((32, states(2, 16, 29)), (36, states(2, 18, 33)))), 0)
    assert said is not None
    assert (said.at(32), said.at(36), said.at(40)) == ((2, 16, 29), (2, 18, 33), None)


def test_a_state_that_is_not_the_stream_is_no_boundary():
    branch = (State(2, part="branch"), State(18), State(33))
    assert of_assembly(assembly(((36, branch),)), 36) is None
