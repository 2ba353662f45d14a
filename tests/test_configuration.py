"""Configuration: where it is found, what it holds, and how a mistake in it is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from eaglelint.configuration import load
from eaglelint.errors import UsageError
from eaglelint.settings import Settings, matches


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def test_everything_that_can_be_said(here: Path):
    write(
        here,
        "pyproject.toml",
        """
        [tool.eaglelint]
        include = ["*.py", "*.json"]
        exclude = ["old/"]
        select = ["EGL0"]
        extend-select = ["EGL002"]
        ignore = ["internal-error"]
        fail-on = "error"

        [tool.eaglelint.engines]
        sglang = "0.5.9"
        vllm = ">=0.12,<0.14"

        [tool.eaglelint.target]
        name = "moonshotai/Kimi-K2.5"
        path = "models/kimi"
        depth = 61

        [[tool.eaglelint.pipeline]]
        drafter = "drafter"
        capture = ["patches/*.py"]
        training = ["train/"]
        launch = ["serve.sh"]
        target = "models/kimi"
        engine = "sglang==0.5.9"

        [tool.eaglelint.per-file-ignores]
        "tests/" = ["EGL0"]

        [tool.eaglelint.severity]
        EGL001 = "error"

        [tool.eaglelint.data]
        samples = ["data/*.pt"]
        target = "models/kimi"

        [[tool.eaglelint.exceptions]]
        path = "drafter/config.json"
        pointer = "/eagle_config"
        rule = "unreadable-source"
        reason = "known"
        """,
    )
    settings = load(["."])
    assert settings.engines == {"sglang": "0.5.9", "vllm": ">=0.12,<0.14"}
    assert settings.target is not None
    assert settings.target.depth == 61
    assert settings.pipeline[0].capture == ("patches/*.py",)
    assert settings.per_file_ignores == {"tests/": ("EGL0",)}
    assert settings.severity == {"EGL001": "error"}
    assert settings.fail_on == "error"
    assert settings.exceptions[0].pointer == "/eagle_config"
    assert settings.data.samples == ("data/*.pt",)
    assert settings.file == "pyproject.toml"
    assert settings.folder == str(here)


def test_the_nearest_file_above_the_path_holds(here: Path):
    write(here, "eaglelint.toml", 'fail-on = "error"')
    write(here / "sub" / "deep", "x.py", "")
    write(here / "sub", "pyproject.toml", '[tool.eaglelint]\nfail-on = "info"')
    assert load(["sub/deep"]).fail_on == "info"
    assert load(["sub/deep/x.py"]).file == "sub/pyproject.toml"
    assert load(["."]).fail_on == "error"
    assert load(["sub", "."]).fail_on == "error"


def test_in_one_folder_the_own_file_goes_before_pyproject(here: Path):
    write(here, "pyproject.toml", '[tool.eaglelint]\nfail-on = "info"')
    write(here, "eaglelint.toml", 'fail-on = "never"')
    assert load(["."]).fail_on == "never"


def test_a_pyproject_without_a_section_is_passed_over(here: Path):
    write(here, "pyproject.toml", '[tool.eaglelint]\nfail-on = "info"')
    write(here / "sub", "pyproject.toml", '[project]\ndependencies = ["eaglelint"]')
    assert load(["sub"]).fail_on == "info"


def test_the_search_ends_at_the_root_of_the_repository(here: Path):
    write(here, "eaglelint.toml", 'fail-on = "info"')
    (here / "inner" / ".git").mkdir(parents=True)
    assert load(["inner"]) == Settings()


def test_a_file_can_be_named(here: Path):
    write(here, "other.toml", 'fail-on = "info"')
    assert load(["."], "other.toml").fail_on == "info"
    with pytest.raises(UsageError, match=r"missing\.toml: can not be read: .*no such file"):
        load(["."], "missing.toml")
    write(here, "pyproject.toml", "[tool.other]")
    with pytest.raises(UsageError, match=r"there is no \[tool\.eaglelint\]"):
        load(["."], "pyproject.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["EGL001"]', "eaglelint.toml:1: unknown key 'selct'; did you mean 'select'?"),
        ("\n[engines]\nsglang = 5", "eaglelint.toml:3: 'engines.sglang' must be a valid string, not 5"),
        (
            '# a comment\n\nfail-on = "eror"',
            "eaglelint.toml:3: 'fail-on' must be 'error', 'warning', 'info' or 'never', not \"eror\"",
        ),
        ('select = [\n  "EGL001",\n  "EGL9",\n]', "eaglelint.toml:3: unknown rule 'EGL9'; did you mean EGL"),
        (
            '[severity]\nunreadable-sauce = "info"',
            "eaglelint.toml:2: unknown rule 'unreadable-sauce'; did you mean EGL001",
        ),
        ('[[pipeline]]\ncapture = ["a"]', "eaglelint.toml:1: 'pipeline.drafter' is missing"),
        (
            '[[pipeline]]\ndrafter = "d"\ncaptures = ["a"]',
            "eaglelint.toml:3: unknown key 'pipeline.captures'; did you mean 'capture'?",
        ),
        ('[engines]\nsglang = "latest"', "eaglelint.toml:2: 'latest' is neither a version nor a range of versions"),
        (
            '[[pipeline]]\ndrafter = "d"\nengine = "sglang = 0.5"',
            "eaglelint.toml:3: '= 0.5' is neither a version nor a range of versions",
        ),
        ('[engines]\nsgland = "0.5.9"', "eaglelint.toml:2: unknown engine 'sgland'; did you mean 'sglang'?"),
        (
            '[[pipeline]]\ndrafter = "d"\nengine = "vlm>=0.12"',
            "eaglelint.toml:3: unknown engine 'vlm'; did you mean 'vllm'?",
        ),
        ("[target]\ndepth = 0", "eaglelint.toml:2: 'target.depth' must be at least 1"),
        (
            '[[exceptions]]\npath = "a"\nrule = "EGL001"\npointer = "x"',
            "eaglelint.toml:4: a JSON pointer begins with '/': 'x'",
        ),
        ("fail-on = ", "eaglelint.toml:1: not valid TOML: Invalid value"),
        ("x = " + "[" * 5000, "eaglelint.toml: not valid TOML: nested too deeply"),
        ("engines = 3", "eaglelint.toml:1: 'engines' must be"),
    ],
)
def test_a_mistake_is_told_with_file_and_line(here: Path, text: str, message: str):
    write(here, "eaglelint.toml", text)
    with pytest.raises(UsageError) as caught:
        load(["."])
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_every_mistake_is_told_at_once(here: Path):
    write(here, "pyproject.toml", "[tool.eaglelint]\nfail-on = 1\n\n[tool.eaglelint.target]\ndepht = 1\n")
    with pytest.raises(UsageError) as caught:
        load(["."])
    assert str(caught.value).splitlines() == [
        "pyproject.toml:5: unknown key 'target.depht'; did you mean 'depth'?",
        "pyproject.toml:2: 'fail-on' must be 'error', 'warning', 'info' or 'never', not 1",
    ] or str(caught.value).splitlines() == [
        "pyproject.toml:2: 'fail-on' must be 'error', 'warning', 'info' or 'never', not 1",
        "pyproject.toml:5: unknown key 'target.depht'; did you mean 'depth'?",
    ]


def test_another_tools_broken_pyproject_is_none_of_our_business(here: Path):
    write(here, "pyproject.toml", "[tool.other\n# eaglelint is used here\n")
    assert load(["."]) == Settings()
    write(here, "pyproject.toml", "[tool.eaglelint]\n[tool.other\n")
    with pytest.raises(UsageError, match=r"pyproject\.toml:2: not valid TOML"):
        load(["."])


def test_without_a_configuration_no_validator_is_imported(here: Path):
    write(here, "pyproject.toml", "[project]\nname = 'x'\n")
    code = (
        "import sys; from eaglelint.configuration import load; load(['.'])\n"
        "print(sorted({'pydantic', 'tomllib', 'tomli', 'yaml', 'jsonschema', 'libcst'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_what_the_command_line_changes_keeps_its_place(here: Path):
    write(here / "sub", "eaglelint.toml", 'ignore = ["EGL001"]')
    settings = load(["sub"]).changed(ignore=("EGL002",))
    assert settings.ignore == ("EGL002",)
    assert settings.inside("sub/a/b.py") == "a/b.py"
    assert settings.inside("c.py") == "../c.py"


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("train.py", "a/train.py", True),
        ("/train.py", "a/train.py", False),
        ("patches/*.py", "patches/dump.py", True),
        ("patches/*.py", "patches/old/dump.py", False),
        ("patches/", "patches/old/dump.py", True),
        ("**/old/*", "a/b/old/x.py", True),
    ],
)
def test_patterns_are_those_of_gitignore(pattern: str, path: str, expected: bool):
    assert matches([pattern], path) is expected
