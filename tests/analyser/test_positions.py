"""Packed positions are those of libcst, without what nobody asks for."""

from __future__ import annotations

import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider

from eaglelint.analyser.positions import positions

CODE = '''\
"""Captures for EAGLE-3."""
from a import (
    b,  # why
    c as d,
)

@decorated(1)
class Model(Base, metaclass=M):
    x: int = 3; y = 4

    async def forward(self, h: "Tensor", *rest, key=None, **more) -> None:
        for i, layer in enumerate(self.layers[1:]):
            if i in (2, 16) and not (h is None or i == 3):
                kept += [f"layer_{i:>03}" "!" % h, {1: 2, **more}]
            elif i:
                h = await layer(
                    h,
                    lambda a, /, b=1: a @ b,
                )
            else:
                pass
        with open("x") as f, g:
            try:
                del a[1], b
            except* E as e:
                raise X from e
            finally:
                return (yield)
'''


@pytest.mark.parametrize("text", [CODE, CODE.replace("\n", "\r\n"), CODE.replace("    ", "\t"), "", "x", "\\\n\\\nx\n"])
def test_places_are_those_of_libcst(text: str) -> None:
    module = cst.parse_module(text)
    expected = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    found = positions(module)
    asked = [node for node in expected if type(node).__name__ in dir(cst) and node in found]
    assert {type(node) for node in asked} >= (
        {cst.If, cst.Call, cst.Name, cst.FunctionDef} if "class" in text else set()
    )
    assert [found[node] for node in asked] == [expected[node] for node in asked]


def test_white_space_and_commas_have_no_place() -> None:
    module = cst.parse_module("f(1, 2)\n")
    call = module.body[0].body[0].value
    found = positions(module)
    assert found.get(call) is not None
    assert found.get(call.args[0].comma) is None
