"""The baseline: counts by file and rule decide what is new, whatever moves within a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eaglelint import baseline
from eaglelint.baseline import Baseline, Comparison, Entry
from eaglelint.errors import UsageError
from eaglelint.findings import Finding
from eaglelint.location import Location


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(rule: str, path: str, *lines: int) -> list[Finding]:
    return [Finding(rule, "error", "m", Location(path, line)) for line in lines]


def everywhere(file: str, rule: str) -> bool:
    return True


def compared(findings: list[Finding], **counts: int) -> Comparison:
    """Findings beside a baseline for the file `a`."""
    accepted = {("a", rule): count for rule, count in counts.items()}
    return baseline.compare(findings, Baseline("b.json", accepted), everywhere)


def test_as_many_findings_as_the_baseline_counts_are_accepted_wherever_they_stand():
    assert compared(found("EGL401", "a", 1, 2), EGL401=2) == Comparison((), 2)
    assert compared(found("EGL401", "a", 70, 80), EGL401=2) == Comparison((), 2)


def test_one_more_and_all_of_them_are_shown():
    findings = found("EGL401", "a", 1, 2, 3)
    assert compared(findings, EGL401=2) == Comparison(tuple(findings), 0, grown=(Entry("a", "EGL401", 2, 3),))


def test_another_file_or_another_rule_has_a_count_of_its_own():
    new = [*found("EGL401", "b", 1), *found("EGL203", "a", 1)]
    old = found("EGL401", "a", 1)
    assert compared([*old, *new], EGL401=1) == Comparison(tuple(new), 1)


def test_fewer_findings_are_accepted_and_the_baseline_can_shrink():
    result = compared(found("EGL401", "a", 1), EGL401=3, EGL203=1)
    assert (result.kept, result.accepted) == ((), 1)
    assert result.shrunk == (Entry("a", "EGL203", 1, 0), Entry("a", "EGL401", 3, 1))


def test_what_this_run_could_not_see_does_not_shrink_the_baseline(folder: Path):
    counts = {("a", "EGL401"): 1, ("sub/b", "EGL401"): 1, ("a", "EGL203"): 1}
    seen: list[tuple[str, str]] = []

    def concerned(file: str, rule: str) -> bool:
        seen.append((file, rule))
        return rule == "EGL203"

    result = baseline.compare([], Baseline("b.json", counts), concerned)
    assert result.shrunk == (Entry("a", "EGL203", 1, 0),)
    assert (str(folder / "sub" / "b"), "EGL401") in seen


def test_a_failure_of_eaglelint_is_never_accepted():
    failure = found("EGL005", "a", 1)
    assert compared(failure, EGL005=1).kept == tuple(failure)
    assert baseline.written(failure, Baseline("b.json"), everywhere).counts == {}


def test_paths_start_at_the_folder_of_the_baseline(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "sub").mkdir()
    file = str(folder / "b.json")
    written = baseline.written(found("EGL401", "sub/a", 1), Baseline(file), everywhere)
    assert written.counts == {("sub/a", "EGL401"): 1}
    monkeypatch.chdir(folder / "sub")
    assert baseline.compare(found("EGL401", "a", 1), written, everywhere).accepted == 1


def test_writing_keeps_what_does_not_concern_the_run():
    before = Baseline("b.json", {("a", "EGL401"): 5, ("gone", "EGL401"): 1, ("c", "EGL203"): 2})
    after = baseline.written(found("EGL401", "a", 1), before, lambda file, rule: rule == "EGL401")
    assert after.counts == {("a", "EGL401"): 1, ("c", "EGL203"): 2}


def test_the_file_is_sorted_and_read_back():
    counts = {("b", "EGL401"): 1, ("a", "EGL501"): 2, ("a", "EGL203"): 3}
    text = baseline.text(Baseline("b.json", counts))
    Path("b.json").write_text(text)
    assert baseline.load("b.json") == Baseline("b.json", counts)
    assert json.loads(text) == {"version": 1, "findings": {"a": {"EGL203": 3, "EGL501": 2}, "b": {"EGL401": 1}}}
    assert text.index('"a"') < text.index('"EGL203"') < text.index('"EGL501"') < text.index('"b"')


def test_a_rule_may_be_named_by_its_slug():
    Path("b.json").write_text('{"version": 1, "findings": {"a": {"aux-layers-mismatch": 1}}}')
    assert baseline.load("b.json").counts == {("a", "EGL401"): 1}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Expecting value"),
        ("<<<<<<< HEAD", "Expecting value"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "no findings"),
        ('{"version": 1}', "no findings"),
        ('{"version": 2, "findings": {}}', "reads version 1, not 2"),
        ('{"version": 1, "findings": []}', "counts by file and rule"),
        ('{"version": 1, "findings": {"a": 1}}', "counts by rule"),
        ('{"version": 1, "findings": {"a": {"EGL401": 0}}}', "above 0"),
        ('{"version": 1, "findings": {"a": {"EGL401": true}}}', "above 0"),
        ('{"version": 1, "findings": {"a": {"EGL401": 1.5}}}', "above 0"),
    ],
)
def test_what_is_no_baseline_is_refused_with_the_reason(text: str, reason: str):
    Path("b.json").write_text(text)
    with pytest.raises(UsageError, match=r"^b\.json is no baseline: ") as caught:
        baseline.load("b.json")
    assert reason in str(caught.value)


def test_a_baseline_that_is_not_there_is_told_how_to_come_by():
    with pytest.raises(UsageError, match=r"there is no baseline b\.json: --write-baseline writes it"):
        baseline.load("b.json")
    with pytest.raises(UsageError, match="is a directory"):
        baseline.load(".")
