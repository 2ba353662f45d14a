"""The data of the package is found wherever the package lies: in a wheel, or in a checkout that nothing installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("beside", ["", "eaglelint"], ids=["checkout", "wheel"])
def test_rules_and_schemas_are_found(tmp_path: Path, beside: str):
    package = tmp_path / "eaglelint"
    for source in (ROOT / "eaglelint").rglob("*.py"):
        copy = package / source.relative_to(ROOT / "eaglelint")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)
    for name in ("rules", "schemas"):
        shutil.copytree(ROOT / name, tmp_path / beside / name)
    (tmp_path / "elsewhere").mkdir()
    program = (
        "import eaglelint, eaglelint._resources as r; print(eaglelint.__file__, r.data_root('schemas'), sep=chr(10))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}

    def python(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path / "elsewhere",
            env=environment,
            check=True,
            capture_output=True,
            encoding="utf-8",
        ).stdout

    assert python("-c", program).splitlines() == [str(package / "__init__.py"), str(tmp_path / beside / "schemas")]
    assert "EGL401  aux-layers-mismatch" in python("-m", "eaglelint", "rules")
