"""The command line as a person starts it, in a clean environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]

#: What a shell, a CI or a person may have set and what changes output.
_SCRUBBED = ("CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLUMNS", "TERM", "PYTHONIOENCODING", "LC_ALL", "LANG")


@pytest.fixture
def eaglelint(tmp_path: Path) -> Run:
    def run(*arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> object:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GITHUB_")}
        for name in _SCRUBBED:
            clean.pop(name, None)
        return subprocess.run(
            [sys.executable, "-m", "eaglelint", *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=cwd or tmp_path,
            env={**clean, **(env or {})},
            timeout=60,
        )

    return run


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A project with one warning: a drafter's config that is no JSON."""
    folder = tmp_path / "drafter"
    folder.mkdir()
    (folder / "config.json").write_text(
        '{\n  "architectures": ["LlamaForCausalLMEagle3"],\n  "draft_vocab_size": 32000,\n}\n', encoding="utf-8"
    )
    return tmp_path
