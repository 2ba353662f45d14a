"""The JSON report is what its schema says, and holds what a program needs."""

from __future__ import annotations

import json

import jsonschema
import pytest

from eaglelint import __version__
from eaglelint._resources import data_root
from eaglelint.facts import Step
from eaglelint.findings import Finding, Fix
from eaglelint.location import Location
from eaglelint.report.json import render

SCHEMA = json.loads((data_root("schemas") / "report.schema.json").read_text(encoding="utf-8"))
FILES = {"drafter/config.json": '{\n  "ids": [1, 2]\n}\n', "dump.py": "LAYERS = [3]\n"}


def test_a_report_is_what_the_schema_says(project):
    given = project(FILES)
    finding = Finding(
        "EGL001",
        "error",
        "größer \udc80",
        given.at("drafter/config.json", "[1, 2]"),
        "likely",
        related=(Step(given.at("dump.py", "[3]"), "captured"),),
        fix=Fix("declare [2]", "safe"),
    )
    text = render(given.result([finding, Finding("EGL002", "info", "m", Location("x"))], suppressed=2))
    assert text.isascii()
    report = json.loads(text)
    jsonschema.validate(report, SCHEMA)
    assert report["version"] == 1
    assert report["tool"] == {"name": "eaglelint", "version": __version__}
    assert report["summary"] == {
        "errors": 1, "warnings": 0, "infos": 1, "suppressed": 2, "baselined": 0, "unchanged": 0, "files": 2,
    }  # fmt: skip
    assert report["findings"][0] == {
        "rule": "EGL001",
        "name": "unreadable-source",
        "severity": "error",
        "confidence": "likely",
        "message": "größer \udc80",
        "path": "drafter/config.json",
        "line": 2,
        "column": 10,
        "end_line": 2,
        "end_column": 16,
        "related": [
            {"path": "dump.py", "line": 1, "column": 10, "end_line": 1, "end_column": 13, "message": "captured"}
        ],
        "fix": {"description": "declare [2]", "applicability": "safe"},
    }
    assert report["findings"][1]["fix"] is None


def test_a_place_given_by_its_line_alone_does_not_end_before_it_begins(project):
    report = json.loads(render(project({}).result([Finding("EGL001", "error", "m", Location("a", 7, 3))])))
    jsonschema.validate(report, SCHEMA)
    finding = report["findings"][0]
    assert (finding["line"], finding["column"]) == (7, 3)
    assert (finding["end_line"], finding["end_column"]) == (7, 3)


@pytest.mark.parametrize("change", [{"version": 2}, {"extra": 1}, {"summary": {}}])
def test_the_schema_refuses_what_is_no_report(project, change):
    report = json.loads(render(project({}).result([]))) | change
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(report, SCHEMA)
