"""Workflow commands, read back by a parser that undoes the escapes as GitHub's runner does."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from eaglelint.facts import Step
from eaglelint.findings import Finding, Fix
from eaglelint.location import Location
from eaglelint.report.github import render


def commands(report: str) -> list[tuple[str, dict[str, str], str]]:
    found = []
    for line in report.splitlines():
        match = re.fullmatch(r"::(\w+)(?: ([^:]*))?::(.*)", line)
        if match:
            pairs = (pair.split("=", 1) for pair in (match[2] or "").split(",") if pair)
            found.append((match[1], {key: _unescape(value) for key, value in pairs}, _unescape(match[3])))
    return found


def _unescape(text: str) -> str:
    for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, character)
    return text


def test_a_finding_is_an_annotation_with_its_trace_and_fix(project):
    given = project({"a.json": '{"ids": [1]}', "b.py": "LAYERS = [3]"})
    finding = Finding(
        "EGL001",
        "error",
        "100% wrong",
        given.at("a.json", "[1]"),
        related=(Step(given.at("b.py", "[3]"), "captured"),),
        fix=Fix("declare [2]"),
    )
    report = render(given.result([finding]))
    assert report == (
        "::error file=a.json,line=1,endLine=1,col=9,endColumn=12,title=EGL001 unreadable-source::"
        "a.json:1:9: 100%25 wrong%0A1. b.py:1 captured%0Afix: declare [2]\n"
        "1 error in 2 files\n"
    )
    assert commands(report)[0][2] == "a.json:1:9: 100% wrong\n1. b.py:1 captured\nfix: declare [2]"


def test_the_levels(project):
    findings = [Finding("EGL001", severity, "m", Location("a")) for severity in ("info", "warning", "error")]
    assert [name for name, _, _ in commands(render(project({}).result(findings)))] == ["error", "warning", "notice"]


def test_what_stands_in_no_file_is_annotated_without_one(project):
    [(_, properties, message)] = commands(
        render(project({}).result([Finding("EGL005", "warning", "m", Location("."))]))
    )
    assert (properties, message) == ({"title": "EGL005 internal-error"}, ".:1:1: m")


def test_names_and_messages_can_not_forge_a_command(project):
    path = "a:b,c%0A=d\n::set-output name=x::y"
    finding = Finding("EGL001", "error", "m\r\n::error::forged", Location(path))
    report = render(project({}).result([finding]))
    assert report.count("\n") == 2  # the command and the closing line
    [(name, properties, message)] = commands(report)
    assert (name, properties["file"]) == ("error", path)
    assert message == "a:b,c%0A=d\\x0a::set-output name=x::y:1:1: m ::error::forged"


def test_a_place_of_several_lines_has_no_columns(project):
    finding = Finding("EGL001", "error", "m", Location("a", 2, 5, 4, 2))
    [(_, properties, _)] = commands(render(project({}).result([finding])))
    assert properties == {"file": "a", "line": "2", "endLine": "4", "title": "EGL001 unreadable-source"}


@pytest.mark.parametrize(
    ("errors", "warnings", "infos", "shown", "more"),
    [
        (10, 10, 10, [10, 10, 10], None),
        (12, 0, 0, [10, 0, 1], "2 errors more"),
        (11, 30, 10, [10, 10, 10], "1 error, 20 warnings, 1 info more"),
        (0, 0, 11, [0, 0, 10], "2 infos more"),
    ],
)
def test_at_most_ten_of_a_level_then_one_notice_counts_the_rest(project, errors, warnings, infos, shown, more):
    findings = [
        Finding("EGL001", severity, str(index), Location("a", index + 1))
        for severity, count in (("error", errors), ("warning", warnings), ("info", infos))
        for index in range(count)
    ]
    found = commands(render(project({}).result(findings)))
    assert [sum(name == level for name, _, _ in found) for level in ("error", "warning", "notice")] == shown
    last = found[-1][2]
    assert last.startswith(more) if more else "more" not in last


def test_an_annotation_stands_where_the_pull_request_changes_something(project):
    first, second, own = Location("dump.py", 3), Location("serve.sh", 7), Location("config.json", 2)
    finding = Finding("EGL401", "error", "m", own, related=(Step(first, "captured"), Step(second, "served")))
    for changed, shown in (({second}, second), ({first, second}, first), ({own, first}, own), (set(), own)):
        result = replace(project({}).result([finding]), changed=changed.__contains__)
        [(_, properties, message)] = commands(render(result))
        assert (properties["file"], properties["line"]) == (shown.path, str(shown.line))
        assert message.startswith("config.json:2:1: m\n"), "the message still says what is to be edited"
