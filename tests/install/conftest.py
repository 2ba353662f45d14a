"""The project as other people get it: a snapshot of the checkout, wheel and sdist, environments of their own."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from installing import ROOT, Distributions, commit, git, must


@pytest.fixture(scope="session")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the files of this checkout as they are now, those that are not committed yet included."""
    folder = tmp_path_factory.mktemp("snapshot") / "eaglelint"
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    commit(folder)
    return folder


@pytest.fixture(scope="session")
def distributions(snapshot: Path, tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """The sdist, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    must(sys.executable, "-m", "build", "--outdir", folder, snapshot, cwd=folder)
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Distributions(wheel, sdist)


@pytest.fixture
def environment(tmp_path: Path) -> Callable[..., Path]:
    """Makes an environment, installs into it and gives its folder of commands."""

    def make(*what: str | Path) -> Path:
        folder = tmp_path / "environment"
        must(sys.executable, "-m", "venv", folder, cwd=tmp_path)
        scripts = folder / ("Scripts" if os.name == "nt" else "bin")
        must(scripts / "python", "-m", "pip", "install", "--quiet", *what, cwd=tmp_path)
        return scripts

    return make


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the example, far from the checkout."""
    return Path(shutil.copytree(ROOT / "examples" / "kimi-k25-wiring", tmp_path / "project"))
