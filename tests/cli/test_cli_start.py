"""Starting costs next to nothing, and a wrong call ends with status 2 and one clear message."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from eaglelint import __version__

HEAVY = {"click", "pydantic", "jsonschema", "libcst", "yaml", "tree_sitter", "dataclasses", "pathspec"}


def imported(*arguments: str) -> set[str]:
    """The modules that a call of the entry point imports."""
    code = (
        "import sys; sys.argv[1:] = sys.argv[1:]\n"
        "from eaglelint.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stderr.split()}


def test_the_version_is_printed_without_importing_anything(eaglelint):
    done = eaglelint("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"eaglelint {__version__}\n", "")
    assert not HEAVY & imported("--version")


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["-h"]])
def test_help_imports_no_more_than_the_command_line_library(arguments):
    assert HEAVY & imported(*arguments) <= {"click", "dataclasses"}


def test_help_names_the_commands(eaglelint):
    done = eaglelint("--help")
    assert done.returncode == 0
    for command in ("check", "explain", "rules"):
        assert f"\n  {command} " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chek"], "no such command 'chek'; did you mean 'check'?"),
        (["drafter"], "no such command 'drafter'; did you mean 'eaglelint check drafter'?"),
        (["qqq"], "no such command 'qqq'; commands are check, "),
        (["check", "missing"], "eaglelint: no such file or folder: missing\n"),
        (["check", "--select", "EGL9"], "eaglelint: unknown rule 'EGL9'; did you mean EGL"),
        (["check", "--ignore", "EGL001,unreadable-sauce"], "unknown rule 'unreadable-sauce'; did you mean EGL001"),
        (["check", "--fail-on", "fatal"], "'fatal' is not one of"),
        (["check", "--format", "xml"], "'xml' is not one of"),
        (["check", "--output", "json"], "'json' is not FORMAT=FILE"),
        (["check", "--output", "xml=a"], "'xml=a' is not FORMAT=FILE"),
        (
            ["check", "--config", "missing.toml"],
            "eaglelint: missing.toml: can not be read: no such file or directory\n",
        ),
        (["check", "--config", "a", "--isolated"], "--config and --isolated exclude each other"),
        (
            ["explain", "unreadable-sorce"],
            "eaglelint: unknown rule 'unreadable-sorce'; did you mean EGL001 (unreadable-source)?\n",
        ),
        (["explain"], "Missing argument 'RULE'"),
    ],
)
def test_a_wrong_call_ends_with_status_2_and_a_message(eaglelint, tmp_path: Path, arguments, message):
    (tmp_path / "drafter").mkdir()
    done = eaglelint(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_wrong_configuration_ends_with_status_2_and_its_place(eaglelint, tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text('[tool.eaglelint]\nfail-on = "fatal"\n')
    done = eaglelint("check")
    assert done.returncode == 2
    assert done.stderr == (
        "eaglelint: pyproject.toml:2: 'fail-on' must be 'error', 'warning', 'info' or 'never', not \"fatal\"\n"
    )


def test_a_message_with_control_characters_shows_them(eaglelint):
    done = eaglelint("check", "gone\x1b[31m")
    assert done.stderr == "eaglelint: no such file or folder: gone\\x1b[31m\n"


def test_explain_prints_the_whole_rule(eaglelint):
    done = eaglelint("explain", "Unreadable-Source")
    assert done.returncode == 0
    assert done.stdout.startswith("EGL001 unreadable-source\nwarning, stable, since 0.1.0\n")
    for part in ("Why it matters", "How to fix it", "Wrong", "Right", "drafter/config.json:4 warning EGL001"):
        assert part in done.stdout


def test_rules_as_a_table_and_as_json(eaglelint):
    import json

    table = eaglelint("rules").stdout.splitlines()
    rules = json.loads(eaglelint("rules", "--format", "json").stdout)
    assert [line.split()[0] for line in table] == [rule["code"] for rule in rules]
    assert {"code", "slug", "severity", "since", "status", "summary"} <= set(rules[0])


def test_a_defect_of_eaglelint_ends_with_status_2_and_shows_its_traceback_on_request(tmp_path: Path):
    code = (
        "import sys, eaglelint.run\n"
        "def fails(*_): raise LookupError('odd')\n"
        "eaglelint.run.check = fails\n"
        "from eaglelint.cli import main\n"
        "main()"
    )
    for arguments, traceback in (["check"], False), (["check", "--verbose"], True):
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.endswith("eaglelint: internal error: LookupError: odd (--verbose shows where)\n")
        assert ("Traceback" in done.stderr) is traceback


def test_commands_without_verbose_name_the_variable_that_shows_where(tmp_path: Path):
    code = (
        "import eaglelint.catalog\n"
        "def fails(*_): raise LookupError('odd')\n"
        "eaglelint.catalog.resolve = fails\n"
        "from eaglelint.cli import main\n"
        "main()"
    )
    for environment, traceback in ({}, False), ({"EAGLELINT_TRACEBACK": "1"}, True):
        done = subprocess.run(
            [sys.executable, "-c", code, "explain", "EGL401"],
            capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **environment},
        )  # fmt: skip
        assert done.stderr.endswith("internal error: LookupError: odd (EAGLELINT_TRACEBACK=1 shows where)\n")
        assert ("Traceback" in done.stderr) is traceback
