"""The audit's modules, and small archives that stand for releases of an engine."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))


@pytest.fixture
def archive(tmp_path: Path) -> Callable[[Mapping[str, str]], Path]:
    def make(files: Mapping[str, str]) -> Path:
        path = tmp_path / "release.zip"
        with zipfile.ZipFile(path, "w") as made:
            for name, text in files.items():
                made.writestr(name, text)
        return path

    return make


@pytest.fixture
def setters(archive) -> Callable[..., dict[str, Any]]:
    """What the setters of some files store for questions, run as the audit runs them."""

    def run(engine: str, files: Mapping[str, str], *asked: tuple[int, list[int] | None]) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-I", str(BENCHMARKS / "auditing" / "setters.py"), engine, str(archive(files))],
            input=json.dumps(asked), capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return run
