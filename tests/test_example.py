"""The example project tells its story: what the drafter was trained on, what it is served, which names lie."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "kimi-k25-wiring"
Report = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "wiring"))


@pytest.fixture
def findings(project: Path) -> Report:
    def check() -> list[dict[str, Any]]:
        done = subprocess.run(
            [sys.executable, "-m", "eaglelint", "check", "--format", "json"],
            cwd=project,
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode in (0, 1), done.stderr
        found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
        return found

    return check


def of(rule: str, findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [finding for finding in findings if finding["rule"] == rule]


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_the_drafter_is_served_other_states_than_it_was_trained_on(findings: Report):
    [finding] = of("EGL401", findings())
    assert (finding["path"], finding["line"], finding["severity"]) == ("drafter/config.json", 18, "error")
    assert finding["confidence"] == "proven"
    assert "trained on boundaries 3, 31, 59" in finding["message"]
    assert "[-1, 2, 30] as boundaries 0, 3, 31" in finding["message"]
    assert "[2, 30, 58]" in finding["fix"]["description"]


def test_the_verdict_rests_on_every_file_of_the_chain(findings: Report):
    [finding] = of("EGL401", findings())
    assert {related["path"] for related in finding["related"]} == {
        "tools/patch_sglang.py",
        "tools/extract_states.py",
        "training/samples.py",
        "requirements.txt",
        "serve.sh",
        "models/kimi-k2.5-text/config.json",
    }
    patch = (EXAMPLE / "tools" / "patch_sglang.py").read_text(encoding="utf-8").splitlines()
    captured = next(related for related in finding["related"] if related["path"] == "tools/patch_sglang.py")
    assert patch[captured["line"] - 1].strip().startswith('hs_dump[f"state_{len(hs_dump)}"] = stream')


def test_three_names_lie(findings: Report):
    lies = of("EGL501", findings())
    assert {finding["path"] for finding in lies} == {"tools/extract_states.py"}
    told = {finding["line"]: finding["message"] for finding in lies}
    assert sorted(told) == [18, 19, 20]
    for line, name, boundary in ((18, "embed_out", 3), (19, "layer3_out", 31), (20, "layer31_out", 59)):
        assert f"`{name}`" in told[line]
        assert f"holds boundary {boundary} " in told[line]


def test_with_the_ids_that_the_fix_names_only_the_names_are_wrong(project: Path, findings: Report):
    edit(project / "drafter" / "config.json", "[-1, 2, 30]", "[2, 30, 58]")
    assert [finding["rule"] for finding in findings()] == ["EGL501"] * 3


def test_a_release_that_reads_the_same_ids_one_layer_early(project: Path, findings: Report):
    edit(project / "drafter" / "config.json", "[-1, 2, 30]", "[2, 30, 58]")
    edit(project / "requirements.txt", "sglang==0.5.9", "sglang==0.5.14")
    [finding] = of("EGL401", findings())
    assert "one layer early" in finding["message"]
    assert "[3, 31, 59]" in finding["fix"]["description"]


def test_graphs_that_were_captured_with_the_default_layers(project: Path, findings: Report):
    edit(project / "drafter" / "config.json", "[-1, 2, 30]", "[2, 30, 58]")
    edit(project / "serve.sh", "  --disable-cuda-graph\n", "")
    found = findings()
    [finding] = of("EGL113", found)
    assert finding["severity"] == "error"
    assert not of("EGL401", found)


def test_names_that_say_what_they_hold(project: Path, findings: Report):
    script = project / "tools" / "extract_states.py"
    text = script.read_text(encoding="utf-8")
    for old, new in (("embed_out", "layer3_in"), ("layer3_out", "layer31_in"), ("layer31_out", "layer59_in")):
        text = text.replace(old, new)
    script.write_text(text, encoding="utf-8")
    assert not of("EGL501", findings())
