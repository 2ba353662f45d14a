"""A few lines of source around a place, as HTML with the place marked."""

from __future__ import annotations

import html

from eaglelint.location import Location, MappedText
from eaglelint.report.excerpt import line_of, visible
from eaglelint.tracing.markup import tag

#: Lines that are shown before and after the one that is meant, and characters of a line.
_AROUND = 2
_LONGEST = 200


def excerpt(source: MappedText | None, where: Location) -> str:
    """The lines around a place; "" where there is no text to show."""
    if source is None or not source.text:
        return ""
    last = source.lines.position(source.lines.length)[0]
    line = min(where.line, last)
    numbers = range(max(1, line - _AROUND), min(last, line + _AROUND) + 1)
    lines = {number: line_of(source, number) for number in numbers}
    indent = min((len(text) - len(text.lstrip(" ")) for text in lines.values() if text.strip()), default=0)
    shown = [_line(number, text, indent, where if number == line else None) for number, text in lines.items()]
    return tag("pre", "excerpt", "".join(shown))


def _line(number: int, text: str, indent: int, where: Location | None) -> str:
    gutter = f"<i>{number}</i>"
    if where is None:
        return f"<span>{gutter}{_shown(text[indent : indent + _LONGEST])}</span>"
    first = max(min(where.column - 1, len(text)), indent)
    last = where.end_column - 1 if where.end_line == where.line else len(text)
    last = min(max(last, first), len(text))
    start = indent if first - indent < _LONGEST * 3 // 4 else first - _LONGEST // 4
    stop = start + _LONGEST
    before = ("..." if start > indent else "") + _shown(text[start:first])
    inside = _shown(text[first : min(last, stop)])
    after = _shown(text[last:stop]) + ("..." if len(text) > stop else "")
    marked = f"<mark>{inside}</mark>" if inside else ""
    return tag("span", "here", f"{gutter}{before}{marked}{after}")


def _shown(text: str) -> str:
    return html.escape(visible(text), quote=True)
