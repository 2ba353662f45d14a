"""The text report, compared whole: what a person sees."""

from __future__ import annotations

import re

from eaglelint.facts import Step
from eaglelint.findings import Finding, Fix
from eaglelint.location import Location
from eaglelint.report import render
from eaglelint.report.text import render as text

FILES = {
    "drafter/config.json": '{\n  "architectures": ["LlamaForCausalLMEagle3"],\n  "layer_ids": [-1, 2, 30]\n}\n',
    "patches/dump.py": "LAYERS = [3, 31, 59]\n\n\ndef hook(i, h):\n    if i in LAYERS:\n        save(h)\n",
}


def test_a_finding_with_excerpt_trace_and_fix(project):
    given = project(FILES)
    mismatch = Finding(
        "EGL001",
        "error",
        "trained on boundaries 3, 31, 59, served 0, 3, 31",
        given.at("drafter/config.json", "[-1, 2, 30]"),
        related=(
            Step(given.at("patches/dump.py", "[3, 31, 59]"), "these layers are captured"),
            Step(given.at("patches/dump.py", "save(h)"), "and stored here"),
        ),
        fix=Fix("declare [2, 30, 58]"),
    )
    hint = Finding("EGL002", "info", "one more thing", given.at("patches/dump.py", "LAYERS:"))
    assert text(given.result([mismatch, hint], suppressed=1)) == (
        "drafter/config.json:3:16 error EGL001 unreadable-source\n"
        "  trained on boundaries 3, 31, 59, served 0, 3, 31\n"
        "    |\n"
        '  3 |   "layer_ids": [-1, 2, 30]\n'
        "    |                ^^^^^^^^^^^\n"
        "  1. patches/dump.py:1 these layers are captured\n"
        "     LAYERS = [3, 31, 59]\n"
        "  2. patches/dump.py:6 and stored here\n"
        "     save(h)\n"
        "  fix: declare [2, 30, 58]\n"
        "\n"
        "patches/dump.py:5:13 info EGL002 unresolved-capture\n"
        "  one more thing\n"
        "    |\n"
        "  5 |     if i in LAYERS:\n"
        "    |             ^^^^^^^\n"
        "\n"
        "1 error, 1 info in 2 files (1 suppressed)\n"
    )


def test_nothing_found_says_how_much_was_read(project):
    assert text(project(FILES).result([])) == "no findings in 2 files\n"
    assert text(project({"a.py": ""}).result([])) == "no findings in 1 file\n"


def test_an_empty_folder_is_not_called_clean(project):
    assert text(project({}).result([])) == "no files to check\n"


def test_colour_changes_nothing_but_the_colour(project):
    given = project(FILES)
    result = given.result([Finding("EGL001", "warning", "m", given.at("patches/dump.py", "LAYERS:"))])
    coloured = render("text", result, color=True)
    assert "\x1b[33m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == render("text", result)


def test_control_characters_never_reach_the_terminal(project):
    name = "evil\x1b[2J.py"
    given = project({name: "x = '\x1b]0;owned\x07'  # \u202e hidden\r\n"})
    finding = Finding(
        "EGL001",
        "error",
        "says \x1b[31m\nand :: more",
        given.at(name, "x"),
        related=(Step(given.at(name, "x"), "\x9b1m"),),
    )
    report = text(given.result([finding]))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", report)
    assert "evil\\x1b[2J.py:1:1" in report
    assert r"  1 | x = '\x1b]0;owned\x07'  # \u202e hidden" in report
    assert r"  says \x1b[31m and :: more" in report
    assert r"1. evil\x1b[2J.py:1 \x9b1m" in report


def test_a_file_that_can_not_be_decoded_has_no_excerpt(project):
    result = project({"a.py": "x"}).result([Finding("EGL001", "warning", "m", Location("gone.py", 3, 2, 3, 4))])
    assert text(result) == "gone.py:3:2 warning EGL001 unreadable-source\n  m\n\n1 warning in 1 file\n"


def test_several_steps_on_one_line_show_it_once(project):
    given = project(FILES)
    steps = tuple(
        Step(given.at(path, words), what)
        for path, words, what in (
            ("drafter/config.json", "layer_ids", "declared"),
            ("patches/dump.py", "save", "named"),
            ("patches/dump.py", "(h)", "saved"),
            ("patches/dump.py", "if", "chosen"),
        )
    )
    finding = Finding("EGL001", "error", "m", given.at("drafter/config.json", "[-1, 2, 30]"), related=steps)
    assert text(given.result([finding])).splitlines()[5:12] == [
        "  1. drafter/config.json:3 declared",
        "  2. patches/dump.py:6 named",
        "     save(h)",
        "  3. patches/dump.py:6 saved",
        "  4. patches/dump.py:5 chosen",
        "     if i in LAYERS:",
        "",
    ]
