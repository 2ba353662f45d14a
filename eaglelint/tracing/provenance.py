"""Everything that a drawing rests on, as numbered lines in the order of the data flow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from eaglelint.facts import Step
from eaglelint.location import Location
from eaglelint.tracing.records import Panel, Source

_PLURALS = {"boundary": "boundaries", "id": "ids"}


def sources(panels: Sequence[Panel]) -> tuple[Source, ...]:
    """The lines of all panels, each once: first the training, then what goes beside it, then the serving."""
    lines: dict[tuple[str, int], tuple[Location, dict[str, None], set[str]]] = {}
    for step, tag in _tagged(panels):
        key = (step.where.path, step.where.line)
        _, texts, tags = lines.setdefault(key, (step.where, {}, set()))
        texts[step.what] = None
        tags.add(tag)
    every = {f"fc[{row.column}]" for panel in panels for row in panel.rows}
    return tuple(
        Source(number, where, together(list(texts)), _columns(tags) if tags < every else ())
        for number, (where, texts, tags) in enumerate(lines.values(), 1)
    )


def _columns(tags: set[str]) -> tuple[str, ...]:
    return () if "" in tags else tuple(sorted(tags, key=lambda tag: int(tag[3:-1])))


def _tagged(panels: Sequence[Panel]) -> Iterator[tuple[Step, str]]:
    """Each step with the column that it is of, "" for all of them."""
    for panel in panels:
        yield from _interleaved({f"fc[{row.column}]": row.kept.steps for row in panel.rows if row.kept is not None})
        yield from ((step, "") for step in panel.trained.steps)
    for panel in panels:
        yield from ((step, "") for kept in panel.trained.beside for step in kept.steps)
    for panel in panels:
        yield from _interleaved({f"fc[{row.column}]": row.fed.steps for row in panel.rows if row.fed is not None})
        yield from ((step, "") for step in panel.served.steps)


def _interleaved(ways: dict[str, tuple[Step, ...]]) -> Iterator[tuple[Step, str]]:
    """The first steps of all columns, then the second ones, ..."""
    for place in range(max((len(way) for way in ways.values()), default=0)):
        for tag, way in ways.items():
            if place < len(way):
                yield way[place], tag


def together(texts: Sequence[str]) -> str:
    """What happened on one line: "boundaries 3, 31 captured" for "boundary 3 captured" and "boundary 31 captured"."""
    groups: list[list[list[str]]] = []
    for text in texts:
        words = text.split()
        group = next((group for group in groups if _alike([*group, words])), None)
        if group is None:
            groups.append([words])
        else:
            group.append(words)
    return ", ".join(_joined(group) for group in groups)


def _alike(group: Sequence[Sequence[str]]) -> bool:
    """Whether texts differ in one word alone, the same one in all of them."""
    return len({len(words) for words in group}) == 1 and len(_varying(group)) <= 1


def _varying(group: Sequence[Sequence[str]]) -> list[int]:
    return [place for place, words in enumerate(zip(*group, strict=True)) if len(set(words)) > 1]


def _joined(group: Sequence[Sequence[str]]) -> str:
    first = list(group[0])
    for place in _varying(group):
        first[place] = ", ".join(dict.fromkeys(words[place] for words in group))
        if place:
            first[place - 1] = _PLURALS.get(first[place - 1], first[place - 1])
    return " ".join(first)


def numbers(found: Iterable[Source], steps: Iterable[Step]) -> tuple[int, ...]:
    """The numbers of the lines on which some steps stand."""
    places = {(step.where.path, step.where.line) for step in steps}
    return tuple(source.number for source in found if (source.where.path, source.where.line) in places)
