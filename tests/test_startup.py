"""Starting imports next to nothing: as the interpreter reports it, and as the benchmark prints it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = {"pydantic", "jsonschema", "libcst", "yaml", "tree_sitter"}


def imported(*arguments: str) -> set[str]:
    """The modules that an interpreter imports, from `-X importtime`."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, encoding="utf-8")
    found = set(re.findall(r"^import time:\s*\d+ \|\s*\d+ \| +(\S+)$", done.stderr, re.MULTILINE))
    assert "site" in found, done.stderr
    return found


def test_the_version_costs_only_modules_of_the_package():
    new = imported("-c", "from eaglelint.cli import main; main()", "--version") - imported("-c", "pass")
    assert {name for name in new if not name.startswith("eaglelint")} <= {"__future__"}
    assert "eaglelint.cli" in new


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
def test_nothing_heavy_is_imported(arguments: list[str]):
    assert not HEAVY & {name.partition(".")[0] for name in imported("-m", "eaglelint", *arguments)}


def test_what_a_command_needs_is_imported_when_it_runs():
    assert "yaml" in imported("-m", "eaglelint", "rules")  # else the tests above would see nothing


def test_the_benchmark_measures_and_says_what_was_imported():
    command = [sys.executable, "benchmarks/startup.py", "--runs", "2", "--limit", "1000"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^python -c pass +[\d.]+ +[\d.]+ +1\.00$", done.stdout, re.MULTILINE)
    assert re.search(r"^eaglelint --version +[\d.]+ +[\d.]+ +[\d.]+$", done.stdout, re.MULTILINE)
    assert "of pydantic, jsonschema, libcst, yaml, tree_sitter: none" in done.stdout


def test_the_benchmark_fails_above_its_limit():
    command = [sys.executable, "benchmarks/startup.py", "--runs", "1", "--limit", "0.01"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True).returncode == 1
