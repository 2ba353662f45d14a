"""EGL306 and EGL307: what a release refuses, ignores or gets wrong together, and targets that it can not draft for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from eaglelint.checks.launching import Served, finding, integer, judge, only_captures, served, spelled, text
from eaglelint.checks.registry import check
from eaglelint.conventions import versions
from eaglelint.conventions.arguments import Condition, Constraint
from eaglelint.conventions.table import engine as known_engine
from eaglelint.facts import Launch, Step
from eaglelint.findings import Finding, Severity
from eaglelint.linking.methods import method
from eaglelint.linking.records import Target
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

#: Engines whose own model code a project may replace.
_ENGINES = ("sglang", "vllm")
_EXTRACTION = "extract_hidden_states"
_DRAFT_TP = "speculative_config.draft_tensor_parallel_size"


@check("EGL306", "EGL307")
def refused_together(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each combination of arguments of a launch that the table of constraints names."""
    seen: set[tuple[Location, str]] = set()
    for one in served(pipeline):
        capturing = only_captures(one.launch)
        for constraint in one.arguments.constraints:
            if capturing and _EXTRACTION not in constraint.methods:
                continue
            key = (one.launch.where, constraint.points_at or constraint.id)
            if key in seen or not _holds(one, constraint, _heads(pipeline)):
                continue
            judged = judge(one, partial(_within, constraint))
            if judged is None:
                continue
            seen.add(key)
            given = [one.launch.get(condition.argument) for condition in constraint.when]
            point = one.launch.get(constraint.points_at) or next((a for a in given if a is not None), None)
            target = one.server.target
            assumed = target.assumed if target is not None and constraint.architectures else ""
            yield finding(
                constraint.rule,
                judged,
                _filled(constraint.effect, one.launch),
                point.where if point is not None else one.launch.where,
                given=(*given, method(one.launch).argument if constraint.methods else None),
                doubts=(assumed,),
                severity="warning" if constraint.severity == "warning" else "error",
                cure=_filled(constraint.cure, one.launch),
                defect=f"{constraint.rule} {constraint.id}",
            )


def _within(constraint: Constraint, release: str) -> bool | None:
    return True if constraint.span.covers(release) else None


def _heads(pipeline: Pipeline) -> set[str]:
    """The architectures of the head, as its config or its record has them."""
    if pipeline.drafter is not None:
        return set(pipeline.drafter.architectures)
    return set(pipeline.published.architectures) if pipeline.published is not None else set()


def _holds(one: Served, constraint: Constraint, heads: set[str]) -> bool:
    """Whether a launch surely is what a constraint speaks of; what is not known does not count."""
    launch = one.launch
    if constraint.methods:
        written = text(method(launch).argument)
        if written is None or written.lower() not in [name.lower() for name in constraint.methods]:
            return False
    target = one.server.target
    if constraint.architectures and not (target and set(target.architectures) & set(constraint.architectures)):
        return False
    if constraint.drafts and not heads & set(constraint.drafts):
        return False
    set_to = {name: value for name, value in launch.environment if value.known}
    for name, values in constraint.environment.items():
        if name not in set_to or str(set_to[name].value).lower() not in values:
            return False
    if any(_true(launch, condition) is not False for condition in constraint.unless):
        return False
    return all(_true(launch, condition) for condition in constraint.when)


def _true(launch: Launch, condition: Condition) -> bool | None:
    """Whether a condition holds; None when that is not known."""
    argument = launch.get(condition.argument)
    if condition.given is not None:
        on = argument is not None and not (argument.value.known and argument.value.value in (False, "False", "false"))
        return on == condition.given if on or launch.complete else None
    if argument is None:
        if not launch.complete or condition.default is None:
            return None
        value = str(condition.default)
    elif not argument.value.known:
        return None
    else:
        value = str(argument.value.value)
    if condition.above is not None:
        number = integer(argument) if argument is not None else int(value)
        return number > condition.above if number is not None else None
    if condition.one_of:
        return value in condition.one_of
    return value not in condition.none_of


def _filled(template: str, launch: Launch) -> str:
    """A text with the values of the arguments that it names in braces, and their spelling as `{--page_size}`."""
    for argument in launch.arguments:
        template = template.replace(f"{{{argument.name}}}", str(argument.value.value))
        template = template.replace(f"{{--{argument.name}}}", argument.spelling)
    while "{--" in template:
        before, _, rest = template.partition("{--")
        name, _, after = rest.partition("}")
        template = before + spelled(launch, name) + after
    return template


@check("EGL306")
def draft_tensor_parallel(pipeline: Pipeline) -> Iterator[Finding]:
    """vLLM takes 1 or the target's size for the draft, and ignores it for EAGLE heads."""
    seen: set[Location] = set()
    for one in served(pipeline, "vllm"):
        argument = one.launch.get(_DRAFT_TP)
        size, target = integer(argument), _tensor_parallel(one.launch)
        kind = method(one.launch).kind
        if argument is None or size is None or target is None or size == target or argument.where in seen:
            continue
        judged = judge(one, partial(_always))
        if judged is None or only_captures(one.launch):
            continue
        given = (argument, one.launch.get("tensor_parallel_size"))
        severity: Severity = "error"
        if size != 1:
            message = f"{argument.spelling} {size} is refused by {{name}}: it must be 1 or the target's {target}"
        elif kind in ("eagle3", "eagle"):
            severity = "warning"
            message = f"{argument.spelling} 1 is ignored by {{name}} for EAGLE heads, which run on all {target} ranks"
        else:
            continue
        seen.add(argument.where)
        cure = f"leave it out, or write {target}"
        yield finding("EGL306", judged, message, argument.where, given=given, severity=severity, cure=cure)


@check("EGL307")
def given_twice(pipeline: Pipeline) -> Iterator[Finding]:
    """vLLM takes `--spec-method`, `--spec-model` and `--spec-tokens` or the key that they stand for, not both."""
    seen: set[Location] = set()
    for one in served(pipeline, "vllm"):
        for argument in one.launch.arguments:
            if not argument.spelling.startswith("--spec-") or argument.where in seen:
                continue
            same = (a for a in one.launch.arguments if a.name == argument.name and a.spelling != argument.spelling)
            other = next(same, None)
            judged = judge(one, partial(_always)) if other is not None else None
            if other is None or judged is None:
                continue
            seen.add(argument.where)
            key = argument.name.rpartition(".")[2]
            message = f"{argument.spelling} and the key {key} of the speculative configuration: {{name}} refuses both"
            yield finding("EGL307", judged, message, argument.where, given=(argument, other), cure="write one of them")


def _always(release: str) -> bool | None:
    return True


def _tensor_parallel(launch: Launch) -> int | None:
    """The target's tensor parallel size; None when it is not known."""
    argument = launch.get("tensor_parallel_size")
    if argument is None:
        return 1 if launch.complete else None
    return integer(argument)


@check("EGL307")
def target_not_supported(pipeline: Pipeline) -> Iterator[Finding]:
    """A target for which the release captures no states at all. One finding a launch."""
    if any(capture.framework in _ENGINES for capture in pipeline.captures):
        return  # the project brings capture code of its own into an engine
    reads = {s.launch.where for s in pipeline.servings if s.launch is not None and s.reading.status != "unsupported"}
    seen: set[Location] = set()
    for one in served(pipeline):
        launch, target, said = one.launch, one.server.target, method(one.launch)
        if said.kind != "eagle3" or said.argument is None or target is None or not target.architectures:
            continue
        if only_captures(launch) or launch.where in seen or launch.where in reads:
            continue
        judged = judge(one, partial(_refuses, one, target))
        if judged is None:
            continue
        seen.add(launch.where)
        yield finding(
            "EGL307",
            judged,
            f"{{name}} can not draft for {target.name} ({', '.join(target.architectures)}) with an EAGLE-3 head: "
            + judged.fault,
            said.argument.where,
            given=(said.argument,),
            doubts=(target.assumed,),
            related=(Step(target.where, "the target"),) if target.where is not None else (),
            cure=_later(one, target, judged.releases[-1]),
            defect="unsupported",
        )


def _refuses(one: Served, target: Target, release: str) -> str | None:
    """Why a release captures nothing for a target; None when it does capture."""
    engine = known_engine(one.server.engine)
    readings = engine.readings(release, target) if engine is not None and release else ()
    if not readings or any(reading.status != "unsupported" for reading in readings):
        return None
    effects = [defect.effect for reading in readings for defect in reading.defects if defect.effect]
    return effects[0] if effects else "the target's class there has no way to hand out auxiliary states"


def _later(one: Served, target: Target, release: str) -> str:
    """The first newer release that captures for this target."""
    engine = known_engine(one.server.engine)
    newer = [r for r in engine.read if versions.order(r) > versions.order(release)] if engine is not None else []
    first = next((r for r in newer if _refuses(one, target, r) is None), "")
    return f"{one.engine} {first} is the first release that can" if first else ""
