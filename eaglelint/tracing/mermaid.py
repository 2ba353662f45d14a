"""Drawings as Mermaid flowcharts, one for each panel in a subgraph of its own: for Markdown, wikis and pull requests.

Labels hold no character that Mermaid or Markdown could take for syntax: all but letters, digits and a few signs stand
as character references.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from eaglelint.report.excerpt import one_line
from eaglelint.tracing.comparing import NOTHING
from eaglelint.tracing.records import Drawing, Fed, Kept, Panel, Row, Status
from eaglelint.tracing.text import MARKS, boundary, heading, names

_CLASSES = (
    "classDef match stroke:#1a7f4e,stroke-width:2px",
    "classDef mismatch stroke:#c5221f,stroke-width:3px",
    "classDef unknown stroke:#8a6d00,stroke-width:2px,stroke-dasharray:4 3",
)
#: What could be syntax in a label: of Mermaid, of HTML, of the Markdown that Mermaid reads labels as, of a fence.
_SYNTAX = re.compile(r"[^\w ./,()[\]=+-]|(?<![^\W_])_|_(?![^\W_])|^[-+=]|(?<=\d)\.(?= )")


def render(drawings: Sequence[Drawing]) -> str:
    """One flowchart with a subgraph for each panel."""
    return "\n".join(_lines(drawings)) + "\n"


def _lines(drawings: Sequence[Drawing]) -> Iterator[str]:
    yield "flowchart LR"
    panels = [(drawing, panel) for drawing in drawings for panel in drawing.panels]
    for number, (drawing, panel) in enumerate(panels):
        title = f"{heading(drawing)}, served by {panel.served.title}: {MARKS[panel.status]}"
        yield f'  subgraph p{number}["{label(title)}"]'
        yield "    direction LR"
        for row in panel.rows:
            yield from (f"    {line}" for line in _row(f"p{number}r{row.column}", row, panel))
        for place, kept in enumerate(panel.trained.beside):
            name = f"p{number}b{place}"
            yield from (f"    {line}" for line in _chain(name, kept))
            yield f'    {_last(name, kept)} --> {name}e["in no column of fc"]'
        yield "  end"
    empty = [drawing for drawing in drawings if not drawing.panels]
    for number, drawing in enumerate(empty):
        why = drawing.hints[-1].missing if drawing.hints else drawing.notes[-1].text if drawing.notes else ""
        yield f'  e{number}["{label(f"{heading(drawing)}: {why}" if why else heading(drawing))}"]:::unknown'
    if not drawings:
        yield '  e0["no drafter and no captured states: nothing to draw"]'
    yield from (f"  {line}" for line in _CLASSES)


def _row(name: str, row: Row, panel: Panel) -> Iterator[str]:
    """A row: what was trained runs into the column of fc, what is served hangs on its other side."""
    last = ""
    if row.kept is None:
        yield f'{name}k["unknown"]:::unknown'
        last = f"{name}k"
    else:
        yield from _chain(name, row.kept)
        last = _last(name, row.kept)
    yield f'{last} --> {name}f["fc{label(f"[{row.column}]")}"]:::{row.status}'
    mark = f"{MARKS[row.status]}, {row.words}" if row.words else MARKS[row.status]
    if row.fed is None:
        text = "nothing" if row.words == NOTHING else "not known"
        yield f'{name}f {_link(row.status, mark)} {name}s["{text}"]:::{row.status}'
        return
    state = row.fed.boundary.text
    served = label(f"served boundary {state}" if state != "unknown" else "served boundary not known")
    yield f'{name}f {_link(row.status, mark)} {name}s["{served}"]:::{row.status}'
    if row.fed.ids or row.fed.formula:
        yield f'{name}s --- {name}i["{label(_id(row.fed))}"]'
    if row.fed.key:
        yield f'{name}i --- {name}c["{label(row.fed.key)}"]'


def _chain(name: str, kept: Kept) -> Iterator[str]:
    """The way of a captured state up to its last name."""
    yield f'{name}k["{label(f"captured boundary {boundary(kept)}")}"]'
    if kept.slot is not None:
        yield f'{name}k --> {name}t["{label(kept.slot.text)}"]'
    if kept.names:
        lie = " (the name says another state)" if any(shown.lie for shown in kept.names) else ""
        yield f'{name}{"t" if kept.slot is not None else "k"} --> {name}n["{label(names(kept) + lie)}"]'


def _last(name: str, kept: Kept) -> str:
    return f"{name}n" if kept.names else f"{name}t" if kept.slot is not None else f"{name}k"


def _id(fed: Fed) -> str:
    return f"id {', '.join(fed.ids)}" if fed.ids else f"default {fed.formula}"


def _link(status: Status, mark: str) -> str:
    """An open link: what is served comes from the right, and Mermaid draws no arrow to the left alone."""
    if status == "match":
        return "---"
    return f'-. "{label(mark)}" .-'


def label(text: str) -> str:
    """A text as it stands between the quotes of a label."""
    return _SYNTAX.sub(lambda match: f"#{ord(match[0])};", one_line(text))
