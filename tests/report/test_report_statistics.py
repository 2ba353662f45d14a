"""Counts of findings by rule."""

from __future__ import annotations

from eaglelint.findings import Finding
from eaglelint.location import Location
from eaglelint.report.statistics import lines


def test_most_first_then_the_most_severe(project):
    findings = [Finding("EGL501", "warning", "m", Location("a", n)) for n in range(1, 12)]
    findings += [Finding("EGL401", "warning", "m", Location("b")), Finding("EGL401", "error", "m", Location("c"))]
    findings += [Finding("EGL203", "error", "m", Location(path)) for path in ("a", "b")]
    assert lines(project({}).result(findings)) == [
        "11 warning EGL501 mislabeled-hidden-state in 1 file",
        " 2 error   EGL203 degenerate-layer-ids    in 2 files",
        " 1 error   EGL401 aux-layers-mismatch     in 1 file",
        " 1 warning EGL401 aux-layers-mismatch     in 1 file",
    ]


def test_without_findings_there_is_nothing_to_count(project):
    assert lines(project({}).result([])) == []
