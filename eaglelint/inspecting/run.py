"""The flow of `eaglelint inspect`: read the folder, link it with each engine, say what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from eaglelint.conventions.heads import head_rules
from eaglelint.conventions.table import engine as known_engine
from eaglelint.conventions.table import engines
from eaglelint.errors import UsageError
from eaglelint.facts import Facts
from eaglelint.findings import Finding
from eaglelint.inspecting import head as heads
from eaglelint.inspecting.folder import read_folder
from eaglelint.inspecting.records import Inspection, Problem, View
from eaglelint.inspecting.views import views
from eaglelint.pipeline import Pipeline, link
from eaglelint.reference.asking import Asked, ask
from eaglelint.settings import Settings, TargetSettings


def inspect(path: str, asked: Sequence[str], target: str | None = None, depth: int | None = None) -> Inspection:
    """What the folder `path` holds, and what each engine (`sglang@0.5.9`; without any, the newest of each) makes of it.

    Raises UsageError for a path without a drafter, and for an engine or target that is not known.
    """
    facts = read_folder(path)
    wanted = [_engine(text) for text in asked] or [Asked(name, engine=known_engine(name)) for name in _usual()]
    stated = TargetSettings(name=target or "", depth=depth) if target or depth else None
    if not facts.drafters:
        return Inspection(heads.without_config(facts, path))
    alone = _pipeline(facts, Settings(target=stated))
    of_all = tuple(_problems(alone))
    head = replace(heads.describe(alone, facts), problems=of_all)
    found: list[View] = []
    for one in wanted:
        pipeline = _pipeline(facts, Settings(engines={one.name: _specifier(one)}, target=stated))
        problems = tuple(problem for problem in _problems(pipeline) if problem not in of_all)
        first, *others = views(pipeline, one)
        found += [replace(first, problems=problems), *others]
    return Inspection(head, tuple(found))


def _engine(text: str) -> Asked:
    found = ask(text)
    if found.engine is None:
        raise UsageError(f"{found.name} is a trainer; only engines load drafters")
    return found


def _usual() -> Iterator[str]:
    """The engines of which it is known what they make of a drafter's config."""
    return (name for name in engines() if head_rules(name) is not None)


def _specifier(asked: Asked) -> str:
    """The releases that are asked for; without any, the newest that was read."""
    newest = asked.engine.latest if asked.engine is not None else ""
    specifier = asked.specifier or newest
    return f"=={specifier}" if specifier and specifier[0].isdigit() else specifier


def _pipeline(facts: Facts, settings: Settings) -> Pipeline:
    return next(pipeline for pipeline in link(facts, settings) if pipeline.drafter is not None)


def _problems(pipeline: Pipeline) -> Iterator[Problem]:
    """What the rules say of a drafter that nothing serves but the one engine."""
    from eaglelint.checks.registry import load_all
    from eaglelint.run import arbitrated

    findings: list[Finding] = []
    for registered in load_all().pipeline:
        findings += registered.function(pipeline)
    for finding in sorted(arbitrated(findings), key=lambda finding: finding.sort_key):
        if finding.severity != "info":
            where = finding.where
            yield Problem(finding.rule, finding.severity, finding.message, where.path, where.line)
