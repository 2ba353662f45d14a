"""What is known of published drafters, and what a release of an engine would make of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Literal, NamedTuple

from eaglelint.boundary import difference, show_ids
from eaglelint.conventions.known import KnownDrafter, known_drafter, known_drafters, known_target
from eaglelint.conventions.records import Reading, Target, TargetLike
from eaglelint.conventions.rules import MEANING, NOWHERE
from eaglelint.conventions.table import Engine
from eaglelint.conventions.versions import parse
from eaglelint.errors import UsageError
from eaglelint.linking.records import title
from eaglelint.reference.asking import Asked
from eaglelint.reference.engine_ways import doubts
from eaglelint.reference.words import boundaries_words, key_words, listed, span

Outcome = Literal["same", "differs", "unknown", "refused"]

#: What the config of a drafter says, by its convention.
CONVENTIONS = {
    "output": "id i is the output of layer i: boundary i + 1",
    "boundary": "id i is the input of layer i: boundary i",
    "default": "no ids: trained on the default boundaries",
    "output_in_boundary_slot": "outputs of layers, in a key that is read as boundaries",
    "final_state_only": "no auxiliary states: fed with the last state alone",
    "custom": "trained on layers that its config does not name",
    "mixed": "no single convention explains the ids",
    "unknown": "what its ids mean is not known",
}
#: Where the ids stand.
PLACES = {
    "nested": "under eagle_config",
    "top_level": "at the top level",
    "both": "at the top level and under eagle_config",
    "none": "the config declares none",
    "unknown": "whether and where the config declares any was not read",
}
#: What a record rests on.
EVIDENCE = {
    "config_page": "its published config",
    "published_config_in_a_test": "a copy of its config in a test",
    "card": "its model card",
    "training_config": "the config that it was trained with",
    "issue_thread": "public threads",
    "list": "a list that names it",
}
#: On what the meaning of the ids rests.
BASES = {
    "card": "because the card says so",
    "contains_n": "because the ids contain N",
    "copy": "because they were copied from another drafter",
    "default_of_boundary_style": "because they are the default, written as boundaries",
    "default_of_output_style": "because they are the default, written as outputs of layers",
    "engine_document": "because an engine's documentation says so",
    "engine_rule": "by the rule of the engine that it was made for",
    "engine_test": "because an engine tests it so",
    "format_rule": "by the rule of its format",
    "last_layers": "because they are the last layers",
    "not_a_default": "though they are no default of any convention",
    "same_as_sibling": "as those of its sibling",
    "trainer_rule": "by the rule of its trainer",
    "trainer_rule_list_not_read": "by the rule of its trainer; the list was not read",
    "trainer_rule_unconfirmed": "by the rule of its trainer, not confirmed",
    "training_config": "by the config that it was trained with",
    "two_lists_agree": "because two lists agree",
}
_ALGORITHMS = {"eagle3": "EAGLE-3", "eagle3.1": "EAGLE-3.1", "eagle": "EAGLE", "peagle": "P-EAGLE", "dflash": "DFlash",
               "dflash2": "DFlash 2", "dspark": "DSpark"}  # fmt: skip


class Served(NamedTuple):
    """What one reading of an engine makes of a drafter.

    `key` is where it finds the ids, "" when it takes its default. `meant` are the boundaries that they stand for and
    `captured` those that arrive, None when not known. `ids` are those that would be right, under `place`; None when
    there are none.
    """

    reading: Reading
    outcome: Outcome
    key: str = ""
    meant: tuple[int, ...] | None = None
    captured: tuple[int, ...] | None = None
    ids: tuple[int, ...] | None = None
    place: str = ""
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Engine, releases and model runner."""
        runner = f" ({self.reading.runner})" if self.reading.runner else ""
        return span(title(self.reading.engine), self.reading.first, self.reading.last) + runner


def find(name: str) -> KnownDrafter:
    """The drafter of that Hub id. Raises UsageError, with the nearest name, when it is not known."""
    found = known_drafter(name)
    if found is not None:
        return found
    tails = {repo.rsplit("/", 1)[-1].lower(): repo for repo in known_drafters()}
    near = get_close_matches(name.rsplit("/", 1)[-1].lower(), tails, n=1, cutoff=0.6)
    raise UsageError(f"unknown drafter {name!r}" + (f"; did you mean {tails[near[0]]!r}?" if near else ""))


def every() -> Iterator[KnownDrafter]:
    """All known drafters."""
    for repo in known_drafters():
        found = known_drafter(repo)
        if found is not None:
            yield found


def algorithm(drafter: KnownDrafter) -> str:
    """The name of a drafter's algorithm."""
    return _ALGORITHMS.get(drafter.algorithm, drafter.algorithm)


def trained_words(drafter: KnownDrafter) -> str:
    """What a drafter was trained on, and how sure that is."""
    if drafter.convention == "final_state_only":
        return "the last state alone"
    if drafter.trained is None:
        return "not known"
    return boundaries_words(drafter.trained) + ("" if drafter.established else " (not established)")


def target_of(drafter: KnownDrafter) -> TargetLike:
    """The target of a drafter; one that is not known has its depth alone."""
    return known_target(drafter.target) or Target(depth=drafter.depth)


def serve(drafter: KnownDrafter, asked: Asked) -> tuple[Served, ...]:
    """What the releases of an engine that are asked for make of a drafter, one for each way in which they read ids."""
    table = asked.engine
    if table is None:
        raise UsageError(f"{asked.name} is no engine")
    readings = table.readings(asked.specifier or None, target_of(drafter), method=drafter.method)
    return tuple(_served(drafter, reading, table) for reading in readings)


def _served(drafter: KnownDrafter, reading: Reading, table: Engine) -> Served:
    notes = tuple(doubts(reading, table))
    if reading.status != "ok" or reading.rule in ("nothing_captured", "unknown"):
        why = next((d.effect for d in reading.defects if d.id == "target_refused"), reading.note)
        return Served(reading, "refused", notes=(*notes, *((why,) if why else ())))
    depth = target_of(drafter).depth or drafter.depth or None
    pointers = drafter.pointers if reading.rule != "ignored" else ()
    key = next((k for k in reading.keys if k in pointers), "")
    ids = drafter.ids if key else None
    meant, captured = reading.boundaries(ids, depth, key), reading.captured(ids, depth, key)
    off = [gate for gate in reading.gates if gate.off(lambda pointer: _value(drafter, pointer))]
    if off:
        notes = (*notes, f"{key_words(off[0].pointer)} switches the capture off")
    outcome: Outcome = "unknown"
    if drafter.trained is not None and captured is not None and _declared(drafter):
        outcome = "same" if sorted(captured) == sorted(drafter.trained) and not off else "differs"
    place = key or next(iter((*reading.arguments, *reading.keys)), "")
    right = reading.ids_for(drafter.trained, depth, key) if drafter.trained is not None and place else None
    return Served(reading, outcome, key, meant, captured, right, place, notes)


def _declared(drafter: KnownDrafter) -> bool:
    """Whether it is known what the config declares, so that it can be told what a reader finds in it."""
    return bool(drafter.pointers) or drafter.ids_place == "none"


def _value(drafter: KnownDrafter, pointer: str) -> bool | None:
    """What the config holds at a pointer, as far as that is known; a container exists when something in it does."""
    flag = drafter.flags.get(pointer.rsplit("/", 1)[-1])
    if flag is not None:
        return flag
    return True if any(p.startswith(f"{pointer}/") for p in drafter.pointers) or pointer.count("/") > 1 else None


def served_words(drafter: KnownDrafter, served: Served) -> Iterator[str]:
    """What an engine makes of a drafter, in words, and what would be right."""
    reading = served.reading
    if served.outcome == "refused":
        yield f"it can not be served{f': {served.notes[-1]}' if served.notes else ''}"
        return
    if served.key:
        taken = f"takes {show_ids(drafter.ids or ())} from {key_words(served.key)}"
        yield f"{taken} as {_shown(served.meant)} ({MEANING.get(reading.rule, reading.rule)})"
    else:
        unread = f" ({show_ids(drafter.ids)} is not read)" if drafter.ids is not None and drafter.pointers else ""
        yield f"takes its default {_shown(served.captured)}{unread}"
    if served.outcome == "same":
        yield "right: it was trained on these"
    elif served.outcome == "differs" and drafter.trained is not None and served.meant is not None:
        lost = [b for b in served.meant if served.captured is not None and b not in served.captured and b != NOWHERE]
        words = difference(sorted(drafter.trained), sorted(b for b in served.meant if b != NOWHERE))
        wrong = "wrong" if drafter.established else "wrong, if it was trained as believed"
        yield f"{wrong}: {words}" + (f" ({boundaries_words(lost)} can not be captured)" if lost else "")
        yield _right(drafter, served)
    elif drafter.trained is None:
        yield "whether that is right is not known: what it was trained on is not"
    else:
        yield "whether that is right is not known: its config was not read"
    yield from (f"note: {note}" for note in served.notes)


def _shown(boundaries: Sequence[int] | None) -> str:
    if boundaries is None:
        return "boundaries that are not known"
    return boundaries_words([b for b in boundaries if b != NOWHERE])


def _right(drafter: KnownDrafter, served: Served) -> str:
    if served.ids is None:
        return f"no ids make it capture {_shown(drafter.trained)}"
    place = key_words(served.place) if served.place.startswith("/") else f"the argument {served.place}"
    return f"right would be {show_ids(served.ids)} in {place}"


def right_releases(drafter: KnownDrafter, table: Engine) -> tuple[str, ...]:
    """The releases of an engine that capture what the drafter was trained on, with its config as it stands."""
    if drafter.trained is None or table.versioning != "pep440":
        return ()
    every_ = serve(drafter, Asked(table.name, engine=table))
    known = [s for s in every_ if s.outcome == "same" and parse(s.reading.first) is not None]
    joined: list[tuple[str, str, str]] = []
    for served in known:
        first, last, runner = served.reading.first, served.reading.last, served.reading.runner
        follows = (
            joined and joined[-1][2] == runner and table.known.index(first) <= table.known.index(joined[-1][1]) + 1
        )
        if follows:
            joined[-1] = (joined[-1][0], last, runner)
        else:
            joined.append((first, last, runner))
    return tuple(span(title(table.name), f, last) + (f" ({r})" if r else "") for f, last, r in joined)


def card(drafter: KnownDrafter) -> Iterator[tuple[str, str]]:
    """What is known of a drafter, as (name, words)."""
    layers = f" ({drafter.depth} layers)" if drafter.depth else ""
    yield "head", f"{algorithm(drafter)} for {drafter.target}{layers}"
    yield "trainer", drafter.trainer
    if drafter.architectures:
        yield "architecture", listed(drafter.architectures)
    declared = show_ids(drafter.ids) + " " if drafter.ids is not None else ""
    keys = f" ({listed([key_words(p) for p in drafter.pointers])})" if drafter.pointers else ""
    yield "ids", f"{declared}{PLACES.get(drafter.ids_place, drafter.ids_place)}{keys}"
    yield "meaning", CONVENTIONS[drafter.convention]
    yield "trained on", trained_words(drafter)
    basis = f", {BASES.get(drafter.basis, drafter.basis.replace('_', ' '))}" if drafter.basis else ""
    sure = "established" if drafter.established else "not established: no proof of an error"
    yield "how sure", f"{sure}; from {EVIDENCE.get(drafter.evidence, drafter.evidence)}{basis}"
    if drafter.geometry:
        yield "config", ", ".join(f"{name} {value}" for name, value in drafter.geometry.items())
    if drafter.flags:
        yield "flags", ", ".join(f"{name} {str(value).lower()}" for name, value in drafter.flags.items())
    if drafter.note:
        yield "note", " ".join(drafter.note.split())
