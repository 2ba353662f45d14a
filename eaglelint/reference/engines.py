"""What an engine does with layer ids: since when, where it reads them, what is broken, and on what evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eaglelint.boundary import show, show_ids
from eaglelint.conventions import versions
from eaglelint.conventions.records import Edge, EngineDefect, Gate, IdLocation, Reading
from eaglelint.conventions.rules import MEANING
from eaglelint.conventions.table import Engine, engine, engines
from eaglelint.errors import UsageError
from eaglelint.linking.records import title
from eaglelint.reference.asking import Asked, Subject
from eaglelint.reference.engine_ways import doubts
from eaglelint.reference.words import FATES, argument_words, boundaries_words, key_words, listed


class Row(NamedTuple):
    """One fact of an engine over a range of releases, with what it says in words and its evidence."""

    range: str
    words: str
    details: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


class Section(NamedTuple):
    """Facts of one kind."""

    title: str
    rows: tuple[Row, ...]


class Page(NamedTuple):
    """What is known of an engine or a trainer."""

    name: str
    title: str
    head: tuple[str, ...]
    sections: tuple[Section, ...]


class Summary(NamedTuple):
    """One line of the overview."""

    name: str
    kind: str
    releases: str
    verified: str
    certainty: str


def summaries() -> Iterator[Summary]:
    """All engines, each with the releases that its table covers and the day on which it was last verified."""
    for name in engines():
        table = engine(name)
        if table is not None:
            yield Summary(name, "engine", covered(table), table.verified, str(table.raw["certainty"]))


def covered(table: Engine) -> str:
    """The releases that a table covers, in words."""
    if table.known:
        read = "" if len(table.read) == len(table.known) else f", {len(table.read)} of {len(table.known)} read"
        return f"{table.known[0]} to {table.known[-1]}{read}"
    first = next((e.first for e in table.entries if e.first), "")
    last = next((e.last for e in reversed(table.entries) if e.last), "")
    released = sorted({r for e in table.entries for r in e.releases}, key=versions.order)
    return "; ".join(part for part in (range_words(first, last), listed(released)) if part)


def page(asked: Asked, about: Subject) -> Page:
    """What is known of an engine, for the releases and the target that are asked for. Raises UsageError."""
    table = asked.engine
    assert table is not None
    sections = [Section(*group) for group in _ids(table, asked, about)]
    if not about.name:
        sections.append(Section("Where ids are read", tuple(_locations(table, asked))))
        sections.append(Section("Model runners", tuple(_runners(table, asked))))
        sections.append(Section("Targets that are let through, by their model type", tuple(_allowed(table, asked))))
        sections.append(Section("Broken", tuple(_defects(table, asked))))
    return Page(table.name, title(table.name), tuple(_head(table, asked, about)), tuple(s for s in sections if s.rows))


def _head(table: Engine, asked: Asked, about: Subject) -> Iterator[str]:
    yield f"{covered(table)}; verified {table.verified}, {table.raw['certainty']}"
    for release in _exact(asked):
        if table.versioning != "pep440":
            yield f"{release}: this table knows {title(table.name)} by commits, and the newest ones are shown"
        elif versions.order(release) > versions.order(table.latest):
            yield f"{release} is newer than {table.latest}, the last release that was verified, and taken to be like it"
        elif release not in table.known:
            yield f"{release} is not among the known releases, and taken to be like its neighbours"
        elif release not in table.read:
            yield f"{release} was not read, and is taken to be like its neighbours"
    if table.exhaustive:
        yield "targets that are not named can not be served"
    if not about.name:
        yield f"boundary b is the residual stream after b of N layers; dropped: {FATES['dropped']}"


def _exact(asked: Asked) -> tuple[str, ...]:
    """The release that is asked for, if it is one."""
    text = asked.specifier.removeprefix("==").strip()
    return (text,) if versions.parse(text) is not None else ()


def _covers(table: Engine, asked: Asked, first: str, last: str) -> bool:
    """Whether a range has to do with the releases that are asked for."""
    if not asked.specifier or table.versioning != "pep440":
        return True
    wanted = {near for release in versions.admitted(asked.specifier, table.known) for near in table.nearest(release)}
    return any(versions.within(release, first, last) for release in wanted)


# ---- what it does with ids -------------------------------------------------------------------------------------------


def _ids(table: Engine, asked: Asked, about: Subject) -> Iterator[tuple[str, tuple[Row, ...]]]:
    if about.target is not None and about.name:
        readings = table.readings(asked.specifier or None, about.target)
        if not readings:
            raise UsageError(f"{title(table.name)} {asked.specifier} reads no ids of auxiliary states")
        yield f"For {about.words}", tuple(_reading(r, table, about, bool(_exact(asked))) for r in readings)
        return
    groups: dict[str, list[Row]] = {}
    for entry in table.entries:
        if _covers(table, asked, entry.first, entry.last):
            groups.setdefault(_kind(entry.reading), []).append(_entry(entry.reading, entry.fallback))
    for kind, rows in groups.items():
        yield kind, tuple(rows)


def _kind(reading: Reading) -> str:
    rule = MEANING.get(reading.rule, reading.rule)
    default = f"; default {', '.join(reading.default)}" if reading.default else ""
    return f"{rule[0].upper()}{rule[1:]}{default}" + ("" if reading.status == "ok" else f" ({reading.status})")


def _entry(reading: Reading, fallback: str) -> Row:
    files = listed(reading.model_files) if reading.model_files else "every target"
    others = {"others": " and targets that are not named", "perhaps": " and perhaps targets that are not named"}
    details = [short_edges(reading)] if reading.rule not in ("nothing_captured", "unknown") else []
    details += [f"order {order_words(reading)}"] if reading.order != "ascending" else []
    details += [tensor_words(reading)] if reading.tensor != "stream" else []
    details += [f"how sure: {reading.certainty}"] if reading.certainty != "executed" else []
    details += [" ".join(reading.note.split())] if reading.note else []
    words = files + (others.get(fallback, "") if reading.model_files else "")
    return Row(range_words(reading.first, reading.last), words, tuple(details), reading.evidence)


def _reading(reading: Reading, table: Engine, about: Subject, exact: bool) -> Row:
    """One reading for a target: the rule in words and by example, where ids are read, the edges, what is broken.

    `exact`: a release was asked for, and the head of the page says what is to be said of it.
    """
    runner = f" ({reading.runner})" if reading.runner else ""
    where = f"{range_words(reading.first, reading.last)}{runner}"
    if reading.status == "unsupported":
        return Row(where, "it can not serve this target", tuple(d.effect for d in reading.defects), reading.evidence)
    details = [*_examples(reading, about)]
    default = reading.defaults(about.depth)
    if default is not None:
        details.append(f"without ids it captures {boundaries_words(default)} ({', '.join(reading.default)})")
    places = [*(argument_words(a) for a in reading.arguments), *(key_words(k) for k in reading.keys)]
    details.append(f"ids are read from {listed(places, 'else')}" if places else "no ids are read")
    details += [gate_words(gate) for gate in reading.gates]
    details.append(edges_words(reading))
    details.append(f"order {order_words(reading)}")
    details += [tensor_words(reading)] if reading.tensor != "stream" else []
    details += [" ".join(reading.note.split())] if reading.note else []
    details += [f"broken: {defect_words(defect)}" for defect in reading.defects]
    details.append(f"how sure: {reading.certainty}")
    details += doubts(reading, table) if not exact else ()
    status = "" if reading.status == "ok" else f" ({reading.status})"
    words = f"{MEANING.get(reading.rule, reading.rule)}{status}"
    return Row(where, words, tuple(details), reading.evidence)


def _examples(reading: Reading, about: Subject) -> Iterator[str]:
    depth = about.depth
    if not depth or depth < 8 or reading.status != "ok" or reading.rule in ("ignored", "nothing_captured", "unknown"):
        return
    for ids in ((1, depth // 2 - 1, depth - 4), (2, depth // 2, depth - 3), (2, depth // 2, depth)):
        boundaries = reading.boundaries(ids, depth)
        if boundaries is None:
            continue
        arriving = reading.captured(ids, depth)
        lost = [b for b in boundaries if arriving is not None and b not in arriving]
        words = ", ".join("nothing" if b < 0 else str(b) for b in boundaries)
        yield f"{show_ids(ids)} are boundaries {words}" + (
            f", of which {show(b for b in lost if b >= 0) or 'one'} is not captured" if lost else ""
        )


def edges_words(reading: Reading) -> str:
    """What happens to boundary 0, to boundary N and to anything beyond, in words."""
    return "; ".join(f"{name}: {FATES[fate]}" for name, fate in _edges(reading).items())


def short_edges(reading: Reading) -> str:
    """The same in a few words."""
    fates = (f"{name} {fate.replace('_', ' ')}" for name, fate in _edges(reading).items())
    return ", ".join(fates)


def _edges(reading: Reading) -> dict[str, Edge]:
    return {"boundary 0": reading.zero, "boundary N": reading.end, "beyond": reading.outside}


def order_words(reading: Reading) -> str:
    """In which order the states are concatenated, in words."""
    words = "of the layers, whatever that of the list" if reading.order == "ascending" else "of the list"
    twice = {"collapsed": "a state that is named twice is captured once", "rejected": "duplicates are refused"}
    return f"{words}; {twice.get(reading.duplicates, 'what becomes of duplicates is not known')}"


def tensor_words(reading: Reading) -> str:
    """What is captured where that is not the complete residual stream."""
    return f"what is captured is no plain residual stream ({reading.tensor.replace('_', ' ')})"


def gate_words(gate: Gate) -> str:
    """A key that switches capture off, in words."""
    missing = (
        ""
        if gate.missing
        else f", and so does its absence{f' within {key_words(gate.container)}' if gate.container else ''}"
    )
    return f"{key_words(gate.pointer)} false switches the capture off{missing}"


def defect_words(defect: EngineDefect) -> str:
    """A defect in words: what it does, when, and where it is gone."""
    when = f", with {' '.join(defect.applies_when.split())}" if defect.applies_when else ""
    fixed = f"; fixed in {defect.fixed_in}" if defect.fixed_in else "; not fixed in what was read"
    return f"{' '.join(defect.effect.split())}{when}{fixed}"


def range_words(first: str, last: str) -> str:
    """A range of releases or commits."""
    if not last or first == last:
        return f"from {first}" if first != last else first
    return f"{first} to {last}" if first else f"up to {last}"


# ---- the rest --------------------------------------------------------------------------------------------------------


def _locations(table: Engine, asked: Asked) -> Iterator[Row]:
    for place in table.locations:
        if _covers(table, asked, place.first, place.last):
            yield Row(
                range_words(place.first, place.last), _place_words(place), tuple(_place_details(place)), place.evidence
            )


def _place_words(place: IdLocation) -> str:
    where = [*(argument_words(a) for a in place.arguments)]
    where += [key_words(k.pointer) + (f" (plus {k.shift})" if k.shift else "") for k in place.keys]
    notes = [f"model runner {place.runner}"] if place.runner else []
    notes += ["for extraction"] if place.purpose == "extraction" else []
    notes += [f"heads of {listed(place.methods)}"] if place.methods != ("eagle3",) else []
    notes += [f"targets {listed(place.architectures)}"] if place.architectures else []
    return (listed(where, "else") if where else "nowhere") + (f" ({'; '.join(notes)})" if notes else "")


def _place_details(place: IdLocation) -> Iterator[str]:
    if place.rule:
        yield MEANING.get(place.rule, place.rule)
    yield from (gate_words(gate) for gate in place.gates)
    if not place.fall_through:
        yield "a container that exists ends the search, even without ids in it"
    if place.empty_is_default:
        yield "an empty list counts as none"
    if place.note:
        yield " ".join(place.note.split())


def _runners(table: Engine, asked: Asked) -> Iterator[Row]:
    for row in table.runners:
        if _covers(table, asked, row.first, row.last):
            words = row.usual
            if row.special:
                kinds = [listed(row.listed)] if row.listed else []
                kinds += ["dense targets"] if row.dense else []
                words += f"; {row.special} for {listed(kinds)}"
                words += ", but not for hybrid ones" if row.not_hybrid else ""
                words += ", unless quantised" if row.unless_quantised else ""
            yield Row(range_words(row.first, row.last), words, (), row.evidence)


def _allowed(table: Engine, asked: Asked) -> Iterator[Row]:
    for row in table.allow_list:
        if _covers(table, asked, row.first, row.last):
            yield Row(range_words(row.first, row.last), listed(row.model_types), (), row.evidence)


def _defects(table: Engine, asked: Asked) -> Iterator[Row]:
    every = [(d, ()) for d in table.defects] + [(d, e.reading.model_files) for e in table.entries for d in e.defects]
    for defect, files in every:
        if _covers(table, asked, defect.first, defect.last):
            notes = [listed(files)] if files else []
            notes += ["when hidden states are extracted"] if defect.purpose == "extraction" else []
            notes += [f"targets {listed(defect.architectures)}"] if defect.architectures else []
            span = range_words(defect.first, defect.last) or "every release"
            yield Row(span, defect_words(defect), tuple(notes), defect.evidence)


def for_target(about: Subject) -> Iterator[tuple[str, Sequence[Reading]]]:
    """How the newest release of every engine reads ids for a target."""
    for name in engines():
        table = engine(name)
        if table is not None:
            yield name, table.readings(table.latest or None, about.target)
