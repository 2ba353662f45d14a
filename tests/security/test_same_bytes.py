"""The same tree gives the same bytes: whatever the file system's order, the hash seed, the locale, the terminal."""

from __future__ import annotations

import locale
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eaglelint import catalog

EXAMPLE = Path(__file__).parents[2] / "examples" / "kimi-k25-wiring"
#: Lists folders in another order each time, then runs the command lines that are separated by "--".
SHUFFLED = """
import contextlib, io, os, random, sys
real = os.scandir
order = random.Random(int(sys.argv[1]))

class Shuffled:
    def __init__(self, *arguments):
        with real(*arguments) as found:
            self.entries = list(found)
        order.shuffle(self.entries)
    def __enter__(self): return self
    def __exit__(self, *_): return None
    def __iter__(self): return iter(self.entries)
    def __next__(self): return self.entries.pop()
    def close(self): pass

def listdir(*arguments):
    found = real_listdir(*arguments)
    order.shuffle(found)
    return found

real_listdir = os.listdir
if order.random() >= 0:
    os.scandir, os.listdir = Shuffled, listdir
from eaglelint.cli.group import run
command = []
for word in [*sys.argv[2:], "--"]:
    if word != "--":
        command.append(word)
        continue
    sys.argv, command = ["eaglelint", *command], []
    try:
        run()
    except SystemExit as end:
        print(end.code)
    sys.stdout.flush()
"""
COMMANDS = (
    """
check . --format json
check . --format text --color never
check . --unsafe-fixes --diff
trace . --color never
trace . --format html
init --dry-run
""".strip()
    .replace("\n", " -- ")
    .split()
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Several projects in one, so that there is an order to get wrong."""
    folder = tmp_path_factory.mktemp("several")
    shutil.copytree(EXAMPLE, folder / "kimi")
    for code in ("EGL401", "EGL501"):
        for path, text in catalog.load(code).examples.wrong[0].files.items():
            file = folder / code / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return folder


def printed(folder: Path, order: int, **environment: str) -> bytes:
    """Everything that the commands print in a folder."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    command = [sys.executable, "-c", SHUFFLED, str(order), *COMMANDS]
    set_ = {**plain, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100", **environment}
    done = subprocess.run(command, cwd=folder, env=set_, capture_output=True, check=True)
    assert b"EGL401" in done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def expected(project: Path) -> bytes:
    return printed(project, 0, PYTHONHASHSEED="0", LC_ALL="C.UTF-8")


def _turkish() -> str:
    for name in ("tr_TR.UTF-8", "tr_TR.utf8", "tr_TR"):
        try:
            before = locale.setlocale(locale.LC_ALL)
            locale.setlocale(locale.LC_ALL, name)
            locale.setlocale(locale.LC_ALL, before)
        except locale.Error:
            continue
        return name
    return "C"


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"PYTHONHASHSEED": "1", "LC_ALL": "C", "TERM": "dumb", "NO_COLOR": "1"}, id="plain"),
        pytest.param({"PYTHONHASHSEED": "77", "LC_ALL": _turkish(), "TZ": "Asia/Kathmandu", "CI": "1"}, id="elsewhere"),
    ],
)
def test_the_same_tree_gives_the_same_bytes(project: Path, expected: bytes, environment: dict[str, str]):
    assert printed(project, int(environment["PYTHONHASHSEED"]), **environment) == expected


def test_where_a_project_lies_makes_no_difference(project: Path, expected: bytes, tmp_path: Path):
    copy = tmp_path / "ğ 'x' [y]"
    shutil.copytree(project, copy)
    assert printed(copy, 5, PYTHONHASHSEED="5", LC_ALL="C.UTF-8") == expected
