"""The kind of a file follows from its name, or from the first line of a script without an ending."""

from __future__ import annotations

import pytest

from eaglelint.kinds import kind_of, kind_of_script


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/train.py", "python"),
        ("serve.sh", "shell"),
        ("jobs/kimi.sbatch", "shell"),
        ("jobs/kimi.SLURM", "shell"),
        ("drafter/config.json", "json"),
        ("Pipfile.lock", "json"),
        ("docker-compose.yml", "yaml"),
        ("k8s/pod.yaml", "yaml"),
        ("uv.lock", "toml"),
        ("poetry.lock", "toml"),
        ("Pipfile", "toml"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.cuda12", "dockerfile"),
        ("docker/serve.Dockerfile", "dockerfile"),
        ("Containerfile", "dockerfile"),
        ("requirements.txt", "requirements"),
        ("requirements-serve.txt", "requirements"),
        ("dev-requirements.in", "requirements"),
        ("requirements.lock", "requirements"),
        ("constraints.txt", "requirements"),
        ("requirements/serve.txt", "requirements"),
        ("fix.patch", "patch"),
        ("fix.diff", "patch"),
        ("run.ipynb", "notebook"),
        ("README.md", "markdown"),
        ("Makefile", "makefile"),
        ("rules.mk", "makefile"),
        ("sglang.service", "systemd"),
        (".env", "text"),
        ("prod.env", "text"),
        ("setup.cfg", "text"),
        ("drafter/model.safetensors", "binary"),
        ("data/sample_0.pt", "binary"),
        ("Dockerfile.md", "markdown"),
        ("dockerfile.py", "python"),
        ("run", ""),
    ],
)
def test_names(path: str, kind: str) -> None:
    assert kind_of(path) == kind


@pytest.mark.parametrize(
    "path",
    [
        "notes.txt",
        "data/chats.jsonl",
        "drafter/tokenizer.json",
        "logo.png",
        ".vscode/launch.json",
        ".devcontainer/devcontainer.json",
        ".gitignore",
        "Dockerfile.dockerignore",
        ".dockerignore",
        "requirements.py.bak",
    ],
)
def test_names_that_nothing_is_read_from(path: str) -> None:
    assert kind_of(path) is None


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"#!/bin/bash\necho", "shell"),
        (b"#!/usr/bin/env bash\n", "shell"),
        (b"#! /bin/sh -e\n", "shell"),
        (b"#!/usr/bin/env python3\n", "python"),
        (b"#!/usr/bin/python3.11 -u\n", "python"),
        (b"#!/usr/bin/env -S uv run --script\n", "python"),
        (b"#!/usr/bin/env -S PYTHONPATH=. python\n", "python"),
        (b"#!/usr/bin/perl\n", None),
        (b"#!/usr/bin/env -S uv tool\n", None),
        (b"bash\n", None),
        (b"", None),
    ],
)
def test_first_lines_of_scripts(line: bytes, kind: str | None) -> None:
    assert kind_of_script(line) == kind
