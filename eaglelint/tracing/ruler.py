"""The boundaries of the target as two lines, drawn in SVG.

The upper one shows what each column of fc was trained on, the lower one what it is served, and a link joins the two.
Upright links match; where a link leans, another state arrives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from eaglelint.tracing.markup import element, text
from eaglelint.tracing.records import Panel, Row

_MARGIN = 40
_TOP, _UPPER, _LOWER, _BOTTOM = 20, 62, 128, 170
_HEIGHT = 190
_PILL = 22
_CHARACTER = 7.3


class _Mark(NamedTuple):
    """A column of fc on one of the lines: where its boundary is and where its label goes."""

    words: str
    x: float
    at: float
    width: float


def ruler(panel: Panel) -> str:
    """The drawing for wide and for narrow pages, "" where N or the boundaries are not known."""
    values = [value for row in panel.rows for value in (_trained(row), _served(row)) if value is not None]
    if not panel.depth or not values or not all(0 <= value <= panel.depth for value in values):
        return ""
    return "".join(_svg(panel, width, name) for width, name in ((1000, "wide"), (350, "narrow")))


def _trained(row: Row) -> int | None:
    return row.kept.boundary.value if row.kept is not None else None


def _served(row: Row) -> int | None:
    return row.fed.boundary.value if row.fed is not None else None


def _svg(panel: Panel, width: int, name: str) -> str:
    above = any(_trained(row) is not None for row in panel.rows)
    below = any(_served(row) is not None for row in panel.rows)
    start = 0 if above else _LOWER - 12
    stop = _HEIGHT if below else _UPPER + 12
    box = {"viewBox": f"0 {start} {width} {stop - start}", "class": name, "aria-hidden": "true", "focusable": "false"}
    return element("svg", "".join(_parts(panel, width)), box)


def caption(panel: Panel) -> str:
    """What the drawing shows, in words."""
    above = any(_trained(row) is not None for row in panel.rows)
    below = any(_served(row) is not None for row in panel.rows)
    line = f"The boundaries of the target, from the embedding (0) to the output of the last layer ({panel.depth})"
    if not below:
        return f"{line}, and those that the columns of fc were trained on."
    if not above:
        return f"{line}, and those that the columns of fc are served."
    both = "above what the columns of fc were trained on, below what they are served"
    return f"{line}: {both}. Where a link leans, another state arrives."


def _parts(panel: Panel, width: int) -> Iterator[str]:
    depth = panel.depth

    def x(boundary: int) -> float:
        return _MARGIN + (width - 2 * _MARGIN) * boundary / depth

    lanes = [_UPPER] if any(_trained(row) is not None for row in panel.rows) else []
    lanes += [_LOWER] if any(_served(row) is not None for row in panel.rows) else []
    for y in lanes:
        yield _line("axis", _MARGIN, y, width - _MARGIN, y)
        for boundary in range(depth + 1):
            size = 4 if boundary % 10 == 0 or boundary == depth else 2
            yield _line("tick", x(boundary), y - size, x(boundary), y + size)
        yield _text("quiet", _MARGIN - 10, y + 4, "0", "end")
        yield _text("quiet", width - _MARGIN + 10, y + 4, str(depth), "start")
    for row in panel.rows:
        trained, served = _trained(row), _served(row)
        if trained is not None and served is not None:
            yield _line(f"link {row.status}", x(trained), _UPPER + 6, x(served), _LOWER - 6)
    for kind, values, axis, label in (
        ("trained", [(row, _trained(row)) for row in panel.rows], _UPPER, _TOP),
        ("served", [(row, _served(row)) for row in panel.rows], _LOWER, _BOTTOM),
    ):
        known = [(row, value) for row, value in values if value is not None]
        marks = _spread([_mark(row, value, x(value), width > 600) for row, value in known], width)
        for (row, _), mark in zip(known, marks, strict=True):
            yield _lead(kind, mark, axis, label)
            lost = " lost" if kind == "served" and row.fed is not None and row.fed.lost else ""
            dot = {"class": f"dot {row.status}{lost}", "cx": _n(mark.at), "cy": str(axis), "r": "4.5"}
            yield element("circle", "", dot)
            yield _pill(kind, mark, label)


def _mark(row: Row, value: int, at: float, long: bool) -> _Mark:
    words = f"fc[{row.column}] {value}" if long else str(value)
    return _Mark(words, at, at, len(words) * _CHARACTER + 16)


def _spread(marks: Sequence[_Mark], width: int) -> list[_Mark]:
    """Labels moved apart so that none covers another, in the order of their boundaries, inside the drawing."""
    order = sorted(range(len(marks)), key=lambda index: marks[index].at)
    places = {index: marks[index].at for index in order}
    for _ in range(60):
        moved = False
        for left, right in pairwise(order):
            least = (marks[left].width + marks[right].width) / 2 + 6
            short = least - (places[right] - places[left])
            if short > 0.01:
                places[left] -= short / 2
                places[right] += short / 2
                moved = True
        for index in order:
            half = marks[index].width / 2 + 1
            places[index] = min(max(places[index], half), width - half)
        if not moved:
            break
    return [mark._replace(x=places[index]) for index, mark in enumerate(marks)]


def _lead(kind: str, mark: _Mark, axis: int, label: int) -> str:
    """The line between a label and its place on the axis."""
    start = label + _PILL / 2 if label < axis else label - _PILL / 2
    end = axis - 6 if label < axis else axis + 6
    middle = (start + end) / 2
    path = f"M{_n(mark.x)} {_n(start)}C{_n(mark.x)} {_n(middle)} {_n(mark.at)} {_n(middle)} {_n(mark.at)} {_n(end)}"
    return element("path", "", {"class": f"lead {kind}", "d": path})


def _pill(kind: str, mark: _Mark, y: int) -> str:
    box = {
        "class": f"pill {kind}",
        "x": _n(mark.x - mark.width / 2),
        "y": _n(y - _PILL / 2),
        "width": _n(mark.width),
        "height": str(_PILL),
        "rx": "7",
    }
    return element("rect", "", box) + _text("", mark.x, y + 4, mark.words, "middle")


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return element("line", "", {"class": kind, "x1": _n(x1), "y1": _n(y1), "x2": _n(x2), "y2": _n(y2)})


def _text(kind: str, x: float, y: float, words: str, anchor: str) -> str:
    return element("text", text(words), {"class": kind, "x": _n(x), "y": _n(y), "text-anchor": anchor})


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
