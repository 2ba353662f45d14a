"""EGL206: how many auxiliary states are captured, and for how many the drafter's fc is built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from eaglelint.boundary import show
from eaglelint.checks.heads import Fault, HeadConfig, Outcome, config_of, findings, judge, loading
from eaglelint.checks.registry import check
from eaglelint.checks.wording import listed, pointer_words
from eaglelint.conventions import versions
from eaglelint.conventions.heads import HeadRules, Width, head_rules
from eaglelint.facts import LayerIds
from eaglelint.findings import Finding, Fix
from eaglelint.linking.records import Serving, integers
from eaglelint.pipeline import Pipeline


@check("EGL206")
def aux_count_mismatch(pipeline: Pipeline) -> Iterator[Finding]:
    """The engine builds the drafter for another number of states than it captures. One finding a place."""
    config = config_of(pipeline)
    if config is None or config.recorded:
        return
    outcomes: dict[tuple[str, ...], list[Outcome]] = {}
    for server in pipeline.servers:
        rules = head_rules(server.engine)
        mine = [s for s in pipeline.servings if (s.launch, s.release) == (server.launch, server.release)]
        if rules is None or not mine:
            continue
        found = judge(server, partial(_fault, pipeline, config, rules, mine), loading(server, config, rules))
        if found is not None:
            outcomes.setdefault(_defect(pipeline, mine), []).append(found)
    for defect, group in outcomes.items():
        yield from findings("EGL206", pipeline, group, defect)
    if not pipeline.servings and pipeline.method == "eagle3":
        yield from _contradiction(pipeline, config)


def _fault(
    pipeline: Pipeline, config: HeadConfig, rules: HeadRules, servings: Sequence[Serving], release: str
) -> Fault | None:
    """What is wrong in a release, if it is wrong in every way in which that may read the ids."""
    ways = [s for s in servings if not release or versions.within(release, s.reading.first, s.reading.last)]
    if not release or not ways:
        ways = list(servings)
    faults = [_of_way(pipeline, config, rules, serving, release) for serving in ways]
    return faults[0] if faults and all(fault is not None for fault in faults) else None


def _of_way(pipeline: Pipeline, config: HeadConfig, rules: HeadRules, serving: Serving, release: str) -> Fault | None:
    if serving.off or serving.reading.status != "ok" or _guess_is_known_wrong(pipeline, serving):
        return None
    captured = _captured(serving)
    return _wrong_width(config, rules, serving, captured, release) if captured is not None else None


def _guess_is_known_wrong(pipeline: Pipeline, serving: Serving) -> bool:
    """Whether the ids are missing and it is known which they should be: EGL202's to say."""
    return serving.ids is None and not serving.unread and bool(pipeline.evidence.best)


def _defect(pipeline: Pipeline, servings: Sequence[Serving]) -> tuple[str, ...]:
    lists = [s.ids for s in servings if s.ids is not None] + [ids for s in servings for ids in s.unread]
    ids = next(iter(lists), None)
    return ("ids", pipeline.name, str(ids.where)) if ids is not None else ("undeclared", pipeline.name)


def _captured(serving: Serving) -> int | None:
    """How many states the ids (or the default) ask for; None when not known, or when an id stands twice (EGL203's)."""
    if serving.ids is None:
        return len(serving.reading.default) or None
    ids = serving.declared
    if ids is None or len(set(ids)) != len(ids):
        return None
    return len(ids) or (len(serving.reading.default) if serving.reading.empty_is_default else None)


class Count(NamedTuple):
    """A number of states and the pointer that says it, "" for the number that is taken when nothing does."""

    number: int
    pointer: str


def _built_for(config: HeadConfig, width: Width) -> Count:
    for pointer in width.pointers:
        value: Any = config.value(pointer)
        if isinstance(value, list) and value:
            return Count(len(value), pointer)
        if isinstance(value, int) and not isinstance(value, bool):
            return Count(value, pointer)
    return Count(width.otherwise, "")


def _wrong_width(config: HeadConfig, rules: HeadRules, serving: Serving, captured: int, release: str) -> Fault | None:
    found = config.found(rules, release).found if rules.classes else None
    width = rules.width(release, config.form, found.name if found is not None else "")
    built = _built_for(config, width) if width is not None else None
    if width is None or built is None or built.number == captured:
        return None
    takes = _takes(serving, captured)
    if built.pointer:
        what = f"{{name}} builds fc for {built.number} states by {pointer_words(built.pointer)}, and {takes}"
        return Fault(what, config.where(built.pointer), _agree(serving, built.pointer, captured))
    if not width.pointers:
        place = serving.ids.where if serving.ids is not None else config.where("")
        return Fault(f"{{name}} builds fc for {built.number} states, whatever the config says, and {takes}", place)
    keys = listed([pointer_words(pointer) for pointer in width.pointers], "or")
    what = f"{{name}} sizes fc by {keys}, finds none of them and builds it for {built.number} states, and {takes}"
    first = width.pointers[0]
    return Fault(what, config.where(first.rpartition("/")[0]), _agree(serving, first, captured))


def _takes(serving: Serving, captured: int) -> str:
    if serving.ids is None:
        return f"captures {captured}, its default {', '.join(serving.reading.default)}"
    meant = serving.meant(serving.depth) if serving.depth else None
    named = f" boundaries {show(meant)}" if meant else f" states for the ids {list(serving.ids.ids)}"
    return f"captures {captured}:{named}"


def _agree(serving: Serving, pointer: str, captured: int) -> str:
    if serving.ids is None:
        return "declare as many ids as the head was trained with, where they are read"
    *above, name = pointer.strip("/").split("/")
    if name.endswith("ids"):
        return f"declare the {captured} ids under {pointer_words(pointer)}"
    return f"write `{name}`: {captured}" + (f" in `{'.'.join(above)}`" if above else "")


def _contradiction(pipeline: Pipeline, config: HeadConfig) -> Iterator[Finding]:
    """No engine is in scope, and the config itself says two numbers."""
    pointer = "/num_aux_hidden_states"
    number = config.value(pointer)
    lists: list[LayerIds] = [ids for ids in pipeline.id_lists if integers(ids.ids)]
    if not isinstance(number, int) or isinstance(number, bool) or not lists:
        return
    if any(len(ids.ids) == number for ids in lists):
        return
    counts = listed([str(len(ids.ids)) for ids in lists], "or")
    message = f"`num_aux_hidden_states` is {number}, and {counts} ids are declared, so that one of them is wrong"
    fix = Fix("let both say how many states the head was trained with")
    defect = ("ids", pipeline.name, str(lists[0].where))
    yield Finding("EGL206", "warning", message, config.where(pointer), "possible", (), fix, defect)
