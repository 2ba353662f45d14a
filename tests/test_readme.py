"""What the README shows is what happens: its commands print what stands below them, its files are valid."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "examples/kimi-k25-wiring/README.md"]


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def sessions() -> list[tuple[str, str]]:
    """The commands of the console blocks, each with the output below it; a line `...` stands for lines left out."""
    found = []
    for block in blocks("console"):
        for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = session.partition("\n")
            found.append((command, output))
    return found


@pytest.mark.parametrize(("command", "want"), sessions())
def test_a_command_prints_what_is_shown(command: str, want: str):
    name, *arguments = shlex.split(command)
    assert name == "eaglelint"
    got = subprocess.run(
        [sys.executable, "-m", "eaglelint", *arguments],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        encoding="utf-8",
    ).stdout
    checker, example = doctest.OutputChecker(), doctest.Example(command, want)
    options = doctest.ELLIPSIS | doctest.REPORT_NDIFF
    assert checker.check_output(want, got, options), checker.output_difference(example, got, options)


def test_the_story_is_told_with_a_real_run():
    output = dict(sessions())["eaglelint check examples/kimi-k25-wiring"]
    assert "trained on boundaries 3, 31, 59" in output
    assert "[-1, 2, 30] as boundaries 0, 3, 31" in output
    assert "[2, 30, 58]" in output
    assert output.count("EGL501 mislabeled-hidden-state") == 3


def test_the_configuration_is_valid(tmp_path: Path):
    from eaglelint.configuration import load

    [text] = blocks("toml")
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    settings = load([str(tmp_path)])
    assert settings.engines == {"sglang": "0.5.9"}
    assert settings.pipeline[0].drafter == "drafter"


def test_the_hook_and_the_workflow_are_valid():
    hook, workflow = (yaml.safe_load(block) for block in blocks("yaml"))
    [manifest] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert [entry["id"] for entry in hook["repos"][0]["hooks"]] == [manifest["id"]]
    assert workflow["jobs"]["eaglelint"]["steps"][-1]["run"] == "eaglelint check --format github"


@pytest.mark.parametrize("line", re.findall(r"^eaglelint .*", "\n".join(blocks("sh")), re.MULTILINE))
def test_the_options_that_are_shown_exist(line: str):
    _, command, *rest = shlex.split(line, comments=True)
    help_ = [sys.executable, "-m", "eaglelint", command, "--help"]
    shown = subprocess.run(help_, check=True, capture_output=True, encoding="utf-8").stdout
    assert all(option in shown for option in rest if option.startswith("--"))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_that_are_named_exist(document: str):
    text = (ROOT / document).read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    paths = re.findall(r"`((?:\.github|\.ci|eaglelint|rules|schemas|tests|examples|benchmarks)/[\w./-]*)`", text)
    missing = [name for name in links + paths if not ((ROOT / document).parent / name).exists()]
    assert not [name for name in missing if "nnn" not in name and "ENGINE" not in name]
