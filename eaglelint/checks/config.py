"""The ids in a drafter's config: EGL202 (none at all) and EGL203 (impossible ones)."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Sequence

from eaglelint.boundary import evaluate, show, show_ids
from eaglelint.checks import wording
from eaglelint.checks.auxiliary import last_state_alone
from eaglelint.checks.heads import foreign
from eaglelint.checks.identity import served_on_another
from eaglelint.checks.judging import Case, Verdict, cases, reasons, strength
from eaglelint.checks.registry import check
from eaglelint.facts import Document, LayerIds
from eaglelint.findings import Edit, Finding, Fix, Severity
from eaglelint.fixing.documents import add_entry
from eaglelint.linking.records import Serving, integers
from eaglelint.linking.training import explained
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

#: What every engine but a few takes when no ids are given, as formulas of N.
_SHARED_DEFAULT = "2, N // 2, N - 3"


@check("EGL202")
def aux_layers_undeclared(pipeline: Pipeline) -> Iterator[Finding]:
    """An EAGLE-3 head declares no ids, so that each engine guesses. One finding a head."""
    if not is_judged(pipeline) or not pipeline.declared or last_state_alone(pipeline):
        return
    if any(ids.ids or not _counts_as_none(pipeline, ids) for ids in pipeline.id_lists):
        return
    guessing = [
        serving
        for serving in pipeline.servings
        if (serving.ids is None or not serving.ids.ids) and not foreign(pipeline, serving)
    ]
    every = [case for case in cases(guessing, pipeline.evidence.best) if case.verdicts]
    if pipeline.servings and not every:
        return
    if pipeline.drafter is None and any(served_on_another(pipeline)):
        return  # a head that is known to be for another model: EGL407 says so, and ids would not help
    yield from _undeclared(pipeline, every)


def _counts_as_none(pipeline: Pipeline, ids: LayerIds) -> bool:
    """Whether an empty list is the same as none to every engine in use."""
    readers = [s.reading for s in pipeline.servings if s.ids is not None and s.ids.where == ids.where]
    return bool(pipeline.servings) and all(reading.empty_is_default for reading in readers)


def _undeclared(pipeline: Pipeline, every: list[Case]) -> Iterator[Finding]:
    trainings = pipeline.evidence.best
    wrong = [case for case in every if case.all("differs")]
    verdicts = [verdict for case in (wrong or every) for verdict in case.verdicts]
    servings = [verdict.serving for verdict in verdicts]
    related = wording.steps(pipeline, trainings if wrong else (), servings)
    where = _incomplete_object(pipeline)
    if not trainings and explained(pipeline.defects):
        return
    guesses = "; ".join(dict.fromkeys(_guess(verdict) for verdict in verdicts)) or f"engines guess {_SHARED_DEFAULT}"
    if wrong:
        severity, confidence = strength(servings, trainings)
        said = wording.listed([wording.trained_words(t, verdicts[0].depth) for t in trainings], "or")
        message = f"no layer ids are declared: {guesses}, but {said}: {wording.difference_words(verdicts[0])}"
        rests = reasons(servings, trainings)
        message += f" (assumed: {wording.listed(rests)})" if rests else ""
        fix = _declare(pipeline, verdicts, safe=confidence == "proven")
        yield Finding("EGL202", severity, message, where, confidence, related, fix, _defect(pipeline))
    elif every and all(case.all("same") for case in every):
        message = f"no layer ids are declared; {guesses}, which is what the drafter was trained on"
        yield Finding("EGL202", "info", message, where, "proven", related, None, _defect(pipeline))
    elif not every and trainings:
        yield from _without_engine(pipeline, where)
    elif _is_served(pipeline):
        open_ = "whether the drafter was trained on these is not known here"
        custom = pipeline.published is not None and pipeline.published.convention == "custom"
        if custom:
            open_ = f"{pipeline.name} is known to be trained on others, which are stated nowhere"
        message = f"no layer ids are declared: {guesses}; {open_}"
        fix = _declare(pipeline, verdicts)
        confidence = "likely" if custom else "possible"
        yield Finding("EGL202", "warning", message, where, confidence, related, fix, _defect(pipeline))


def _is_served(pipeline: Pipeline) -> bool:
    """Whether an engine may guess for this head: it is no draft config of a training run, and no other one is served.

    A draft config that a trainer starts from is usually named after its target; checkpoints have a `config.json`.
    """
    if pipeline.template or pipeline.served_elsewhere:
        return False
    named = pipeline.drafter is None or posixpath.basename(pipeline.drafter.path) == "config.json"
    return named or bool(pipeline.launches)


def _without_engine(pipeline: Pipeline, where: Location) -> Iterator[Finding]:
    """No engine is in scope: the known capture against the default that engines share."""
    training = pipeline.training
    depth = pipeline.depth
    trained = training.at(depth) if training is not None else None
    if training is None or trained is None or not depth:
        return
    default = (2, depth // 2, depth - 3)
    same = training.allows(default, depth)
    said = wording.trained_words(training, depth)
    severity, confidence = strength((), [training])
    message = f"no layer ids are declared: engines guess boundaries {show(default)} ({_SHARED_DEFAULT}), "
    message += "which is what the drafter was trained on" if same else f"but {said}"
    nested, top = show_ids(b - 1 for b in trained), show_ids(trained)
    cure = Fix(f"declare them: {nested} under `eagle_config` for SGLang, {top} at the top level for vLLM")
    fix = None if same else cure
    related = wording.steps(pipeline, [training], ())
    yield Finding("EGL202", "info" if same else severity, message, where, confidence, related, fix, _defect(pipeline))


def _guess(verdict: Verdict) -> str:
    name = verdict.serving.name
    formulas = ", ".join(verdict.serving.reading.default)
    if not verdict.captured or not verdict.fixed:
        return f"{name} guesses {formulas or 'its default'}"
    return f"{name} guesses boundaries {show(verdict.captured)} ({formulas})"


def _declare(pipeline: Pipeline, verdicts: Sequence[Verdict], *, safe: bool = False) -> Fix | None:
    training = pipeline.training
    texts = []
    wanted: list[tuple[Serving, tuple[int, ...], int]] = []
    for verdict in verdicts:
        trained = training.at(verdict.depth) if training is not None else None
        if trained is not None and verdict.serving.reading.keys:
            texts.append(wording.placed_ids(verdict.serving, trained, verdict.depth))
            wanted.append((verdict.serving, trained, verdict.depth))
    text = f"declare the ids: {wording.listed(texts) if texts else 'those that the drafter was trained on'}"
    complete = pipeline.drafter is not None and len(wanted) == len(verdicts)
    edits = declared(pipeline.drafter.document, wanted) if pipeline.drafter is not None and complete else ()
    return Fix(text, "safe" if safe and edits else "unsafe", edits)


def declared(document: Document, wanted: Sequence[tuple[Serving, tuple[int, ...], int]]) -> tuple[Edit, ...]:
    """The edits that declare ids under the keys that servings read: (serving, boundaries to capture, depth N) each.

    () when a key would need two lists, is there already, or no ids make an engine capture these boundaries.
    """
    lists: dict[str, tuple[int, ...]] = {}
    for serving, trained, depth in wanted:
        key = serving.reading.keys[0]
        ids = wording.right_ids(serving, trained, depth, key)
        if ids is None or lists.setdefault(key, ids) != ids:
            return ()
    edits = [add_entry(document, key, list(ids)) for key, ids in lists.items()]
    return tuple(edit for part in edits for edit in part) if all(edits) else ()


def _incomplete_object(pipeline: Pipeline) -> Location:
    """The innermost object that lacks the ids: `eagle_config` when it is there and read, else the whole config."""
    if pipeline.drafter is None:
        return pipeline.where
    document = pipeline.drafter.document
    nested = any(key.startswith("/eagle_config/") for serving in pipeline.servings for key in serving.reading.keys)
    return document.where("/eagle_config") if nested and document.has("/eagle_config") else pipeline.where


def is_judged(pipeline: Pipeline) -> bool:
    """Whether the pipeline is that of an EAGLE-3 head of which anything is known."""
    return pipeline.method == "eagle3" and (pipeline.drafter is not None or pipeline.published is not None)


def _defect(pipeline: Pipeline) -> tuple[str, ...]:
    return ("undeclared", pipeline.name)


@check("EGL203")
def degenerate_layer_ids(pipeline: Pipeline) -> Iterator[Finding]:
    """Ids that no list of captured states can come from. One finding a list."""
    if not is_judged(pipeline) or last_state_alone(pipeline):
        return
    lists = {ids.where: ids for ids in pipeline.id_lists}
    lists.update({serving.ids.where: serving.ids for serving in pipeline.servings if serving.ids is not None})
    for ids in lists.values():
        yield from _degenerate(pipeline, ids)
    if not lists and pipeline.declared:
        yield from _colliding_default(pipeline)


def _degenerate(pipeline: Pipeline, ids: LayerIds) -> Iterator[Finding]:
    values = integers(ids.ids)
    if values is None:
        return
    servers = [mismatch.server.launch for mismatch in served_on_another(pipeline)]
    strange = {launch.where for launch in servers if launch is not None}  # EGL407 speaks of these
    readers = [s for s in pipeline.servings if s.ids is not None and s.ids.where == ids.where and not s.off]
    readers = [s for s in readers if s.launch is None or s.launch.where not in strange]
    problems: list[str] = []
    if not values and _counts_as_none(pipeline, ids):
        return
    if not values:
        problems.append("the list of layer ids is empty")
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        problems.append(f"id {show(twice)} stands more than once in {show_ids(values)}, and is captured once")
    lost, severity = _unreachable(pipeline, readers, values)
    problems += lost if readers or not strange else ()
    defect = ("degenerate", pipeline.name, str(ids.where))
    if problems:
        hard = bool(twice) or not values
        related = wording.steps(pipeline, (), readers)
        yield Finding(
            "EGL203", "error" if hard else severity, "; ".join(problems), ids.where,
            "proven" if hard or severity == "error" else "likely", related, None, defect,
        )  # fmt: skip
    elif list(values) != sorted(values) and any(s.reading.order == "ascending" for s in readers):
        names = wording.listed(serving.name for serving in readers)
        ascending = show(sorted(values))
        message = f"the ids {show_ids(values)} are not sorted; {names} takes them in layer order, as {ascending}"
        yield Finding("EGL203", "info", message, ids.where, "proven", (), None, defect)


def _unreachable(pipeline: Pipeline, readers: Sequence[Serving], values: tuple[int, ...]) -> tuple[list[str], Severity]:
    """What can not be captured, in words, and how surely: by every reading of some server, or only by some."""
    problems: list[str] = []
    severity: Severity = "warning"
    by_server: dict[tuple[Location | None, object], list[Serving]] = {}
    for serving in readers:
        if serving.reading.status == "ok":
            place = serving.launch.where if serving.launch is not None else None
            by_server.setdefault((place, serving.release), []).append(serving)
    for group in by_server.values():
        lost = [serving.reading.unreachable(values, serving.depth or None, serving.key) for serving in group]
        if all(lost):
            if strength(group, ())[0] == "error":
                severity = "error"
        elif any(lost) and not group[0].release.bounded:
            pass
        else:
            continue
        problems += [_lost(serving, missing) for serving, missing in zip(group, lost, strict=True) if missing]
    if not readers and pipeline.depth:
        outside = [value for value in values if value > pipeline.depth or value < -1]
        if outside:
            problems.append(f"id {show(outside)} names no layer of {pipeline.depth} in any convention")
            severity = "error"
    return list(dict.fromkeys(problems)), severity


def _lost(serving: Serving, missing: Sequence[int]) -> str:
    depth = serving.depth
    declared = serving.declared or ()
    boundaries = serving.meant(depth) or ()
    named = [b for i, b in zip(declared, boundaries, strict=False) if i in missing]
    reach = " to ".join(str(evaluate(edge, depth)) if depth else edge for edge in serving.reading.reach)
    return (
        f"{serving.name} can not capture id {show(missing)} of {show_ids(declared)}: it means "
        f"{wording.numbers(named)}, and boundaries {reach}{wording.target_words(serving.target)} can be captured"
    )


def _colliding_default(pipeline: Pipeline) -> Iterator[Finding]:
    """No ids, and a default whose formulas collide or leave the target (N of six layers and less)."""
    for serving in pipeline.servings:
        default = serving.reading.defaults(serving.depth) if serving.depth and serving.reading.status == "ok" else None
        if default is None or serving.off or serving.ids is not None:
            continue
        lost = serving.reading.unreachable(None, serving.depth)
        if len(set(default)) == len(default) and not lost and list(default) == sorted(default):
            continue
        formulas = ", ".join(serving.reading.default)
        message = (
            f"no layer ids are declared, and the default {formulas} of {serving.name} does not work for a target of "
            f"{serving.depth} layers: it gives boundaries {show(default)}, of which "
            f"{len(set(default) - set(lost))} different ones can be captured"
        )
        severity, confidence = strength([serving], ())
        related = wording.steps(pipeline, (), [serving])
        fix = Fix("write the ids out; below seven layers the default does not give three states")
        where = _incomplete_object(pipeline)
        yield Finding("EGL203", severity, message, where, confidence, related, fix, _defect(pipeline))
        return
