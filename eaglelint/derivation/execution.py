"""The strict interpreter: errors end the run as they would end the engine, branches that disagree are not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser import expressions, undo
from eaglelint.analyser import interpreter as lenient
from eaglelint.analyser.operations import join, truth
from eaglelint.analyser.recorder import Recorder
from eaglelint.analyser.scope import Frame, Spot
from eaglelint.analyser.values import FuncV, ListV, Unknown, V
from eaglelint.derivation.objects import EngineObjects
from eaglelint.derivation.tensors import Content, Crash, Dense, Term, fresh, guessed, states_in, unscaled

if TYPE_CHECKING:
    from eaglelint.derivation.surroundings import EngineWorld

#: Steps that one run of a model may take.
_FUEL = 3_000_000


class EngineRecorder(Recorder):
    """Remembers where tensors were put into containers, by the tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.captures: dict[int, Spot] = {}

    def stored(self, run: Any, value: V, node: Any, frame: Frame, owner: V) -> V:
        """A value goes into a container."""
        if isinstance(value, Dense):
            self.captures[id(value)] = frame.scope.spot(node)
        return value


class EngineInterpreter(lenient.Interpreter):
    """Runs an engine's model. `layer` is the decoder layer that is running: -1 before the first, N after the last."""

    world: EngineWorld
    objects: EngineObjects
    rec: EngineRecorder

    def __init__(self, world: EngineWorld, recorder: EngineRecorder, depth: int) -> None:
        super().__init__(world, recorder, depth)
        self.objects = EngineObjects(self)
        self.layer = -1
        self.inside = False
        self.updates = 0
        self.passed_over: list[Crash] = []
        self.early: list[V] = []
        self.left_out: list[Spot] = []
        self.unsure: dict[int, Spot] = {}
        self.statements = {
            **self.statements,
            cst.If: EngineInterpreter._when,
            cst.Try: EngineInterpreter._attempt,
            cst.TryStar: EngineInterpreter._attempt,
        }
        self.small_statements = {
            **self.small_statements,
            cst.Raise: EngineInterpreter._raises,
            cst.Assert: EngineInterpreter._asserts,
        }

    def update(self) -> Content:
        """The next contribution of the layer that is running; the same one when a branch is run both ways."""
        self.updates += 1
        return frozenset({(Term("update", self.updates, self.layer), 1)})

    def tick(self) -> None:
        """Count one step; raises OutOfFuel when all are used."""
        self.steps += 1
        if self.steps > _FUEL:
            raise lenient.OutOfFuel

    def call_function(self, func: FuncV, args: list[V], kwargs: dict[str, V]) -> V:
        """Run a function; one that has returned under a condition and raises otherwise has returned."""
        depth, height = len(self.stack), len(self.journal)
        self.early.append(None)
        try:
            return super().call_function(func, args, kwargs)
        except Crash as error:
            if not error.explicit or self.early[-1] is None:
                raise
            self._unwind(depth, height)
            return self.early[-1]
        finally:
            self.early.pop()

    def block(self, statements: Any, frame: Frame) -> lenient.Flow:
        """Execute statements in order.

        At the top of a module and in a constructor one that raises is passed over: what it would set is not known.
        """
        if frame.function is not None and frame.function.name != "__init__":
            return super().block(statements, frame)
        for statement in statements:
            depth, height = len(self.stack), len(self.journal)
            try:
                flow = self.statement(statement, frame)
            except Crash as error:
                self.passed_over.append(error)
                self._unwind(depth, height)
                continue
            if flow is not None:
                return flow
        return None

    def _unwind(self, depth: int, height: int) -> None:
        """Leave the calls and undo books that an error has ended."""
        del self.stack[depth:]
        while len(self.journal) > height:
            last = self.journal.pop()
            self.keep(last)

    def _raises(self, node: cst.Raise, frame: Frame) -> lenient.Flow:
        from eaglelint.analyser.patterns import dotted

        raise Crash(dotted(node.exc) if node.exc is not None else "raise", frame.scope.spot(node), explicit=True)

    def _asserts(self, node: cst.Assert, frame: Frame) -> lenient.Flow:
        if truth(expressions.evaluate(self, node.test, frame)) is False and not self.inside:
            raise Crash("AssertionError", frame.scope.spot(node))
        return None

    def _attempt(self, node: cst.Try | cst.TryStar, frame: Frame) -> lenient.Flow:
        depth, height = len(self.stack), len(self.journal)
        try:
            flow = self.statement(node.body, frame)
            if flow is None and node.orelse is not None:
                flow = self.statement(node.orelse.body, frame)
        except Crash:
            if not node.handlers:
                raise
            self._unwind(depth, height)
            flow = self.statement(node.handlers[0].body, frame)
        if node.finalbody is not None:
            flow = self.statement(node.finalbody.body, frame) or flow
        return flow

    def _when(self, node: cst.If, frame: Frame) -> lenient.Flow:
        condition = expressions.evaluate(self, node.test, frame)
        known = truth(condition)
        if known is True:
            return self.statement(node.body, frame)
        if known is False:
            return self.statement(node.orelse, frame) if node.orelse is not None else None
        return self._either(node, frame)

    def _either(self, node: cst.If, frame: Frame) -> lenient.Flow:
        """A branch whose condition is not known: both ways, from the same start; what differs is not known after it."""
        self.unsure.setdefault(id(node), frame.scope.spot(node.test))
        before = dict(frame.names)
        layer, inside, updates = self.layer, self.inside, self.updates
        first = self._way(node.body, frame)
        names = dict(frame.names)
        kept = {key: (thing, undo.contents(thing)) for key, (thing, _) in first.changed.items()}
        for thing, old in first.changed.values():
            undo.restore(thing, old)
        frame.names.clear()
        frame.names.update(before)
        self.layer, self.inside, self.updates = layer, inside, updates
        second = self._way(node.orelse, frame)
        self.keep({**second.changed, **first.changed})
        if first.crash is not None and second.crash is not None:
            raise first.crash
        for one, other in ((first, second), (second, first)):
            if one.flow is not None and other.flow is None and other.crash is None:
                if states_in(one.flow[1]) and not self.inside:
                    self.left_out.append(frame.scope.spot(node.test))
                if one.flow[0] == "return" and self.early and self.early[-1] is None:
                    self.early[-1] = one.flow[1]
        if first.crash is not None or (first.flow is not None and second.flow is None and second.crash is None):
            return second.flow
        if second.crash is not None or (second.flow is not None and first.flow is None):
            for thing, old in second.changed.values():
                undo.restore(thing, old)
            for thing, contents in kept.values():
                undo.restore(thing, contents)
            frame.names.clear()
            frame.names.update(names)
            return first.flow
        why = Unknown("it depends on a condition that is not known", frame.scope.spot(node.test))
        self._agree(kept, first.changed, second.changed, why)
        for name, value in names.items():
            frame.names[name] = agreed(value, frame.names[name], why) if name in frame.names else value
        if first.flow is not None and second.flow is not None and first.flow[0] == second.flow[0] == "return":
            return "return", agreed(first.flow[1], second.flow[1], why)
        return second.flow

    def _way(self, branch: Any, frame: Frame) -> _Way:
        self.journal.append({})
        flow, crash = None, None
        depth = len(self.stack)
        height = len(self.journal)
        try:
            flow = self.statement(branch, frame) if branch is not None else None
        except Crash as error:
            crash = error
            self._unwind(depth, height)
        return _Way(flow, crash, self.journal.pop())

    def _agree(
        self,
        kept: dict[int, tuple[Any, Any]],
        one: dict[int, tuple[Any, Any]],
        other: dict[int, tuple[Any, Any]],
        why: Unknown,
    ) -> None:
        """Join what both ways left in shared objects."""
        for key in one.keys() | other.keys():
            thing = (one.get(key) or other[key])[0]
            first = kept[key][1] if key in kept else other[key][1]
            second = undo.contents(thing)
            if isinstance(thing, ListV):
                items = first[0]
                if len(items) == len(thing.items):
                    thing.items = [agreed(a, b, why) for a, b in zip(items, thing.items, strict=True)]
                else:
                    thing.items = max(items, thing.items, key=len)
                    thing.open = True
            elif isinstance(second, tuple):
                thing.items = _joined(first[0], second[0], why)
            elif isinstance(thing, Dense):
                if first["content"] != second["content"]:
                    thing.attrs["content"] = fresh("guess", self.layer)
            else:
                undo.restore(thing, _joined(first, second, why))


class _Way:
    """How one way of a branch went."""

    def __init__(self, flow: lenient.Flow, crash: Crash | None, changed: dict[int, tuple[Any, Any]]) -> None:
        self.flow = flow
        self.crash = crash
        self.changed = changed


def _joined(one: dict[Any, V], other: dict[Any, V], why: Unknown) -> dict[Any, V]:
    return {
        key: agreed(one[key], other[key], why) if key in one and key in other else one.get(key, other.get(key))
        for key in [*other, *(k for k in one if k not in other)]
    }


def agreed(one: V, other: V, why: Unknown) -> V:
    """One value for either of two: equal ones stay, what was guessed gives way, states that differ are `why`."""
    if one is other:
        return one
    if isinstance(one, Dense) and isinstance(other, Dense):
        if one.content == other.content:
            return one
        if guessed(one.content) != guessed(other.content):
            return other if guessed(one.content) else one
        if unscaled(one.content, -2) == unscaled(other.content, -2):
            return one  # the same state but for a factor
        return why
    if isinstance(one, Dense) or isinstance(other, Dense):
        state, rest = (one, other) if isinstance(one, Dense) else (other, one)
        return state if isinstance(rest, Unknown) else why
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return tuple(agreed(a, b, why) for a, b in zip(one, other, strict=True))
    return join(one, other)
