"""A project in a folder of its own, and what fixing makes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eaglelint.configuration import load
from eaglelint.fixing.session import Fixed, fix


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    monkeypatch.chdir(tmp_path)

    def write(files: dict[str, str | bytes]) -> Path:
        for name, content in files.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path

    return write


@pytest.fixture
def fixed() -> Callable[..., Fixed]:
    """What fixing the current folder does, written to disk."""

    def run(*, unsafe: bool = False) -> Fixed:
        done = fix(["."], load(["."]), unsafe=unsafe)
        assert done.write() == []
        return done

    return run
