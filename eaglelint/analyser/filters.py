"""Ids that a condition leaves out before they are used: `[i + 1 for i in ids if i + 1 < n]`, `if i < n: wanted.add(i)`.

Only conditions that hold a number against a bound count: whoever writes `i != n` means to leave that one out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import libcst as cst

from eaglelint.analyser.patterns import kids
from eaglelint.analyser.scope import Spot
from eaglelint.analyser.values import Index, ListV, SetV, V

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame

_BOUNDS = cst.LessThan | cst.LessThanEqual | cst.GreaterThan | cst.GreaterThanEqual


class LeftOut(NamedTuple):
    """An id that a condition at `where` left out; `value` is what would have been used in its place."""

    number: int
    value: int
    where: Spot


def bounds(test: cst.BaseExpression) -> bool:
    """Whether a condition holds something against a bound."""
    if isinstance(test, cst.BooleanOperation):
        return bounds(test.left) or bounds(test.right)
    if isinstance(test, cst.UnaryOperation):
        return bounds(test.expression)
    return isinstance(test, cst.Comparison) and any(isinstance(t.operator, _BOUNDS) for t in test.comparisons)


def value_of(run: Interpreter, node: Any, frame: Frame) -> int | None:
    """The number that an expression without calls gives, None when it is no number."""
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.Call | cst.NamedExpr | cst.Await | cst.Yield):
            return None
        stack.extend(kids(current))
    value = run.evaluate(node, frame)
    return int(value) if isinstance(value, int) and not isinstance(value, bool | Index) else None


def number_of(item: V) -> int | None:
    """An item of a list of ids; a counter is none."""
    return int(item) if isinstance(item, int) and not isinstance(item, bool | Index) else None


def skipped(run: Interpreter, test: cst.BaseExpression, statements: Any, frame: Frame) -> None:
    """Statements do not run for the id whose turn it is: the lists and hooks that they would have added to lack it."""
    turn = run.choosing[-1] if run.choosing else None
    if turn is None or turn.current is None or run.journal or not bounds(test):
        return
    for statement in statements:
        for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
            call = small.value if isinstance(small, cst.Expr) else None
            if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
                _lacks(run, call, call.func, LeftOut(turn.current, turn.current, Spot(frame.scope, test)), frame)


def passed(run: Interpreter, test: cst.If, loop: cst.For, frame: Frame) -> None:
    """`if ...: continue` ends the turn of an id: what follows in the loop does not run for it."""
    statements = list(getattr(loop.body, "body", ()))
    if test in statements:
        skipped(run, test.test, statements[statements.index(test) + 1 :], frame)


def _lacks(run: Interpreter, call: cst.Call, func: cst.Attribute, left: LeftOut, frame: Frame) -> None:
    name = func.attr.value
    if name in ("append", "add") and len(call.args) == 1:
        owner = run.evaluate(func.value, frame)
        value = value_of(run, call.args[0].value, frame)
        if isinstance(owner, ListV | SetV) and value is not None:
            owner.left_out = (*owner.left_out, left._replace(value=value))
    elif name in ("register_forward_hook", "register_forward_pre_hook") and isinstance(func.value, cst.Subscript):
        index = func.value.slice[0].slice
        value = value_of(run, index.value, frame) if isinstance(index, cst.Index) else None
        if value is not None:
            run.rec.unhooked(left._replace(value=value + ("pre" not in name)), frame)
