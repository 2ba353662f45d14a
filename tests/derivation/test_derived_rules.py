"""The id rule, its edges, order and tensor, derived from the loop and the setter of a small engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from toy import BEFORE, PLUS_ONE, derived

from eaglelint.conventions.records import Reading


def reading(root: Path, loop: str = BEFORE, setter: str = PLUS_ONE) -> Reading:
    found = derived(root, loop, setter).reading
    assert found is not None
    return found


def test_a_loop_that_captures_before_the_layer_and_a_setter_that_adds_one(tmp_path: Path) -> None:
    found = reading(tmp_path)
    assert (found.rule, found.default, found.order) == ("plus_one", ("2", "N // 2", "N - 3"), "ascending")
    assert (found.zero, found.end, found.outside) == ("crash", "dropped", "dropped")
    assert found.tensor == "stream"


def test_a_stream_without_a_residual_yet_is_the_embedding(tmp_path: Path) -> None:
    loop = BEFORE.replace(
        "hidden_states + residual)", "hidden_states if residual is None else hidden_states + residual)"
    )
    assert reading(tmp_path, loop).zero == "captured"


def test_a_loop_that_captures_after_the_layer_moves_every_id(tmp_path: Path) -> None:
    loop = """
        for i, layer in enumerate(self.layers):
            hidden_states, residual = layer(positions, hidden_states, forward_batch, residual)
            if i + 1 in self.layers_to_capture:
                aux_hidden_states.append(hidden_states + residual)
    """
    found = reading(tmp_path, loop, PLUS_ONE.replace("val + 1", "val"))
    assert (found.rule, found.zero, found.end) == ("as_is", "dropped", "captured")


def test_one_is_added_only_when_the_first_id_is_one(tmp_path: Path) -> None:
    setter = """
        n = self.config.num_hidden_layers
        if layer_ids is None:
            self.model.layers_to_capture = [2, n // 2, n - 3]
        elif layer_ids and layer_ids[0] == 1:
            self.model.layers_to_capture = [val + 1 for val in layer_ids]
        else:
            self.model.layers_to_capture = list(layer_ids)
    """
    assert reading(tmp_path, BEFORE, setter).rule == "plus_one_if_first_is_one"


def test_a_list_whose_largest_id_is_n_is_taken_as_it_is(tmp_path: Path) -> None:
    loop = (
        BEFORE
        + """
    if len(self.layers) in self.layers_to_capture:
        aux_hidden_states.append(hidden_states + residual)
"""
    )
    setter = """
        n = self.config.num_hidden_layers
        if layer_ids is None:
            self.model.layers_to_capture = [2, n // 2, n - 3]
        elif max(layer_ids) == n:
            self.model.layers_to_capture = list(layer_ids)
        else:
            self.model.layers_to_capture = [val + 1 for val in layer_ids]
    """
    found = reading(tmp_path, loop, setter)
    assert (found.rule, found.end) == ("as_is_if_max_is_n", "captured")


def test_a_default_list_that_is_shifted_too(tmp_path: Path) -> None:
    setter = """
        n = self.config.num_hidden_layers
        ids = [2, n // 2, n - 3] if layer_ids is None else layer_ids
        self.model.layers_to_capture = [val + 1 for val in ids]
    """
    assert reading(tmp_path, BEFORE, setter).default == ("3", "N // 2 + 1", "N - 2")


def test_flags_of_layers_count_from_the_end_and_fail_at_n(tmp_path: Path) -> None:
    loop = """
        for i in range(len(self.layers)):
            layer = self.layers[i]
            wanted = aux_hidden_states if getattr(layer, "_is_layer_to_capture", False) else None
            hidden_states, residual = layer(positions, hidden_states, forward_batch, residual, captured=wanted)
    """
    setter = """
        n = self.config.num_hidden_layers
        ids = [2, n // 2, n - 3] if layer_ids is None else [val + 1 for val in layer_ids]
        for layer_id in ids:
            setattr(self.model.layers[layer_id], "_is_layer_to_capture", True)
    """
    found = reading(tmp_path, loop, setter)
    assert (found.rule, found.zero, found.end, found.outside) == ("plus_one", "captured", "crash", "wrong_layer")


def test_a_setter_without_ids_always_captures_the_default(tmp_path: Path) -> None:
    setter = """
        n = self.config.num_hidden_layers
        self.model.layers_to_capture = [2, n // 2, n - 3]
    """
    assert reading(tmp_path, BEFORE, setter).rule == "ignored"


def test_a_list_that_nobody_asks_for_captures_nothing(tmp_path: Path) -> None:
    loop = BEFORE.replace("i in self.layers_to_capture", "getattr(self.layers[i], '_is_layer_to_capture', False)")
    found = reading(tmp_path, loop)
    assert (found.rule, found.status) == ("nothing_captured", "broken")


def test_a_branch_without_its_residual_is_told(tmp_path: Path) -> None:
    found = reading(tmp_path, BEFORE.replace("hidden_states + residual", "hidden_states"))
    assert (found.tensor, found.status) == ("branch", "broken")


def test_states_in_the_order_of_the_list(tmp_path: Path) -> None:
    loop = """
        kept = {}
        for i in range(len(self.layers)):
            if i > 0:
                kept[i] = hidden_states + residual
            hidden_states, residual = self.layers[i](positions, hidden_states, forward_batch, residual)
        aux_hidden_states = [kept[i] for i in self.layers_to_capture if i in kept]
    """
    assert reading(tmp_path, loop).order == "as_listed"


def test_a_packed_buffer_that_counts_fails_at_ids_out_of_reach(tmp_path: Path) -> None:
    loop = """
        buffer = None
        for i in range(len(self.layers)):
            if i in self.layers_to_capture:
                value = hidden_states + residual
                if buffer is None:
                    buffer = value.new_empty((value.shape[0], value.shape[1] * len(self.layers_to_capture)))
                aux_hidden_states.append(i)
                buffer[..., 0:1].copy_(value)
            hidden_states, residual = self.layers[i](positions, hidden_states, forward_batch, residual)
        if len(aux_hidden_states) != len(self.layers_to_capture):
            raise RuntimeError("captured too few")
        aux_hidden_states = [buffer]
    """
    found = derived(tmp_path, loop)
    assert found.reading is not None
    assert (found.reading.end, found.reading.outside) == ("crash", "crash")
    crashed = [seen for seen in found.seen if seen.crash == "RuntimeError"]
    assert crashed
    assert all(seen.where is not None for seen in crashed)


@pytest.mark.parametrize("condition", ["forward_batch.fancy", "self.config.fancy"])
def test_what_depends_on_something_unknown_is_not_told(tmp_path: Path, condition: str) -> None:
    loop = BEFORE.replace("if i in self.layers_to_capture:", f"if i in self.layers_to_capture and {condition}:")
    found = derived(tmp_path, loop)
    assert found.reading is None
    assert "condition" in found.reason
