"""EGL404: the width of the target's states, as the drafter's config gives it, against the target's own."""

from __future__ import annotations

from collections.abc import Iterator

from eaglelint.checks import wording
from eaglelint.checks.config import is_judged
from eaglelint.checks.identity import served_on_another
from eaglelint.checks.registry import check
from eaglelint.facts import Confidence, Step
from eaglelint.findings import Finding, Fix, Severity
from eaglelint.linking.methods import method
from eaglelint.linking.records import Target
from eaglelint.pipeline import Pipeline
from eaglelint.weights.dimensions import dimensions


@check("EGL404")
def hidden_size_mismatch(pipeline: Pipeline) -> Iterator[Finding]:
    """fc is built for states of another width than the target has. One finding a head.

    A drafter that is narrower (or wider) than its target says the target's width in `target_hidden_size`, which no
    engine reads for EAGLE-1 heads.
    """
    if not (is_judged(pipeline) or _is_first(pipeline)) or pipeline.drafter is None or pipeline.template:
        return
    sizes = dimensions(pipeline.drafter)
    wanted = {target.hidden_size: target for target in _targets(pipeline) if target.hidden_size}
    if not sizes.target_hidden or not wanted or sizes.target_hidden in wanted:
        return
    if any(True for _ in served_on_another(pipeline)):
        return  # the target is another model, which says more
    target = next(iter(wanted.values()))
    key = "target_hidden_size" if sizes.size("target_hidden_size") else "hidden_size"
    first = pipeline.method == "eagle"
    given = "" if key == "target_hidden_size" or first else ", and there is no `target_hidden_size`"
    message = (
        f"`{key}` is {sizes.target_hidden}{given}: fc takes states of that width, but those of {target.name} are "
        f"{target.hidden_size} wide"
    )
    severity: Severity = "warning" if target.assumed else "error"
    confidence: Confidence = "likely" if target.assumed else "proven"
    if target.assumed:
        message += f" (assumed: {target.assumed})"
    where = sizes.where(key)
    fix = f"write `target_hidden_size`: {target.hidden_size}, if the head was trained on this target"
    if first:
        fix = "serve the target that the head was trained on"
    yield Finding("EGL404", severity, message, where, confidence, _related(target), Fix(fix), ("width", pipeline.name))


def _is_first(pipeline: Pipeline) -> bool:
    """Whether an EAGLE-1 head is served as one."""
    launches = [server.launch for server in pipeline.servers if server.launch is not None]
    return pipeline.method == "eagle" and any(method(launch).kind == "eagle" for launch in launches)


def _targets(pipeline: Pipeline) -> list[Target]:
    """The targets that the head is served on, else the one that is known of it."""
    served = [server.target for server in pipeline.servers if server.target is not None and server.target.hidden_size]
    return served or ([pipeline.target] if pipeline.target is not None else [])


def _related(target: Target) -> tuple[Step, ...]:
    steps = []
    if target.where is not None:
        steps.append(Step(target.where, f"the target: {target.name}"))
    if target.config is not None:
        place = target.config.document.where(f"{target.config.text_prefix}/hidden_size")
        steps.append(Step(place, f"its states are {target.hidden_size} wide"))
    return wording.unique(steps)
