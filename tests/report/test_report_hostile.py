"""Names and contents of files that try to be more than text, in every format, as a CI log and a terminal read them."""

from __future__ import annotations

import json
import re

import pytest

from eaglelint.facts import Step
from eaglelint.findings import Finding, Fix
from eaglelint.location import LineMap, Location
from eaglelint.report import FORMATS, render

#: Lines that GitHub's runner obeys when they begin a line, after white space too, or hold `##[`.
TRICKS = [
    "::error::forged",
    "##[add-mask]x",
    " ::stop-commands::x",
    "\r::warning::x",
    "a\n::notice::x",
    "\x85::debug::x",
]
#: Sequences that a terminal obeys, and characters that turn text around.
ESCAPES = ["\x1b]0;title\x07", "\x1b[2J", "\x9b31m", "\x08\x08", "\u202egnp.exe", "\u2066x\u2069", "\u2028", "\x00"]


def obeyed(report: str) -> list[str]:
    """The lines that the runner takes for commands; after https://github.com/actions/runner, ActionCommand.cs."""
    lines = re.split(r"\r\n|\r|\n", report)
    return [line for line in lines if line.strip().startswith("::") or "##[" in line]


@pytest.fixture(params=[*TRICKS, *ESCAPES])
def trick(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def result(project, trick: str):
    """A finding with a trick wherever a file has a say: names, lines, message, trace, fix."""
    name = f"{trick}/config.json"
    line = trick.replace("\r", "").replace("\n", " ")
    content = f"{line}\n{line} x\n"
    lines = LineMap(name, content)
    here = lines.location(0, len(line))
    step = Step(lines.location(*lines.span(2)), f"{trick} {trick}")
    other = Step(Location(f"{trick}.py", 1), trick)
    return project({name: content, f"{trick}.py": content}).result(
        [Finding("EGL001", "error", f"{trick} {trick}", here, related=(step, other), fix=Fix(f"{trick}"))]
    )


@pytest.mark.parametrize("format_", FORMATS)
def test_no_command_of_a_workflow_is_forged(project, format_: str, trick: str):
    report = render(format_, result(project, trick))
    commands = obeyed(report)
    if format_ == "github":
        assert len(commands) == 1
        assert commands[0].startswith("::error file=")
        assert commands[0].count("##[") == 0
    else:
        assert commands == []


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("color", [False, True])
def test_no_control_character_reaches_a_terminal(project, format_: str, color: bool, trick: str):
    report = render(format_, result(project, trick), color=color)
    plain = re.sub(r"\x1b\[[\d;]*m", "", report) if color else report  # the colours are eaglelint's own
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", plain)
    if color and "[2J" not in trick:
        assert "\x1b]" not in report


def test_the_parser_of_this_test_sees_commands():
    assert obeyed("  ::error::x\nx ##[group]y\nfine :: x\r::z") == ["  ::error::x", "x ##[group]y", "::z"]


def test_json_still_says_what_was_there(project):
    [finding] = json.loads(render("json", result(project, "##[add-mask]x")))["findings"]
    assert finding["path"] == "##[add-mask]x/config.json"


def test_carets_stand_below_what_is_marked_when_a_bracket_is_written_out(project):
    text = "x = '##[group]' + [1]\n"
    lines = LineMap("a.py", text)
    where = lines.location(text.index("[1]"), text.index("[1]") + 3)
    report = render("text", project({"a.py": text}).result([Finding("EGL001", "error", "m", where)]))
    shown, carets = report.splitlines()[3:5]
    assert shown[carets.index("^") : carets.rindex("^") + 1] == "[1]"
    assert "##\\x5bgroup]" in shown
