"""Logical lines of code that may be cut off, and the guard against code that would exhaust a parser's stack."""

from __future__ import annotations

import pytest

from eaglelint.analyser.scanner import MAX_BRACKETS, MAX_CHAIN, scan


def lines(text: str) -> list[tuple[str, str, bool]]:
    return [(line.indent, line.first, line.colon) for line in scan(text).lines]


def test_a_statement_over_several_lines_is_one_logical_line() -> None:
    code = (
        "for i, layer in enumerate(  # layers\n    self.layers,\n):\n"
        "    if i in (2,\n16) and \\\n   True:\n        aux.append('''\n):\n''')\n\n    # done\n"
    )
    assert lines(code) == [("", "for", True), ("    ", "if", True), ("        ", "aux", False)]


def test_lines_cover_the_text_that_they_stand_for() -> None:
    code = "a = 1\r\n\r\n  b = (\r\n1)\r\nc"
    assert [code[line.start : line.end] for line in scan(code).lines] == ["a = 1\r\n", "  b = (\r\n1)\r\n", "c"]


def test_brackets_that_a_cut_went_through() -> None:
    code = "    residual,\n)\nx = layer(\n  positions[0],"
    found = scan(code)
    assert [code[offset] for offset in found.unopened] == [")"]
    assert [code[offset:] for offset in found.unclosed] == ["(\n  positions[0],"]
    assert found.last == ","


@pytest.mark.parametrize("code", ["x = '''\n)", 'f("""a\\', "x = rb'''"])
def test_a_string_that_runs_to_the_end(code: str) -> None:
    assert scan(code).unterminated


@pytest.mark.parametrize("code", ["x = 'it\n)", "x = '''a'''", "# '''"])
def test_no_string_that_runs_to_the_end(code: str) -> None:
    assert not scan(code).unterminated


TOO_MANY = MAX_CHAIN + 10


@pytest.mark.parametrize(
    "code",
    [
        "(" * (MAX_BRACKETS + 1) + ")" * (MAX_BRACKETS + 1),
        "[" * (MAX_BRACKETS + 1),
        "-" * TOO_MANY + "1",
        "not " * TOO_MANY + "1",
        "lambda: " * TOO_MANY + "1",
        "x" + ".a" * TOO_MANY,
        "x" + "()" * TOO_MANY,
        "x" + "[0]" * TOO_MANY,
        "1" + "+1" * TOO_MANY,
        "1" + " and 1" * TOO_MANY,
        "1 if 1 else " * TOO_MANY + "1",
        "'a' " * TOO_MANY,
        "x = (\n" + "'a'\n" * TOO_MANY + ")",
        "if 1:\n    pass\n" + "elif 1:\n    pass\n" * TOO_MANY,
        "f'" + "{1:" * (MAX_BRACKETS + 1) + "}" * (MAX_BRACKETS + 1) + "'",
        "Rf'" + "{1:" * (MAX_BRACKETS + 1) + "}" * (MAX_BRACKETS + 1) + "'",
    ],
)
def test_code_that_nests_too_deeply_is_recognised(code: str) -> None:
    assert scan(code + "\n").too_deep is not None


@pytest.mark.parametrize(
    "code",
    [
        "x = [" + "1, -2, " * TOO_MANY + "]",
        "x = [" + "a.b + c(d), " * TOO_MANY + "]",
        "x = {" + "'a': b['c'], " * TOO_MANY + "}",
        "x = 1; y = a + b\n" * TOO_MANY,
        "if a and b:\n    pass\n" * TOO_MANY,
        "x = '" + "{" * 500 + "'",
        "x = f'" + "{a}" * 500 + "'",
    ],
)
def test_long_code_that_is_flat_is_no_problem(code: str) -> None:
    assert scan(code + "\n").too_deep is None
