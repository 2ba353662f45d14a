"""Nothing that is read runs and nothing goes over the network: with plants that would, and audit hooks that see it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hostile_trees import NAMES, plant, repository

from eaglelint.report import FORMATS
from eaglelint.tracing import FORMATS as DRAWINGS

pytestmark = pytest.mark.skipif(os.name == "nt", reason="a shell and the events of POSIX")
SCRIPT = Path(sys.executable).with_name("eaglelint")
#: Runs several command lines one after the other; what each printed and how it ended is printed as JSON.
SEVERAL = """
import contextlib, io, json, sys
from eaglelint.cli.group import run
done = []
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["eaglelint", *arguments]
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            run()
        status = 0
    except SystemExit as end:
        status = end.code
    done.append([status, out.getvalue(), err.getvalue()])
print(json.dumps(done))
"""


@dataclass
class Plants:
    """A planted project, a place for what runs to leave its mark, and a place for reports."""

    tree: Path
    marks: Path
    out: Path
    base: str

    def watched(self, *command: str, writes: tuple[Path, ...] = (), git: bool = False) -> tuple[str, list[str]]:
        """What a command prints when it runs in the project, and what it did that it must not."""
        log = self.out / "log"
        log.unlink(missing_ok=True)
        environment = {
            **os.environ, "PYTHONPATH": str(self.out / "watch"), "PYTHONDONTWRITEBYTECODE": "1", "WATCH_LOG": str(log),
            "WATCH_TREE": str(self.tree), "WATCH_WRITES": ":".join(map(str, writes)),
            "WATCH_GIT": (shutil.which("git") or "") if git else "", "PYTHONSAFEPATH": "",
        }  # fmt: skip
        done = subprocess.run(command, cwd=self.tree, env=environment, capture_output=True, encoding="utf-8")
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout, log.read_text().splitlines() if log.exists() else ["it was not watched"]

    def several(
        self, *commands: list[str], writes: tuple[Path, ...] = (), git: bool = False
    ) -> tuple[list[tuple[int, str, str]], list[str]]:
        """The same for several command lines of eaglelint: how each ended and what it printed."""
        command = (sys.executable, str(self.out / "several.py"), json.dumps(commands))
        printed, log = self.watched(*command, writes=writes, git=git)
        return [tuple(entry) for entry in json.loads(printed)], log

    def ran(self) -> list[str]:
        """The plants that ran."""
        return sorted(file.name for file in self.marks.iterdir())


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Plants:
    place = tmp_path_factory.mktemp("planted")
    made = Plants(place / "tree", place / "marks", place / "out", "")
    (made.out / "watch").mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("watched_start.py"), made.out / "watch" / "sitecustomize.py")
    (made.out / "several.py").write_text(SEVERAL)
    plant(made.tree, made.marks)
    made.base = repository(made.tree, made.marks)
    return made


@pytest.fixture
def plants(planted: Plants) -> Plants:
    for file in planted.marks.iterdir():
        file.unlink()
    return planted


READING = [
    *(["check", ".", "--format", format_] for format_ in FORMATS),
    ["check", ".", "--fix", "--unsafe-fixes", "--diff"],
    *(["trace", ".", "--format", format_] for format_ in DRAWINGS),
    ["inspect", "head"],
    ["derive", "."],
    ["derive", "models/engine"],
    ["fingerprint", "data", "head/pytorch_model.bin"],
    ["init", "--dry-run"],
    ["convert", "2,18,33", "--from", "sglang", "--to", "vllm", "--depth", "36"],
    ["config", "."],
]


def test_no_command_runs_writes_or_connects(plants: Plants):
    done, log = plants.several(*READING)
    assert log == []
    assert plants.ran() == []
    assert [status for status, _, _ in done if status not in (0, 1, 2)] == []
    check, *_ = done
    assert "EGL" in check[1]  # it did read the project
    assert "internal error" not in "".join(out + err for _, out, err in done)


def test_the_base_of_a_change_is_asked_of_git_alone(plants: Plants):
    done, log = plants.several(
        ["check", ".", "--diff-base", plants.base], ["check", ".", "--diff-base", "HEAD"], git=True
    )
    assert log == []
    assert plants.ran() == []
    assert {status for status, _, _ in done} <= {0, 1}, done


def test_reports_and_fixes_write_what_they_name_and_nothing_else(plants: Plants, tmp_path: Path):
    copy = Plants(tmp_path / "tree", plants.marks, plants.out, "")
    shutil.copytree(plants.tree, copy.tree, symlinks=True)
    before = {path: path.read_bytes() for path in copy.tree.rglob("*") if path.is_file()}
    reports = [word for format_ in FORMATS for word in ("--output", f"{format_}={plants.out / format_}")]
    done, log = copy.several(["check", ".", "--fix", "--unsafe-fixes", *reports], writes=(copy.tree, plants.out))
    assert log == []
    assert plants.ran() == []
    assert done[0][0] in (0, 1), done
    after = {path: path.read_bytes() for path in copy.tree.rglob("*") if path.is_file()}
    assert after.keys() == before.keys()
    changed = {str(path.relative_to(copy.tree)) for path in before if before[path] != after[path]}
    assert changed
    assert changed <= {"serve.sh", "dump.py", "head/config.json"}
    assert all((plants.out / format_).stat().st_size for format_ in FORMATS)


def test_the_module_takes_no_module_from_the_folder_that_is_checked(plants: Plants):
    # What Python itself imports before it comes to the module that -m names: nothing can be done about it there.
    start = [sys.executable, "-c", "import runpy, sys; print(*{name.partition('.')[0] for name in sys.modules})"]
    names = set(subprocess.run(start, capture_output=True, encoding="utf-8").stdout.split()) & set(NAMES)
    assert "click" not in names
    for name in names:
        (plants.tree / f"{name}.py").rename(plants.out / name)
    try:
        printed, log = plants.watched(sys.executable, "-m", "eaglelint", "check", "--format", "json", "--exit-zero")
    finally:
        for name in names:
            (plants.out / name).rename(plants.tree / f"{name}.py")
    assert log == []
    assert plants.ran() == []
    assert json.loads(printed)["findings"]


@pytest.mark.skipif(not SCRIPT.exists(), reason="the console script is not installed")
def test_the_script_takes_no_module_from_the_folder_that_is_checked(plants: Plants):
    printed, log = plants.watched(str(SCRIPT), "check", "--format", "json", "--exit-zero")
    assert log == []
    assert plants.ran() == []
    assert json.loads(printed)["findings"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="-P is of Python 3.11")
def test_a_folder_named_eaglelint_is_no_danger_with_a_safe_path(plants: Plants):
    file = plants.tree / "eaglelint.py"
    file.write_text((plants.tree / "json.py").read_text())
    try:
        for option in ("-P", "-I"):
            done = subprocess.run([sys.executable, option, "-m", "eaglelint", "--version"], cwd=plants.tree)
            assert done.returncode == 0
        assert plants.ran() == []
    finally:
        file.unlink()


def test_the_plants_run_where_something_runs_them(plants: Plants):
    """Without this, the tests above could pass because nothing was planted."""
    without = "import sys; sys.path.remove(''); "
    plants.watched(sys.executable, "-c", "import yaml, libcst, planted")
    _, log = plants.watched(sys.executable, "-c", "import planted, os; os.system('true')")
    assert any(line.startswith("exec") for line in log)
    assert any(line.startswith("open") for line in log)
    assert any(line.startswith("os.system") for line in log)
    connecting = f"{without}import socket\ntry: socket.socket()\nexcept RuntimeError: pass"
    _, log = plants.watched(sys.executable, "-c", connecting)
    assert log[0].startswith("socket.__new__")
    subprocess.run(["bash", "serve.sh"], cwd=plants.tree, capture_output=True)
    subprocess.run(["git", "status"], cwd=plants.tree, capture_output=True)
    unpickling = f"{without}import pickle; pickle.load(open('data/states.pt', 'rb'))"
    subprocess.run([sys.executable, "-c", unpickling], cwd=plants.tree)
    wanted = {"module-yaml", "package-libcst", "remote-code", "substitution", "backticks", "eval", "sourced", "pickle"}
    assert wanted <= set(plants.ran())
    assert any(name.startswith("git-") for name in plants.ran())
