"""`eaglelint check` with a baseline, with a revision to compare with, and with --statistics."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

#: A config that is no JSON: one EGL001 in each file.
BROKEN = '{\n  "architectures": ["LlamaForCausalLMEagle3"],\n  "draft_vocab_size": 32000,\n}\n'


def add(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / "config.json").write_text(BROKEN, encoding="utf-8")


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


class TestBaseline:
    def test_what_is_written_is_accepted_until_there_is_more(self, eaglelint, tmp_path: Path):
        add(tmp_path, "one")
        done = eaglelint("check", "--write-baseline")
        assert (done.returncode, done.stdout) == (0, "no findings in 1 file (1 in the baseline)\n")
        said = "the baseline eaglelint-baseline.json accepts 1 finding in 1 file; before: 0 findings in 0 files"
        assert done.stderr == f"eaglelint: {said}\n"
        written = json.loads((tmp_path / "eaglelint-baseline.json").read_text())
        assert written == {"version": 1, "findings": {"one/config.json": {"EGL001": 1}}}

        baseline = ("--baseline", "eaglelint-baseline.json")
        done = eaglelint("check", *baseline)
        assert (done.returncode, done.stderr) == (0, "")
        add(tmp_path, "two")
        done = eaglelint("check", *baseline)
        assert done.returncode == 1
        assert done.stdout.startswith("two/config.json:")
        assert done.stdout.endswith("1 warning in 3 files (1 in the baseline)\n")
        assert eaglelint("check").returncode == 1, "without it nothing is accepted"

    def test_what_is_fixed_lets_it_shrink(self, eaglelint, tmp_path: Path):
        add(tmp_path, "one", "two")
        baseline = ("--baseline", "b.json")
        assert eaglelint("check", "--write-baseline", *baseline).returncode == 0
        (tmp_path / "one/config.json").unlink()
        done = eaglelint("check", *baseline)
        assert done.returncode == 0
        assert done.stderr == (
            "eaglelint: the baseline can shrink: EGL001 in one/config.json 1 -> 0; --write-baseline writes it anew\n"
        )
        assert eaglelint("check", "two", *baseline).stderr == "", "a part of the project says nothing of the rest"
        assert eaglelint("check", "--select", "EGL401", *baseline).stderr == ""
        eaglelint("check", "--write-baseline", *baseline)
        assert json.loads((tmp_path / "b.json").read_text())["findings"] == {"two/config.json": {"EGL001": 1}}

    def test_writing_for_a_part_keeps_the_rest(self, eaglelint, tmp_path: Path):
        add(tmp_path, "one", "two")
        eaglelint("check", "--write-baseline", "--baseline", "b.json", "one")
        eaglelint("check", "--write-baseline", "--baseline", "b.json", "two")
        assert set(json.loads((tmp_path / "b.json").read_text())["findings"]) == {"one/config.json", "two/config.json"}

    def test_a_file_with_more_findings_than_accepted_shows_them_all(self, eaglelint, tmp_path: Path):
        add(tmp_path, "one")
        (tmp_path / "a.py").write_text("model.set_eagle3_layers_to_capture([1, 2]]\n")
        findings = {"one/config.json": {"EGL001": 1}, "a.py": {"EGL001": 1, "EGL401": 2}}
        (tmp_path / "b.json").write_text(json.dumps({"version": 1, "findings": findings}))
        done = eaglelint("check", "--baseline", "b.json")
        assert done.returncode == 0
        assert "EGL401 in a.py 2 -> 0" in done.stderr

    def test_the_configuration_may_name_it(self, eaglelint, tmp_path: Path):
        add(tmp_path, "sub/one")
        (tmp_path / "eaglelint.toml").write_text('baseline = "ci/accepted.json"\n')
        (tmp_path / "ci").mkdir()
        done = eaglelint("check", "sub")
        assert done.returncode == 2
        assert "there is no baseline ci/accepted.json: --write-baseline writes it" in done.stderr
        assert eaglelint("check", "--write-baseline", cwd=tmp_path / "sub").returncode == 0
        assert (tmp_path / "ci/accepted.json").exists()
        assert eaglelint("check", cwd=tmp_path / "sub").returncode == 0
        assert eaglelint("check", "--isolated").returncode == 1

    def test_every_format_counts_what_is_accepted(self, eaglelint, tmp_path: Path):
        add(tmp_path, "one")
        eaglelint("check", "--write-baseline", "--baseline", "b.json")
        for format_, said in (
            ("text", "(1 in the baseline)"),
            ("json", '"baselined": 1'),
            ("markdown", "in the baseline"),
        ):
            assert said in eaglelint("check", "--baseline", "b.json", "--format", format_).stdout

    def test_a_broken_baseline_ends_with_status_2(self, eaglelint, tmp_path: Path):
        add(tmp_path, "one")
        (tmp_path / "b.json").write_text("{}")
        for more in ([], ["--write-baseline"]):
            done = eaglelint("check", "--baseline", "b.json", *more)
            assert (done.returncode, done.stderr) == (2, "eaglelint: b.json is no baseline: it has no findings\n")
        assert (tmp_path / "b.json").read_text() == "{}"

    def test_names_of_files_send_nothing_to_the_terminal(self, eaglelint, tmp_path: Path):
        findings = {"\x1b[31m": {"EGL401": 1}}
        (tmp_path / "b.json").write_text(json.dumps({"version": 1, "findings": findings}))
        stderr = eaglelint("check", "--baseline", "b.json").stderr
        assert "\\x1b[31m" in stderr
        assert "\x1b" not in stderr


class TestDiffBase:
    @pytest.fixture(autouse=True)
    def repository(self, tmp_path: Path) -> None:
        add(tmp_path, "one")
        git(tmp_path, "init", "--quiet", "--initial-branch", "main")
        git(tmp_path, "add", "--all")
        git(tmp_path, "commit", "--quiet", "--message", "m")

    def test_what_touches_no_changed_line_is_counted_and_not_shown(self, eaglelint, tmp_path: Path):
        done = eaglelint("check", "--diff-base", "main")
        assert (done.returncode, done.stdout) == (0, "no findings in 1 file (1 in unchanged lines)\n")
        add(tmp_path, "two")
        done = eaglelint("check", "--diff-base", "main")
        assert done.returncode == 1
        assert done.stdout.startswith("two/config.json:")
        assert done.stdout.endswith("1 warning in 2 files (1 in unchanged lines)\n")

    def test_what_the_baseline_accepts_is_accepted_in_changed_lines_too(self, eaglelint, tmp_path: Path):
        add(tmp_path, "two")
        eaglelint("check", "--write-baseline", "two")
        done = eaglelint("check", "--diff-base", "main", "--baseline", "eaglelint-baseline.json")
        assert (done.returncode, done.stdout) == (
            0,
            "no findings in 3 files (1 in the baseline, 1 in unchanged lines)\n",
        )

    @pytest.mark.parametrize("revision", ["nowhere", "--output=x", "-x"])
    def test_what_is_no_revision_ends_with_status_2(self, eaglelint, revision: str):
        done = eaglelint("check", f"--diff-base={revision}")
        assert (done.returncode, done.stdout) == (2, "")
        assert revision in done.stderr

    @pytest.mark.parametrize("more", ["--fix", "--diff", "--write-baseline"])
    def test_it_is_for_reports_alone(self, eaglelint, more: str):
        done = eaglelint("check", "--diff-base", "main", more)
        assert done.returncode == 2
        assert "--diff-base is for reports alone" in done.stderr


def test_statistics_count_each_rule_below_the_report(eaglelint, tmp_path: Path):
    add(tmp_path, "one", "two")
    done = eaglelint("check", "--statistics")
    assert done.stdout.endswith("2 warnings in 2 files\n2 warning EGL001 unreadable-source in 2 files\n")
    done = eaglelint("check", "--statistics", "--format", "json")
    assert json.loads(done.stdout)["summary"]["warnings"] == 2, "nothing follows a report that a program reads"
    assert done.stderr == "2 warning EGL001 unreadable-source in 2 files\n"
