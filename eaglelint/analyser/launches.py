"""Engines that Python code starts: `LLM(...)`, `sgl.Engine(...)`, subprocesses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eaglelint.analyser.engines import plain
from eaglelint.analyser.recorder import Recorder
from eaglelint.analyser.scope import Spot, place
from eaglelint.analyser.strings import as_text
from eaglelint.analyser.values import HOLE, DictV, ListV, SourceStr, V, note_of
from eaglelint.facts import Launch, ScriptRun, Value
from eaglelint.location import Location


def found(recorder: Recorder) -> Iterator[Launch | ScriptRun]:
    """Launches in the order in which the code makes them, each place once."""
    from eaglelint.readers.launch import from_keywords, from_words

    seen: set[Location] = set()
    for engine, site, where in recorder.launches:
        if where in seen:
            continue
        seen.add(where)
        pairs: list[tuple[str, Value, Location]] = []
        first = {"model": site.args[0]} if engine == "vllm" and site.args else {}
        for name, value in {**first, **site.kwargs}.items():
            pairs += _pairs(name, value, site.places.get(name), where)
        yield from_keywords(engine, pairs, where, complete=not site.splat)
    for words, where, _env in recorder.commands:
        if where in seen:
            continue
        seen.add(where)
        values = _words(words, where)
        made = from_words(values, where, "python", "", ()) if values else None
        if made is not None:
            yield made


def _pairs(
    name: str, value: V, spots: tuple[Spot, Spot] | None, where: Location
) -> Iterator[tuple[str, Value, Location]]:
    """A keyword with its value and place; a dict also gives each of its entries under a dotted name."""
    key, place_of = (place(spot) or where for spot in spots) if spots is not None else (where, where)
    yield name, _value(value, place_of), key
    if isinstance(value, DictV):
        for inner, item in value.items.items():
            if isinstance(inner, str) and HOLE not in inner:
                yield from _pairs(f"{name}.{inner}", item, value.places.get(inner, spots), where)


def _value(value: V, where: Location) -> Value:
    known = plain(value)
    is_known = known is not None or value is None
    return Value(known, where, is_known, note_of(value))


def _words(words: V, where: Location) -> list[Value]:
    items: list[Any] | None = (
        words.items if isinstance(words, ListV) else list(words) if isinstance(words, tuple) else None
    )
    if items is None:
        return []
    values = []
    for item in items:
        text = as_text(item) if not isinstance(item, DictV) else HOLE
        at = item.mapped.location(0, len(item)) if isinstance(item, SourceStr) else where
        values.append(Value(None if HOLE in text else str(text), at, HOLE not in text, note_of(item)))
    return values
