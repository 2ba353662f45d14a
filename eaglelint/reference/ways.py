"""The ways in which a reader turns ids into states and states into ids: readings of an engine, paths of a trainer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from eaglelint.boundary import State, show_ids
from eaglelint.conventions.versions import parse
from eaglelint.reference.words import joined_span, listed, span


class Meaning(NamedTuple):
    """What a reader makes of one id (None: of its default): the state, None when it stands for none.

    `fate` says what happens to it instead of being captured, "" when all is well.
    """

    id: int | None
    state: State | None
    fate: str = ""


class Read(NamedTuple):
    """What a reader makes of a list.

    `states` stand in the order in which they are concatenated; they are None when there are none, and `reason` says why
    not. `notes` are what else has to be known.
    """

    meanings: tuple[Meaning, ...]
    states: tuple[State, ...] | None
    reason: str = ""
    notes: tuple[str, ...] = ()


class Written(NamedTuple):
    """The ids with which a reader takes given states: () where none may be given, None when there are none.

    `reason` says why there are none, or why none have to be given.
    """

    ids: tuple[int, ...] | None
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Way:
    """One way of a reader, over the releases from `first` to `last` ("" where there are none).

    `family` names it without releases, `suffix` is what follows them (a model runner); with `commits`, the range is one
    of commits that is worth saying. `place` are the positions of the range in the list of known releases. `rule` says
    what it does with an id, `places` where the ids are written, in words.
    """

    family: str
    rule: str
    read: Callable[[Sequence[int] | None, int | None], Read] = field(compare=False)
    write: Callable[[Sequence[State], int | None], Written] = field(compare=False)
    first: str = ""
    last: str = ""
    suffix: str = ""
    commits: bool = False
    place: tuple[int, int] = (0, 0)
    places: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def released(self) -> bool:
        """Whether its range is one of releases."""
        return parse(self.first) is not None and parse(self.last) is not None

    @property
    def name(self) -> str:
        """The way in words: "vLLM 0.25.0 to 0.28.0 (V1)"."""
        return _spanned([self])


def named(mine: Sequence[Way], every: Sequence[Way]) -> str:
    """Those of all ways that have the same outcome, in words: neighbouring ranges of one reader are joined."""
    names = []
    for family in dict.fromkeys(way.family for way in mine):
        own = [way for way in mine if way.family == family]
        whole = [way for way in every if way.family == family]
        if not any(way.released for way in own) and len(own) == len(whole):
            names.append(family)
            continue
        for suffix in dict.fromkeys(way.suffix for way in own):
            alike = [way for way in whole if way.suffix == suffix]
            names += [_spanned(run) for run in _runs(alike, own)]
    return listed(list(dict.fromkeys(names)))


def _runs(whole: Sequence[Way], own: Sequence[Way]) -> list[list[Way]]:
    """The ways of `own` in runs: of releases that follow each other, else of neighbours in `whole`."""
    runs: list[list[Way]] = []
    for at, way in enumerate(whole):
        if way not in own:
            continue
        run = runs[-1] if runs else []
        if run and way.released:
            follows = way.place[0] <= max(before.place[1] for before in run) + 1
        else:
            follows = bool(run) and whole[at - 1] is run[-1]
        if follows:
            run.append(way)
        else:
            runs.append([way])
    return runs


def _spanned(run: Sequence[Way]) -> str:
    """Neighbouring ways of one reader as one name."""
    first, last = run[0], run[-1]
    if first.released and last.released:
        return span(first.family, *joined_span((way.first, way.last) for way in run)) + first.suffix
    commits = f", {first.first or 'the start'} to {last.last}" if first.commits else ""
    return f"{first.family}{commits}{first.suffix}"


def _plain_read(ids: Sequence[int] | None, depth: int | None) -> Read:
    if ids is None:
        return Read((), None, "it has no default")
    wrong = [i for i in ids if i < 0 or (depth and i > depth)]
    if wrong:
        return Read((), None, f"{show_ids(wrong)} lies outside 0 to {depth if depth else 'N'}")
    return Read(tuple(Meaning(i, State(i)) for i in ids), tuple(State(i) for i in ids))


def _plain_write(states: Sequence[State], depth: int | None) -> Written:
    if any(state.normed for state in states):
        return Written(None, "the last state after the final norm is no boundary")
    return Written(tuple(state.boundary for state in states))


def _hf_read(ids: Sequence[int] | None, depth: int | None) -> Read:
    if ids is None:
        return Read((), None, "it has no default")
    if any(i < 0 for i in ids) and not depth:
        return Read((), None, "an index from the end depends on N: give --target or --depth")
    meanings = []
    for i in ids:
        at = i if i >= 0 else (depth or 0) + 1 + i
        if at < 0 or (depth and at > depth):
            return Read(
                (), None, f"hidden_states has {depth + 1 if depth else 'N + 1'} entries, and {i} is none of them"
            )
        meanings.append(Meaning(i, State(at, normed=bool(depth) and at == depth)))
    notes = () if depth else ("entry N would be the state after the final norm, and N is not known",)
    return Read(tuple(meanings), tuple(m.state for m in meanings if m.state is not None), "", notes)


def _hf_write(states: Sequence[State], depth: int | None) -> Written:
    if depth and any(state.boundary == depth and not state.normed for state in states):
        return Written(None, "hidden_states[N] is after the final norm; boundary N needs a hook on the last layer")
    return Written(tuple(state.boundary for state in states))


BOUNDARIES = Way("boundaries", "number b is the residual stream after b layers", _plain_read, _plain_write)
HIDDEN_STATES = Way(
    "Hugging Face hidden_states", "entry b is boundary b, and entry N is the state after the final norm",
    _hf_read, _hf_write,
)  # fmt: skip
