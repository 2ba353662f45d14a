"""EGL107 between files: a head is trained on the last state after the final norm, and its engine captures it before.

The last entry of a Hugging Face model's `hidden_states` has been through the final norm; boundary N of an engine is the
residual stream behind the last layer, which has not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eaglelint.checks import wording
from eaglelint.checks.block_ids import captured_by_release
from eaglelint.checks.registry import check
from eaglelint.facts import Assembly, Confidence, Step
from eaglelint.findings import Finding, Fix, Severity
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

#: How sure a reading has to be of what it says.
_SURE = ("executed", "read")


@check("EGL107")
def final_state_norm(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each concatenation in training code that holds the normed last state."""
    depth = pipeline.depth
    if not depth or pipeline.template:
        return
    engines = _capturing(pipeline, depth)
    spoilt = {defect.where for defect in pipeline.defects if defect.kind == "concat-drops-wrong-state"}
    if not engines:
        return
    for assembly in pipeline.assemblies:
        if assembly.purpose != "runtime" and assembly.where not in spoilt and _normed(assembly, depth):
            yield _finding(pipeline, assembly, depth, engines)


def _capturing(pipeline: Pipeline, depth: int) -> list[tuple[str, Location]]:
    """The engines that feed the head boundary N as it stands, and the launches; [] when one of them does not."""
    found = []
    if pipeline.method == "dflash":
        return [(name, launch.where) for name, launch, taken in captured_by_release(pipeline) if depth in taken]
    for serving in pipeline.servings:
        taken = serving.captured(depth)
        reading = serving.reading
        if serving.off or taken is None or serving.launch is None:
            return []
        if depth not in taken or reading.tensor != "stream" or reading.end != "captured":
            return []
        if reading.certainty not in _SURE or serving.depth != depth:
            return []
        found.append((serving.name, serving.launch.where))
    return found


def _normed(assembly: Assembly, depth: int) -> bool:
    """Whether the last state is among these, after the final norm and not also before it."""
    states = dict(assembly.states).get(depth, ())
    last = [state.normed for state in states if state.boundary == depth]
    return last == [True]


def _finding(pipeline: Pipeline, assembly: Assembly, depth: int, engines: Sequence[tuple[str, Location]]) -> Finding:
    names = wording.listed(list(dict.fromkeys(name for name, _ in engines)))
    severity: Severity = "error"
    confidence: Confidence = "proven"
    if assembly.confidence != "proven" or assembly.assumed:
        severity, confidence = "warning", "likely"
    message = (
        f"the last of these states, boundary {depth}, is taken after the final norm, but {names} feeds the head the "
        "residual stream before it: that part of fc's input is of another scale than in training"
    )
    message += f" (assumed: {assembly.assumed})" if assembly.assumed else ""
    ids = [Step(entry.where, "declared here") for entry in pipeline.id_lists]
    steps = [*assembly.trace, *ids, *(Step(where, "the head is served here") for _, where in engines)]
    return Finding(
        "EGL107",
        severity,
        message,
        assembly.where,
        confidence,
        wording.unique(step for step in steps if step.where != assembly.where),
        Fix("take the output of the last layer by a hook, before the final norm"),
        ("final norm", pipeline.name, str(assembly.where)),
    )
