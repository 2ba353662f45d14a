"""What the readings of an engine make of ids, and which ids they need for given states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eaglelint.boundary import State
from eaglelint.conventions.records import Reading
from eaglelint.conventions.rules import MEANING, NOWHERE
from eaglelint.conventions.table import Engine
from eaglelint.conventions.versions import parse
from eaglelint.linking.records import title
from eaglelint.reference.asking import Subject
from eaglelint.reference.ways import Meaning, Read, Way, Written
from eaglelint.reference.words import FATES, argument_words, boundaries_words, key_words

#: Defects of engines that only matter for another number of ids than three.
_COUNT = frozenset({"num_aux_fixed_to_3", "top_level_ids_do_not_size_fc", "fc_width_from_top_level_ids"})
#: Defects that only matter when other boundaries than the default ones are meant.
_NOT_DEFAULT = frozenset({"cuda_graph_uses_default_layers", "drafter_ids_not_read"})
#: Defects that only matter when no ids are given.
_DEFAULT = frozenset({"default_from_drafter_depth", "default_one_layer_late"})


def engine_ways(table: Engine, specifier: str, subject: Subject, method: str) -> Iterator[Way]:
    for reading in table.readings(specifier or None, subject.target, method=method):
        for shift in dict.fromkeys(reading.shifts or (0,)):
            yield _of_reading(reading, shift, table)


def _of_reading(reading: Reading, shift: int, table: Engine) -> Way:
    keys = [key for key in reading.keys if reading.shift(key) == shift]
    rule = MEANING.get(reading.rule, reading.rule)
    return Way(
        family=title(reading.engine),
        rule=f"{rule}, and {shift} is added" if shift else rule,
        read=lambda ids, depth: _read(reading, keys[0] if keys else "", ids, depth),
        write=lambda states, depth: _write(reading, keys[0] if keys else "", states, depth),
        first=reading.first,
        last=reading.last,
        suffix=f" ({reading.runner})" if reading.runner else "",
        place=(_position(table, reading.first), _position(table, reading.last)),
        places=(*(argument_words(a) for a in reading.arguments), *(key_words(key) for key in keys)),
        notes=tuple(doubts(reading, table)),
    )


def _position(table: Engine, release: str) -> int:
    return table.known.index(release) if release in table.known else len(table.known)


def doubts(reading: Reading, table: Engine) -> Iterator[str]:
    """Why what a reading says may not hold: releases that nobody read, and what was only reported."""
    if reading.beyond:
        newest = f"{table.latest}, the last release that was verified ({table.verified})"
        yield f"{reading.first} is newer than {newest}, and taken to be like it"
    elif parse(reading.first) is not None and reading.first == reading.last and reading.first not in table.known:
        yield f"{reading.first} is not among the known releases, and taken to be like its neighbours"
    if reading.certainty in ("suspected", "reported"):
        yield f"this is {reading.certainty}, not read in the source"


def _read(reading: Reading, key: str, ids: Sequence[int] | None, depth: int | None) -> Read:
    problem = _unusable(reading)
    if problem:
        return Read((), None, problem)
    if ids is None or (not ids and reading.empty_is_default) or reading.rule == "ignored":
        default = reading.defaults(depth)
        if default is None:
            return Read(
                (), None, "its default is not known" if depth else "its default depends on N: give --target or --depth"
            )
        notes = ("ids are not read: the default boundaries are captured",) if ids is not None else ()
        return _ordered(reading, depth, [Meaning(None, State(b), _fate(reading, b, depth)) for b in default], notes)
    boundaries = reading.boundaries(ids, depth, key)
    if boundaries is None:
        return Read((), None, "what an id means depends on N: give --target or --depth")
    meanings = []
    for number, boundary in zip(ids, boundaries, strict=True):
        if boundary == NOWHERE:
            meanings.append(Meaning(number, None, "it is captured nowhere"))
        elif reading.rule == "plus_one_minus_one_is_last" and number == -1:
            meanings.append(Meaning(number, State(boundary, normed=True)))
        else:
            meanings.append(Meaning(number, State(boundary), _fate(reading, boundary, depth)))
    return _ordered(reading, depth, meanings, ())


def _ordered(reading: Reading, depth: int | None, meanings: Sequence[Meaning], notes: Sequence[str]) -> Read:
    lost = [m for m in meanings if m.state is None]
    if lost:
        return Read(tuple(meanings), None, f"id {lost[0].id} stands for no state", tuple(notes))
    states = [m.state for m in meanings if m.state is not None]
    said = list(notes)
    if reading.order == "ascending" and states != sorted(set(states)):
        if len(set(states)) != len(states):
            said.append("a state that is named twice is captured once")
        if states != sorted(states):
            said.append("states are concatenated in the order of the layers, not of the list")
        states = sorted(set(states))
    given = [m.id for m in meanings if m.id is not None]
    said += defects(reading, given or None, states, depth)
    return Read(tuple(meanings), tuple(states), "", tuple(said))


def _fate(reading: Reading, boundary: int, depth: int | None) -> str:
    """What happens to a boundary instead of being captured; "" when it is captured, or that is not known."""
    if boundary == 0:
        fate = reading.zero
    elif depth and boundary == depth:
        fate = reading.end
    elif boundary < 0 or (depth and boundary > depth):
        fate = "dropped" if reading.outside in ("captured", "unknown") else reading.outside
    else:
        return ""
    return "" if fate in ("captured", "unknown") else FATES[fate]


def _unusable(reading: Reading) -> str:
    if reading.status == "unsupported":
        return next((d.effect for d in reading.defects if d.id == "target_refused"), "it can not serve this target")
    if reading.rule == "nothing_captured":
        return f"it captures nothing for this target{f': {reading.note}' if reading.note else ''}"
    if reading.rule == "unknown":
        return f"what it does with ids of this target is not known{f': {reading.note}' if reading.note else ''}"
    return ""


def _write(reading: Reading, key: str, states: Sequence[State], depth: int | None) -> Written:
    problem = _unusable(reading)
    if problem:
        return Written(None, problem)
    default = reading.defaults(depth)
    boundaries = [state.boundary for state in states]
    if any(state.normed for state in states):
        return _with_last(reading, key, states, depth)
    if reading.rule == "ignored" or not (reading.keys or reading.arguments):
        if default is None:
            return Written(None, "it reads no ids, and its default depends on N: give --target or --depth")
        if list(default) == sorted(boundaries):
            return Written(
                (),
                f"it reads no ids; its default is {boundaries_words(default)}",
                defects(reading, None, states, depth),
            )
        return Written(None, f"it reads no ids; it captures its default {boundaries_words(default)}")
    lost = {b: fate for b in boundaries if (fate := _fate(reading, b, depth))}
    if lost:
        words = [f"{boundaries_words([b])} {_verb(fate)}" for b, fate in lost.items()]
        return Written(None, f"for it, {'; '.join(words)}")
    if reading.order == "ascending" and boundaries != sorted(set(boundaries)):
        return Written(None, "it concatenates in the order of the layers, and these states stand in another order")
    ids = reading.ids_for(boundaries, depth, key)
    if ids is None:
        why = (
            "what an id means depends on N: give --target or --depth"
            if not depth
            else "no list of ids means them by its rule"
        )
        return Written(None, why)
    notes = list(defects(reading, ids, states, depth))
    if default is not None and list(default) == boundaries:
        notes.insert(0, "these are its default: without ids it captures the same")
    return Written(ids, "", tuple(notes))


def _with_last(reading: Reading, key: str, states: Sequence[State], depth: int | None) -> Written:
    """The ids for states of which one is the last after the final norm: few engines have one, and it comes last."""
    others = [state for state in states if not state.normed]
    if reading.rule != "plus_one_minus_one_is_last" or not reading.arguments or states[-1] in others:
        return Written(None, "it captures the residual stream, and the last state after the final norm is none of it")
    before = _write(reading, key, others, depth) if others else Written(())
    return Written((*before.ids, -1)) if before.ids is not None else before


def _verb(fate: str) -> str:
    return fate if fate.startswith("ends") else f"is {fate}"


def defects(reading: Reading, ids: Sequence[int] | None, states: Sequence[State], depth: int | None) -> tuple[str, ...]:
    """The defects that concern these ids (None: none given), in words."""
    default = reading.defaults(depth)
    same = default is not None and [s.boundary for s in states] == list(default)
    found = []
    for defect in reading.defects:
        if defect.id in _COUNT and (ids is None or len(ids) == 3):
            continue
        if (defect.id in _NOT_DEFAULT and same) or (defect.id in _DEFAULT and ids is not None):
            continue
        fixed = f" (fixed in {defect.fixed_in})" if defect.fixed_in else ""
        found.append(f"{' '.join(defect.effect.split())}{fixed}")
    return tuple(found)
