"""The scheduled audit: pinned actions, no more rights than it needs, and commands that exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "audit.yml").read_text(encoding="utf-8"))
STEPS = WORKFLOW["jobs"]["audit"]["steps"]


def test_it_runs_on_a_schedule_and_on_request():
    assert set(WORKFLOW[True]) == {"schedule", "workflow_dispatch"}  # YAML reads `on` as true


def test_actions_are_pinned():
    for step in STEPS:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step.get("uses", "actions/x@" + "0" * 40))


def test_it_may_read_the_code_and_write_issues():
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert WORKFLOW["jobs"]["audit"]["permissions"] == {"contents": "read", "issues": "write"}


def test_expressions_reach_the_shell_through_the_environment_only():
    assert not any("${{" in step.get("run", "") for step in STEPS)


def test_the_target_exists_and_takes_the_options():
    run = next(step["run"] for step in STEPS if step.get("id") == "audit")
    options = re.fullmatch(r'make audit AUDIT="(.*)"', run)
    assert options is not None
    assert re.search(
        r"^audit: .*\n\t.*benchmarks/audit\.py \$\(AUDIT\)$", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    help_ = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "audit.py"), "--help"], capture_output=True, text=True, check=True
    )
    assert options[1].split()[0] in help_.stdout


@pytest.mark.parametrize("step", [s for s in STEPS if "run" in s], ids=lambda s: s.get("name", s.get("id")))
def test_the_scripts_are_shell(step):
    done = subprocess.run(["bash", "-n"], input=step["run"], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
