"""Carets stand under what they mean, whatever the line is made of."""

from __future__ import annotations

import pytest

from eaglelint.location import MappedText
from eaglelint.report.excerpt import MAX_WIDTH, excerpt, line_of, visible


def marked(line: str, words: str, *, before: str = "first\n") -> tuple[str, str]:
    text = MappedText.whole("f", before + line + "\nlast")
    start = text.text.index(words, len(before))
    shown = excerpt(text, text.location(start, start + len(words)))
    return shown.text, " " * shown.offset + "^" * shown.width


@pytest.mark.parametrize(
    ("line", "words", "text", "carets"),
    [
        ("a = b", "b", "a = b", "    ^"),
        ("\tx = 1", "x", "    x = 1", "    ^"),
        ("ab\tx", "x", "ab  x", "    ^"),
        ("層 = [1, 2]", "[1, 2]", "層 = [1, 2]", "     ^^^^^^"),
        ("e\u0301 = [1]", "[1]", "e\u0301 = [1]", "    ^^^"),
        ("a \x07 = b", "b", "a \\x07 = b", "         ^"),
        ("x = '層層'", "'層層'", "x = '層層'", "    ^^^^^^"),
    ],
)
def test_carets_count_columns_of_the_terminal(line: str, words: str, text: str, carets: str):
    assert marked(line, words) == (text, carets)


def test_a_place_that_goes_on_below_is_marked_to_the_end_of_its_line():
    text = MappedText.whole("f", "call(a,\n     b)\n")
    shown = excerpt(text, text.location(0, 14))
    assert shown == ("call(a,", 0, 7)


def test_an_empty_place_has_one_caret():
    text = MappedText.whole("f", "ab")
    assert excerpt(text, text.location(2, 2)) == ("ab", 2, 1)
    assert excerpt(MappedText.whole("f", ""), MappedText.whole("f", "").location(0, 0)) == ("", 0, 1)


def test_lines_end_as_in_the_map_of_lines_and_not_at_form_feeds():
    text = MappedText.whole("f", "a\x0cb\r\nc\rd\u2028e")
    assert [line_of(text, line) for line in (1, 2, 3)] == ["a\x0cb", "c", "d\u2028e"]


@pytest.mark.parametrize("before", [0, 10, 100, 5_000, 2_000_000])
@pytest.mark.parametrize("after", [0, 10, 5_000])
def test_a_long_line_is_cut_around_the_place(before: int, after: int):
    text, carets = marked("x" * before + "[1, 2, 3]" + "y" * after, "[1, 2, 3]")
    assert len(text) <= MAX_WIDTH
    assert text[carets.index("^") : len(carets)] == "[1, 2, 3]"
    assert text.startswith("...") == (before > 0 and "x" * before not in text)
    assert text.endswith("...") == ("y" * after not in text)


def test_a_long_place_is_marked_as_far_as_it_is_shown():
    text, carets = marked("ids = " + "[" + "1, " * 500 + "]", "[" + "1, " * 500 + "]")
    assert len(carets) <= len(text) <= MAX_WIDTH
    assert carets.startswith("      ^")


def test_visible_keeps_letters_of_any_script():
    assert visible("größe 層 \U0001f985") == "größe 層 \U0001f985"
    assert visible("\ud800\u2028") == "\\ud800\\u2028"
