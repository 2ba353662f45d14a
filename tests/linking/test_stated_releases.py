"""Releases that the configuration states: each stands at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from eaglelint.configuration import load
from eaglelint.linking.releases import configured


@pytest.mark.parametrize(("file", "head"), [("eaglelint.toml", ""), ("pyproject.toml", "tool.eaglelint.")])
def test_the_line_of_a_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, head: str):
    monkeypatch.chdir(tmp_path)
    Path(file).write_text(f'[{head}engines]\nvllm = "0.12.0"\nsglang = "0.5.13"\n')
    settings = load(["."])
    lines = {release.engine: str(release.where) for release in configured(settings.engines, settings.file)}
    assert lines == {"vllm": f"{file}:2", "sglang": f"{file}:3"}
