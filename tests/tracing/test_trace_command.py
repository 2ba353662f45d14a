"""`eaglelint trace`: formats, files, colours and the exit status."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from traced_project import EXAMPLE, PROJECT

from eaglelint.cli.group import cli


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["trace", *arguments])


def test_a_mismatch_is_drawn_with_status_0(project: Path):
    done = run()
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("drafter: EAGLE-3, target target (36 layers)\n\n  MISMATCH  ")


def test_paths_are_named_from_the_working_directory(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(EXAMPLE.parent)
    assert "captured at kimi-k25-wiring/tools/patch_sglang.py:33" in run(EXAMPLE.name).stdout


@pytest.mark.parametrize(
    ("format_", "start"),
    [("text", "drafter: "), ("html", "<!doctype html>"), ("mermaid", "flowchart LR"), ("json", "{\n")],
)
def test_formats(project: Path, format_: str, start: str):
    done = run("--format", format_)
    assert done.exit_code == 0
    assert done.stdout.startswith(start)
    assert done.stdout.endswith("\n")
    assert run("--format", format_, "--output", "drawing").stdout == ""
    assert (project / "drawing").read_text(encoding="utf-8") == done.stdout


def test_the_width_of_the_terminal_is_used(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "44")
    assert max(map(len, run().stdout.split("\n"))) <= 44
    monkeypatch.setenv("COLUMNS", "200")
    assert max(map(len, run().stdout.split("\n"))) > 80


@pytest.mark.parametrize(
    ("arguments", "environment", "colored"),
    [
        ((), {}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        (("--format", "mermaid", "--color", "always"), {}, False),
    ],
)
def test_colours(project: Path, monkeypatch, arguments: tuple[str, ...], environment: dict[str, str], colored: bool):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in run(*arguments).stdout) is colored


def test_a_file_is_never_coloured(project: Path):
    run("--color", "always", "--output", "a.txt")
    assert "\x1b" not in (project / "a.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "eaglelint: no such file or folder: nowhere\n"),
        (("--format", "svg"), "'svg' is not one of 'text', 'html', 'mermaid', 'json'"),
        (("--output", "missing/a.txt"), "eaglelint: can not write missing/a.txt: no such file or directory\n"),
        (("--config", "missing.toml"), "missing.toml: can not be read"),
        (("--config", "a", "--isolated"), "--config and --isolated exclude each other"),
    ],
)
def test_a_wrong_call_ends_with_status_2(project: Path, arguments: tuple[str, ...], message: str):
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_the_configuration_is_used_unless_told_otherwise(project: Path):
    (project / "requirements.txt").unlink()
    (project / "eaglelint.toml").write_text('[engines]\nsglang = "0.5.14"\n')
    assert "  served    SGLang 0.5.14, " in run().stdout
    assert "the release of SGLang" in run("--isolated").stdout


def test_an_internal_error_ends_with_status_2_and_the_rest_is_drawn(project: Path, monkeypatch: pytest.MonkeyPatch):
    (project / "other").mkdir()
    (project / "other" / "config.json").write_text(textwrap.dedent(PROJECT["drafter/config.json"]))
    from eaglelint.tracing import draw

    def broken(pipeline: object, panels: object) -> tuple[()]:
        if getattr(pipeline, "name", "") == "drafter":
            raise ValueError("oops")
        return ()

    monkeypatch.setattr(draw, "hints", broken)
    done = run()
    assert done.exit_code == 2
    assert "internal error in the drawing of a pipeline" in done.stderr
    assert "ValueError: oops (--verbose shows where)" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.startswith("other: EAGLE-3")
    assert "Traceback" in run("--verbose").stderr


def test_broken_files_are_no_obstacle(project: Path):
    (project / "drafter" / "config.json").write_text("{")
    (project / "dump.py").write_bytes(b"\xff\xfe eagle3 def (")
    done = run("--format", "json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["version"] == 1
