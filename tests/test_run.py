"""The flow: what becomes of findings between the checks and the report, and what happens when a part fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eaglelint import catalog
from eaglelint.checks.registry import Checks, Registered
from eaglelint.errors import UnreadableSource
from eaglelint.facts import Facts
from eaglelint.findings import Finding
from eaglelint.location import Location
from eaglelint.run import Result, check
from eaglelint.settings import Settings

Check = Callable[[Facts], Iterator[Finding]]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.py").write_text("y = 1\n")
    return tmp_path


def finding(rule: str = "EGL001", path: str = "a.py", line: int = 1, **more: object) -> Finding:
    severity = more.pop("severity", "warning")
    return Finding(rule, severity, more.pop("message", "m"), Location(path, line), **more)  # type: ignore[arg-type]


def checks(*functions: Check) -> Checks:
    return Checks((), tuple(Registered(("EGL001", "EGL002"), function) for function in functions))


def ran(*findings: Finding, settings: Settings | None = None) -> Result:
    return check(["."], settings or Settings(), checks(lambda facts: iter(findings)))


def test_findings_are_sorted_by_place():
    result = ran(finding(path="b.py"), finding(line=2), finding(line=1))
    assert [str(entry.where) for entry in result.findings] == ["a.py:1", "a.py:2", "b.py:1"]
    assert result.files == 2
    assert result.text("a.py").text == "x = 1\n"  # type: ignore[union-attr]


def test_the_same_finding_of_two_pipelines_is_one():
    assert len(ran(finding(), finding()).findings) == 1
    assert len(ran(finding(), finding(message="other")).findings) == 2


@pytest.mark.parametrize(
    ("fail_on", "status"),
    [("info", {"info", "warning", "error"}), ("warning", {"warning", "error"}), ("error", {"error"}), ("never", set())],
)
def test_the_status_is_one_at_or_above_the_level(fail_on, status):
    for severity in ("info", "warning", "error"):
        result = ran(finding(severity=severity), settings=Settings(fail_on=fail_on))
        assert result.status == int(severity in status)
    assert ran(settings=Settings(fail_on=fail_on)).status == 0


class TestOneDefectOneFinding:
    @pytest.fixture(autouse=True)
    def silencing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        silences = {"EGL001": ("EGL002", "EGL003"), "EGL003": ("EGL004",)}
        monkeypatch.setattr(catalog, "silences", lambda code: silences.get(code, ()))

    def rules(self, *findings: Finding, settings: Settings | None = None) -> list[str]:
        return [entry.rule for entry in ran(*findings, settings=settings).findings]

    def test_the_cause_silences_the_rest(self):
        assert self.rules(finding("EGL001", defect=("d",)), finding("EGL002", line=2, defect=("d",))) == ["EGL001"]

    def test_what_is_silenced_silences_on(self):
        same = [finding(rule, defect=("d",)) for rule in ("EGL001", "EGL003", "EGL004")]
        assert self.rules(*same) == ["EGL001"]

    def test_other_defects_are_not_touched(self):
        assert self.rules(finding("EGL001", defect=("d",)), finding("EGL002", defect=("e",))) == ["EGL001", "EGL002"]
        assert self.rules(finding("EGL001"), finding("EGL002")) == ["EGL001", "EGL002"]

    def test_a_rule_that_is_off_silences_nothing(self):
        same = (finding("EGL001", defect=("d",)), finding("EGL002", defect=("d",)))
        assert self.rules(*same, settings=Settings(ignore=("EGL001",))) == ["EGL002"]

    def test_a_finding_that_a_comment_accepts_still_silences(self, project: Path):
        (project / "a.py").write_text("x = 1  # eaglelint: ignore[EGL001] known\n")
        result = ran(finding("EGL001", defect=("d",)), finding("EGL002", line=2, defect=("d",)))
        assert (result.findings, result.suppressed) == ((), 1)


def fails(facts: Facts) -> Iterator[Finding]:
    yield finding(message="before")
    raise KeyError("layer")


def test_a_check_that_fails_is_a_finding_and_the_rest_goes_on():
    result = check(["."], Settings(), checks(fails, lambda facts: iter([finding(path="b.py")])))
    assert [(entry.rule, entry.message) for entry in result.findings if entry.rule != "EGL005"] == [
        ("EGL001", "before"),
        ("EGL001", "m"),
    ]
    [internal] = [entry for entry in result.findings if entry.rule == "EGL005"]
    assert "EGL001, EGL002" in internal.message
    assert "KeyError: 'layer'" in internal.message
    assert "Traceback" not in internal.message
    assert result.status == 2
    assert "in fails" in result.tracebacks[0]


def test_a_failure_has_status_2_even_where_it_is_not_reported():
    result = check(["."], Settings(ignore=("EGL005",), fail_on="never"), checks(fails))
    assert [entry.rule for entry in result.findings] == ["EGL001"]
    assert result.status == 2


def test_a_reader_that_fails_names_the_file(monkeypatch: pytest.MonkeyPatch):
    import eaglelint.readers.pins

    def read(source: object) -> Iterator[object]:
        if source.path == "b.py":  # type: ignore[attr-defined]
            raise ZeroDivisionError("no reader is perfect")
        yield from ()

    monkeypatch.setattr(eaglelint.readers.pins, "read_pins", read)
    result = ran(finding())
    assert [(entry.rule, entry.where.path) for entry in result.findings] == [("EGL001", "a.py"), ("EGL005", "b.py")]
    assert "ZeroDivisionError: no reader is perfect" in result.findings[1].message
    assert result.status == 2


def test_a_file_that_a_reader_can_not_read_is_said_once_and_only_if_it_is_about_eagle(
    project: Path, monkeypatch: pytest.MonkeyPatch
):
    import eaglelint.readers.launch
    import eaglelint.readers.pins
    from eaglelint.checks.reading import unreadable_source

    def read(source: object) -> Iterator[object]:
        if source.path.startswith("odd"):  # type: ignore[attr-defined]
            raise UnreadableSource(Location(source.path, 1, 2), "odd")  # type: ignore[attr-defined]
        yield from ()

    monkeypatch.setattr(eaglelint.readers.pins, "read_pins", read)
    monkeypatch.setattr(eaglelint.readers.launch, "read_launches", read)
    (project / "odd.sh").write_text("--speculative-algorithm EAGLE3")
    (project / "odd2.sh").write_text("echo hello")
    result = check(["."], Settings(), Checks((), (Registered(("EGL001",), unreadable_source),)))
    assert [(str(entry.where), entry.severity, entry.message) for entry in result.findings] == [
        ("odd.sh:1", "warning", "can not be read: odd; nothing in it is checked")
    ]
