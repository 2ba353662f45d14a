"""libcst's parser, made to take less memory and time.

Half of a tree are white space and punctuation: the same few nodes over and over, which nobody tells apart. While a text
is parsed, libcst is given functions in the place of their classes that return the same node for the same contents.
And no garbage is looked for: a parser makes none, but it makes a million objects among which Python would search.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import libcst as cst

#: The classes of nodes that are shared; those that hold comments or stand for themselves are not among them.
_SHARED: dict[str, type[cst.CSTNode]] = {
    "SimpleWhitespace": cst.SimpleWhitespace,
    "TrailingWhitespace": cst.TrailingWhitespace,
    "Newline": cst.Newline,
    "Comma": cst.Comma,
    "Dot": cst.Dot,
    "AssignEqual": cst.AssignEqual,
}


def parse_module(text: str) -> cst.Module:
    """The tree of a text, as cst.parse_module gives it; nodes of white space may stand in many places of it."""
    with _sharing(), _no_collection():
        return cst.parse_module(text)


@contextmanager
def _sharing() -> Iterator[None]:
    for name, kind in _SHARED.items():
        setattr(cst, name, _shared(kind))
    try:
        yield
    finally:
        for name, kind in _SHARED.items():
            setattr(cst, name, kind)


def _shared(kind: type[cst.CSTNode]) -> Callable[..., cst.CSTNode]:
    """A function that makes nodes of a class, one for each contents. Nodes inside nodes are compared by identity."""
    made: dict[tuple[Any, ...], cst.CSTNode] = {}

    def make(**contents: Any) -> cst.CSTNode:
        key = tuple(contents.items())
        node = made.get(key)
        if node is None:
            node = made[key] = kind(**contents)
        return node

    return make


@contextmanager
def _no_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
