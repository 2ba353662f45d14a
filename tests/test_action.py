"""action.yml: inputs reach the shell through the environment only, and its steps do what they say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]


def step(name: str) -> dict[str, Any]:
    return next(step for step in STEPS if step.get("name") == name)


def test_no_expression_stands_in_a_script():
    for one in STEPS:
        assert "${{" not in one.get("run", "")


def test_other_actions_are_pinned_by_commit():
    for one in STEPS:
        if "uses" in one:
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", one["uses"])


def test_every_input_is_used_and_described():
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    for name, about in ACTION["inputs"].items():
        assert about["description"]
        assert f"inputs.{name}" in text


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("paths", "arguments", "status"),
    [
        ("examples/kimi-k25-wiring", "", "1"),
        ("examples/kimi-k25-wiring", "--exit-zero", "0"),
        ("examples/kimi-k25-wiring", "--select=EGL501\n--fail-on=error", "0"),
        ("no/such folder", "", "2"),
        ("--help\n$(touch pwned)", "", "2"),
    ],
)
def test_the_check_runs_with_paths_and_arguments(tmp_path: Path, paths: str, arguments: str, status: str):
    tool = tmp_path / "eaglelint" / "bin" / "eaglelint"
    tool.parent.mkdir(parents=True)
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m eaglelint "$@"\n')
    tool.chmod(0o755)
    output = tmp_path / "output"
    environment = {
        **os.environ, "RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(output), "EAGLELINT_PATHS": paths,
        "EAGLELINT_ARGS": arguments, "EAGLELINT_SARIF": str(tmp_path / "out.sarif"),
    }  # fmt: skip
    environment.pop("GITHUB_STEP_SUMMARY", None)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step("Check")["run"]],
        cwd=ROOT, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert output.read_text() == f"status={status}\n"
    assert not (ROOT / "pwned").exists()
    if status == "1":
        assert "::error file=examples/kimi-k25-wiring/drafter/config.json,line=18," in done.stdout
        assert (tmp_path / "out.sarif").exists()


def test_the_result_is_the_status_of_the_check():
    done = subprocess.run(["bash", "-c", step("Result")["run"]], env={**os.environ, "EAGLELINT_STATUS": "1"})
    assert done.returncode == 1
