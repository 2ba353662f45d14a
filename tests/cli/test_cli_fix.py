"""`eaglelint check --fix` and `--diff` at the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from eaglelint.cli.check import command

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples" / "kimi-k25-wiring", tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def test_fix_writes_and_reports_what_is_left(example: Path):
    done = CliRunner().invoke(command, ["--fix"])
    assert done.exit_code == 0
    assert "fixed 4 findings in 2 files: 1 EGL401 aux-layers-mismatch, 3 EGL501 mislabeled-hidden-state" in done.stderr
    assert "[2, 30, 58]" in (example / "drafter/config.json").read_text()
    assert "aux-layers-mismatch" not in done.stdout
    again = CliRunner().invoke(command, ["--fix"])
    assert "nothing was fixed" in again.stderr


def test_diff_writes_nothing_and_says_so_by_its_status(example: Path):
    before = (example / "drafter/config.json").read_text()
    done = CliRunner().invoke(command, ["--diff"])
    assert done.exit_code == 1
    assert '+    "eagle_aux_hidden_state_layer_ids": [2, 30, 58]' in done.stdout.splitlines()
    assert "would fix 4 findings" in done.stderr
    assert (example / "drafter/config.json").read_text() == before
    CliRunner().invoke(command, ["--fix"])
    assert CliRunner().invoke(command, ["--diff"]).exit_code == 0


def test_only_selected_rules_are_fixed(example: Path):
    CliRunner().invoke(command, ["--fix", "--select", "EGL501"])
    assert "[-1, 2, 30]" in (example / "drafter/config.json").read_text()
    assert "layer2_out = dump" in (example / "tools/extract_states.py").read_text()


def test_a_file_that_can_not_be_written_is_an_error(example: Path, monkeypatch: pytest.MonkeyPatch):
    def no(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("eaglelint.fixing.session.write", no)
    done = CliRunner().invoke(command, ["--fix"])
    assert done.exit_code == 2
    assert "can not write drafter/config.json: read-only file system" in done.stderr
