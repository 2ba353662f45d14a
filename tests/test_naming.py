"""What names claim of the state that they hold."""

from __future__ import annotations

import pytest

from eaglelint.boundary import State
from eaglelint.naming import claim, slot_numbers

N = 61


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("embed", {0}),
        ("embedding", {0}),
        ("h_embed", {0}),
        ("inputs_embeds", {0}),
        ("tok_emb", {0}),
        ("layer3", {3, 4}),
        ("layer_31", {31, 32}),
        ("Layer31", {31, 32}),
        ("target_layer_03", {3, 4}),
        ("out/layer_03.npy", {3, 4}),
        ('arrays["layer_20"]', {20, 21}),
        ("model.layers.3", {3, 4}),
        ("h3", {3, 4}),
        ("l3", {3, 4}),
        ("hidden_3", {3, 4}),
        ("hidden_states_18", {18, 19}),
        ("hidden_layer_12_bf16", {12, 13}),
        ("layer31_in", {31}),
        ("before_layer31", {31}),
        ("layer31_input", {31}),
        ("layer3_out", {3, 4}),
        ("after_layer_3", {3, 4}),
        ("final", {N}),
        ("last_hidden_state", {N}),
        ("final_layer", {N}),
    ],
)
def test_boundaries_that_a_name_allows(name: str, right: set[int]):
    said = claim(name)
    assert said is not None
    assert {b for b in range(N + 1) if said.fits(State(b), N)} == right


@pytest.mark.parametrize(
    "name",
    [
        *("aux_0", "aux_layer_1", "layer_input_0", "hs_2", "slot3", "feat_2", "aux_hidden_state_2", "states_1"),
        *("hidden_states", "x", "h", "layer", "target", "teacher", "residual", "draft_layer0", "fc_out"),
        *("sentence_embedding", "image_embeds", "pos_embed", "pooled_embedding"),
        *("l2_norm", "hidden_fp16", "rank0", "tp8", "v2", "layer3_h7", "embed_layer3", "low_layer3"),
        *("last_token", "last_4", "final_step", "second_to_last", "penultimate", "last_layer_input"),
        *("low_rank", "high_precision", "data_3.pt", "rows_0-2000"),
    ],
)
def test_names_that_claim_nothing(name: str):
    assert claim(name) is None


@pytest.mark.parametrize(
    ("name", "normed"),
    [
        ("final_normed", True),
        ("post_norm", True),
        ("postNorm", True),
        ("after_norm", True),
        ("final_norm_out", True),
        ("pre_norm", False),
        ("last_prenorm", False),
        ("final_unnormed", False),
        ("final", None),
    ],
)
def test_what_a_name_says_of_the_norm(name: str, normed: bool | None):
    said = claim(name)
    assert said is not None
    assert said.normed is normed


def test_a_claim_of_both_needs_both():
    said = claim("final_normed")
    assert said is not None
    assert said.fits(State(N, normed=True), N)
    assert not said.fits(State(N), N)
    assert not said.fits(State(59, normed=True), N)


@pytest.mark.parametrize("name", ["low", "h_mid", "feat_high", "middle_state"])
def test_places_among_several(name: str):
    said = claim(name)
    assert said is not None
    assert said.rank is not None
    assert not said.boundaries


@pytest.mark.parametrize(
    ("names", "counted"),
    [
        (["h0", "h1", "h2"], {"h0", "h1", "h2"}),
        (["layer1", "layer2", "layer3"], {"layer1", "layer2", "layer3"}),
        (["layer3", "layer31"], set()),
        (["layer1", "layer15", "layer28"], set()),
        (["h3"], set()),
        (["layer0", "h1"], set()),
    ],
)
def test_numbers_that_only_count(names: list[str], counted: set[str]):
    assert slot_numbers(names) == counted
