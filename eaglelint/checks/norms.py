"""Flags and fields that change what a drafter computes: EGL207 (its norms), EGL211 (whatever else is not read)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from eaglelint.checks.heads import Fault, HeadConfig, Outcome, config_of, drafting, findings, judge, loading
from eaglelint.checks.registry import check
from eaglelint.checks.wording import pointer_words
from eaglelint.conventions.heads import Flag, HeadRules
from eaglelint.findings import Finding
from eaglelint.pipeline import Pipeline

#: Where configs declare a flag, by the form that they are written in.
_PLACES = {
    "flat": ("/{}", "/eagle_config/{}"),
    "speculators": ("/{}", "/transformer_layer_config/{}"),
}


@check("EGL207")
def norm_flag_contract(pipeline: Pipeline) -> Iterator[Finding]:
    """A norm that the head was trained with and the release does not apply, or the reverse. One finding a flag."""
    config = config_of(pipeline)
    if config is None:
        return
    served = list(drafting(pipeline))
    for name in dict.fromkeys(flag.name for _, rules in served for flag in rules.flags):
        outcomes = []
        for server, rules in served:
            flag = next((flag for flag in rules.flags if flag.name == name), None)
            if flag is None:
                continue
            releases = loading(server, config, rules)
            found = judge(server, partial(_fault, config, rules, flag), releases, recorded=config.recorded)
            if found is not None:
                outcomes.append(_weighed(found, config, name))
        yield from findings("EGL207", pipeline, outcomes, ("norm", pipeline.name, name))


def _weighed(outcome: Outcome, config: HeadConfig, name: str) -> Outcome:
    """An outcome that rests on what the absence of a flag means to a trainer is no proof."""
    if outcome.severity == "error" and _declared(config, name) is None:
        return outcome._replace(severity="warning", confidence="likely")
    return outcome


def _declared(config: HeadConfig, name: str) -> tuple[str, bool] | None:
    """Where a config declares a flag, and its value; a place that sets it comes before one that does not."""
    places = [place.format(name) for place in _PLACES[config.form.name]]
    given = [(place, value) for place in places if isinstance(value := config.value(place), bool)]
    return next((entry for entry in given if entry[1]), given[0] if given else None)


def _fault(config: HeadConfig, rules: HeadRules, flag: Flag, release: str) -> Fault | None:
    found = config.found(rules, release).found
    if found is None:
        return None
    honoured = rules.honoured(flag, release, config.form, found.name)
    declared = _declared(config, flag.name)
    if declared is None:
        if honoured is None or not honoured.missing or not honoured.trainer or config.recorded:
            return None
        what = f"`{flag.name}` is missing, which {{name}} takes for true and {honoured.trainer} for false"
        return Fault(what, config.where(honoured.pointers[0]), f"write `{flag.name}` as the head was trained")
    place, value = declared
    if honoured is None:
        if not value:
            return None
        read = f"{{name}} does not read `{flag.name}` (true)" + _of_class(rules, flag, release, config)
        cure = f"serve it with a release that reads `{flag.name}`, or train the head without it"
        return Fault(f"{read}: {flag.effect}", config.where(place), cure)
    taken = _taken(config, honoured.pointers, honoured.missing)
    if taken == value or config.recorded:
        return None
    where = pointer_words(honoured.pointers[-1])
    what = f"{pointer_words(place)} is {str(value).lower()}, where {{name}} does not look for it: {flag.effect}"
    return Fault(what, config.where(place), f"write it as {where}")


def _of_class(rules: HeadRules, flag: Flag, release: str, config: HeadConfig) -> str:
    """ " for Eagle3DeepseekV2ForCausalLM" when another class of the release does read the flag."""
    others = any(row.scope._replace(classes=()).covers(release, config.form) for row in flag.honoured)
    return f" for {config.architectures[0]}" if others and config.architectures else ""


def _taken(config: HeadConfig, pointers: tuple[str, ...], missing: bool) -> bool:
    """The value that a release takes: that of the first place that it looks at and that is given."""
    values: list[Any] = [config.value(pointer) for pointer in pointers]
    return next((bool(value) for value in values if value is not None), missing)


@check("EGL211")
def field_ignored(pipeline: Pipeline) -> Iterator[Finding]:
    """A field that says something else than what the engine does, and that it does not read. One finding a field."""
    config = config_of(pipeline)
    if config is None or config.recorded:
        return
    outcomes: list[Outcome] = []
    for server, rules in drafting(pipeline):
        pointers = dict.fromkeys(pointer for row in rules.ignored for pointer in row.pointers)
        for pointer in pointers:
            found = judge(server, partial(_ignored, config, rules, pointer), loading(server, config, rules))
            if found is not None:
                outcomes.append(found)
    for finding in findings("EGL211", pipeline, outcomes):
        yield replace(finding, severity="info")


def _ignored(config: HeadConfig, rules: HeadRules, pointer: str, release: str) -> Fault | None:
    value = config.value(pointer)
    found = config.found(rules, release).found
    if value is None or found is None:
        return None
    for row in rules.ignoring(release, config.form, found.name):
        if pointer in row.pointers and not any(
            value == neutral and type(value) is type(neutral) for neutral in row.neutral
        ):
            return Fault(f"{{name}} does not read {pointer_words(pointer)}: {row.effect}", config.where(pointer))
    return None
