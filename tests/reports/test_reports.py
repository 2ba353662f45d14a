"""Public reports of drafters that fail: the reporter's files lead to the finding, the repaired ones to none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import reported
from reported import Expected, Report, Tree

from eaglelint.configuration import load
from eaglelint.findings import Finding
from eaglelint.run import check


@pytest.fixture
def findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def findings(tree: Tree) -> list[Finding]:
        tree.write(tmp_path)
        result = check(["."], load(["."]), None)
        assert not result.tracebacks
        return list(result.findings)

    return findings


def _fits(finding: Finding, want: Expected, tree: Tree) -> bool:
    text = f"{finding.message} {finding.fix.description if finding.fix else ''}".lower()
    return (
        finding.rule == want.rule
        and finding.where.path == want.file
        and finding.where.line == want.line_in(tree.files)
        and want.severity in ("", finding.severity)
        and all(part.lower() in text for part in want.mentions)
    )


def _shown(findings: Sequence[Finding]) -> str:
    return "\n".join(f"{f.where} {f.severity} {f.rule} {f.message}" for f in findings) or "nothing"


def _each() -> list[Any]:
    return [pytest.param(report, id=report.name) for report in reported.reports()]


@pytest.mark.parametrize("report", _each())
def test_what_was_reported_is_found(report: Report, findings: Any):
    left = findings(report.wrong)
    for want in report.expect:
        hit = next((finding for finding in left if _fits(finding, want, report.wrong)), None)
        assert hit is not None, f"missing {want} among\n{_shown(left)}"
        left.remove(hit)
    extra = [finding for finding in left if finding.severity != "info"]
    assert not extra, f"not expected:\n{_shown(extra)}"


@pytest.mark.parametrize("report", _each())
def test_what_was_repaired_is_left_alone(report: Report, findings: Any):
    assert report.repaired != report.wrong
    rules = {want.rule for want in report.expect}
    alarms = [f for f in findings(report.repaired) if f.severity != "info" or f.rule in rules]
    assert not alarms, _shown(alarms)


@pytest.mark.parametrize("report", _each())
def test_a_report_says_where_it_stands(report: Report):
    for reference in (report.report, *report.also):
        assert re.fullmatch(r"[\w.-]+/[\w.-]+(#\d+|@[0-9a-f]{7,40})|https://\S+", reference)
    assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", report.date)
    assert report.grade in ("S", "P")
    assert report.expect
    assert "\n" not in report.summary
    assert re.fullmatch(r"\d{3}-[a-z0-9-]+", report.name)


def test_no_report_stands_twice():
    names = [report.report for report in reported.reports()]
    names += [entry["report"] for entry in reported.not_reproduced()]
    assert len(names) == len(set(names))
