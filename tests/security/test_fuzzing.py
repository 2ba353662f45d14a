"""Damaged project files fail nowhere, and what once did fail does so no more (see benchmarks/fuzz_readers.py)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eaglelint.run import check
from eaglelint.settings import Settings

ROOT = Path(__file__).parents[2]
CRASHES = sorted(path for path in Path(__file__).with_name("crashes").iterdir() if path.is_file())


def fuzz(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "benchmarks/fuzz_readers.py", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")


@pytest.mark.parametrize("file", CRASHES, ids=lambda path: path.name)
def test_what_failed_once_does_not_fail_again(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    begin = time.process_time()
    assert check(["."], Settings()).tracebacks == ()
    assert time.process_time() - begin < 10


def test_no_damaged_file_fails_or_hangs():
    """EAGLELINT_FUZZ=100000 reads as many."""
    count = os.environ.get("EAGLELINT_FUZZ", "200")
    done = fuzz("--inputs", count, "--seed", "7")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(
        rf"^{count} inputs \([1-9]\d* of them checked in their projects\): 0 ways to fail$", done.stdout, re.M
    )


def test_a_reader_that_fails_is_seen(tmp_path: Path):
    failing = tmp_path / "failing.py"
    failing.write_text(
        f"import sys; sys.path[:0] = [{str(ROOT / 'benchmarks')!r}]; sys.argv = ['x', '--inputs', '40']\n"
        "import fuzz_readers, eaglelint.readers.pins as pins\n"
        "def read_pins(source): raise KeyError('planted')\n"
        "pins.read_pins = read_pins\nsys.exit(fuzz_readers.main())\n"
    )
    done = subprocess.run([sys.executable, str(failing)], cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 1
    assert "KeyError: 'planted'" in done.stdout
