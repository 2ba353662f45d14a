"""What comments say about layers, and what they do not say."""

from __future__ import annotations

import pytest

from eaglelint.claims import claims


def read(text: str) -> list[tuple[tuple[int, ...], ...]]:
    return [claim.readings for claim in claims(text)]


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("layers 6, 12 and 18", ((6, 12, 18), (7, 13, 19))),
        ("keeps decoder layers [6, 12, 18] of the target", ((6, 12, 18), (7, 13, 19))),
        ("layer ids: 6/12/18", ((6, 12, 18), (7, 13, 19))),
        ("Layer 3", ((3,), (4,))),
        ("output of layer 3", ((4,),)),
        ("outputs of the layers 3 and 30", ((4, 31),)),
        ("after layer 3", ((4,),)),
        ("layer 3 output", ((4,),)),
        ("input of layer 3", ((3,),)),
        ("inputs to decoder layers 3, 31", ((3, 31),)),
        ("in front of layer 3", ((3,),)),
        ("layer 3 input", ((3,),)),
        ("boundary 3", ((3,),)),
        ("boundaries 3, 31, 59", ((3, 31, 59),)),
        ("the embedding output", ((0,),)),
        ("token embedding layer output", ((0,),)),
    ],
)
def test_a_claim_and_its_readings(text: str, readings: tuple[tuple[int, ...], ...]):
    assert read(text) == [readings]


def test_several_claims_of_one_comment():
    assert read("embedding output, output of layer 3, output of layer 31") == [((4,),), ((32,),), ((0,),)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "low, middle and high",
        "layers 0-35",
        "layers 0 to 35",
        "layers 0..35",
        "a model with 36 layers",
        "layer 1x1 convolution",
        "the 2nd layer",
        "by default layers 2, 18 and 33",
        "not layers 2, 18 and 33",
        "were layers 6, 12, 18",
        "e.g. layers 2, 18, 33",
        "SGLang calls these layers 1, 17, 32",
        "layer 2 -> boundary 3",
        "layers 2, N//2, N-3",
        "shape [3, 4096]",
        "embedding of the image",
    ],
)
def test_what_claims_nothing(text: str):
    assert not claims(text)
