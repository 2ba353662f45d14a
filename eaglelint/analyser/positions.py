"""Where the nodes of a tree stand, packed: libcst's own table takes several times the memory of the tree's text."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import libcst as cst
from libcst.metadata import CodePosition, CodeRange
from libcst.metadata.position_provider import PositionProvidingCodegenState

#: Bits of a line or column number.
_BITS = 24
_MASK = (1 << _BITS) - 1
#: Nodes that nobody asks for, and that may stand in many places of a tree: white space and punctuation are half of it.
_IDLE = frozenset(
    {
        cst.SimpleWhitespace,
        cst.ParenthesizedWhitespace,
        cst.TrailingWhitespace,
        cst.EmptyLine,
        cst.Newline,
        cst.Comma,
        cst.Dot,
        cst.AssignEqual,
        cst.Semicolon,
    }
)


class Positions:
    """The start and the end of each node that matters, each as 1-based line and 0-based column."""

    def __init__(self) -> None:
        self._packed: dict[cst.CSTNode, int] = {}

    def __contains__(self, node: cst.CSTNode) -> bool:
        return node in self._packed

    def __setitem__(self, node: cst.CSTNode, place: CodeRange) -> None:
        if type(node) not in _IDLE:
            packed = 0
            for number in (place.start.line, place.start.column, place.end.line, place.end.column):
                packed = packed << _BITS | min(number, _MASK)
            self._packed[node] = packed

    def __getitem__(self, node: cst.CSTNode) -> CodeRange:
        packed = self._packed[node]
        numbers = [packed >> shift * _BITS & _MASK for shift in (3, 2, 1, 0)]
        return CodeRange(CodePosition(numbers[0], numbers[1]), CodePosition(numbers[2], numbers[3]))

    def get(self, node: cst.CSTNode) -> CodeRange | None:
        """The place of a node, None when it is not known."""
        return self[node] if node in self._packed else None


class _Writer(PositionProvidingCodegenState):
    """Writes a tree as libcst does to learn the places of its nodes; those that nobody asks for are passed over."""

    def before_codegen(self, node: cst.CSTNode) -> None:
        if type(node) not in _IDLE:
            super().before_codegen(node)

    def after_codegen(self, node: cst.CSTNode) -> None:
        if type(node) not in _IDLE:
            super().after_codegen(node)

    def _update_position(self, value: str) -> None:
        if "\n" in value or "\r" in value:
            super()._update_position(value)
        else:
            self.column += len(value)


def positions(module: cst.Module) -> Positions:
    """The places of the nodes of a tree, as libcst's PositionProvider gives them. Raises RecursionError."""
    found = Positions()
    state = _Writer(
        default_indent=module.default_indent,
        default_newline=module.default_newline,
        provider=cast(Any, SimpleNamespace(_computed=found)),
    )
    module._codegen(state)
    return found
