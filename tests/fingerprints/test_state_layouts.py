"""Which axis counts tokens, which slots and which features, in every form in which states are kept."""

from __future__ import annotations

import pytest

from eaglelint.fingerprints.reading import Run
from eaglelint.fingerprints.slots import contents
from eaglelint.stored import CheckpointHeader, TensorHeader


def header(**shapes: tuple[int, ...]) -> CheckpointHeader:
    """A file of bfloat16 tensors and of int64 token ids."""
    made = {}
    for name, shape in shapes.items():
        key = name.replace("__", ".")
        made[key] = TensorHeader(key, "int64" if "ids" in name else "bfloat16", shape, 0, 0)
    return CheckpointHeader("s.pt", "torch", made)


def found(hidden: int = 8, **shapes: tuple[int, ...]) -> list[tuple[str, int, int]]:
    """The slots as (name, tokens, width)."""
    return [(slot.shown, slot.length, slot.width) for slot in contents(header(**shapes), hidden).slots]


def test_rows_are_tokens():
    assert found(input_ids=(9,), embed=(9, 8)) == [("embed", 9, 8)]


@pytest.mark.parametrize("ids", [(9,), (1, 9)])
def test_a_batch_of_one_is_no_slot(ids: tuple[int, ...]):
    assert found(input_ids=ids, embed=(1, 9, 8)) == [("embed", 9, 8)]


def test_entries_of_a_list_know_each_other():
    slots = contents(header(input_ids=(9,), hidden_states__0=(9, 8), hidden_states__1=(9, 8)), 8).slots
    assert [(slot.shown, slot.group, slot.place, slot.parts) for slot in slots] == [
        ("hidden_states[0]", "hidden_states", 0, 2),
        ("hidden_states[1]", "hidden_states", 1, 2),
    ]


def test_states_side_by_side_are_taken_apart_by_the_width_of_the_target():
    assert found(input_ids=(9,), aux_hidden_states=(9, 24)) == [
        ("aux_hidden_states[..., 0:8]", 9, 8),
        ("aux_hidden_states[..., 8:16]", 9, 8),
        ("aux_hidden_states[..., 16:24]", 9, 8),
    ]
    assert found(0, input_ids=(9,), aux_hidden_states=(9, 24)) == [("aux_hidden_states", 9, 24)]


def test_stacked_states_are_taken_apart_by_the_number_of_tokens():
    assert found(token_ids=(9,), hidden_states=(9, 4, 8))[1] == ("hidden_states[:, 1]", 9, 8)
    assert found(input_ids=(9,), hidden_state=(3, 9, 8))[2] == ("hidden_state[2]", 9, 8)
    (_, second) = contents(header(input_ids=(9,), hidden_state=(2, 9, 8)), 8).slots
    assert second.row(1) == Run(2 * 9 * 8 - 8 * 8, 8, 1)


def test_after_a_cache_hit_the_longer_axis_counts_tokens():
    assert found(token_ids=(40,), hidden_states=(25, 4, 8))[0] == ("hidden_states[:, 0]", 25, 8)


def test_axes_that_can_not_be_told_apart_are_not_guessed():
    made = contents(header(input_ids=(4,), hidden_states=(4, 4, 8)), 8)
    assert not made.slots
    assert [tensor.name for tensor in made.unclear] == ["hidden_states"]


def test_the_first_prompt_stands_for_a_batch():
    assert found(input_ids=(2, 9), embed=(2, 9, 8)) == [("embed", 9, 8)]


def test_each_sample_of_a_list_has_its_own_tokens():
    slots = contents(header(a__input_ids=(9,), a__h=(9, 8), b__input_ids=(5,), b__h=(5, 8)), 8).slots
    assert [slot.tokens.length for slot in slots if slot.tokens] == [9, 5]


@pytest.mark.parametrize(
    "name", ["logits", "target_probs", "attention_mask", "loss_mask", "rope_cos", "topk_values", "past_key_values"]
)
def test_floats_that_are_no_states_are_left_alone(name: str):
    assert found(input_ids=(9,), **{name: (9, 96)}) == []
