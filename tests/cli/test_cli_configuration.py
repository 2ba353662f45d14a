"""`eaglelint config`, `schema` and `completion`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from eaglelint.cli.group import cli
from eaglelint.configuration import load

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONFIG = """\
select = ["EGL4"]
fail-on = "error"

[engines]
sglang = "0.5.9"

[per-file-ignores]
"old_dumps/**" = ["EGL501"]

[[pipeline]]
drafter = "head"
capture = ["tools/dump_*.py"]
"""


def run(*arguments: str) -> str:
    done = CliRunner().invoke(cli, list(arguments))
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("name", ["eaglelint.toml", "pyproject.toml"])
def test_config_names_the_line_of_each_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.chdir(tmp_path)
    text = CONFIG
    if name == "pyproject.toml":
        text = CONFIG.replace("[[", "[[tool.eaglelint.").replace("\n[e", "\n[tool.eaglelint.e")
        text = "[tool.eaglelint]\n" + text.replace("\n[p", "\n[tool.eaglelint.p")
    Path(name).write_text(text)
    shown = run("config")
    first = 1 if name == "eaglelint.toml" else 2
    assert f'select = ["EGL4"]  # {name}:{first}' in shown
    assert f'engines = {{ sglang = "0.5.9" }}  # {name}:{first + 3}' in shown
    assert "# ignore is not set" in shown


def test_what_config_shows_is_a_configuration_that_means_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("eaglelint.toml").write_text(CONFIG)
    shown, before = run("config"), load(["."])
    assert tomllib.loads(shown)["per-file-ignores"] == {"old_dumps/**": ["EGL501"]}
    Path("eaglelint.toml").write_text(shown)
    assert load(["."]) == before


def test_config_without_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    assert run("config").startswith("# no configuration file: the defaults hold\n")
    assert json.loads(run("config", "--format", "json"))["file"] is None


def test_every_schema_is_listed_and_printed():
    names = [line.split()[0] for line in run("schema").splitlines()]
    assert {"settings", "report", "drafter-sglang"} <= set(names)
    for name in names:
        Draft202012Validator.check_schema(json.loads(run("schema", name)))


def test_an_unknown_schema_is_told_the_nearest():
    done = CliRunner().invoke(cli, ["schema", "setings"])
    assert done.exit_code == 2
    assert "did you mean 'settings'?" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, monkeypatch: pytest.MonkeyPatch):
    assert "_EAGLELINT_COMPLETE" in run("completion", shell)


def test_bash_completes_commands(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("_EAGLELINT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "eaglelint ch")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit):
        cli(prog_name="eaglelint")
    assert capsys.readouterr().out.splitlines() == ["plain,check"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[target]\npath = "nowhere"\n', "eaglelint.toml:2: there is no 'nowhere'"),
        ('[[pipeline]]\ndrafter = "drafte"\n', "eaglelint.toml:2: there is no 'drafte'"),
        (
            '[[pipeline]]\ndrafter = "head"\ncapture = ["dump_hiden.py"]\n',
            "eaglelint.toml:3: no file matches 'dump_hiden.py'; did you mean 'dump_hidden.py'?",
        ),
        ('[[pipeline]]\ndrafter = "head"\nlaunch = ["jobs/*.sh"]\n', "eaglelint.toml:3: no file matches 'jobs/*.sh'"),
    ],
)
def test_files_that_are_named_and_not_there_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str
):
    monkeypatch.chdir(tmp_path)
    Path("head").mkdir()
    Path("head/config.json").write_text("{}")
    Path("dump_hidden.py").write_text("")
    Path("eaglelint.toml").write_text(text)
    done = CliRunner().invoke(cli, ["check"])
    assert done.exit_code == 2
    assert told in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        '[[pipeline]]\ndrafter = "head"\ncapture = ["dump_hidden.py", "tools/"]\n',
        '[[pipeline]]\ndrafter = "nvidia/gpt-oss-120b-Eagle3-v3"\n',
        '[target]\npath = "/models/of/another/machine"\n',
    ],
)
def test_files_that_are_there_or_elsewhere_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str):
    monkeypatch.chdir(tmp_path)
    Path("head").mkdir()
    Path("head/config.json").write_text("{}")
    Path("tools/deep").mkdir(parents=True)
    Path("tools/deep/dump_hidden.py").write_text("")
    Path("eaglelint.toml").write_text(text)
    assert CliRunner().invoke(cli, ["check"]).exit_code == 0
