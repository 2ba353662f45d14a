"""The pages: commands print what is shown, links lead somewhere, generated pages are whole, and the site builds."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from eaglelint import catalog
from eaglelint.configuration import load

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md"))
#: Pages whose commands have a test of their own.
OWN_TEST = {"output.md", "fingerprint.md"}


def _site() -> Any:
    spec = importlib.util.spec_from_file_location("eaglelint_docs_site", DOCS / "site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    made: dict[str, str] = _site().pages()
    return made


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def sessions() -> list[Any]:
    found = []
    for page in sorted(set(PAGES) - OWN_TEST):
        for block in blocks((DOCS / page).read_text(encoding="utf-8"), "console"):
            for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, want = session.partition("\n")
                found.append(pytest.param(command, want, id=f"{page}: {command[:60]}"))
    return found


@pytest.mark.parametrize(("command", "want"), sessions())
def test_a_command_prints_what_is_shown(command: str, want: str):
    name, *arguments = shlex.split(command)
    assert name == "eaglelint"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "FORCE_"))}
    got = subprocess.run(
        [sys.executable, "-m", "eaglelint", *arguments],
        cwd=ROOT, env={**clean, "NO_COLOR": "1"}, capture_output=True, encoding="utf-8",
    ).stdout  # fmt: skip
    checker, example = doctest.OutputChecker(), doctest.Example(command, want)
    assert checker.check_output(want, got, doctest.ELLIPSIS), checker.output_difference(example, got, doctest.ELLIPSIS)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_pages(page: str, generated: dict[str, str]):
    text = (DOCS / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text):
        assert target in generated or (DOCS / target).exists(), target


def test_every_page_is_in_the_navigation(generated: dict[str, str]):
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))

    def named(entries: list[Any]) -> list[str]:
        found: list[str] = []
        for entry in entries:
            found += [entry] if isinstance(entry, str) else [page for part in entry.values() for page in named(part)]
        return found

    pages = named(config["nav"])
    assert set(PAGES) <= set(pages)
    assert all((DOCS / page).exists() or page in generated for page in pages)


def test_there_is_a_page_for_each_rule_with_its_examples(generated: dict[str, str]):
    for code in catalog.names():
        page = generated[f"rules/{code}.md"]
        assert page.startswith(f"# {code} {catalog.slug(code)}\n")
        for example in (*catalog.load(code).examples.wrong, *catalog.load(code).examples.right):
            assert all(text.rstrip("\n") in page for text in example.files.values())
        assert f"[{code}]({code}.md)" in generated["rules/index.md"]


def test_engines_and_trainers_have_their_evidence(generated: dict[str, str]):
    assert "id i is the output of layer i" in generated["engines/sglang.md"].lower()
    assert "evidence: `" in generated["engines/vllm.md"]
    assert "engines/specforge.md" in generated


@pytest.mark.parametrize("text", blocks("\n".join(_site().pages()["configuration.md"].splitlines()), "toml"))
def test_the_configuration_is_valid(tmp_path: Path, text: str):
    (tmp_path / "eaglelint.toml").write_text(text, encoding="utf-8")
    assert load([str(tmp_path)]).file


@pytest.mark.parametrize("text", blocks((DOCS / "integrations.md").read_text(encoding="utf-8"), "yaml"))
def test_yaml_on_the_page_of_integrations_is_valid(text: str):
    value = yaml.safe_load(text)
    if "jobs" in value:
        (use,) = [step for step in value["jobs"]["eaglelint"]["steps"] if "eaglelint" in step["uses"]]
        inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
        assert set(use["with"]) <= set(inputs)


@pytest.mark.skipif(importlib.util.find_spec("material") is None, reason="needs mkdocs-material")
def test_the_site_builds_without_a_warning(tmp_path: Path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site/rules/EGL401.html").exists()
    shutil.rmtree(tmp_path / "site")
