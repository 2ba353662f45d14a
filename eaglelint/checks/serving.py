"""What the server is told: EGL301 (a method that does not fit the head)."""

from __future__ import annotations

from collections.abc import Iterator

from eaglelint.checks.registry import check
from eaglelint.facts import Launch, Step
from eaglelint.findings import Edit, Finding, Fix
from eaglelint.linking.methods import Method, method, spelling
from eaglelint.linking.records import title
from eaglelint.pipeline import Pipeline

#: Kinds of heads in words.
_HEADS = {
    "eagle3": "an EAGLE-3 head",
    "eagle": "an EAGLE-1 head",
    "dflash": "a DFlash head",
    "dspark": "a DSpark head",
    "medusa": "a Medusa head",
    "mtp": "a multi-token-prediction layer",
}

#: What comes of a wrong pair, by engine, method and head; "" elsewhere.
_EFFECTS = {
    ("sglang", "eagle", "eagle3"): (
        "no auxiliary states are captured and fc is skipped when the widths agree, so that exactly one token a step is "
        "accepted, without a message"
    ),
    ("sglang", "eagle3", "eagle"): "auxiliary states are captured for a head that takes only the last state",
    ("vllm", "eagle3", "eagle"): "auxiliary states are captured for a head that takes only the last state",
    ("vllm", "eagle", "eagle3"): "the head is loaded as EAGLE-1 and gets no auxiliary states",
}


@check("EGL301")
def method_head_mismatch(pipeline: Pipeline) -> Iterator[Finding]:
    """The written method drafts with another kind of head than the one that is given. One finding a launch."""
    if pipeline.method not in _HEADS:
        return
    for launch in pipeline.launches:
        said = method(launch)
        if said.argument is not None and _wrong(said.kind, pipeline.method):
            yield _mismatch(pipeline, launch, said)


def _wrong(kind: str, head: str) -> bool:
    """Whether a method can not draft with a head. DeepSeek-style layers are drafted with under EAGLE and NEXTN."""
    drafting = {"eagle3", "eagle", "mtp", "standalone", "dflash", "dspark", "medusa"}
    if kind not in drafting or kind == head:
        return False
    return {kind, head} != {"eagle", "mtp"}


def _mismatch(pipeline: Pipeline, launch: Launch, said: Method) -> Finding:
    assert said.argument is not None
    name = pipeline.name
    right = spelling(launch.engine, pipeline.method)
    reasons = [said.argument.value.assumed, launch.draft.assumed if launch.draft is not None else ""]
    assumed = next((reason for reason in reasons if reason), "")
    effect = _EFFECTS.get((launch.engine, said.kind, pipeline.method), "")
    message = (
        f"{said.argument.spelling} {said.argument.value.value} does not fit {name}, which is "
        f"{_HEADS[pipeline.method]}" + (f": {effect}" if effect else "")
    )
    if right:
        message += f"; {title(launch.engine)}'s method for it is {right}"
    if assumed:
        message += f" (assumed: {assumed})"
    related = [Step(pipeline.where, f"the head: {_evidence(pipeline)}")]
    if said.argument.value.defined is not None:
        related.insert(0, Step(said.argument.value.defined, "the method is defined here"))
    if launch.draft is not None and launch.draft.where != pipeline.where:
        related.append(Step(launch.draft.where, "the head is named here"))
    return Finding(
        rule="EGL301",
        severity="warning" if assumed else "error",
        message=message,
        where=said.argument.where,
        confidence="likely" if assumed else "proven",
        related=tuple(related),
        fix=_written(said, right, assumed) if right else None,
        defect=("method", str(launch.where)),
    )


def _written(said: Method, right: str, assumed: str) -> Fix:
    """The right method where the wrong one is written: at its use, or where the variable with it is defined."""
    assert said.argument is not None
    value = said.argument.value
    edits: tuple[Edit, ...] = ()
    if isinstance(value.value, str) and value.defined is None:
        edits = (Edit(value.where.path, value.where.start, value.where.end, right, value.value),)
    return Fix(f"write {right}", "unsafe" if assumed else "safe", edits)


def _evidence(pipeline: Pipeline) -> str:
    if pipeline.drafter is not None and pipeline.drafter.architectures:
        return ", ".join(pipeline.drafter.architectures)
    return pipeline.published.repo if pipeline.published is not None else pipeline.method
