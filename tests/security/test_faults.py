"""A full disk, a tree that is write-protected, a run that is killed, two at once: nothing is lost, nothing is half."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eaglelint import catalog

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and limits of POSIX")
#: Runs eaglelint, stopping for good or failing when a function of os is called; its name and number are arguments.
AT = """
import os, signal, sys
name, number, how = sys.argv[1], int(sys.argv[2]), sys.argv[3]
real = getattr(os, name)
calls = 0

def injected(*arguments, **keywords):
    global calls
    calls += 1
    if calls == number:
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(28, "No space left on device")
    return real(*arguments, **keywords)

from eaglelint.cli.group import run
import tempfile
setattr(os, name, injected)
sys.argv = ["eaglelint", *sys.argv[4:]]
run()
"""
FIX = ("check", ".", "--fix", "--unsafe-fixes", "--exit-zero")


def write(folder: Path) -> Path:
    """Projects with something to fix in several files."""
    for code in ("EGL401", "EGL501", "EGL301"):
        for path, text in catalog.load(code).examples.wrong[0].files.items():
            file = folder / code / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write(tmp_path)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", AT, *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def after(folder: Path, *arguments: str) -> tuple[int, str]:
    process = start(folder, *arguments)
    _, err = process.communicate()
    return process.returncode, err.decode()


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files as they are when nothing goes wrong."""
    copy = write(tmp_path_factory.mktemp("copy"))
    before = contents(copy)
    status, err = after(copy, "umask", "99", "killed", *FIX)
    assert status == 0, err
    made = contents(copy)
    assert sum(made[name] != data for name, data in before.items()) >= 2
    return made


def whole(folder: Path, before: dict[str, bytes], fixed: dict[str, bytes]) -> int:
    """How many files are the fixed ones; each is that or the old one, to the byte."""
    now = contents(folder)
    assert {name for name in now if not name.endswith(".tmp")} == set(before)
    assert all(now[name] in (before[name], fixed[name]) for name in before)
    return sum(now[name] == fixed[name] != before[name] for name in before)


@pytest.mark.parametrize(("function", "number"), [("replace", 1), ("replace", 2), ("fsync", 1)])
def test_a_run_that_is_killed_leaves_old_files_or_new_ones(
    tree: Path, fixed: dict[str, bytes], function: str, number: int
):
    before = contents(tree)
    status, _ = after(tree, function, str(number), "killed", *FIX)
    assert status == -signal.SIGKILL
    assert whole(tree, before, fixed) == number - 1
    status, err = after(tree, "umask", "99", "killed", *FIX)
    assert status == 0, err
    assert {name: data for name, data in contents(tree).items() if not name.endswith(".tmp")} == fixed


@pytest.mark.parametrize("function", ["replace", "fsync", "chmod"])
def test_a_full_disk_is_said_and_costs_no_file(tree: Path, fixed: dict[str, bytes], function: str):
    before = contents(tree)
    status, err = after(tree, function, "1", "full", *FIX)
    assert status == 2
    assert "no space left on device" in err
    assert "Traceback" not in err
    assert whole(tree, before, fixed) >= 1  # the others are written all the same
    assert not [name for name in contents(tree) if name.endswith(".tmp")]


def test_a_report_on_a_full_disk_is_no_half_report(tree: Path):
    report = tree / "report.json"
    report.write_text("{}")
    status, err = after(tree, "fsync", "1", "full", "check", ".", "--output", "json=report.json")
    assert status == 2
    assert "can not write report.json: no space left on device" in err
    assert report.read_text() == "{}"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("command", ["check .", "trace .", "inspect EGL401/head", "init --dry-run"])
def test_standard_output_that_is_full_is_an_error_without_a_traceback(tree: Path, command: str):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "eaglelint", *command.split()], cwd=tree, stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert b"no space left on device" in done.stderr.lower()


def test_a_reader_that_goes_away_is_no_error(tree: Path):
    command = f"{sys.executable} -m eaglelint check . --format json | head -c 10"
    done = subprocess.run(["bash", "-c", command], cwd=tree, capture_output=True)
    assert done.stderr == b""


def test_files_that_can_not_be_written_are_named(tree: Path):
    before = contents(tree)
    for name in before:
        (tree / name).chmod(0o444)
    if os.access(next(iter(tree / name for name in before)), os.W_OK):
        # The superuser may write everything; that a folder takes no new file has to do.
        status, err = after(tree, "open", "1", "full", *FIX)
    else:
        status, err = after(tree, "umask", "99", "killed", *FIX)
        assert "write-protected" in err
    assert "Traceback" not in err
    assert status in (0, 2)


def test_two_runs_at_once_do_each_others_work_no_harm(tree: Path, fixed: dict[str, bytes]):
    before = contents(tree)
    runs = [start(tree, "umask", "99", "killed", *FIX) for _ in range(2)]
    for run in runs:
        _, err = run.communicate()
        assert run.returncode in (0, 2), err
        assert b"Traceback" not in err
    now = contents(tree)
    assert now == fixed
    assert now.keys() == before.keys()


def test_an_interrupted_run_says_so(tree: Path):
    process = subprocess.Popen(
        [sys.executable, "-c", "import time\nfrom eaglelint.cli import group\nfrom eaglelint import run\n"
         "run.check = lambda *a: (print('ready', flush=True), time.sleep(60))\n"
         "import sys; sys.argv = ['eaglelint', 'check']; group.run()"],
        cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in err
