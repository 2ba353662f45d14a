"""The contract between capture, training, config and server: EGL401, EGL412, EGL413."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from eaglelint.boundary import show_ids
from eaglelint.checks import wording
from eaglelint.checks.judging import Case, Verdict, cases, reasons, strength
from eaglelint.checks.registry import check
from eaglelint.facts import LayerIds
from eaglelint.findings import Edit, Finding, Fix
from eaglelint.fixing.documents import replace_value
from eaglelint.linking.records import Training, integers
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline


@check("EGL401")
def aux_layers_mismatch(pipeline: Pipeline) -> Iterator[Finding]:
    """The ids, as the engine reads them, are other boundaries than those of the training. One finding a list."""
    trainings = pipeline.evidence.best
    if not trainings:
        return
    lists: dict[Location, LayerIds] = {}
    for serving in pipeline.servings:
        if serving.ids is not None:
            lists.setdefault(serving.ids.where, serving.ids)
    every = cases(pipeline.servings, trainings)
    for where, ids in lists.items():
        mine = [_readers(case, where) for case in every if _reads(case, where)]
        wrong = [case for case in mine if case.all("differs")]
        doubtful = [case for case in mine if case not in wrong and case.any("differs") and not _by_release(case)]
        if wrong:
            yield _mismatch(pipeline, ids, wrong, trainings, mine)
        elif doubtful:
            yield _perhaps(pipeline, ids, doubtful, trainings)


@check("EGL401")
def right_by_one_reading(pipeline: Pipeline) -> Iterator[Finding]:
    """What is captured is right under one usual reading of a list of an unknown writer: an info that says which."""
    for training in (each for each in pipeline.evidence.best if each.readings):
        for case in cases(pipeline.servings, [training]):
            verdict = case.verdicts[0]
            ids = verdict.serving.ids
            lists = [layers.at(verdict.depth) for layers in (training.boundaries, *training.also)]
            fits = [
                i for i, given in enumerate(lists) if given is not None and sorted(given) == sorted(verdict.captured)
            ]
            others = [i for i, given in enumerate(lists) if given is not None and i not in fits]
            if ids is None or not case.all("same") or not fits or not others:
                continue
            message = (
                f"{wording.served_words(verdict.serving.name, verdict)}; {training.what} at {training.where}, which "
                f"fits if {training.readings[fits[0]]}, and does not if {training.readings[others[0]]}"
            )
            related = wording.steps(pipeline, [training], [verdict.serving])
            fix = Fix("say which trainer reads the list, or show the code that captures the states")
            defect = ("ids", pipeline.name, str(ids.where))
            yield Finding("EGL401", "info", message, ids.where, "possible", related, fix, defect)


def _reads(case: Case, where: Location) -> bool:
    return any(_takes(verdict, where) for verdict in case.verdicts)


def _readers(case: Case, where: Location) -> Case:
    """A case without the releases that do not read the list, where nobody pinned the release (they are EGL310's)."""
    if case.release.bounded:
        return case
    return replace(case, verdicts=tuple(verdict for verdict in case.verdicts if _takes(verdict, where)))


def _by_release(case: Case) -> bool:
    """Whether the releases of a pinned range are what makes the difference, each of them with one verdict: EGL410's."""
    if case.release.exact or not case.release.bounded:
        return False
    parts: dict[tuple[str, str], set[str]] = {}
    for verdict in case.verdicts:
        reading = verdict.serving.reading
        parts.setdefault((reading.first, reading.last), set()).add(verdict.outcome)
    return all(len(outcomes) == 1 for outcomes in parts.values())


def _takes(verdict: Verdict, where: Location) -> bool:
    return verdict.serving.ids is not None and verdict.serving.ids.where == where


def _mismatch(
    pipeline: Pipeline, ids: LayerIds, wrong: list[Case], trainings: Sequence[Training], every: list[Case]
) -> Finding:
    verdicts = [verdict for case in wrong for verdict in case.verdicts]
    servings = [verdict.serving for verdict in verdicts]
    severity, confidence = strength(servings, trainings)
    first = verdicts[0]
    said = wording.listed([wording.trained_words(training, first.depth) for training in trainings], "or")
    served = [
        f"{wording.served_words(name, verdict)}: {wording.difference_words(verdict)}"
        for name, verdict in wording.by_release(verdicts)
    ]
    message = f"{said}, but {'; '.join(served)}"
    rests = reasons(servings, trainings)
    if rests:
        message += f" (assumed: {wording.listed(rests)})"
    return Finding(
        rule="EGL401",
        severity=severity,
        message=message,
        where=ids.where,
        confidence=confidence,
        related=wording.steps(pipeline, trainings, servings),
        fix=_cure(pipeline, ids, wrong, every),
        defect=("ids", pipeline.name, str(ids.where)),
    )


def _perhaps(pipeline: Pipeline, ids: LayerIds, doubtful: list[Case], trainings: Sequence[Training]) -> Finding:
    """Some of the releases or targets that are possible are wrong: a warning that names each reading."""
    verdicts = [verdict for case in doubtful for verdict in case.verdicts]
    said = wording.listed([wording.trained_words(training, verdicts[0].depth) for training in trainings], "or")
    readings = []
    for name, verdict in wording.by_release(verdicts):
        words = wording.served_words(name, verdict)
        judged = "right" if verdict.outcome == "same" else "not known"
        if verdict.outcome == "differs":
            judged = wording.difference_words(verdict)
        readings.append(f"{words}: {judged}")
    open_ = any(not case.release.bounded for case in doubtful)
    why = "the release is not pinned" if open_ else "the files allow several readings"
    return Finding(
        rule="EGL401",
        severity="warning",
        message=f"{said}, and {why}: {'; '.join(readings)}",
        where=ids.where,
        confidence="possible",
        related=wording.steps(pipeline, trainings, [verdict.serving for verdict in verdicts]),
        fix=_cure(pipeline, ids, doubtful, doubtful),
        defect=("ids", pipeline.name, str(ids.where)),
    )


def _cure(pipeline: Pipeline, ids: LayerIds, wrong: list[Case], every: list[Case]) -> Fix | None:
    """The ids that are right: one list for all servers where there is one, else a list for each."""
    training = pipeline.training
    if training is None:
        return None
    others = [v for case in every for v in case.verdicts if _takes(v, ids.where)]
    verdicts = [v for case in wrong for v in case.verdicts if v in others]
    shared = _shared_ids(verdicts or others, others, training)
    if shared is not None:
        return _write(pipeline, ids, shared, others)
    texts = []
    for name, verdict in wording.by_release(verdicts):
        trained = training.at(verdict.depth) or ()
        own = wording.right_ids(verdict.serving, trained, verdict.depth)
        if own is not None:
            texts.append(f"{show_ids(own)} for {name}")
            continue
        texts.append(f"no ids make {name} capture {wording.numbers(trained)}")
        later = wording.newer(verdict.serving, trained, verdict.depth)
        if later is not None:
            texts.append(f"{later[0]} does with {show_ids(later[1] if later[1] is not None else ids.ids)}")
    return Fix("; ".join(dict.fromkeys(texts))) if texts else None


def _shared_ids(wrong: Sequence[Verdict], every: Sequence[Verdict], training: Training) -> tuple[int, ...] | None:
    """One list with which every server that reads this key captures what was trained, for every depth that is open."""
    for verdict in wrong:
        trained = training.at(verdict.depth)
        ids = wording.right_ids(verdict.serving, trained, verdict.depth) if trained is not None else None
        if ids is not None and all(_captures(other, ids, training) for other in every):
            return ids
    return None


def _captures(verdict: Verdict, ids: tuple[int, ...], training: Training) -> bool:
    serving = verdict.serving
    depths = serving.depths if serving.depth else (verdict.depth,)
    for depth in depths:
        trained = training.at(depth)
        captured = serving.reading.captured(ids, depth, serving.key)
        if trained is None or captured is None or sorted(captured) != sorted(trained):
            return False
    return True


def _write(pipeline: Pipeline, ids: LayerIds, right: tuple[int, ...], verdicts: Sequence[Verdict]) -> Fix:
    named = wording.by_release(verdicts)
    text = f"write {show_ids(right)} for {wording.listed(name for name, _ in named)}"
    for _, verdict in named:
        if verdict.outcome != "differs":
            continue
        later = wording.newer(verdict.serving, verdict.trained, verdict.depth)
        if later is not None and later[1] is None:
            text += f"; {later[0]} reads the ids as they stand as {wording.numbers(verdict.trained)}"
            break
    edits = splice(pipeline, ids, right)
    proven = all(v.serving.release.exact and not v.serving.assumed for v in verdicts)
    return Fix(text, "safe" if edits and proven else "unsafe", edits)


def splice(pipeline: Pipeline, ids: LayerIds, right: Sequence[int]) -> tuple[Edit, ...]:
    """The edits that turn the declared list into `right` and leave everything else as it stands; () when unknown."""
    if pipeline.drafter is None or integers(ids.ids) is None:
        return ()
    spans = pipeline.drafter.document.spans
    entries = [spans.get(f"{ids.key}/{index}") for index in range(len(ids.ids))]
    whole = spans.get(ids.key)
    if whole is None or not entries or any(entry is None for entry in entries):
        return ()
    places = [entry for entry in entries if entry is not None]
    if len(right) == len(places):
        return tuple(
            Edit(place.path, place.start, place.end, str(new))
            for place, old, new in zip(places, ids.ids, right, strict=True)
            if old != new
        )
    if places[0].line == whole.line:
        return replace_value(pipeline.drafter.document, ids.key, list(right))
    indent = " " * (places[0].column - 1)
    body = ",\n".join(f"{indent}{new}" for new in right)
    return (Edit(whole.path, places[0].start, places[-1].end, body.lstrip()),)
