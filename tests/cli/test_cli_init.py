"""`eaglelint init`: what it shows is what it writes, and nothing that is there is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from eaglelint.cli.init import command
from eaglelint.configuration import load

SERVE = """\
python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --speculative-algorithm EAGLE3 \\
  --speculative-draft-model-path ./head
"""
HEAD = '{"architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 32000}'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "head").mkdir()
    (tmp_path / "head/config.json").write_text(HEAD)
    (tmp_path / "serve.sh").write_text(SERVE)
    return tmp_path


def run(*arguments: str, answers: str = "") -> Result:
    return CliRunner().invoke(command, list(arguments), input=answers)


def test_everything_is_written_and_valid(project: Path):
    done = run("--yes")
    assert done.exit_code == 0
    assert "drafter head: how it was trained is not known, served by SGLang of any release" in done.output
    assert load(["."]).file == "eaglelint.toml"
    assert '# sglang = "X.Y.Z"' in (project / "eaglelint.toml").read_text()
    assert '# drafter = "head"' in (project / "eaglelint.toml").read_text()
    hooks = yaml.safe_load((project / ".pre-commit-config.yaml").read_text())
    assert hooks["repos"][0]["hooks"][0]["entry"] == "eaglelint check"
    workflow = yaml.safe_load((project / ".github/workflows/eaglelint.yml").read_text())
    assert workflow["jobs"]["eaglelint"]["steps"][-1]["run"] == "eaglelint check --format github"
    again = run("--yes")
    assert "wrote" not in again.output


def test_nothing_is_written_without_a_yes(project: Path):
    before = sorted(project.rglob("*"))
    assert run(answers="n\nn\nn\n").exit_code == 0
    assert run("--dry-run").exit_code == 0
    assert sorted(project.rglob("*")) == before
    run(answers="n\ny\nn\n")
    assert (project / ".pre-commit-config.yaml").exists()
    assert not (project / "eaglelint.toml").exists()


def test_the_hook_joins_those_that_are_there(project: Path):
    before = "# our hooks\nrepos:\n- repo: https://example.org/x\n  rev: v1\n  hooks:\n  - id: x  # keep\n"
    (project / ".pre-commit-config.yaml").write_text(before)
    run("--yes")
    after = (project / ".pre-commit-config.yaml").read_text()
    assert after.startswith(before)
    assert [repo["hooks"][0]["id"] for repo in yaml.safe_load(after)["repos"]] == ["x", "eaglelint"]


def test_a_hook_file_that_ends_otherwise_is_left_alone(project: Path):
    before = "repos:\n- repo: local\n  hooks: []\nfail_fast: true\n"
    (project / ".pre-commit-config.yaml").write_text(before)
    done = run("--yes")
    assert (project / ".pre-commit-config.yaml").read_text() == before
    assert "add the hook by hand" in done.output
    assert "id: eaglelint" in done.output


def test_a_configuration_in_pyproject_stays_the_one(project: Path):
    (project / "pyproject.toml").write_text('[tool.eaglelint]\nignore = ["EGL503"]\n')
    assert "eaglelint.toml: pyproject.toml has [tool.eaglelint]" in run("--yes").output
    assert not (project / "eaglelint.toml").exists()
