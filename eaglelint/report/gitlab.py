"""GitLab's code quality report: one entry a finding, shown in merge requests.

GitLab compares the reports of two branches by fingerprint, so an entry keeps its own when lines move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eaglelint.findings import Finding, Severity
from eaglelint.report.encoding import as_json
from eaglelint.report.excerpt import one_line
from eaglelint.report.places import fingerprints, from_root, place, title

if TYPE_CHECKING:
    from eaglelint.run import Result

_SEVERITIES: dict[Severity, str] = {"error": "critical", "warning": "major", "info": "info"}


def render(result: Result, *, color: bool = False) -> str:
    """The report as JSON (ASCII only); `color` is not used."""
    marks = zip(result.findings, fingerprints(result), strict=True)
    return as_json([_entry(finding, mark) for finding, mark in marks], len(result.findings))


def _entry(finding: Finding, mark: str) -> dict[str, Any]:
    where = finding.where
    return {
        "description": _description(finding),
        "check_name": title(finding),
        "fingerprint": mark,
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": from_root(where.path),
            "lines": {"begin": where.line, "end": max(where.line, where.end_line)},
        },
    }


def _description(finding: Finding) -> str:
    """All that GitLab shows of a finding: the message, where the states come from, and the fix."""
    text = one_line(finding.message)
    places = [where for where in dict.fromkeys(place(step.where) for step in finding.related) if where not in text]
    if places:
        text += f"; see {', '.join(places)}"
    return text if finding.fix is None else f"{text}; fix: {one_line(finding.fix.description)}"
