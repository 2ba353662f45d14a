"""The examples of the rules: what is wrong is reported as the catalogue says, what is right is left alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import tensor_files

from eaglelint import catalog
from eaglelint.catalog import Expectation, RightExample, WrongExample
from eaglelint.checks.registry import Checks, Registered, load_all
from eaglelint.configuration import load
from eaglelint.findings import Finding
from eaglelint.run import Result, check


def examples(side: str) -> list[Any]:
    return [
        pytest.param(example, code, id=f"{code}-{number}")
        for code in catalog.names()
        for number, example in enumerate(getattr(catalog.load(code).examples, side), 1)
    ]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def run(files: Mapping[str, str], crash: str = "", checkpoints: Mapping[str, Mapping[str, str]] = {}) -> Result:
        written = {path: text.encode() for path, text in files.items()}
        written |= {path: tensor_files.described(path, tensors) for path, tensors in checkpoints.items()}
        for path, content in written.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return check(["."], load(["."]), _failing(crash) if crash else None)

    return run


def _failing(code: str) -> Checks:
    """All checks, of which the one for a rule fails."""

    def fails(pipeline: object) -> Iterator[Finding]:
        raise RuntimeError("made to fail")

    checks = load_all()
    return Checks(
        tuple(Registered(codes, fails if code in codes else function) for codes, function in checks.pipeline),
        checks.project,
    )


def _fits(finding: Finding, want: Expectation) -> bool:
    text = f"{finding.message} {finding.fix.description if finding.fix else ''}".lower()
    return (
        finding.rule == want.rule
        and finding.where.path == want.file
        and finding.where.line == want.line
        and want.severity in (None, finding.severity)
        and all(part.lower() in text for part in want.mentions)
    )


def _shown(findings: list[Finding]) -> str:
    return "\n".join(f"{f.where} {f.severity} {f.rule} {f.message}" for f in findings)


@pytest.mark.parametrize(("example", "code"), examples("wrong"))
def test_what_is_wrong_is_reported(example: WrongExample, code: str, run: Any):
    assert code in {want.rule for want in example.expect}
    result = run(example.files, example.crash, example.checkpoints)
    left = list(result.findings)
    for want in example.expect:
        hit = next((finding for finding in left if _fits(finding, want)), None)
        assert hit is not None, f"missing {want} among\n{_shown(left)}"
        left.remove(hit)
    extra = [finding for finding in left if finding.severity != "info"]
    assert not extra, f"false alarms:\n{_shown(extra)}"
    assert bool(result.tracebacks) == bool(example.crash), result.tracebacks


@pytest.mark.parametrize(("example", "code"), examples("right"))
def test_what_is_right_is_left_alone(example: RightExample, code: str, run: Any):
    result = run(example.files, checkpoints=example.checkpoints)
    quiet = code if catalog.load(code).severity == "info" else ""
    alarms = [finding for finding in result.findings if finding.severity != "info" or finding.rule == quiet]
    assert not alarms, f"false alarms:\n{_shown(alarms)}"
    assert not result.tracebacks
