"""Statements: executes code abstractly, with three-valued conditions and fuel.

A branch whose condition is not known is taken both ways: the effects on shared objects of the first way are kept unless
the second makes its own, and names are joined. A loop over something unknown runs its body once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser import (
    assigning,
    branches,
    calls,
    definitions,
    expressions,
    filters,
    layer_loops,
    matching,
    patterns,
    undo,
)
from eaglelint.analyser.choices import Choosing, choosing
from eaglelint.analyser.objects import Objects
from eaglelint.analyser.operations import elements, join, truth
from eaglelint.analyser.scope import Frame, ModuleScope, module_frame
from eaglelint.analyser.target_values import Layer
from eaglelint.analyser.values import MISSING, DictV, FuncV, ListV, Obj, Unknown, V

if TYPE_CHECKING:
    from eaglelint.analyser.recorder import Recorder
    from eaglelint.analyser.world import World

#: How a block of statements ended: None (ran through) or (kind, value).
Flow = tuple[str, V] | None

#: Steps that one module or one function that nothing calls may take (a loop over 94 layers takes some 10,000).
_MAX_STEPS = 80_000
#: Steps of one run over the project, after which each module or function gets only a few.
_MANY_STEPS = 800_000
_FEW_STEPS = 8_000
#: Rounds of a `while` whose condition stays true.
_MAX_ROUNDS = 300
_MAX_CALLS = 40


class OutOfFuel(Exception):
    """The code asked for more steps than are granted."""


class Interpreter:
    """One run over the project for one depth N (decoder layers of a target whose config is not known)."""

    def __init__(self, world: World, recorder: Recorder, depth: int) -> None:
        self.statements = _STATEMENTS
        self.small_statements = _SMALL
        self.world = world
        self.rec = recorder
        self.depth = depth
        self.steps = 0
        self.total = 0
        self.stack: list[FuncV] = []
        self.journal: list[dict[int, tuple[Any, Any]]] = []
        self.doubt: list[Unknown] = []
        self.objects = Objects(self)
        self.entered: set[int] = set()
        self.wrapped_calls = 0
        self.choosing: list[Choosing] = []

    # ---- fuel and undo -------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Count one step; raises OutOfFuel when all are used."""
        self.steps += 1
        self.total += 1
        if self.steps > (_MAX_STEPS if self.total < _MANY_STEPS else _FEW_STEPS):
            raise OutOfFuel

    def touch(self, thing: Any) -> None:
        """Remember the contents of a shared object before it changes, for branches that may not happen."""
        if self.journal and id(thing) not in self.journal[-1]:
            undo.remember(self.journal[-1], thing)

    # ---- modules and functions -----------------------------------------------------------------------------------

    def run_module(self, scope: ModuleScope) -> None:
        """Execute the top level of a module or fragment; running out of fuel ends it quietly."""
        frame = module_frame(scope)
        scope.names.setdefault("__name__", "__main__" if not scope.loose else scope.dotted)
        scope.names.setdefault("__file__", scope.path)
        spent, self.steps = self.steps, 0
        try:
            self.block(scope.tree.body, frame)
        except (OutOfFuel, RecursionError):
            self.stack.clear()
            self.journal.clear()
            self.doubt.clear()
            self.rec.gave_up(scope)
        self.steps = spent

    def call_function(self, func: FuncV, args: list[V], kwargs: dict[str, V]) -> V:
        """Run a function in scope with these arguments and give what it returns."""
        if len(self.stack) > _MAX_CALLS or sum(1 for f in self.stack if f.node is func.node) > 3:
            return Unknown(f"recursion in {func.name}")
        self.entered.add(id(func.node))
        frame = Frame(func.scope, func.frame, func)
        if func.bound is not None and func.bound is not MISSING:
            args = [func.bound, *args]
        calls.bind_arguments(self, func, frame, args, kwargs)
        self.stack.append(func)
        try:
            if isinstance(func.node, cst.Lambda):
                return expressions.evaluate(self, func.node.body, frame)
            if patterns.is_generator(func.node):
                frame.yields = []
            flow = self.statement(func.node.body, frame)
            if frame.yields is not None:
                return ListV(frame.yields, open=False, kind="generator")
            result: V = None
            if flow is not None and flow[0] == "return":
                result = flow[1]
                for other in frame.maybe:
                    result = join(result, other)
            elif (flow is not None and flow[0] == "raise" and frame.maybe) or frame.maybe:
                result = frame.maybe[0]
                for other in frame.maybe[1:]:
                    result = join(result, other)
            elif flow is not None and flow[0] == "raise":
                result = Unknown("raises")
            self.rec.returned(func, frame, result)
            return result
        finally:
            self.stack.pop()

    def evaluate(self, node: Any, frame: Frame) -> V:
        """The value of an expression."""
        return expressions.evaluate(self, node, frame)

    def assign(self, target: Any, value: V, frame: Frame, source: Any) -> None:
        """Bind an assignment target to a value."""
        assigning.assign(self, target, value, frame, source)

    def subscript_key(self, node: cst.Subscript, frame: Frame) -> V:
        """The key of a subscript."""
        return expressions.subscript_key(self, node, frame)

    # ---- statements ----------------------------------------------------------------------------------------------

    def block(self, statements: Any, frame: Frame) -> Flow:
        """Execute statements in order; tells how the block ended."""
        for statement in statements:
            flow = self.statement(statement, frame)
            if flow is not None:
                return flow
        return None

    def statement(self, node: Any, frame: Frame) -> Flow:
        """Execute one statement."""
        self.tick()
        handler = self.statements.get(type(node))
        flow: Flow = handler(self, node, frame) if handler else None
        return flow

    def _simple(self, node: cst.SimpleStatementLine | cst.SimpleStatementSuite, frame: Frame) -> Flow:
        for small in node.body:
            self.tick()
            handler = self.small_statements.get(type(small))
            flow: Flow = handler(self, small, frame) if handler else None
            if flow is not None:
                return flow
        return None

    def _indented(self, node: cst.IndentedBlock, frame: Frame) -> Flow:
        return self.block(node.body, frame)

    def _expr(self, node: cst.Expr, frame: Frame) -> Flow:
        if not isinstance(node.value, cst.SimpleString | cst.ConcatenatedString):
            expressions.evaluate(self, node.value, frame)
        return ("raise", None) if calls.exits(node.value) else None

    def _assign(self, node: cst.Assign, frame: Frame) -> Flow:
        value = expressions.evaluate(self, node.value, frame)
        for target in node.targets:
            assigning.assign(self, target.target, value, frame, node.value)
        return None

    def _ann_assign(self, node: cst.AnnAssign, frame: Frame) -> Flow:
        if node.value is not None:
            value = expressions.evaluate(self, node.value, frame)
            assigning.assign(self, node.target, value, frame, node.value)
        return None

    def _aug_assign(self, node: cst.AugAssign, frame: Frame) -> Flow:
        assigning.augmented(self, node, frame)
        return None

    def _return(self, node: cst.Return, frame: Frame) -> Flow:
        value = expressions.evaluate(self, node.value, frame) if node.value is not None else None
        self.rec.return_value(self, value, node, frame)
        return "return", value

    def _raise(self, node: cst.Raise, frame: Frame) -> Flow:
        return "raise", None

    def _break(self, node: cst.Break, frame: Frame) -> Flow:
        return "break", None

    def _continue(self, node: cst.Continue, frame: Frame) -> Flow:
        return "continue", None

    def _global(self, node: cst.Global | cst.Nonlocal, frame: Frame) -> Flow:
        frame.outer.update(item.name.value for item in node.names)
        return None

    def _assert(self, node: cst.Assert, frame: Frame) -> Flow:
        expressions.evaluate(self, node.test, frame)
        return None

    def _del(self, node: cst.Del, frame: Frame) -> Flow:
        if isinstance(node.target, cst.Subscript):
            owner = expressions.evaluate(self, node.target.value, frame)
            key = expressions.subscript_key(self, node.target, frame)
            self.touch(owner)
            if isinstance(owner, DictV) and isinstance(key, str | int):
                owner.items.pop(key, None)
            elif isinstance(owner, ListV) and isinstance(key, int) and -len(owner.items) <= key < len(owner.items):
                owner.items.pop(key)
        return None

    def _if(self, node: cst.If, frame: Frame) -> Flow:
        condition = expressions.evaluate(self, node.test, frame)
        known = truth(condition)
        if known is True:
            flow = self.statement(node.body, frame)
            return ("continue", node) if flow == ("continue", None) else flow
        if known is False:
            self.rec.passed_over(node, frame)
            filters.skipped(self, node.test, getattr(node.body, "body", ()), frame)
            return self.statement(node.orelse, frame) if node.orelse is not None else None
        doubt = condition if isinstance(condition, Unknown) else Unknown("condition")
        return self.both(node.body, node.orelse, frame, doubt)

    def both(self, first: Any, second: Any, frame: Frame, doubt: Unknown) -> Flow:
        """Take a branch both ways and join what they leave; the second may be a function that executes it."""
        return branches.both(self, first, second, frame, doubt)

    def keep(self, changed: dict[int, tuple[Any, Any]]) -> None:
        """Hand changes up to an enclosing undo book."""
        if self.journal:
            for key, entry in changed.items():
                self.journal[-1].setdefault(key, entry)

    def _for(self, node: cst.For, frame: Frame) -> Flow:
        iterable = expressions.evaluate(self, node.iter, frame)
        items = elements(self, iterable)
        layer_loops.prepare_stream(self, node, iterable, frame)
        unseen = layer_loops.unseen_stream(self, node, iterable, frame)
        if items is None:
            layers = layer_loops.calls_layers(node)
            item = Unknown(patterns.element_reason(iterable, node.iter), frame.scope.spot(node.iter), layers)
            assigning.assign(self, node.target, item, frame, None)
            flow = self.statement(node.body, frame)
            if flow is not None and flow[0] == "return":
                frame.maybe.append(flow[1])
            return None
        self.choosing.append(choosing(self, node.iter, iterable, frame))
        try:
            return self._rounds(node, items, unseen, frame)
        finally:
            self.choosing.pop()

    def _rounds(self, node: cst.For, items: list[V], unseen: tuple[str, str] | None, frame: Frame) -> Flow:
        """Run the body of a loop once for each item."""
        doubts = len(self.doubt)
        for item in items:
            self.tick()
            self.choosing[-1].turn(item)
            del self.doubt[doubts:]
            assigning.assign(self, node.target, item, frame, None)
            number = layer_loops.number_of(item)
            if unseen is not None and number is not None:
                layer_loops.bind_entering(self, unseen, number, frame)
            flow = self.statement(node.body, frame)
            if flow is None or flow[0] == "continue":
                if flow is not None and flow[1] is not None:
                    filters.passed(self, flow[1], node, frame)
                continue
            if flow[0] == "break":
                break
            return flow
        else:
            if node.orelse is not None:
                return self.statement(node.orelse.body, frame)
        return None

    def _while(self, node: cst.While, frame: Frame) -> Flow:
        for _ in range(_MAX_ROUNDS):
            self.tick()
            known = truth(expressions.evaluate(self, node.test, frame))
            if known is False:
                break
            flow = self.statement(node.body, frame)
            if flow is not None and flow[0] == "break":
                break
            if flow is not None and flow[0] in ("return", "raise"):
                if known is None and flow[0] == "return":
                    frame.maybe.append(flow[1])
                    break
                return flow
            if known is None:
                break
        return None

    def _with(self, node: cst.With, frame: Frame) -> Flow:
        for item in node.items:
            value = expressions.evaluate(self, item.item, frame)
            if isinstance(value, ListV) and value.kind == "generator" and len(value.items) == 1:
                value = value.items[0]  # a context manager that is written as a generator
            if isinstance(value, Obj) and value.cls is not None:
                enter = value.cls.lookup("__enter__")
                if isinstance(enter, FuncV):
                    value = calls.call_method(self, value, "__enter__", [], {})
            if item.asname is not None:
                assigning.assign(self, item.asname.name, value, frame, item.item)
        return self.statement(node.body, frame)

    def _try(self, node: cst.Try | cst.TryStar, frame: Frame) -> Flow:
        flow = self.statement(node.body, frame)
        if flow is not None and flow[0] == "raise" and node.handlers:
            flow = None
            for handler in node.handlers:
                flow = self.statement(handler.body, frame)
        elif flow is None and node.orelse is not None:
            flow = self.statement(node.orelse.body, frame)
        if node.finalbody is not None:
            last = self.statement(node.finalbody.body, frame)
            flow = last or flow
        return flow

    # ---- convenience ---------------------------------------------------------------------------------------------

    def depth_of(self, thing: V) -> int:
        """N of the model that a value belongs to, else the N of this run."""
        model = getattr(thing, "model", thing)
        if isinstance(model, Layer):
            model = model.model
        return getattr(model, "depth", 0) or self.depth


_STATEMENTS: dict[type, Any] = {
    cst.SimpleStatementLine: Interpreter._simple,
    cst.SimpleStatementSuite: Interpreter._simple,
    cst.IndentedBlock: Interpreter._indented,
    cst.Else: lambda self, node, frame: self.statement(node.body, frame),
    cst.FunctionDef: definitions.function_statement,
    cst.ClassDef: definitions.class_statement,
    cst.If: Interpreter._if,
    cst.For: Interpreter._for,
    cst.While: Interpreter._while,
    cst.With: Interpreter._with,
    cst.Try: Interpreter._try,
    cst.TryStar: Interpreter._try,
    cst.Match: matching.match,
}

_SMALL: dict[type, Any] = {
    cst.Expr: Interpreter._expr,
    cst.Assign: Interpreter._assign,
    cst.AnnAssign: Interpreter._ann_assign,
    cst.AugAssign: Interpreter._aug_assign,
    cst.Return: Interpreter._return,
    cst.Raise: Interpreter._raise,
    cst.Break: Interpreter._break,
    cst.Continue: Interpreter._continue,
    cst.Global: Interpreter._global,
    cst.Nonlocal: Interpreter._global,
    cst.Assert: Interpreter._assert,
    cst.Del: Interpreter._del,
    cst.Import: definitions.import_statement,
    cst.ImportFrom: definitions.import_from_statement,
}
