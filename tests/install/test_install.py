"""Installed from a wheel, an sdist or a checkout, and run as a hook, eaglelint finds its data and does its work."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from installing import Distributions, commit, git, must, run

pytestmark = pytest.mark.packaging
Environment = Callable[..., Path]


def works(scripts: Path, project: Path) -> None:
    """The commands of an environment do what they do in the checkout."""
    rules = must(scripts / "eaglelint", "rules", cwd=project.parent)
    assert "EGL401  aux-layers-mismatch" in rules
    done = run(scripts / "eaglelint", "check", "project", cwd=project.parent)
    assert done.returncode == 1, done.stderr
    assert "project/drafter/config.json:18:41 error EGL401" in done.stdout
    assert done.stdout.count(" EGL501 ") == 3
    schemas = "from eaglelint._resources import data_root as d; print(*sorted(f.name for f in d('schemas').iterdir()))"
    assert "report.schema.json" in must(scripts / "python", "-c", schemas, cwd=project.parent)
    must(scripts / "python", "-m", "pip", "check", cwd=project.parent)


def data_files(folder: Path) -> set[str]:
    return {
        file.relative_to(folder).as_posix() for name in ("rules", "schemas") for file in (folder / name).rglob("*.*")
    }


def test_the_wheel_holds_the_package_and_its_data_and_nothing_else(distributions: Distributions, snapshot: Path):
    with zipfile.ZipFile(distributions.wheel) as wheel:
        names = {name for name in wheel.namelist() if not name.endswith("/")}
    inside = {name.removeprefix("eaglelint/") for name in names}
    assert {name for name in inside if name.startswith(("rules/", "schemas/"))} == data_files(snapshot)
    assert {"eaglelint/py.typed", "eaglelint/cli/check.py"} <= names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"eaglelint"}


def test_the_sdist_holds_what_the_tests_need(distributions: Distributions, snapshot: Path):
    with tarfile.open(distributions.sdist) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert data_files(snapshot) <= names
    for name in ("tests/conftest.py", "examples/kimi-k25-wiring/serve.sh", "benchmarks/startup.py", "Makefile"):
        assert name in names
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", ".pre-commit-hooks.yaml"):
        assert name in names


def test_the_wheel(distributions: Distributions, environment: Environment, project: Path):
    works(environment(distributions.wheel), project)


def test_the_sdist(distributions: Distributions, environment: Environment, project: Path):
    works(environment(distributions.sdist), project)


def test_an_editable_install_of_a_checkout(snapshot: Path, environment: Environment, project: Path):
    scripts = environment("--editable", snapshot)
    works(scripts, project)
    where = must(scripts / "python", "-c", "import eaglelint; print(eaglelint.__file__)", cwd=project)
    assert Path(where.strip()).parent == snapshot / "eaglelint"


def test_the_hook_runs_over_the_whole_project_when_a_file_that_matters_changes(
    snapshot: Path, project: Path, tmp_path: Path
):
    commit(project)
    home = {"PRE_COMMIT_HOME": str(tmp_path / "pre-commit")}
    hook = (sys.executable, "-m", "pre_commit", "try-repo", snapshot, "eaglelint", "--verbose")

    script = project / "serve.sh"
    script.write_text(script.read_text() + "# another line\n")
    git("add", "serve.sh", cwd=project)
    done = run(*hook, cwd=project, env=home)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "drafter/config.json:18:41 error EGL401" in done.stdout  # although only serve.sh was staged
    assert done.stdout.count("EGL401 aux-layers-mismatch") == 1

    git("commit", "--quiet", "--message", "more", cwd=project)
    (project / "notes.txt").write_text("nothing to read here\n")
    git("add", "notes.txt", cwd=project)
    done = run(*hook, cwd=project, env=home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(no files to check)" in done.stdout
