"""Every file of the catalogue is whole: valid, named after its rule, with both examples."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from eaglelint import catalog
from eaglelint.catalog import CatalogError, Rule
from eaglelint.errors import UsageError

FILES = sorted(catalog.folder().glob("*"))
WHOLE = """\
code: EGL999
slug: a-slug
severity: error
since: 0.1.0
summary: s
why: w
fix: f
examples:
  wrong:
    - files: {a.py: "x"}
      expect: [{rule: EGL999, file: a.py, line: 1}]
  right:
    - files: {a.py: "y"}
"""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_is_valid_and_named_after_its_rule(file: Path):
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    rule = TypeAdapter(Rule).validate_python(data)
    assert file.name == f"{rule.code}-{rule.slug}.yaml"
    assert list(data)[-1] == "examples"  # the head is what stands above
    assert asdict(catalog.load(rule.code)) == asdict(rule)
    assert rule.examples.wrong
    assert rule.examples.right
    assert any(want.rule == rule.code for wrong in rule.examples.wrong for want in wrong.expect)
    assert set(rule.silences) <= {f"EGL{number:03}" for number in range(1000)} - {rule.code}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(catalog, "folder", lambda: tmp_path)
    for function in (catalog.names, catalog.head, catalog.load):
        function.cache_clear()
    yield tmp_path
    for function in (catalog.names, catalog.head, catalog.load):
        function.cache_clear()


def test_a_whole_file_loads(folder: Path):
    (folder / "EGL999-a-slug.yaml").write_text(WHOLE)
    assert catalog.load("EGL999").examples.wrong[0].expect[0].line == 1
    assert catalog.enabled("EGL999")
    assert catalog.silences("EGL999") == ()


@pytest.mark.parametrize(
    "text",
    [
        WHOLE[: WHOLE.index("  right:")],
        WHOLE.replace('  wrong:\n    - files: {a.py: "x"}\n      expect: [{rule: EGL999, file: a.py, line: 1}]\n', ""),
        WHOLE[: WHOLE.index("examples:")],
    ],
)
def test_a_rule_without_both_examples_does_not_load(folder: Path, text: str):
    (folder / "EGL999-a-slug.yaml").write_text(text)
    with pytest.raises(CatalogError, match="EGL999"):
        catalog.load("EGL999")
    with pytest.raises(CatalogError, match="EGL999"):
        catalog.head("EGL999")
    with pytest.raises(ValidationError):
        TypeAdapter(Rule).validate_python(yaml.safe_load(text))


def test_an_unknown_key_does_not_load(folder: Path):
    (folder / "EGL999-a-slug.yaml").write_text(WHOLE.replace("why: w", "why: w\nwhen: w"))
    with pytest.raises(CatalogError, match="when"):
        catalog.load("EGL999")


@pytest.mark.parametrize("name", ["EGL001", "egl001", "unreadable-source", " Unreadable-Source "])
def test_a_rule_is_found_by_code_or_slug_in_any_case(name: str):
    assert catalog.resolve(name) == "EGL001"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("EGL042", "; did you mean EGL0"),
        ("unreadable-sauce", "; did you mean EGL001 (unreadable-source)?"),
        ("zzzzzzzz", "; `eaglelint rules` lists them"),
    ],
)
def test_an_unknown_rule_is_told_the_nearest(name: str, hint: str):
    with pytest.raises(UsageError) as caught:
        catalog.resolve(name)
    assert str(caught.value).startswith(f"unknown rule {name!r}{hint}")
