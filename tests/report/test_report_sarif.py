"""SARIF: valid by the OASIS schema, and by what GitHub asks for beyond it (schema-valid is not GitHub-valid)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from eaglelint import __version__, catalog
from eaglelint.facts import Step
from eaglelint.findings import Edit, Finding, Fix
from eaglelint.location import Location
from eaglelint.report.sarif import render

SCHEMA = json.loads((Path(__file__).parent / "schemas/sarif-2.1.0.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft4Validator(SCHEMA)

FILES = {
    "drafter/config.json": '{\n  "ids": [1,\n    2]\n}\n',
    "dump.py": "LAYERS = [3]\nx = 1\n",
    "serve.sh": "python serve.py\n",
}


@pytest.fixture(autouse=True)
def outside_of_any_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)


def github(log: dict[str, Any]) -> Iterator[str]:
    """What GitHub would refuse or not show, after its list of supported properties."""
    if log["version"] != "2.1.0" or "$schema" not in log:
        yield "$schema and version 2.1.0 are required"
    for run in log["runs"]:
        driver = run["tool"]["driver"]
        if not driver.get("name") or not (driver.get("semanticVersion") or driver.get("version")):
            yield "the tool needs a name and a version"
        for rule in driver["rules"]:
            texts = [rule.get(key, {}).get("text", "") for key in ("shortDescription", "fullDescription", "help")]
            if not rule.get("id") or not all(texts) or max(map(len, texts[:2])) > 1024:
                yield f"{rule.get('id')}: id, both descriptions (up to 1024 characters) and help are required"
            if len(rule.get("name", "")) > 255 or len(rule["properties"]["tags"]) > 10:
                yield "name or tags are cut"
            if rule["properties"]["precision"] not in ("very-high", "high", "medium", "low"):
                yield "precision"
            if rule["properties"]["problem.severity"] not in ("error", "warning", "recommendation"):
                yield "problem.severity"
        for result in run["results"]:
            if driver["rules"][result["ruleIndex"]]["id"] != result["ruleId"]:
                yield "ruleIndex and ruleId disagree"
            if result["level"] not in ("error", "warning", "note") or not result["message"]["text"]:
                yield "level and message are required"
            if len(result["locations"]) != 1:
                yield "only the first location is used"
            if "primaryLocationLineHash" in result["partialFingerprints"]:
                yield "the upload computes this one, and warns of another"
            related = result.get("relatedLocations", [])
            flows = [
                step["location"]
                for flow in result.get("codeFlows", [])
                for thread in flow["threadFlows"]
                for step in thread["locations"]
            ]
            for place in (*result["locations"], *related, *flows):
                physical = place["physicalLocation"]
                uri = physical["artifactLocation"]["uri"]
                if uri.startswith("/") or "\\" in uri or ":" in uri:
                    yield f"{uri} is not relative to the root of the repository"
                region = physical["region"]
                if min(region.values()) < 1 or region["endLine"] < region["startLine"]:
                    yield "lines and columns count from 1"
            region = result["locations"][0]["physicalLocation"]["region"]
            if region["startLine"] != region["endLine"]:
                yield "an alert is shown in a pull request only if all lines of its primary region are in the diff"
            linked = {int(found) for found in re.findall(r"(?<!\\)\]\((\d+)\)", result["message"]["text"])}
            if linked != {place["id"] for place in related} or len(related) > 100:
                yield "related locations are shown where the message links them"


def checked(text: str) -> dict[str, Any]:
    """A log that both accept."""
    assert text.isascii()
    log: dict[str, Any] = json.loads(text)
    assert not [error.message for error in VALIDATOR.iter_errors(log)]
    assert not list(github(log))
    return log


def results(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = checked(text)["runs"][0]["results"]
    return found


def traced(given: Any) -> Finding:
    return Finding(
        "EGL401",
        "error",
        "trained on 4, served 2. See [2]",
        given.at("drafter/config.json", "[1,\n    2]"),
        "likely",
        related=(
            Step(given.at("dump.py", "[3]"), "captured"),
            Step(given.at("serve.sh", "serve.py"), "served here"),
        ),
        fix=Fix("declare [2]"),
    )


def test_a_finding_with_its_trace(project):
    given = project(FILES)
    [result] = results(render(given.result([traced(given)])))
    assert (result["ruleId"], result["level"], result["properties"]) == ("EGL401", "error", {"confidence": "likely"})
    assert result["message"]["text"] == (
        "trained on 4, served 2. See [2]\n1. [dump.py:1](1) captured\n2. [serve.sh:1](2) served here\nFix: declare [2]"
    )
    [primary] = result["locations"]
    assert primary["physicalLocation"] == {
        "artifactLocation": {"uri": "drafter/config.json"},
        "region": {"startLine": 2, "startColumn": 10, "endLine": 2},
    }
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [
        (step["location"]["physicalLocation"]["artifactLocation"]["uri"], step["importance"]) for step in steps
    ] == [("dump.py", "important"), ("serve.sh", "important"), ("drafter/config.json", "essential")]


def test_a_step_at_the_primary_line_is_the_essential_one(project):
    given = project(FILES)
    here = given.at("dump.py", "[3]")
    finding = Finding("EGL501", "warning", "m", here, related=(Step(here, "a"), Step(given.at("serve.sh", "py"), "b")))
    [result] = results(render(given.result([finding])))
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [(step["location"]["message"]["text"], step["importance"]) for step in steps] == [
        ("a", "essential"),
        ("b", "important"),
    ]


@pytest.mark.parametrize("code", [code for code in catalog.names() if code != "EGL005"])
def test_every_rule_brings_its_help(project, code: str):
    log = checked(render(project(FILES).result([Finding(code, "error", "m", Location("dump.py"))])))
    [rule] = log["runs"][0]["tool"]["driver"]["rules"]
    help_ = rule["help"]["markdown"]
    assert (rule["id"], rule["name"]) == (code, catalog.slug(code))
    assert help_.startswith(f"# {code} {rule['name']}\n")
    assert "## How to fix it" in help_
    for path, text in catalog.load(code).examples.wrong[0].files.items():
        assert f"`{path}`\n" in help_
        assert text.rstrip("\n") in help_


def test_rules_stand_once_and_results_point_at_them(project):
    findings = [
        Finding(code, "info", "m", Location("dump.py", line)) for line in (1, 2) for code in ("EGL501", "EGL203")
    ]
    log = checked(render(project(FILES).result(findings)))
    assert [rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]] == ["EGL203", "EGL501"]
    assert [result["ruleIndex"] for result in log["runs"][0]["results"]] == [1, 0, 1, 0]
    assert log["runs"][0]["results"][0]["level"] == "note"


def test_a_run_without_findings(project):
    [run] = checked(render(project(FILES).result([])))["runs"]
    assert run["results"] == []
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]
    assert run["tool"]["driver"]["semanticVersion"] == __version__
    assert run["automationDetails"]["id"] == "eaglelint/"


def test_a_failure_of_eaglelint_is_a_notification_and_no_alert(project):
    failure = Finding("EGL005", "warning", "internal error in [a](b)", Location("."))
    [run] = checked(render(replace(project({}).result([failure]), tracebacks=("t",))))["runs"]
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])
    [invocation] = run["invocations"]
    assert invocation["executionSuccessful"] is False
    [notification] = invocation["toolExecutionNotifications"]
    assert notification["message"]["text"] == "internal error in \\[a\\](b)"
    assert notification["associatedRule"]["id"] == "EGL005"


def test_columns_count_utf16_units(project):
    given = project({"a.py": "é = '𝄞𝄞'; layers = [1]\n"})
    [result] = results(render(given.result([Finding("EGL001", "error", "m", given.at("a.py", "[1]"))])))
    region = result["locations"][0]["physicalLocation"]["region"]
    line = given.files["a.py"].encode("utf-16-le")
    start, end = (2 * (region[key] - 1) for key in ("startColumn", "endColumn"))
    assert line[start:end].decode("utf-16-le") == "[1]"


def test_an_empty_place_has_no_end_of_its_own(project):
    [result] = results(render(project(FILES).result([Finding("EGL001", "error", "m", Location("dump.py", 2, 3))])))
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 2, "startColumn": 3, "endLine": 2}


@pytest.mark.parametrize("path", ["a b/c#d?e.py", "50%.py", "c:/x.py", "größe.json", "a\nb.py"])
def test_names_of_files_become_addresses(project, path: str):
    [result] = results(render(project({path: "x\n"}).result([Finding("EGL001", "error", "m", Location(path))])))
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"[\w./%~-]+", uri)
    assert unquote(uri) == path


def test_what_files_say_forges_no_link_and_no_control_character(project):
    name = "x](http://evil.example) [y.py"
    step = Step(Location(name), "see [this](http://evil.example)\x1b[31m")
    said = "[click](http://evil.example) \udc80\x00"
    finding = Finding("EGL001", "error", said, Location("dump.py"), related=(step,))
    [result] = results(render(project(FILES).result([finding])))
    message = result["message"]["text"]
    assert re.findall(r"(?<!\\)\[(?:[^\[\]\\]|\\.)*(?<!\\)\]\(([^)]*)\)", message) == ["1"]
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]", message)


@pytest.mark.parametrize("variable", [None, "GITHUB_WORKSPACE", "CI_PROJECT_DIR"])
def test_paths_start_at_the_root_of_the_repository(
    project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str | None
):
    if variable is None:
        (tmp_path / ".git").mkdir()
    else:
        monkeypatch.setenv(variable, str(tmp_path))
    (tmp_path / "models/drafter").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "models")
    findings = [Finding("EGL001", "error", "m", Location(path)) for path in ("drafter/a.py", "../b.py")]
    found = results(render(project({}).result(findings)))
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in found]
    assert uris == ["models/drafter/a.py", "b.py"]


def marks(project, text: str, *words: str, rule: str = "EGL401") -> list[str]:
    given = project({"a.py": text})
    found = results(render(given.result([Finding(rule, "error", "m", given.at("a.py", word)) for word in words])))
    return [result["partialFingerprints"]["eaglelint/v1"] for result in found]


def test_a_fingerprint_survives_what_moves_its_line(project):
    before = marks(project, "a = [1]\nb = [2]\n", "[1]", "[2]")
    assert marks(project, "import x\n\n\n  a  = [1]\nb = [2]\n", "[1]", "[2]")[1] == before[1]
    assert marks(project, "x = 1\n\n    a = [1]\n", "[1]") == before[:1]  # indented: the same line


def test_a_fingerprint_is_another_for_another_defect(project):
    one, two = marks(project, "a = [1]\nb = [2]\n", "[1]", "[2]")
    assert one != two
    assert marks(project, "a = [1]\n", "[1]", rule="EGL203") != [one]
    assert marks(project, "a = [9]\n", "[9]") != [one]
    assert len(set(marks(project, "a = [1]\n", "[1]", "[1]"))) == 2  # none hides another


def test_edits_are_fixes(project):
    given = project({"a.py": "𝄞 = [1]\nb = 2\n"})
    where = given.at("a.py", "[1]")
    fix = Fix("declare [2]", "safe", (Edit("a.py", where.start, where.end, "[2]"), Edit("a.py", 8, 8, "c = 3\n")))
    [result] = results(render(given.result([Finding("EGL001", "error", "m", where, fix=fix)])))
    [change] = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "a.py"
    assert [
        (entry["deletedRegion"]["startLine"], entry["deletedRegion"]["startColumn"], entry["insertedContent"]["text"])
        for entry in change["replacements"]
    ] == [(1, 6, "[2]"), (2, 1, "c = 3\n")]
    inserted = change["replacements"][1]["deletedRegion"]
    assert inserted["startColumn"] == inserted["endColumn"]


def test_the_profile_can_fail(project):
    given = project(FILES)
    log = json.loads(render(given.result([traced(given)])))
    result = log["runs"][0]["results"][0]
    result["locations"][0]["physicalLocation"]["region"]["endLine"] = 3
    result["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] = "file:///a"
    del log["runs"][0]["tool"]["driver"]["rules"][0]["fullDescription"]
    assert len(list(github(log))) == 3
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert list(VALIDATOR.iter_errors(log))


def test_a_report_of_thousands_is_compact(project):
    findings = [Finding("EGL401", "error", "m", Location("dump.py", n)) for n in range(1, 1002)]
    text = render(project(FILES).result(findings))
    assert text.count("\n") == 1
    assert len(json.loads(text)["runs"][0]["results"]) == 1001
    assert render(project(FILES).result(findings[:1000])).count("\n") > 1000
