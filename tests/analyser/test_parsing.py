"""Trees that share their white space are the trees that libcst gives."""

from __future__ import annotations

import gc

import libcst as cst
import pytest

from eaglelint.analyser.parsing import parse_module

CODE = """\
import torch . nn  # a remark
def forward(self, x, *, ids=(2, 18 ,33), **more) :  # another
    for i , layer in enumerate( self.layers):
        x = layer(x,
                  self . mask)  ;  y = x [ 0 ]
\tif y:
\t\tpass
""".replace("\t", "    ")
CLASSES = (cst.SimpleWhitespace, cst.TrailingWhitespace, cst.Newline, cst.Comma, cst.Dot, cst.AssignEqual)


@pytest.mark.parametrize("code", [CODE, CODE.replace("\n", "\r\n"), "", "x = 1"])
def test_the_tree_is_the_one_of_libcst(code: str) -> None:
    made = parse_module(code)
    assert made.code == code
    assert made.deep_equals(cst.parse_module(code))


def test_white_space_is_shared_and_names_are_not() -> None:
    first, second = parse_module("a = b\na = b\n").body
    assert first.trailing_whitespace is second.trailing_whitespace
    assert first.body[0].value is not second.body[0].value


def test_comments_stay_where_they_are() -> None:
    first, second = parse_module("a = 1  # one\nb = 2  # two\n").body
    assert first.trailing_whitespace.comment.value == "# one"
    assert second.trailing_whitespace.comment.value == "# two"


@pytest.mark.parametrize("code", ["x = 1", "x = ("])
def test_nothing_of_libcst_stays_changed(code: str) -> None:
    try:
        parse_module(code)
    except cst.ParserSyntaxError:
        assert code == "x = ("
    assert (cst.SimpleWhitespace, cst.TrailingWhitespace, cst.Newline, cst.Comma, cst.Dot, cst.AssignEqual) == CLASSES
    assert gc.isenabled()
