"""The whole flow: discover, read, link, check, arbitrate, suppress, sort."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from eaglelint import catalog, watch
from eaglelint.findings import SEVERITIES, Finding, Severity
from eaglelint.guard import Guard
from eaglelint.location import Location, MappedText
from eaglelint.settings import FailOn, Settings

if TYPE_CHECKING:
    from eaglelint.checks.registry import Checks
    from eaglelint.facts import Facts
    from eaglelint.pipeline import Pipeline
    from eaglelint.project import Source


@dataclass(frozen=True)
class Result:
    """What a run found. `files` counts the files that were read; `sources` gives their texts for excerpts.

    `suppressed` findings are accepted by comments and exceptions, `baselined` ones by the baseline; `unchanged` ones
    touch no line that has changed, and `changed` says of a place whether it does (None: nobody asked). `tracebacks` has
    one entry for each internal error (EGL005), whether or not that finding is reported.
    """

    findings: tuple[Finding, ...]
    suppressed: int
    files: int
    sources: Mapping[str, Source]
    tracebacks: tuple[str, ...] = ()
    fail_on: FailOn = "warning"
    baselined: int = 0
    unchanged: int = 0
    changed: Callable[[Location], bool] | None = None

    def count(self, severity: Severity) -> int:
        """How many findings of one severity there are."""
        return sum(finding.severity == severity for finding in self.findings)

    @property
    def status(self) -> int:
        """The exit status: 2 after an internal error, 1 with a finding at or above `fail_on`, else 0."""
        return 2 if self.tracebacks else int(any(map(self.fails, self.findings)))

    def fails(self, finding: Finding) -> bool:
        """Whether a finding is at or above `fail_on`."""
        return self.fail_on != "never" and SEVERITIES.index(finding.severity) >= SEVERITIES.index(self.fail_on)

    def text(self, path: str) -> MappedText | None:
        """The text of a file that a finding points into, None when there is none to show."""
        from eaglelint.errors import UnreadableSource

        source = self.sources.get(path)
        try:
            return source.text if source is not None and source.kind != "binary" else None
        except UnreadableSource:
            return None


def check(
    paths: Sequence[str],
    settings: Settings,
    checks: Checks | None = None,
    *,
    contents: Mapping[str, bytes] | None = None,
) -> Result:
    """Check the files under `paths`; `checks` are all there are unless given. Raises UsageError for a wrong path.

    `contents` are bytes that stand in for those of a file, by its path (what an editor holds, what a fix makes of it).
    """
    from eaglelint.pipeline import link
    from eaglelint.project import discover
    from eaglelint.reading import read
    from eaglelint.suppress import configured, suppress

    guard = Guard()
    project = discover(paths, settings=settings)
    if contents:
        sources = [replace(s, content=contents[s.path]) if s.path in contents else s for s in project.sources]
        project = replace(project, sources=tuple(sources))
    watch.listener().discovered(project)
    facts = read(project, settings, guard)
    watch.listener().read(facts)
    pipelines = tuple(guard.each("the linking of files to pipelines", Location("."), lambda: link(facts, settings)))
    watch.listener().linked(pipelines)
    found = list(_checked(pipelines, facts, checks, guard))
    found = arbitrated(_distinct(configured([*found, *guard.findings], settings)))
    verdict = suppress(found, project.sources, settings)
    kept = [*verdict.kept, *configured(verdict.unused, settings)]
    return Result(
        findings=tuple(sorted(kept, key=lambda finding: finding.sort_key)),
        suppressed=len(verdict.suppressed),
        files=len(project.sources),
        sources={source.path: source for source in project.sources},
        tracebacks=tuple(guard.tracebacks),
        fail_on=settings.fail_on,
    )


def _checked(pipelines: Sequence[Pipeline], facts: Facts, checks: Checks | None, guard: Guard) -> Iterator[Finding]:
    """What the checks find: each pipeline check on each pipeline, then the checks of the whole project."""
    if checks is None:
        from eaglelint.checks.registry import load_all

        checks = load_all()
    for pipeline in pipelines:
        for codes, function in checks.pipeline:
            where = pipeline.where
            yield from guard.each(f"the check of {', '.join(codes)}", where, partial(function, pipeline))
    for codes, function in checks.project:
        yield from guard.each(f"the check of {', '.join(codes)}", Location("."), partial(function, facts))


def _distinct(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each rule, place and message: two pipelines that share a file may both report it."""
    first: dict[tuple[str, Location, str], Finding] = {}
    for finding in findings:
        first.setdefault((finding.rule, finding.where, finding.message), finding)
    return list(first.values())


def arbitrated(findings: Sequence[Finding]) -> list[Finding]:
    """One defect, one finding: of those with the same defect key, the ones that name the cause silence the others."""
    rules: dict[tuple[str, ...], set[str]] = {}
    for finding in findings:
        if finding.defect:
            rules.setdefault(finding.defect, set()).add(finding.rule)
    silenced = {
        (defect, code)
        for defect, present in rules.items()
        if len(present) > 1
        for rule in present
        for code in catalog.silences(rule)
        if code != rule
    }
    return [finding for finding in findings if (finding.defect, finding.rule) not in silenced]
