"""Drawings for a terminal: a table with a row for each column of fc, what differs in words, and where it comes from.

    boundary    kept as    named          fc        served    id
    3        -> state_0 -> embed_out   -> fc[0] <- 0       <- -1 <- ids[0] MISMATCH

Whatever stands in files, their names and messages reaches the terminal as visible characters only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eaglelint.report.excerpt import at_line_start, display_width, one_line, visible
from eaglelint.report.summary import plural
from eaglelint.tracing.cells import hanging, padded, widths, wrapped
from eaglelint.tracing.comparing import EMBEDDING, NOTHING
from eaglelint.tracing.records import Drawing, Fed, Hint, Kept, Note, Panel, Row, Source, Status

MARKS: dict[Status, str] = {"match": "match", "mismatch": "MISMATCH", "unknown": "unknown"}
_COLORS: dict[Status, str] = {"match": "green", "mismatch": "red", "unknown": "yellow"}
#: The place of the column of fc among the cells of a row: arrows run into it from both sides.
_COLUMN = 3
#: Below so many columns for a name or a slot a table is no longer readable.
_LEAST = 10


def render(drawings: Sequence[Drawing], *, files: int, width: int = 80, color: bool = False) -> str:
    """The drawings for a terminal of `width` columns; `files` is how many files were read."""
    style = _Style(color)
    width = max(width, 32)
    if not drawings:
        lines = wrapped(f"no drafter and no captured states in {plural(files, 'file')}: nothing to draw", width)
        return "\n".join(lines) + "\n"
    return "\n\n".join("\n".join(map(at_line_start, _drawing(drawing, width, style))) for drawing in drawings) + "\n"


class _Style:
    """Colours, when they are wanted."""

    def __init__(self, color: bool) -> None:
        self._color = color

    def __call__(self, text: str, color: str | None = None, *, bold: bool = False, dim: bool = False) -> str:
        if not self._color or not text:
            return text
        from click import style

        return style(text, fg=color, bold=bold or None, dim=dim or None)


def _drawing(drawing: Drawing, width: int, style: _Style) -> Iterator[str]:
    yield from (style(line, bold=True) for line in wrapped(one_line(heading(drawing)), width))
    for panel in drawing.panels:
        yield ""
        yield from _panel(panel, drawing, width, style)
    after = [line for note in drawing.notes for line in _note(note, width)]
    after += [line for hint in drawing.hints for line in _hint(hint, width)]
    if after:
        yield ""
        yield from after
    if drawing.sources:
        yield ""
        yield "  where this comes from"
        yield from (style(line, dim=True) for line in _sources(drawing.sources, width))


def heading(drawing: Drawing) -> str:
    """The drafter, what kind of head it is, and its target."""
    if not drawing.name:
        name = "code that belongs to no drafter"
        return f"{name}, target {drawing.target}" if drawing.target else name
    target = drawing.target or "unknown target"
    return f"{drawing.name}: {drawing.head}, target {target}"


def _panel(panel: Panel, drawing: Drawing, width: int, style: _Style) -> Iterator[str]:
    for line in _entry(MARKS[panel.status], panel.verdict, width):
        mark, rest = line[:12], line[12:]
        yield style(mark, _COLORS[panel.status], bold=True) + rest if mark.strip() else line
    for name, words in facts(panel, drawing):
        yield from _entry(name, words, width)
    if panel.rows:
        yield ""
        yield from _table(panel.rows, width, style)
    telling = [row for row in panel.rows if says_more(row, panel)]
    after = [line for row in telling for line in _entry(f"fc[{row.column}]", said(row), width)]
    after += [line for kept in panel.trained.beside for line in _entry("beside fc", beside(kept), width)]
    after += [line for note in panel.notes for line in _note(note, width)]
    if panel.right:
        after += _entry("right ids", panel.right, width)
    if after:
        yield ""
        yield from after


def facts(panel: Panel, drawing: Drawing) -> Iterator[tuple[str, str]]:
    """What the two halves of a panel rest on, by name."""
    trained, served = panel.trained, panel.served
    yield "trained", trained.title
    started = f", started at {', '.join(map(str, served.launches))}" if served.launches else ""
    yield "served", served.title + started
    if served.target and served.target != drawing.target:
        yield "target", served.target
    if served.ids:
        yield "ids", served.ids
    if served.rule:
        yield "rule", served.rule


def _entry(name: str, words: str, width: int) -> list[str]:
    return hanging(f"  {padded(name, 9)} ", one_line(words), width)


def _note(note: Note, width: int) -> list[str]:
    return _entry(note.mark, f"{note.text}, at {note.where}" if note.where is not None else note.text, width)


def _hint(hint: Hint, width: int) -> Iterator[str]:
    colon = "; in eaglelint.toml:" if hint.settle else ""
    yield from _entry("unknown", hint.missing + colon, width)
    for line in hint.settle.split("\n") if hint.settle else ():
        yield f"    {visible(line)}"


# ---- the table -----------------------------------------------------------------------------------------------------


class _Cells(NamedTuple):
    """The cells of one row, "" for what it does not have."""

    boundary: str = "boundary"
    kept: str = "kept as"
    named: str = "named"
    column: str = "fc"
    served: str = "served"
    id: str = "id"
    key: str = ""


def _table(rows: Sequence[Row], width: int, style: _Style) -> Iterator[str]:
    cells = [_cells(row) for row in rows]
    used = [place for place in range(len(_Cells())) if any(row[place] for row in cells)]
    headings = [_Cells()[place] for place in used]
    texts = [[row[place] for place in used] for row in cells]
    arrows = [" -> " if place < _COLUMN else " <- " for place in used[:-1]]
    room = width - 2 - sum(map(len, arrows)) - 1 - max(len(MARKS[row.status]) for row in rows)
    giving = [used.index(place) for place in (1, 2) if place in used]
    sizes = _fitted(widths([headings, *texts]), room, giving)
    if sizes is None:
        for row in rows:
            yield from _stacked(row, width, style)
        return
    gaps = [" " * len(arrow) for arrow in arrows]
    yield "  " + _line(headings, sizes, gaps).rstrip(" ")
    for row, parts in zip(rows, texts, strict=True):
        folded = [wrapped(text, size) for text, size in zip(parts, sizes, strict=True)]
        mark = style(MARKS[row.status], _COLORS[row.status], bold=row.status == "mismatch")
        first = [arrow if _joined(parts, place) else " " * len(arrow) for place, arrow in enumerate(arrows)]
        for number in range(max(map(len, folded))):
            part = [lines[number] if number < len(lines) else "" for lines in folded]
            line = "  " + _line(part, sizes, gaps if number else first)
            yield line.rstrip(" ") if number else f"{line} {mark}"


def _joined(parts: Sequence[str], place: int) -> bool:
    """Whether an arrow stands between a cell and the next: not between two that are empty, nor beside an empty end."""
    fc = next(number for number, part in enumerate(parts) if part.startswith("fc["))
    return any(parts[: place + 1]) if place < fc else any(parts[place + 1 :])


def _fitted(sizes: Sequence[int], room: int, giving: Sequence[int]) -> list[int] | None:
    """Sizes with which a table has room: the cells at `giving` give way, the widest first; None when that won't do."""
    fitted = list(sizes)
    while sum(fitted) > room:
        widest = max(giving, key=lambda place: fitted[place], default=None)
        if widest is None or fitted[widest] <= _LEAST:
            return None
        fitted[widest] -= 1
    return fitted


def _line(cells: Sequence[str], sizes: Sequence[int], arrows: Sequence[str]) -> str:
    parts = [padded(cell, size) for cell, size in zip(cells, sizes, strict=True)]
    return "".join(part + arrow for part, arrow in zip(parts, (*arrows, ""), strict=True))


def _cells(row: Row) -> _Cells:
    kept, fed = row.kept, row.fed
    return _Cells(
        boundary=boundary(kept) if kept is not None else "unknown",
        kept=visible(kept.slot.text) if kept is not None and kept.slot is not None else "",
        named=names(kept) if kept is not None else "",
        column=f"fc[{row.column}]",
        served=fed.boundary.text if fed is not None else "nothing" if row.words == NOTHING else "unknown",
        id=_id(fed) if fed is not None else "",
        key=_key(fed) if fed is not None else "",
    )


def boundary(kept: Kept) -> str:
    """A captured boundary with what was done to the state: "61 normed"."""
    return f"{kept.boundary.text} normed" if kept.normed else kept.boundary.text


def names(kept: Kept) -> str:
    """The names of a state, the first three of them."""
    return ", ".join(visible(name.text) for name in kept.names[:3])


def _id(fed: Fed) -> str:
    default = f"default {fed.formula}" if fed.formula else ""
    return visible(", ".join(fed.ids)) or default


def _key(fed: Fed) -> str:
    """What holds the id, in short: the list as it is called above the table, with the index."""
    if not fed.ids:
        return ""
    return f"ids{fed.key[fed.key.rfind('[') :]}" if "[" in fed.key else "ids"


def _stacked(row: Row, width: int, style: _Style) -> Iterator[str]:
    """A row where there is no room for a table."""
    mark = style(MARKS[row.status], _COLORS[row.status], bold=row.status == "mismatch")
    yield f"  fc[{row.column}] {mark}"
    cells = _cells(row)
    yield from hanging("    ", " -> ".join(part for part in cells[: _COLUMN + 1] if part), width)
    yield from hanging("    ", " <- ".join(part for part in cells[_COLUMN:] if part), width)


def says_more(row: Row, panel: Panel) -> bool:
    """Whether the words of a row add something to what the whole panel says."""
    if row.status == "unknown":
        return any(other.words != row.words for other in panel.rows)
    nothing = row.words == NOTHING and not any(other.fed is not None for other in panel.rows)
    return row.status == "mismatch" and not nothing


def said(row: Row) -> str:
    """What is wrong with a row or not known, in words."""
    if row.status != "mismatch" or row.kept is None or row.fed is None:
        return row.words
    trained, served = row.kept.boundary, row.fed.boundary
    both = f"trained on {_full(trained.text, trained.words)}, served {_full(served.text, served.words)}"
    words = row.words.removeprefix(EMBEDDING).lstrip(", ")
    return f"{both}: {words}" if words else both


def _full(text: str, words: str) -> str:
    return f"boundary {text} ({words})" if words else f"boundary {text}"


def beside(kept: Kept) -> str:
    """A state that goes into no column, with its way."""
    state = _full(kept.boundary.text, "" if kept.normed else kept.boundary.words)
    state += " after the final norm" if kept.normed else ""
    slot = (kept.slot.text,) if kept.slot is not None else ()
    return " -> ".join((state, *slot, *(name.text for name in kept.names[:3])))


def _sources(found: Sequence[Source], width: int) -> Iterator[str]:
    digits = len(str(len(found)))
    places = [f"{visible(source.where.path)}:{source.where.line}" for source in found]
    size = min(max(map(display_width, places)), max(width * 9 // 20, 16))
    for source, place in zip(found, places, strict=True):
        tag = f" ({', '.join(source.columns)})" if source.columns else ""
        head = f"  {source.number:{digits}}. {padded(place, size)}  "
        yield from hanging(head, one_line(source.what) + tag, width)
