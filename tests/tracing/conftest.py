"""Drawings of projects on disk, and of the example of the repository."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest
from traced_project import EXAMPLE, Trace

from eaglelint.settings import Settings
from eaglelint.tracing.run import Traced, trace


@pytest.fixture
def traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trace:
    """Draws a project of these files, in a folder that is the working directory."""

    def run(files: Mapping[str, str]) -> Traced:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        found = trace(["."], Settings())
        assert not found.tracebacks, found.tracebacks[0]
        return found

    return run


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Traced:
    """The drawing of the example of the repository."""
    monkeypatch.chdir(EXAMPLE)
    found = trace(["."], Settings())
    assert not found.tracebacks, found.tracebacks[0]
    return found
