"""The table in Markdown: every finding, nothing in a file becomes markup, and it fits into a step's summary."""

from __future__ import annotations

import re

from eaglelint.facts import Step
from eaglelint.findings import Finding, Fix
from eaglelint.location import Location
from eaglelint.report.markdown import render


def test_the_summary_has_every_finding_in_a_table(project):
    findings = [Finding("EGL001", "error", f"number {index}", Location("a", index + 1)) for index in range(25)]
    table = render(project({"a": ""}).result(findings))
    assert table.startswith("### eaglelint: 25 errors in 1 file\n\n| | Rule | Place | Finding |\n|---|---|---|---|\n")
    assert len([line for line in table.splitlines() if line.startswith("| error |")]) == 25


def test_markdown_in_a_message_means_itself(project):
    finding = Finding("EGL001", "error", "a|b <img src=x> [x](y) `c` *d* _e_\n# f", Location("p|q.py"))
    row = render(project({}).result([finding])).splitlines()[4]
    assert row.count("|") == 5
    assert not re.search(r"[\[\]`*]|<(?!/?code>|br>)", row)
    assert "a&#124;b &#60;img src&#61;x&#62;" in row


def test_the_summary_stays_below_what_github_takes(project):
    findings = [Finding("EGL001", "error", "x" * 5_000, Location("a", index + 1)) for index in range(1_000)]
    table = render(project({}).result(findings))
    assert len(table.encode()) < 1 << 20
    left_out = re.search(r"(\d+) findings more, left out", table)
    assert left_out
    assert int(left_out[1]) + table.count("| error |") == 1_000


def test_the_trace_and_the_fix_stand_in_the_row(project):
    steps = (Step(Location("b.py", 3), "captured"), Step(Location("c.sh", 7), "served"))
    finding = Finding("EGL001", "error", "m", Location("a", 2), related=steps, fix=Fix("declare 2"))
    row = render(project({}).result([finding])).splitlines()[4]
    assert row == (
        "| error | EGL001 unreadable-source | <code>a&#58;2</code> | m<br>1. <code>b.py&#58;3</code> captured"
        "<br>2. <code>c.sh&#58;7</code> served<br>fix: declare 2 |"
    )


def test_nobody_is_mentioned_and_nothing_is_linked(project):
    finding = Finding("EGL001", "error", "ask @octocat about #12, !3 and www.example.org", Location("a"))
    text = render(project({}).result([finding]))
    shown = re.sub(r"&#(\d+);", lambda match: chr(int(match[1])), text)
    for reference in ("@octocat", "#12", "!3"):
        assert reference not in shown, "what GitHub links in the finished page"
    assert "www." not in text, "what a Markdown reader links as it reads"
    assert re.sub("<!-- -->", "", shown).endswith("| ask @octocat about #12, !3 and www.example.org |\n")


def test_without_findings_there_is_no_table(project):
    assert render(project({"a": ""}).result([])) == "### eaglelint: no findings in 1 file\n"
