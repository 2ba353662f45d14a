"""Stages: objects that keep a model's residual for it, between reading the stream and writing to it.

An engine may hide the residual connection in an object for each half of a layer: `prepare` reads the stream (and may
capture it), `finish` adds what the half computed. The roles of these methods are data; here is what the roles mean.
The residual itself stands in the batch, as in the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eaglelint.analyser import calls
from eaglelint.analyser.calls import CallSite
from eaglelint.analyser.values import ListV, Method, Obj, Special, Unknown, V
from eaglelint.derivation.tensors import EMPTY, Content, Dense, first_state, of_sum, plus, unscaled

if TYPE_CHECKING:
    from eaglelint.derivation.execution import EngineInterpreter
    from eaglelint.derivation.surroundings import EngineWorld


@dataclass(eq=False)
class Stage(Special):
    """One stage of a layer."""

    number: int = 0

    def call_method(self, run: Any, name: str, site: CallSite) -> V:
        """A method whose role is not known gives something that is not known."""
        return Unknown(f"stage.{name}")


class Residual(Obj):
    """What the batch of the run keeps between stages."""


def _kept(run: EngineInterpreter) -> Obj:
    return run.world.batch


def residual(run: EngineInterpreter) -> Content:
    """The residual that is kept for the batch."""
    held: Content = _kept(run).attrs.get("%residual", EMPTY)
    return held


def _keep(run: EngineInterpreter, content: Content) -> None:
    batch = _kept(run)
    run.touch(batch)
    batch.attrs["%residual"] = content


def play(run: EngineInterpreter, world: EngineWorld, role: str, func: V, site: CallSite) -> V:
    """What a method or function of a stage does."""
    values = [*site.args, *site.kwargs.values()]
    state = first_state(values)
    if role == "stages":
        return ListV([Stage() for _ in site.args]) if len(site.args) > 1 else Stage()
    if role == "begin":
        _keep(run, EMPTY)
        return Unknown("stream")
    if role == "exit":
        return Stage()
    if role == "residual":
        return Dense(residual(run))
    if state is None:
        return Unknown(role)
    total = plus(state.content, residual(run))
    if role == "snapshot":
        return Dense(total)
    if role == "snapshot_pair":
        return (state, Dense(total))
    if role == "merge":
        others = [v for v in values if isinstance(v, Dense) and v is not state]
        return Dense(plus(state.content, others[0].content)) if others else state
    if role.startswith("mix_"):
        return _mixed(run, role.removeprefix("mix_"), values)
    if role == "keep":
        return state
    if role == "read":
        _capture(run, site, total)
        _keep(run, total)
        return Dense(of_sum("normed", total, run.layer))
    if role == "final":
        _capture(run, site, total)
        world.finals.append(total)
        world.entry_contents[run.depth] = (state.content, residual(run))
        return Dense(of_sum("normed", total, run.layer))
    if role == "write":
        if residual(run) and _within(residual(run), unscaled(state.content, run.layer)):
            _keep(run, EMPTY)  # the stage wrote the complete stream itself
        return Dense(state.content)
    return Unknown(role)


def _mixed(run: EngineInterpreter, gives: str, values: list[V]) -> V:
    """What a half of a hyper-connection gives, by letters.

    "s" the streams with what the half before it made, "n" their normed input, "a" their mean.
    """
    streams: Content = EMPTY
    for state in [v for v in values if isinstance(v, Dense)][: 2 if "s" in gives else 1]:
        streams = plus(streams, state.content)
    made: dict[str, V] = {
        "s": Dense(streams),
        "n": Dense(of_sum("normed", streams, run.layer)),
        "a": Dense(of_sum("mean", streams, 0)),
    }
    return tuple(made.get(part, Unknown("mixing matrix")) for part in gives)


def read_pair(run: EngineInterpreter, site: CallSite) -> V:
    """(normed state, sum): what a norm between stages gives for a state and its residual, or for a state alone."""
    states = [v for v in [*site.args, *site.kwargs.values()] if isinstance(v, Dense)][:2]
    if not states:
        return Unknown("states")
    total = plus(states[0].content, states[1].content) if len(states) > 1 else states[0].content
    _capture(run, site, total)
    return (Dense(of_sum("normed", total, run.layer)), Dense(total))


def _within(part: Content, whole: Content) -> bool:
    counted = dict(whole)
    return all(counted.get(term, 0) >= times for term, times in part)


def _capture(run: EngineInterpreter, site: CallSite, total: Content) -> None:
    """Hand the stream to the collector that the call was given, if any."""
    for name, value in site.kwargs.items():
        if "capture" not in name or value is None:
            continue
        collector = value
        if not callable_value(value):
            collector = run.objects.attribute(value, "append", site.frame, site.node)
        calls.invoke(run, collector, CallSite([Dense(total)], {}, site.node, site.frame))


def callable_value(value: V) -> bool:
    """Whether a collector is a function to call, not a list to append to."""
    from eaglelint.analyser.values import FuncV, Partial

    return isinstance(value, FuncV | Partial | Method)
