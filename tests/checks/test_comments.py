"""EGL502: comments beside a capture that claim other layers."""

from __future__ import annotations

from typing import Any

import pytest

from eaglelint.boundary import State
from eaglelint.facts import Capture, Comment
from eaglelint.location import Location


def at(path: str, line: int = 1) -> Location:
    """A place for which only the line matters."""
    return Location(path, line, 1, line, 1, line * 100, line * 100)


def said(world: Any, text: str, beside: Location | None = None, kind: str = "comment") -> Comment:
    """A comment beside the training code's concatenation unless another place is given."""
    comment = Comment(text, at("train.py", 4), kind, beside or at("train.py", 11))
    world.lists.setdefault("comments", []).append(comment)
    return comment


def test_other_layers_than_those_that_are_taken(world: Any):
    world.trained([2, 18, 33], 36)
    comment = said(world, "keeps layers 6, 12 and 18")
    found = world.finding("EGL502")
    assert (found.severity, found.where) == ("info", comment.where)
    assert 'the comment says "layers 6, 12 and 18", but the code takes boundaries 2, 18, 33' in found.message


@pytest.mark.parametrize(
    "text",
    [
        "layers 2, 18 and 33",
        "layers 1, 17, 32",
        "outputs of layers 1, 17 and 32",
        "inputs of layers 2, 18, 33",
        "boundaries 2, 18, 33",
        "the middle one is layer 18",
        "three states for fc",
        "the default would be layers 1, 2, 3",
    ],
)
def test_what_is_right_or_no_claim(world: Any, text: str):
    world.trained([2, 18, 33], 36)
    said(world, text)
    assert not world.findings("EGL502")


@pytest.mark.parametrize("text", ["outputs of layers 2, 18, 33", "before layers 1, 17, 32", "boundaries 1, 17, 32"])
def test_the_wrong_side_of_the_layer(world: Any, text: str):
    world.trained([2, 18, 33], 36)
    said(world, text)
    assert world.finding("EGL502")


def test_a_claim_is_wrong_only_for_every_possible_depth(world: Any):
    by_depth = tuple((n, (State(2), State(n // 2))) for n in (32, 36, 40))
    world.lists["captures"] = [Capture(at("dump.py", 7), by_depth, None, "proven", "hf")]
    said(world, "layers 2 and 18", at("dump.py", 7))
    assert not world.findings("EGL502")
    said(world, "layers 2 and 7", at("dump.py", 7))
    assert world.finding("EGL502")


def test_a_comment_beside_a_name(world: Any):
    place = world.label("first", 3, 61).where
    said(world, "embedding output", place)
    assert "embedding output" in world.finding("EGL502").message


def test_a_docstring_is_called_one(world: Any):
    world.trained([2, 18, 33], 36)
    said(world, "Take layers 6, 12 and 18.", kind="docstring")
    assert world.finding("EGL502").message.startswith("the docstring")


def test_a_comment_beside_something_else(world: Any):
    world.trained([2, 18, 33], 36)
    said(world, "layers 6, 12 and 18", at("train.py", 50))
    assert not world.findings("EGL502")
