"""Engines that Python code starts: `LLM(...)`, `sgl.Engine(...)`, subprocesses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eaglelint.analyser.engines import plain
from eaglelint.analyser.operations import as_text
from eaglelint.analyser.recorder import Recorder
from eaglelint.analyser.values import HOLE, DictV, ListV, V, note_of
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
        pairs = []
        scope = site.frame.scope
        for arg in site.node.args:
            if arg.keyword is None:
                continue
            name = arg.keyword.value
            value = site.kwargs.get(name)
            pairs.append((name, _value(value, scope.where(arg.value)), scope.where(arg.keyword)))
        yield from_keywords(engine, pairs, where)
    for words, where, _env in recorder.commands:
        if where in seen:
            continue
        seen.add(where)
        values = _words(words, where)
        made = from_words(values, where, "python", "", ()) if values else None
        if made is not None:
            yield made


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
        values.append(Value(None if HOLE in text else str(text), where, HOLE not in text, note_of(item)))
    return values
