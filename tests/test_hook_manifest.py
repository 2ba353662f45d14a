"""The pre-commit hook runs once over the project, whenever a file changes that eaglelint would read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from identify.identify import tags_from_filename

from eaglelint.kinds import kind_of

[HOOK] = yaml.safe_load((Path(__file__).parents[1] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))

READ = [
    "extract.py",
    "patches/apply_dump.PY",
    "notebooks/train.ipynb",
    "dump.patch",
    "a/b/fix.diff",
    "drafter/config.json",
    "compose.yaml",
    ".github/workflows/ci.yml",
    "pyproject.toml",
    "serve.sh",
    "jobs/train.slurm",
    "jobs/train.sbatch",
    "Dockerfile",
    "docker/Dockerfile.cuda",
    "serve.dockerfile",
    "Containerfile",
    "requirements.txt",
    "requirements-serve.txt",
    "requirements/serve.txt",
    "dev-requirements.in",
    "constraints.txt",
    "Makefile",
    "rules.mk",
    "units/sglang.service",
    "README.md",
    "serve.env",
    ".env",
    ".env.local",
    "uv.lock",
    "setup.cfg",
    "drafter/model.safetensors",
    "data/sample_0.pt",
    "größe/層.py",
]
NOT_READ = [
    "main.c",
    "notes.txt",
    "image.png",
    "data.jsonl",
    "module.pyc",
    "script.pyx",
    "a.json.gz",
    "patchwork",
    "Dockerfiles",
    "makefile.old",
    "requirements.xlsx",
    "environment",
    "shell",
    "py",
]


@pytest.mark.parametrize("name", READ)
def test_a_file_that_is_read_starts_the_hook(name: str):
    assert re.search(HOOK["files"], name)
    assert kind_of(name)


@pytest.mark.parametrize("name", NOT_READ)
def test_other_files_do_not(name: str):
    assert not re.search(HOOK["files"], name)
    assert not kind_of(name)


@pytest.mark.parametrize("name", READ)
def test_the_hook_is_not_narrowed_by_types(name: str):
    types = set(HOOK.get("types", ["file"])) - {"file"}
    assert types <= tags_from_filename(name)


def test_the_project_is_looked_at_as_a_whole_and_once():
    assert HOOK["id"] == "eaglelint"
    assert HOOK["entry"] == "eaglelint check"
    assert HOOK["pass_filenames"] is False
    assert HOOK["require_serial"] is True
    assert "always_run" not in HOOK
