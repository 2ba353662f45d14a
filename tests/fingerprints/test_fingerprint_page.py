"""docs/fingerprint.md shows what happens: its commands are run on the example, with data of the real sizes."""

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
import wiring_data

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "fingerprint.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with its data, and the configuration that the page shows."""
    folder = tmp_path_factory.mktemp("page") / "wiring"
    shutil.copytree(ROOT / "examples" / "kimi-k25-wiring", folder)
    wiring_data.write(folder)
    (configuration,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (folder / "eaglelint.toml").write_text(configuration)
    return folder


def sessions() -> list[tuple[str, str]]:
    """The commands of the page, each with the output below it; a line `...` stands for lines left out."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = session.partition("\n")
            found.append((command, output))
    return found


@pytest.mark.parametrize(("command", "want"), sessions())
def test_a_command_prints_what_the_page_shows(command: str, want: str, project: Path):
    name, *arguments = shlex.split(command)
    assert name == "eaglelint"
    got = subprocess.run(
        [sys.executable, "-m", "eaglelint", *arguments],
        cwd=project,
        env={**os.environ, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
    ).stdout
    checker, example = doctest.OutputChecker(), doctest.Example(command, want)
    options = doctest.ELLIPSIS | doctest.REPORT_NDIFF
    assert checker.check_output(want, got, options), checker.output_difference(example, got, options)


def test_the_story_is_told():
    output = dict(sessions())
    told = next(text for command, text in output.items() if "--target" in command)
    assert "states[0]" in told
    assert "not the embedding" in told
    assert any("EGL801" in text for text in output.values())
