"""The page on output: its commands print what is shown, in their order; its files are valid, its options exist."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from eaglelint.configuration import load
from eaglelint.report import FORMATS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/output.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def eaglelint(folder: Path, *arguments: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "FORCE_"))}
    command = [sys.executable, "-m", "eaglelint", *arguments]
    return subprocess.run(command, cwd=folder, env=clean, capture_output=True, encoding="utf-8").stdout


def test_the_commands_print_what_is_shown(tmp_path: Path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    checker = doctest.OutputChecker()
    sessions = [session for block in blocks("console") for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    assert len(sessions) == 5
    for session in sessions:
        command, _, want = session.partition("\n")
        name, *arguments = shlex.split(command)
        assert name == "eaglelint"
        got = eaglelint(tmp_path, *arguments)
        assert checker.check_output(want, got, doctest.ELLIPSIS), f"$ {command}\n{got}"
    assert {"eaglelint.sarif", "eaglelint.xml", "eaglelint-baseline.json"} <= {path.name for path in tmp_path.iterdir()}


def test_every_format_stands_in_the_table():
    assert set(FORMATS) <= set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))


def test_the_options_that_are_named_exist():
    shown = eaglelint(ROOT, "check", "--help")
    assert [option for option in re.findall(r"`(--[a-z-]+)", PAGE) if option not in shown] == []


@pytest.mark.parametrize("text", blocks("toml"))
def test_the_configuration_is_valid(tmp_path: Path, text: str):
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    assert load([str(tmp_path)]).file


def test_the_pipeline_writes_the_reports_that_it_collects():
    [text] = blocks("yaml")
    job = yaml.safe_load(text)["eaglelint"]
    outputs = dict(pair.split("=", 1) for pair in re.findall(r"--output (\S+)", job["script"][1]))
    reports = job["artifacts"]["reports"]
    assert (outputs["gitlab"], outputs["junit"]) == (reports["codequality"], reports["junit"])
