"""EGL204: ids that stand where the engine in use does not look, so that it captures its default without a word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from eaglelint.boundary import show, show_ids
from eaglelint.checks import wording
from eaglelint.checks.auxiliary import last_state_alone
from eaglelint.checks.config import declared, is_judged
from eaglelint.checks.heads import foreign
from eaglelint.checks.judging import judge, reasons, strength
from eaglelint.checks.meanings import Meaning, meanings
from eaglelint.checks.registry import check
from eaglelint.facts import LayerIds
from eaglelint.findings import Edit, Finding, Fix
from eaglelint.fixing.documents import remove_entry
from eaglelint.linking.records import Serving, Training, title
from eaglelint.pipeline import Pipeline
from eaglelint.readers.drafter import ID_KEYS


class Unread(NamedTuple):
    """What comes of a list that one reading does not take.

    `effect`: "harmless" when the default is what was meant, "wrong" when it is not under any usual reading, "open" when
    it is right under one of them. `wanted` are the boundaries that were trained or, by the likeliest reading, meant.
    """

    serving: Serving
    effect: Literal["harmless", "wrong", "open"]
    default: tuple[int, ...]
    wanted: tuple[int, ...]
    depth: int


@check("EGL204")
def key_not_read(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each list that some engine in use does not read."""
    if not is_judged(pipeline) or last_state_alone(pipeline):
        return
    unread = [s for s in pipeline.servings if s.ids is None and s.unread and not s.off and s.reading.status == "ok"]
    silent = [serving for serving in unread if not foreign(pipeline, serving)]
    for ids in (ids for ids in pipeline.id_lists if ids.ids):
        servers: dict[tuple[object, object], list[Unread]] = {}
        for serving in silent:
            if serving.unread[0] == ids and not _read_elsewhere(pipeline, serving):
                servers.setdefault(_server(serving), []).extend(_effect(pipeline, serving, ids))
        read = {_server(serving) for serving in pipeline.servings if serving.ids is not None}
        effects = [effect for server in servers.values() for effect in server]
        certain = [
            effect
            for server, found in servers.items()
            for effect in found
            if server not in read and all(other.effect == "wrong" for other in found)
        ]
        doubtful = [effect for effect in effects if effect.effect != "harmless"]
        if certain:
            yield _finding(pipeline, ids, certain)
        elif doubtful:
            yield _finding(pipeline, ids, doubtful, certain=False)
        elif effects:
            yield _harmless(pipeline, ids, effects)


def _server(serving: Serving) -> tuple[object, object]:
    return (serving.launch.where if serving.launch is not None else None, serving.release)


def _read_elsewhere(pipeline: Pipeline, serving: Serving) -> bool:
    """Whether another reading of the same server takes a list, and the difference is not for this rule to report.

    With a known training that is EGL401's; without one, releases that nobody pinned are EGL310's, and those of a pinned
    range EGL410's.
    """
    others = [other for other in pipeline.servings if _server(other) == _server(serving) and other.ids is not None]
    return bool(others) and (bool(pipeline.evidence.best) or not serving.release.exact)


def _effect(pipeline: Pipeline, serving: Serving, ids: LayerIds) -> Iterator[Unread]:
    """What comes of it; nothing when the default or the meaning of the list is not known."""
    trainings = pipeline.evidence.best
    if trainings:
        verdict = judge(serving, trainings)
        if verdict.outcome in ("same", "differs"):
            effect: Literal["harmless", "wrong"] = "harmless" if verdict.outcome == "same" else "wrong"
            yield Unread(serving, effect, verdict.captured, verdict.trained, verdict.depth)
        return
    usual = meanings(ids)
    depths = [depth for depth in serving.depths if serving.captured(depth) is not None]
    if not usual or not depths:
        return
    first = serving.captured(depths[0]) or ()
    equal = [[sorted(m.boundaries) == sorted(serving.captured(d) or ()) for m in usual] for d in depths]
    if all(row[0] for row in equal):
        yield Unread(serving, "harmless", first, usual[0].boundaries, depths[0])
    elif not any(any(row) for row in equal):
        yield Unread(serving, "wrong", first, usual[0].boundaries, depths[0])
    elif serving.depth:
        yield Unread(serving, "open", first, usual[0].boundaries, depths[0])


def _finding(pipeline: Pipeline, ids: LayerIds, effects: Sequence[Unread], *, certain: bool = True) -> Finding:
    trainings = pipeline.evidence.best
    servings = [effect.serving for effect in effects]
    severity, confidence = strength(servings, trainings, mixed=not certain)
    if pipeline.drafter is None and severity == "error":
        severity, confidence = "warning", "likely"  # the record says where the ids stand, the config is not in scope
    where = f"{wording.pointer_words(ids.key)} ({show_ids(ids.ids)})"
    taken = "; ".join(dict.fromkeys(_captures(effect) for effect in effects))
    message = f"{where} is not read: {taken}, but {_wanted(ids, trainings, effects[0])}"
    rests = reasons(servings, trainings)
    if rests:
        message += f" (assumed: {wording.listed(rests)})"
    return Finding(
        rule="EGL204",
        severity=severity,
        message=message,
        where=ids.where,
        confidence=confidence,
        related=wording.steps(pipeline, trainings, servings),
        fix=_cure(ids, effects, _moved(pipeline, ids, effects), safe=confidence == "proven" and bool(trainings)),
        defect=("ids", pipeline.name, str(ids.where)),
    )


def _harmless(pipeline: Pipeline, ids: LayerIds, effects: Sequence[Unread]) -> Finding:
    taken = "; ".join(dict.fromkeys(_captures(effect) for effect in effects))
    message = f"{wording.pointer_words(ids.key)} ({show_ids(ids.ids)}) is not read: {taken}, which is the same"
    servings = [effect.serving for effect in effects]
    defect = ("ids", pipeline.name, str(ids.where))
    related = wording.steps(pipeline, (), servings)
    return Finding("EGL204", "info", message, ids.where, "proven", related, _cure(ids, effects), defect)


def _captures(effect: Unread) -> str:
    serving = effect.serving
    name = f"{serving.name} on model runner {serving.reading.runner}" if serving.reading.runner else serving.name
    formulas = ", ".join(serving.reading.default)
    if not serving.depth:
        return f"{name} captures its default {formulas}"
    return f"{name} captures its default boundaries {show(effect.default)} ({formulas})"


def _wanted(ids: LayerIds, trainings: Sequence[Training], effect: Unread) -> str:
    if trainings:
        return wording.listed([wording.trained_words(training, effect.depth) for training in trainings], "or")
    usual: tuple[Meaning, ...] = meanings(ids)
    return "the list means " + wording.listed(
        [f"boundaries {show(meaning.boundaries)} (taken as {meaning.reader})" for meaning in usual], "or"
    )


def _moved(pipeline: Pipeline, ids: LayerIds, effects: Sequence[Unread]) -> tuple[Edit, ...]:
    """The edits that declare the ids where they are read. A list under a name that nothing reads goes away."""
    if pipeline.drafter is None or not all(effect.serving.reading.keys for effect in effects):
        return ()
    document = pipeline.drafter.document
    added = declared(document, [(effect.serving, effect.wanted, effect.depth) for effect in effects])
    known = ids.key.rpartition("/")[2] in ID_KEYS
    return added if known or not added else (*remove_entry(document, ids.key), *added)


def _cure(ids: LayerIds, effects: Sequence[Unread], edits: tuple[Edit, ...] = (), *, safe: bool = False) -> Fix | None:
    texts = []
    for effect in effects:
        serving = effect.serving
        if serving.reading.keys:
            texts.append(wording.placed_ids(serving, effect.wanted, effect.depth))
        elif serving.reading.arguments:
            texts.append(f"{serving.name} takes its layers from {wording.listed(serving.reading.arguments, 'or')}")
        else:
            texts.append(_first_reader(serving, ids, effect.wanted, effect.depth))
    said = wording.listed(dict.fromkeys(text for text in texts if text))
    return Fix(said, "safe" if safe and edits else "unsafe", edits) if said else None


def _first_reader(serving: Serving, ids: LayerIds, wanted: Sequence[int], depth: int) -> str:
    """The first newer release that can be told to capture these boundaries: by the list as it stands, or by another."""
    for reading in wording.later_readings(serving):
        name = f"{title(serving.engine)} {reading.first}"
        for key in sorted(reading.keys, key=lambda key: key != ids.key):
            right = reading.ids_for(wanted, depth or None, key)
            if right is None:
                continue
            if key == ids.key and right == _integers(ids):
                return f"{name} is the first release that reads this key, as boundaries {show(wanted)}"
            place = wording.pointer_words(key)
            return f"{name} is the first release that reads ids; write {show_ids(right)} as {place}"
    return ""


def _integers(ids: LayerIds) -> tuple[int, ...]:
    return tuple(value for value in ids.ids if isinstance(value, int))
