"""Paths that name each other."""

from __future__ import annotations

import pytest

from eaglelint.linking import paths


@pytest.mark.parametrize(
    ("value", "source", "folders", "found"),
    [
        ("./draft", "serve.sh", ["draft", "target"], "draft"),
        ("draft/", "serve.sh", ["draft"], "draft"),
        ("draft", "scripts/serve.sh", ["draft"], "draft"),
        ("../out/head", "serve/compose.yaml", ["out/head"], "out/head"),
        ("draft", "a/serve.sh", ["draft", "a/draft"], "a/draft"),
        ("head/config.json", "run.sh", ["head"], "head"),
        ("/models/kimi-head", "compose.yaml", ["ckpts/kimi-head", "ckpts/other"], "ckpts/kimi-head"),
        ("/models/head", "compose.yaml", ["a/head", "b/head"], None),
        ("/mnt/b/head", "compose.yaml", ["a/head", "b/head"], "b/head"),
        ("/models/draft", "compose.yaml", ["outputs/run1"], None),
        ("s3://bucket/head", "serve.sh", ["head"], None),
        ("", "serve.sh", ["head"], None),
        (".", "head/serve.sh", ["head"], "head"),
    ],
)
def test_resolve(value: str, source: str, folders: list[str], found: str | None):
    assert paths.resolve(value, source, folders) == found


@pytest.mark.parametrize(
    ("value", "hub"),
    [
        ("org/some-head", True),
        ("nvidia/gpt-oss-120b-Eagle3-v3", True),
        ("outputs/some-head", False),
        ("./org/some-head", False),
        ("/org/some-head", False),
        ("some-head", False),
        ("a/b/c", False),
    ],
)
def test_hub_ids(value: str, hub: bool):
    assert paths.is_hub_id(value) is hub


def test_an_owner_that_is_a_folder_of_the_project_is_a_path():
    assert not paths.is_hub_id("mine/head", ["mine/other"])


@pytest.mark.parametrize(
    ("value", "mounts", "outside"),
    [
        ("/models/draft", [("../out/run7", "/models/draft")], "../out/run7"),
        ("/models/draft/best", [("./ckpts", "/models"), ("../out", "/models/draft")], "../out/best"),
        ("/models/draft", [("./out", "/data")], "/models/draft"),
        ("draft", [("./out", "draft")], "draft"),
    ],
)
def test_a_path_inside_a_container(value: str, mounts: list[tuple[str, str]], outside: str):
    assert paths.through(value, mounts) == outside


def test_the_nearest_folder_shares_most_with_the_file():
    folders = ["exp/a/head", "exp/b/head"]
    assert paths.nearest("exp/a/dump.py", folders) == ["exp/a/head"]
    assert paths.nearest("dump.py", folders) == folders
