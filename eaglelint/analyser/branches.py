"""Branches whose condition is not known: both ways are taken, and what they leave is joined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eaglelint.analyser import undo
from eaglelint.analyser.operations import join
from eaglelint.analyser.target_values import holds_states
from eaglelint.analyser.values import Unknown, V

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Flow, Interpreter
    from eaglelint.analyser.scope import Frame


def both(run: Interpreter, first: Any, second: Any, frame: Frame, doubt: Unknown) -> Flow:
    """Take a branch both ways and join what they leave; the second may be a function that executes it."""
    before = dict(frame.names)
    stored = run.rec.count
    run.journal.append({})
    if doubt.index:
        run.doubt.append(doubt)
    flow = run.statement(first, frame)
    if doubt.index:
        run.doubt.pop()
    changed = run.journal.pop()
    after_first = dict(frame.names)
    if doubt.index and flow is not None and flow[0] in ("continue", "return"):
        run.doubt.append(doubt)
    if second is None:
        run.keep(changed)
        if flow is None and not doubt.index and run.rec.count > stored:
            return None  # capture code behind a switch is judged as switched on
        return _merge(flow, None, before, after_first, before, frame, doubt)
    frame.names.clear()
    frame.names.update(before)
    kept = {key: (thing, undo.contents(thing)) for key, (thing, _) in changed.items()}
    for thing, old in changed.values():
        undo.restore(thing, old)
    run.journal.append({})
    other: Flow = second() if callable(second) else run.statement(second, frame)
    changed_second = run.journal.pop()
    after_second = dict(frame.names)
    for key, (thing, contents) in kept.items():
        if key not in changed_second or not (flow and flow[0] == "raise"):
            undo.restore(thing, contents)
    run.keep({**changed_second, **changed})
    return _merge(flow, other, before, after_first, after_second, frame, doubt)


def _merge(
    first: Flow,
    second: Flow,
    before: dict[str, V],
    one: dict[str, V],
    two: dict[str, V],
    frame: Frame,
    doubt: Unknown,
) -> Flow:
    if first is not None and second is not None:
        if first[0] == second[0] == "return":
            return "return", join(first[1], second[1])
        for flow in (first, second):
            if flow[0] == "return":
                frame.maybe.append(flow[1])
        if "raise" in (first[0], second[0]):
            return second if first[0] == "raise" else first
        return None
    if first is None and second is None:
        names = one.keys() | two.keys()
        frame.names.clear()
        for name in names:
            if name in one and name in two:
                grown = doubt.index and _differ(one[name], two[name])
                frame.names[name] = doubt if grown else join(one[name], two[name])
            else:
                frame.names[name] = one[name] if name in one else two[name]
        return None
    ended, stayed = (first, two) if first is not None else (second, one)
    if ended is not None and ended[0] == "return":
        frame.maybe.append(ended[1])
    frame.names.clear()
    frame.names.update(stayed)
    return None


def _differ(first: V, second: V) -> bool:
    """Whether two tuples of states have different lengths: one got a state that the other did not."""
    if not isinstance(first, tuple) or not isinstance(second, tuple) or len(first) == len(second):
        return False
    return holds_states(first) or holds_states(second)
