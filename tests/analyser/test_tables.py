"""Tables of constants are left out of trees; everything around them keeps its place and its meaning."""

from __future__ import annotations

import ast

import pytest

from eaglelint.analyser.tables import without_tables
from eaglelint.location import MappedText

ROW = "[" + ", ".join(["+1", "-1"] * 50) + "],\n        "
MATRIX = f"[\n        {ROW * 40}]"
NAMES = "{" + ", ".join(f'"token {number}": {number}' for number in range(3_000)) + "}"


def left(code: str) -> str:
    return without_tables(MappedText.whole("constants.py", code)).text


@pytest.mark.parametrize(
    "table", [MATRIX, NAMES, NAMES.replace("{", "(").replace("}", ")"), MATRIX.replace("\n", "\r\n")]
)
def test_a_table_becomes_an_ellipsis_and_keeps_its_size(table: str) -> None:
    before, after = "import torch\nHAD = torch.tensor(", ")\nLAYERS = [2, 18, 33]\n"
    made = left(before + table + after)
    assert made.startswith(before)
    assert made.endswith(after)
    inside = made[len(before) : -len(after)]
    assert len(inside) == len(table)
    assert inside.count("\n") == table.count("\n")
    assert "".join(inside.split()) == "(...)"
    assert isinstance(ast.parse(made), ast.Module)


def test_after_return_a_bracket_is_a_table() -> None:
    assert "+1" not in left(f"def had():\n    return {MATRIX}\n")


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("LAYERS = " + str(list(range(1_000))), id="a thousand ids"),
        pytest.param(f"f({', '.join(['1'] * 3_000)})", id="arguments of a call"),
        pytest.param(f"x = [{', '.join(['1'] * 3_000)}, n]", id="a name among the entries"),
        pytest.param(f"x = [{', '.join(['f(1)'] * 3_000)}]", id="calls among the entries"),
        pytest.param("x = [" + ", ".join(['f"{a}"'] * 3_000) + "]", id="f-strings"),
        pytest.param("text = '''" + MATRIX + "'''", id="inside a string"),
        pytest.param("# " + MATRIX.replace("\n", "\n# "), id="inside comments"),
    ],
)
def test_what_is_no_table_stays(code: str) -> None:
    assert left(code) == code


def test_code_that_is_cut_off_is_no_reason_to_fail() -> None:
    for code in (MATRIX[:-1], "]" + MATRIX[1:], ")" * 10 + MATRIX[:-1] + "'''"):
        assert len(left(code)) == len(code)
