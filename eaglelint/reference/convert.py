"""Ids of one reader as ids of another, through the states that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eaglelint.boundary import State
from eaglelint.reference.asking import Asked, Subject
from eaglelint.reference.engine_ways import engine_ways
from eaglelint.reference.trainer_ways import trainer_ways
from eaglelint.reference.ways import BOUNDARIES, HIDDEN_STATES, Read, Way, Written, named


class Answer(NamedTuple):
    """What one or several ways of the second reader need for some states."""

    name: str
    ways: tuple[Way, ...]
    written: Written


class Conversion(NamedTuple):
    """What one or several ways of the first reader make of the ids, and the answers of the second reader."""

    name: str
    ways: tuple[Way, ...]
    read: Read
    answers: tuple[Answer, ...]

    @property
    def possible(self) -> bool:
        """Whether some way of the second reader takes these states."""
        return any(answer.written.ids is not None for answer in self.answers)


def convert(
    ids: Sequence[int] | None, source: Asked, wanted: Asked, subject: Subject, method: str = "eagle3"
) -> tuple[Conversion, ...]:
    """One conversion for each thing that the ids (None: the default) may mean; ways with one outcome are joined."""
    every = ways(source, subject, method)
    groups: dict[tuple[object, ...], list[tuple[Way, Read]]] = {}
    for way in every:
        read = way.read(ids, subject.depth)
        groups.setdefault((way.rule, read), []).append((way, read))
    second = ways(wanted, subject, method)
    found = []
    for group in groups.values():
        mine = tuple(way for way, _ in group)
        read = group[0][1]
        answers = _answers(read.states, second, subject) if read.states is not None else ()
        found.append(Conversion(named(mine, every), mine, read, answers))
    return tuple(found)


def ways(asked: Asked, subject: Subject, method: str) -> tuple[Way, ...]:
    """Every way of a reader for a target and a kind of head ("eagle3", "dflash", "dspark")."""
    if asked.engine is not None:
        return tuple(engine_ways(asked.engine, asked.specifier, subject, method))
    if asked.trainer is not None:
        return tuple(trainer_ways(asked, asked.trainer, subject, method))
    return (HIDDEN_STATES if asked.name == "hf" else BOUNDARIES,)


def _answers(states: Sequence[State], every: Sequence[Way], subject: Subject) -> tuple[Answer, ...]:
    groups: dict[tuple[object, ...], list[tuple[Way, Written]]] = {}
    for way in every:
        written = way.write(states, subject.depth)
        groups.setdefault((way.family, way.places, way.notes, written), []).append((way, written))
    found = []
    for group in groups.values():
        mine = tuple(way for way, _ in group)
        found.append(Answer(named(mine, every), mine, group[0][1]))
    return tuple(found)
