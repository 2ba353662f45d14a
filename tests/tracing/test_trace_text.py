"""Drawings for a terminal: the exact text of the example, any width, any characters."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from traced_project import PROJECT, Trace

from eaglelint.report.excerpt import display_width
from eaglelint.tracing.cells import hanging, padded, wrapped
from eaglelint.tracing.run import Traced

EXPECTED = Path(__file__).parent / "kimi-k25-wiring.txt"


def test_the_drawing_of_the_example(example: Traced):
    assert example.render("text", width=80) == EXPECTED.read_text(encoding="utf-8")


def test_one_row_for_each_column_with_the_mismatch_in_words(traced: Trace):
    text = traced(PROJECT).render("text")
    assert text.startswith(
        "drafter: EAGLE-3, target target (36 layers)\n\n  MISMATCH  boundary 3 instead of boundary 2\n"
    )
    assert (
        "  boundary    kept as    fc       served    id\n"
        "  2        -> low     -> fc[0] <- 3      <- 2  <- ids[0] MISMATCH\n"
        "  18       -> mid     -> fc[1] <- 18     <- 17 <- ids[1] match\n"
        "  33       -> high    -> fc[2] <- 33     <- 32 <- ids[2] match\n"
        "\n"
        "  fc[0]     trained on boundary 2 (output of layer 1), served boundary 3 (output\n"
        "            of layer 2): one layer late\n"
        "  right ids [1, 17, 32] under eagle_config.eagle_aux_hidden_state_layer_ids\n"
    ) in text
    assert "  1. dump.py:7 " in text


@pytest.mark.parametrize("width", [32, 40, 60, 72, 80, 100, 160])
def test_no_line_is_wider_than_the_terminal(example: Traced, width: int):
    text = example.render("text", width=width)
    assert max(display_width(line) for line in text.split("\n")) <= width
    assert text.count("MISMATCH") == 4  # the panel and its three columns
    for place in ("patch_sglang.py:33", "requirements.txt:1", "serve.sh:20"):
        assert place in text.replace("\n    ", "") or place in re.sub(r"\n +", "", text)


def test_a_narrow_terminal_gets_two_lines_for_each_column(example: Traced):
    text = example.render("text", width=50)
    assert (
        "  fc[0] MISMATCH\n    3 -> state_0 -> embed_out -> fc[0]\n    fc[0] <- 0 <- -1 <- ids[0]\n  fc[1] MISMATCH\n"
    ) in text


def test_long_names_are_folded_within_their_cell(traced: Trace):
    files = {**PROJECT, "dump.py": PROJECT["dump.py"].replace('"low"', '"a_very_long_name_for_the_low_hidden_state"')}
    lines = traced(files).render("text", width=76).split("\n")
    first = next(number for number, line in enumerate(lines) if line.startswith("  2 "))
    assert lines[first].endswith("MISMATCH")
    assert not lines[first + 1].rstrip().endswith("match")
    folded = "".join(line[14:].split(" ")[0] for line in lines[first : first + 3])
    assert folded.startswith("a_very_long_name_for_the_low_hidden_state")


def test_colour_is_not_the_only_sign_and_does_not_move_anything(example: Traced):
    plain, colored = example.render("text"), example.render("text", color=True)
    assert "\x1b[" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain
    assert "\x1b[31m" in colored


def test_control_characters_and_wide_characters_are_shown_and_measured(traced: Trace):
    name = "層の状態_layer\u202e\x1b[31m"
    escaped = name.encode("unicode_escape").decode("ascii")
    files = {**PROJECT, "dump.py": PROJECT["dump.py"].replace('"low"', f'"{escaped}"')}
    text = traced(files).render("text")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "層の状態_layer" in text
    rows = [line for line in text.split("\n") if re.search(r"fc\[\d\] <- ", line)]
    assert len({display_width(line[: line.index(" <- ")]) for line in rows}) == 1


def test_a_project_with_nothing_to_draw(traced: Trace):
    text = traced({"a.py": "x = 1\n"}).render("text")
    assert text == "no drafter and no captured states in 1 file: nothing to draw\n"


def test_what_is_not_known_and_what_would_settle_it(traced: Trace):
    files = {name: text for name, text in PROJECT.items() if name != "dump.py"}
    text = traced(files).render("text")
    assert "  unknown   what the drafter was trained on is not known\n  trained   not known\n" in text
    assert "  unknown  -> fc[0] <- 3      <- 2  <- ids[0] unknown\n" in text
    assert (
        "  unknown   what the drafter was trained on; in eaglelint.toml:\n"
        "    [[pipeline]]\n"
        '    drafter = "drafter"\n'
        '    capture = ["path/to/capture.py"]\n'
        '    training = ["path/to/training.py"]\n'
    ) in text


# ---- cells ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 10, [""]),
        ("one two three", 7, ["one two", "three"]),
        ("eagle_aux_hidden_state", 12, ["eagle_aux_", "hidden_state"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("層の状態", 4, ["層の", "状態"]),
        ("a path/to/file", 6, ["a", "path/", "to/", "file"]),
    ],
)
def test_wrapping(text: str, width: int, lines: list[str]):
    assert wrapped(text, width) == lines


def test_padding_counts_the_columns_of_wide_characters():
    assert padded("状態", 6) == "状態  "


def test_words_hang_beside_their_head_or_below_it():
    assert hanging("  note  ", "one two three four five six", 34) == ["  note  one two three four five", "        six"]
    assert hanging("  1. a/long/path/to/a/file.py:10  ", "saved here", 36) == [
        "  1. a/long/path/to/a/file.py:10",
        "    saved here",
    ]
