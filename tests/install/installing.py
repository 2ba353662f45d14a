"""Running commands outside this checkout and its environment."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command outside this checkout's environment and give what it printed."""
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    clean |= {"NO_COLOR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **(env or {})}
    return subprocess.run([str(part) for part in command], cwd=cwd, env=clean, capture_output=True, encoding="utf-8")


def must(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command that has to succeed."""
    done = run(*command, cwd=cwd, env=env)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def git(*arguments: str, cwd: Path) -> str:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    return must("git", *identity, *arguments, cwd=cwd)


def commit(folder: Path) -> None:
    """Make a repository of a folder."""
    git("init", "--quiet", cwd=folder)
    git("add", "--all", cwd=folder)
    git("commit", "--quiet", "--message", "all", cwd=folder)


@dataclass(frozen=True)
class Distributions:
    wheel: Path
    sdist: Path
