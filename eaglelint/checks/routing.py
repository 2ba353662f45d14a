"""Whether an engine can load a drafter: EGL205 (its class), EGL209 (the form of its config), EGL210 (its depth)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from eaglelint.checks.heads import Fault, HeadConfig, config_of, drafting, findings, judge, loading
from eaglelint.checks.registry import check
from eaglelint.checks.stored import stored
from eaglelint.conventions.heads import HeadRules, head_rules
from eaglelint.findings import Finding
from eaglelint.pipeline import Pipeline

#: Kinds of drafter classes in words.
_KINDS = {"eagle": "its EAGLE-1 class", "mtp": "a multi-token-prediction class"}


@check("EGL205")
def architecture_not_routable(pipeline: Pipeline) -> Iterator[Finding]:
    """No EAGLE-3 class of the engine has the name that the config gives. One finding a head."""
    config = config_of(pipeline)
    if config is None or not _says_its_class(pipeline):
        return
    outcomes = [
        outcome
        for server, rules in drafting(pipeline)
        if (outcome := judge(server, partial(_unroutable, config, rules), recorded=config.recorded)) is not None
    ]
    yield from findings("EGL205", pipeline, outcomes, ("architecture", pipeline.name))


def _says_its_class(pipeline: Pipeline) -> bool:
    """Whether the class is that of the config itself: in scope, or a published one that was read and not described."""
    known = pipeline.published
    if pipeline.drafter is not None or known is None:
        return True
    return bool(known.architectures) and known.evidence in ("config_page", "published_config_in_a_test")


def _unroutable(config: HeadConfig, rules: HeadRules, release: str) -> Fault | None:
    if not rules.exhaustive or rules.reads(release, config.form) is False:
        return None
    found = config.found(rules, release)
    if found.found is not None and found.found.kind == "eagle3":
        return None
    by_layer = config.form.name == "speculators" and bool(rules.layer_type)
    place = rules.layer_type if by_layer else "/architectures"
    cure = _names(rules, release, config)
    if not found.name:
        return Fault(
            "`architectures` is missing, and {name} finds the class of the drafter by it", config.where(place), cure
        )
    if found.found is not None:
        kind = _KINDS[found.found.kind]
        what = f"{found.name} is {kind} in {{name}}: it {found.found.effect}"
    elif by_layer:
        what = f"{{name}} has no EAGLE-3 class for layers of type {found.name}: {found.why}"
    else:
        written = next((name for name in config.architectures if found.name.endswith(name)), found.name)
        looked = f" (looked up as {found.name})" if written != found.name else ""
        what = f"{{name}} has no EAGLE-3 class for {written}{looked}: {found.why}"
    return Fault(what, config.where(place), cure)


def _names(rules: HeadRules, release: str, config: HeadConfig) -> str:
    """Which names that release has for EAGLE-3 heads."""
    if config.form.name == "speculators":
        return ""
    here = [row for row in rules.classes if row.kind == "eagle3" and row.scope.covers(release, config.form)]
    names = [name for row in here for name in row.architectures][:6]
    return f"names of its EAGLE-3 classes are {', '.join(names)}" if names else ""


@check("EGL209")
def foreign_config_format(pipeline: Pipeline) -> Iterator[Finding]:
    """The config is written in a form that no parser of the engine reads. One finding a head."""
    config = config_of(pipeline)
    if config is None or config.form.name == "flat":
        return

    outcomes = [
        outcome
        for server in pipeline.servers
        if (rules := head_rules(server.engine)) is not None
        and (outcome := judge(server, partial(_foreign, config, rules), recorded=config.recorded)) is not None
    ]
    yield from findings("EGL209", pipeline, outcomes, ("architecture", pipeline.name))


def _foreign(config: HeadConfig, rules: HeadRules, release: str) -> Fault | None:
    if rules.reads(release, config.form) is not False:
        return None
    algorithm = f" ({config.form.algorithm})" if config.form.algorithm else ""
    what = f"{{name}} does not read configs in the form of speculators{algorithm}: {rules.unread}"
    return Fault(
        what, config.where(""), "convert the head to the flat form, or serve it with an engine that reads this one"
    )


@check("EGL210")
def draft_depth_unsupported(pipeline: Pipeline) -> Iterator[Finding]:
    """The drafter has more layers than its class in the release. One finding a head.

    Where the checkpoint has another number of layers than the config says, that is all there is to say.
    """
    config = config_of(pipeline)
    head = stored(pipeline)
    miscounted = head is not None and head.names.layers and len(set(head.names.layers)) != head.sizes.layers
    if config is None or miscounted:
        return
    outcomes = []
    for server, rules in drafting(pipeline):
        releases = loading(server, config, rules)
        found = judge(server, partial(_too_deep, config, rules), releases, recorded=config.recorded)
        if found is not None:
            outcomes.append(found)
    yield from findings("EGL210", pipeline, outcomes, ("depth", pipeline.name))


def _too_deep(config: HeadConfig, rules: HeadRules, release: str) -> Fault | None:
    pointer = "/num_hidden_layers" if config.form.name == "flat" else "/transformer_layer_config/num_hidden_layers"
    layers = config.value(pointer)
    found = config.found(rules, release).found
    limit = rules.depth(release, config.form, found.name) if found is not None else None
    if limit is None or not isinstance(layers, int) or layers <= limit.most:
        return None
    most = "one layer" if limit.most == 1 else f"{limit.most} layers"
    what = f"the drafter has {layers} layers, and {{name}} takes {most} at most: {limit.effect}"
    return Fault(what, config.where(pointer))
