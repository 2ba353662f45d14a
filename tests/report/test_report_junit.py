"""JUnit, by the schema of the plugin of Jenkins that reads it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema

from eaglelint.facts import Step
from eaglelint.findings import Finding, Fix
from eaglelint.location import Location
from eaglelint.report.junit import render

SCHEMA = xmlschema.XMLSchema(Path(__file__).parent / "schemas/junit-10.xsd")


@pytest.fixture(autouse=True)
def outside_of_any_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def suite(text: str) -> ElementTree.Element:
    assert text.isascii()
    SCHEMA.validate(text)
    root = ElementTree.fromstring(text)
    [found] = root
    kinds = [child.tag for case in found.iter("testcase") for child in case]
    assert found.get("tests") == str(len(list(found.iter("testcase"))))
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert found.get(name) == str(kinds.count(kind))
    assert root.get("tests") == found.get("tests")
    return found


def test_a_finding_is_a_failed_test(project):
    given = project({"a.json": '{"ids": [1]}'})
    step = Step(Location("dump.py", 7), "captured")
    finding = Finding("EGL001", "error", "m", given.at("a.json", "[1]"), related=(step,), fix=Fix("declare 2"))
    [case] = suite(render(given.result([finding])))
    assert case.attrib == {"classname": "a.json", "name": "EGL001 unreadable-source at 1:9"}
    [failure] = case
    assert (failure.tag, failure.get("type"), failure.get("message")) == ("failure", "error", "a.json:1: m")
    assert failure.text == "a.json:1:9: m\n1. dump.py:7 captured\nfix: declare 2"


@pytest.mark.parametrize(
    ("fail_on", "kinds"),
    [
        ("info", ["failure", "failure", "failure"]),
        ("warning", ["failure", "failure", "skipped"]),
        ("error", ["failure", "skipped", "skipped"]),
        ("never", ["skipped", "skipped", "skipped"]),
    ],
)
def test_tests_fail_where_the_exit_status_does(project, fail_on, kinds):
    findings = [Finding("EGL001", severity, "m", Location("a")) for severity in ("error", "warning", "info")]
    result = replace(project({}).result(findings), fail_on=fail_on)
    assert [case[0].tag for case in suite(render(result))] == kinds
    assert bool(result.status) == ("failure" in kinds)


def test_a_failure_of_eaglelint_is_an_error(project):
    result = replace(project({}).result([Finding("EGL005", "warning", "m", Location("a"))]), tracebacks=("t",))
    assert [case[0].tag for case in suite(render(result))] == ["error"]


def test_a_run_without_findings_is_one_passed_test(project):
    [case] = suite(render(project({"a": ""}).result([])))
    assert list(case) == []
    assert case.get("name") == "no findings in 1 file"


def test_what_files_say_is_text(project):
    hostile = 'a<b>&"]]>\x00\x1b\x0b\ufffe\uffff\udc80\u2028é𝄞'
    finding = Finding("EGL001", "error", hostile, Location(hostile), related=(Step(Location(hostile), hostile),))
    [case] = suite(render(project({}).result([finding])))
    shown = 'a<b>&"]]>\\x00\\x1b\\x0b\\ufffe\\uffff\\udc80\\u2028é𝄞'
    assert case.get("classname") == shown
    message = shown.replace("\\x0b", " ").replace("\\u2028", " ")  # white space of a message
    assert case[0].get("message") == f"{shown}:1: {message}"
