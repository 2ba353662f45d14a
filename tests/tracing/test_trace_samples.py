"""The samples that the configuration names stand in the trace: as lines of text, and as pictures in the page."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
import tensor_files

from eaglelint.configuration import load
from eaglelint.tracing.run import Traced, trace

ROWS = [[float(1 + token + feature % 3) for feature in range(8)] for token in range(5)]


@pytest.fixture
def traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Traced:
    monkeypatch.chdir(tmp_path)
    odd = [list(row) for row in ROWS]
    odd[3][2] = math.inf
    held = {
        "input_ids": ("I64", [5], [1, 2, 3, 4, 5]),
        "low": ("F32", [5, 8], [value for row in ROWS for value in row]),
        "<b>high</b>": ("F32", [5, 8], [value for row in odd for value in row]),
    }
    Path("s.safetensors").write_bytes(tensor_files.safetensors(held))
    Path("eaglelint.toml").write_text('[data]\nsamples = ["s.safetensors"]\n')
    return trace(["."], load(["."]))


def test_the_text_has_a_line_for_each_state(traced: Traced):
    lines = traced.render("text").splitlines()
    assert "s.safetensors: its states by value, with the root mean square of each token" in lines
    assert next(line for line in lines if line.startswith("  low")).split()[1:] == ["▃▅▆▇█", "2.031", "to", "5.927"]
    assert "1 not finite, first at token 3" in next(line for line in lines if "high" in line)


def test_the_page_has_a_picture_for_each_state(traced: Traced):
    page = traced.render("html")
    assert page.count('class="sizes"') == 2
    assert page.count('class="size"') == 9
    assert page.count('class="odd"') == 1
    assert "<b>high</b>" not in page
    assert "&lt;b&gt;high&lt;/b&gt;" in page
    heights = [float(height) for height in re.findall(r'height="([\d.]+)" class="size"', page)[:5]]
    assert heights == sorted(heights)


def test_without_samples_nothing_is_added(traced: Traced):
    assert "samples-title" not in Traced(traced.drawings, traced.sources).render("html")
