"""GitLab's code quality report, by what GitLab's documentation asks for."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from eaglelint.facts import Step
from eaglelint.findings import Finding, Fix
from eaglelint.location import Location
from eaglelint.report.gitlab import render

SCHEMA = json.loads((Path(__file__).parent / "schemas/gitlab-code-quality.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def outside_of_any_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def entries(text: str) -> list[dict[str, object]]:
    assert text.isascii()
    found: list[dict[str, object]] = json.loads(text)
    jsonschema.validate(found, SCHEMA)
    return found


def test_an_entry(project):
    given = project({"a.json": '{\n"ids": [1,\n2]}'})
    step = Step(Location("dump.py", 7), "captured")
    finding = Finding("EGL001", "error", "m", given.at("a.json", "[1,\n2]"), related=(step,), fix=Fix("declare 2"))
    [entry] = entries(render(given.result([finding])))
    fingerprint = entry.pop("fingerprint")
    assert isinstance(fingerprint, str)
    assert len(fingerprint) == 32
    assert entry == {
        "description": "m; see dump.py:7; fix: declare 2",
        "check_name": "EGL001 unreadable-source",
        "severity": "critical",
        "location": {"path": "a.json", "lines": {"begin": 2, "end": 3}},
    }


def test_severities(project):
    findings = [Finding("EGL001", severity, "m", Location("a")) for severity in ("error", "warning", "info")]
    assert [entry["severity"] for entry in entries(render(project({}).result(findings)))] == [
        "critical",
        "major",
        "info",
    ]


def test_fingerprints_are_unique_since_gitlab_drops_what_has_the_same(project):
    findings = [Finding("EGL001", "error", f"m{n}", Location("a")) for n in range(3)]
    assert len({entry["fingerprint"] for entry in entries(render(project({"a": "x"}).result(findings)))}) == 3


def test_a_run_without_findings_is_an_empty_list(project):
    assert render(project({}).result([])) == "[]\n"


def test_no_control_character_reaches_the_page(project):
    [entry] = entries(render(project({}).result([Finding("EGL001", "error", "a\x1b[31m\nb\u202e", Location("x"))])))
    assert entry["description"] == "a\\x1b[31m b\\u202e"
