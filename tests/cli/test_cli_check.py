"""`eaglelint check`: formats, files, colours and the exit status."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from eaglelint.cli.group import cli
from eaglelint.report import FORMATS


def test_the_report_of_an_example_of_the_catalogue(eaglelint, tmp_path: Path):
    from eaglelint.catalog import load

    for path, text in load("EGL001").examples.wrong[0].files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    assert eaglelint("check").stdout == (
        "drafter/config.json:4:3 warning EGL001 unreadable-source\n"
        "  can not be read: not JSON: expecting ',' delimiter; nothing in it is checked\n"
        "    |\n"
        '  4 |   "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 13, 24]}\n'
        "    |   ^\n"
        "\n"
        "1 warning in 1 file\n"
    )


def test_the_report_of_a_broken_config(eaglelint, broken: Path):
    done = eaglelint("check")
    assert done.returncode == 1
    assert done.stderr == ""
    assert done.stdout.startswith("drafter/config.json:")
    assert " warning EGL001 unreadable-source\n" in done.stdout
    assert done.stdout.endswith("\n\n1 warning in 1 file\n")
    assert "^" in done.stdout


def test_a_clean_project(eaglelint, tmp_path: Path):
    (tmp_path / "a.py").write_text("x = 1\n")
    done = eaglelint("check", ".")
    assert (done.returncode, done.stdout, done.stderr) == (0, "no findings in 1 file\n", "")


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ([], 1),
        (["--fail-on", "info"], 1),
        (["--fail-on", "warning"], 1),
        (["--fail-on", "error"], 0),
        (["--fail-on", "never"], 0),
        (["--exit-zero"], 0),
        (["--ignore", "unreadable-source"], 0),
        (["--ignore", "EGL0"], 0),
        (["--select", "EGL002"], 0),
        (["--select", "EGL001"], 1),
        (["--select", "EGL002", "--extend-select", "EGL001"], 1),
    ],
)
def test_the_status_does_not_depend_on_the_format(broken: Path, monkeypatch, format_, arguments, status):
    monkeypatch.chdir(broken)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    done = CliRunner().invoke(cli, ["check", "--format", format_, *arguments])
    assert done.exit_code == status, done.output


def test_the_configuration_is_used_unless_told_otherwise(eaglelint, broken: Path):
    (broken / "eaglelint.toml").write_text('fail-on = "error"\n')
    assert eaglelint("check").returncode == 0
    assert eaglelint("check", "--fail-on", "warning").returncode == 1
    assert eaglelint("check", "--isolated").returncode == 1
    (broken / "other.toml").write_text('ignore = ["EGL001"]\n')
    assert eaglelint("check", "--config", "other.toml").stdout.startswith("no findings")


def test_paths_of_a_report_are_relative_to_the_working_directory(eaglelint, broken: Path):
    (broken / "elsewhere").mkdir()
    report = json.loads(eaglelint("check", "--format", "json", "..", cwd=broken / "elsewhere").stdout)
    assert [finding["path"] for finding in report["findings"]] == ["../drafter/config.json"]


def test_reports_to_files_beside_the_one_that_is_printed(eaglelint, broken: Path):
    done = eaglelint("check", "--output", "json=a.json", "--output", "github=b.txt")
    assert done.returncode == 1
    assert done.stdout.startswith("drafter/config.json:")
    assert json.loads((broken / "a.json").read_text())["summary"]["warnings"] == 1
    assert (broken / "b.txt").read_text().startswith("::warning file=drafter/config.json,line=")


def test_every_format_in_one_run(eaglelint, broken: Path):
    outputs = [argument for format_ in FORMATS for argument in ("--output", f"{format_}={format_}.out")]
    assert eaglelint("check", *outputs).returncode == 1
    for format_ in FORMATS:
        assert (broken / f"{format_}.out").read_text(encoding="utf-8") == eaglelint("check", "--format", format_).stdout


def test_two_reports_to_one_file_are_refused(eaglelint, broken: Path):
    done = eaglelint("check", "--output", "json=a", "--output", "sarif=./a")
    assert done.returncode == 2
    assert "two reports can not both be written to './a'" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="no permissions of this kind")
def test_a_report_replaces_the_file_whole_and_keeps_its_permissions(eaglelint, broken: Path):
    (broken / "old.json").write_text("old")
    (broken / "old.json").chmod(0o640)
    before = (broken / "old.json").stat().st_ino
    (broken / "link.json").symlink_to("old.json")
    eaglelint("check", "--output", "json=link.json", "--output", "sarif=new.sarif")
    after = (broken / "old.json").stat()
    assert (broken / "link.json").is_symlink()
    assert json.loads((broken / "old.json").read_text())["version"] == 1
    assert (after.st_ino != before, after.st_mode & 0o777) == (True, 0o640)
    assert not [path.name for path in broken.iterdir() if path.name.endswith(".tmp")]


@pytest.mark.skipif(not os.path.exists("/dev/stderr"), reason="no such device")
def test_what_is_no_regular_file_is_written_to(eaglelint, broken: Path):
    done = eaglelint("check", "--format", "json", "--output", "github=/dev/stderr")
    assert done.stderr.startswith("::warning file=drafter/config.json")
    assert os.path.exists("/dev/stderr")


def test_reports_that_lie_in_the_project_change_nothing(eaglelint, tmp_path: Path):
    from eaglelint.catalog import load

    for path, text in load("EGL401").examples.wrong[0].files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    names = {"json": "report.json", "sarif": "sarif.json", "gitlab": "gl.json", "markdown": "r.md", "text": "r.txt"}
    outputs = [argument for pair in names.items() for argument in ("--output", "=".join(pair))]
    findings = [json.loads(eaglelint("check", "--format", "json", *outputs).stdout)["findings"] for _ in range(2)]
    assert findings[0] == findings[1] != []


def test_a_file_that_can_not_be_written_ends_with_status_2(eaglelint, broken: Path):
    done = eaglelint("check", "--output", "json=missing/a.json")
    assert (done.returncode, done.stderr) == (2, "eaglelint: can not write missing/a.json: no such file or directory\n")


def test_the_step_summary_is_appended_to(eaglelint, broken: Path):
    file = broken / "summary"
    file.write_text("before\n")
    done = eaglelint("check", "--format", "github", env={"GITHUB_STEP_SUMMARY": str(file)})
    assert done.returncode == 1
    assert file.read_text().startswith("before\n### eaglelint: 1 warning in 1 file\n")
    done = eaglelint("check", "--format", "github", env={"GITHUB_STEP_SUMMARY": str(broken / "no" / "file")})
    assert done.returncode == 1
    assert "can not write the step summary: no such file or directory" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "env", "colored"),
    [
        ([], {}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
        (["--format", "json"], {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colours(eaglelint, broken: Path, arguments, env, colored):
    assert ("\x1b[" in eaglelint("check", *arguments, env=env).stdout) is colored


def test_a_terminal_without_unicode_gets_escapes(eaglelint, broken: Path):
    (broken / "drafter").rename(broken / "größe")
    done = eaglelint("check", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 1
    assert done.stdout.startswith("gr\\xf6\\xdfe/config.json:")


def test_a_path_that_begins_with_a_dash(eaglelint, broken: Path):
    (broken / "drafter").rename(broken / "-x")
    assert eaglelint("check", "--", "-x").returncode == 1


def test_a_reader_that_stops_reading_is_no_error(broken: Path):
    import subprocess

    done = subprocess.run(
        f"{sys.executable} -m eaglelint check --format json | head -c 1",
        shell=True,
        cwd=broken,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "{"
    assert "Traceback" not in done.stderr


def test_an_empty_folder(eaglelint, tmp_path: Path):
    done = eaglelint("check")
    assert (done.returncode, done.stdout) == (0, "no files to check\n")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_folder_without_permission_is_a_finding(eaglelint, broken: Path):
    (broken / "closed").mkdir(mode=0o000)
    done = eaglelint("check")
    assert "closed:1:1 warning EGL001" in done.stdout
    assert "drafter/config.json" in done.stdout


def test_an_ignore_comment_is_counted_in_the_closing_line(eaglelint, tmp_path: Path):
    (tmp_path / "patch.py").write_text(
        "model.set_eagle3_layers_to_capture([1, 2]]  # eaglelint: ignore[EGL001] a fixture\n"
    )
    done = eaglelint("check")
    assert (done.returncode, done.stdout) == (0, "no findings in 1 file (1 suppressed)\n")


def test_a_failed_part_ends_with_status_2_and_shows_its_traceback_on_request(broken: Path, monkeypatch):
    import eaglelint.readers.pins

    def fails(source: object) -> None:
        raise LookupError("odd")

    monkeypatch.setattr(eaglelint.readers.pins, "read_pins", fails)
    monkeypatch.chdir(broken)
    for arguments, shown in ([], False), (["--verbose"], True), (["--exit-zero"], False):
        done = CliRunner().invoke(cli, ["check", *arguments])
        assert done.exit_code == 2
        assert "drafter/config.json:1:1 warning EGL005 internal-error" in done.output
        assert ("Traceback" in done.output) is shown
