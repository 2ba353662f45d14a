"""EGL501: names that hold another state than they claim."""

from __future__ import annotations

from typing import Any


def held(world: Any, *names: tuple[str, int], depth: int = 61, **more: Any) -> None:
    for line, (name, boundary) in enumerate(names, 20):
        world.label(name, boundary, depth, line=line, **more)


def wrong(world: Any) -> list[tuple[str, int]]:
    return [(f.message.split("`")[1], f.where.line) for f in world.findings("EGL501")]


def test_each_wrong_name_is_one_finding_at_its_binding(world: Any):
    held(world, ("embed", 3), ("layer3", 31), ("layer31", 59))
    assert wrong(world) == [("embed", 20), ("layer3", 21), ("layer31", 22)]


def test_the_message_says_what_is_claimed_held_and_how_it_got_there(world: Any):
    held(world, ("layer3", 31))
    found = world.finding("EGL501")
    assert found.severity == "warning"
    assert "layer 3 (boundary 3 or 4)" in found.message
    assert "holds boundary 31 (output of layer 30, input of layer 31)" in found.message
    assert "captured before the layer at dump.py:7" in found.message
    assert [step.where.path for step in found.related] == ["dump.py", "collect.py"]


def test_names_that_are_right_under_one_reading(world: Any):
    held(world, ("embed", 0), ("layer3_out", 4), ("layer31_in", 31), ("layer5", 5), ("layer7", 8))
    assert not wrong(world)


def test_the_final_state_normed_or_not(world: Any):
    held(world, ("final", 61), ("last_hidden_state", 61))
    world.label("final", 61, 61, normed=True, line=40, owner="other")
    assert not wrong(world)


def test_a_final_that_is_none(world: Any):
    held(world, ("final", 59))
    assert wrong(world) == [("final", 20)]


def test_post_norm_on_a_state_before_the_norm(world: Any):
    held(world, ("post_norm", 61))
    assert wrong(world) == [("post_norm", 20)]


def test_slot_numbers_claim_nothing(world: Any):
    held(world, ("aux_0", 3), ("layer_input_1", 31), ("h0", 3), ("h1", 31), ("h2", 59))
    assert not wrong(world)


def test_low_mid_high_in_ascending_order(world: Any):
    held(world, ("low", 3), ("mid", 31), ("high", 59))
    assert not wrong(world)


def test_low_and_high_exchanged(world: Any):
    held(world, ("low", 59), ("mid", 31), ("high", 3))
    assert wrong(world) == [("low", 20), ("high", 22)]


def test_the_last_of_several_is_no_claim_of_the_last_layer(world: Any):
    held(world, ("first", 3), ("mid", 31), ("last", 59))
    assert not wrong(world)


def test_a_name_that_travels_is_reported_where_it_is_bound_first(world: Any):
    held(world, ("embed", 3))
    trace = world.facts.labels[0].trace
    world.label("embed", 3, 61, path="train.py", line=5, trace=(*trace, *trace), kind="key")
    assert wrong(world) == [("embed", 20)]


def test_the_embedding_of_a_text_is_its_last_state(world: Any):
    held(world, ("embedding", 12), depth=12)
    assert not wrong(world)


def test_an_embedding_beside_named_layers_is_the_targets(world: Any):
    held(world, ("embedding", 12), ("layer_5", 5), depth=12)
    assert wrong(world) == [("embedding", 20)]


def test_a_name_that_is_right_for_some_depth_is_left_alone(world: Any):
    from eaglelint.boundary import State
    from eaglelint.facts import Label
    from eaglelint.location import Location

    by_depth = tuple((n, (State(n // 2),)) for n in (32, 36, 40))
    world.lists["labels"] = [Label("layer18", "variable", Location("a.py", 3), by_depth, ())]
    assert not wrong(world)
    world.target(40)
    assert wrong(world) == [("layer18", 3)]


def test_a_merely_possible_state_is_no_proof(world: Any):
    held(world, ("embed", 3), confidence="possible")
    assert not wrong(world)


def test_a_layer_that_the_target_does_not_have_counts_something_else(world: Any):
    held(world, ("h100", 3))
    assert not wrong(world)


class TestAmbiguous:
    """EGL503, which is off by default."""

    @staticmethod
    def names(world: Any) -> list[str]:
        return [finding.message.split("`")[1] for finding in world.findings("EGL503")]

    def test_a_number_without_a_side(self, world: Any):
        held(world, ("layer3", 4), ("layer31_out", 31))
        assert self.names(world) == ["layer3", "layer31_out"]
        assert "it holds the output, boundary 4" in world.findings("EGL503")[0].message

    def test_names_that_say_it(self, world: Any):
        held(world, ("layer31_in", 31), ("embed", 0), ("final", 61), ("boundary_7", 7))
        assert not self.names(world)

    def test_a_name_that_is_wrong_under_both_is_egl501_alone(self, world: Any):
        held(world, ("layer3", 31))
        assert not self.names(world)

    def test_slot_numbers(self, world: Any):
        held(world, ("layer1", 1), ("layer2", 3), ("layer3", 4))
        assert not self.names(world)

    def test_one_finding_a_name(self, world: Any):
        held(world, ("layer3", 3))
        world.label("layer3", 3, 61, path="train.py", line=5)
        assert self.names(world) == ["layer3"]
