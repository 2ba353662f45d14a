"""Damaged and hostile files of tensors do no harm. EAGLELINT_HOSTILE_FILES=100000 reads as many (two minutes)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_damaged_file_crashes_runs_or_fills_anything():
    count = int(os.environ.get("EAGLELINT_HOSTILE_FILES", "1500"))
    command = [sys.executable, "benchmarks/hostile_files.py", "--files", str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"^{count} damaged files: [1-9]\d* read, [1-9]\d* refused$", done.stdout, re.MULTILINE)
    assert "crashes: 0; imports, calls and files opened: 0" in done.stdout
    assert re.search(r"^\d+ bombs: slowest 0\.\d+ s", done.stdout, re.MULTILINE)
    assert not (ROOT / "eaglelint-was-here").exists()
