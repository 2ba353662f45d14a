"""Findings for people: the line with the place marked, the trace that leads there, how to fix it.

    drafter/config.json:9:5 error EGL401 aux-layers-mismatch
      the message
        |
      9 |     "eagle_aux_hidden_state_layer_ids": [-1, 2, 30],
        |                                         ^^^^^^^^^^^
      1. patches/dump.py:33 captured here
         if i in LAYERS:
      fix: declare [2, 30, 58]

Whatever stands in files, their names and messages reaches the terminal as visible characters only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from eaglelint import catalog
from eaglelint.findings import Finding
from eaglelint.location import Location
from eaglelint.report.excerpt import at_line_start, excerpt, one_line, visible
from eaglelint.report.summary import fixable, footer

if TYPE_CHECKING:
    from eaglelint.run import Result

_COLORS = {"error": "red", "warning": "yellow", "info": "cyan"}


class _Style:
    """Colours, when they are wanted."""

    def __init__(self, color: bool) -> None:
        self._color = color

    def __call__(self, text: str, color: str | None = None, *, bold: bool = False, dim: bool = False) -> str:
        if not self._color or not text:
            return text
        from click import style

        return style(text, fg=color, bold=bold or None, dim=dim or None)


def render(result: Result, *, color: bool = False) -> str:
    """The report for a terminal."""
    style = _Style(color)
    blocks = ["\n".join(_finding(finding, result, style)) for finding in result.findings]
    last = style(footer(result), bold=True)
    hint = fixable(result)
    return "\n\n".join([*blocks, f"{last}\n{hint}" if hint else last]) + "\n"


def _finding(finding: Finding, result: Result, style: _Style) -> Iterator[str]:
    where = finding.where
    place = style(f"{at_line_start(visible(where.path))}:{where.line}:{where.column}", bold=True)
    color = _COLORS[finding.severity]
    yield f"{place} {style(finding.severity, color, bold=True)} {finding.rule} {catalog.slug(finding.rule)}"
    yield f"  {at_line_start(one_line(finding.message))}"
    yield from _marked(where, result, style, color)
    shown = (where.path, where.line)
    for number, step in enumerate(finding.related, 1):
        yield f"  {number}. {visible(step.where.path)}:{step.where.line} {one_line(step.what)}"
        line = _line(step.where, result)
        if line and shown != (step.where.path, step.where.line):  # several steps on one line show it once
            yield style(f"  {' ' * len(str(number))}  {line}", dim=True)
        shown = (step.where.path, step.where.line)
    if finding.fix is not None:
        yield f"  {style('fix:', 'green', bold=True)} {one_line(finding.fix.description)}"


def _marked(where: Location, result: Result, style: _Style, color: str) -> Iterator[str]:
    """The line on which a finding stands, with carets under the place."""
    text = result.text(where.path)
    if text is None:
        return
    shown = excerpt(text, where)
    number = str(where.line)
    gutter = " " * len(number)
    yield style(f"  {gutter} |", dim=True)
    yield f"{style(f'  {number} |', dim=True)} {shown.text}".rstrip(" ")
    yield f"{style(f'  {gutter} |', dim=True)} {' ' * shown.offset}{style('^' * shown.width, color, bold=True)}"


def _line(where: Location, result: Result) -> str:
    text = result.text(where.path)
    return "" if text is None else at_line_start(excerpt(text, where, indented=False).text)
