"""Drawings as one self-contained page: no network, nothing inline but its own style and script, both named by hash.

A row is a `<details>`: it opens by Enter or a click, also where no script runs. Whatever stands in files reaches the
page as text alone.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from eaglelint import __version__
from eaglelint.facts import Step
from eaglelint.location import Location, MappedText
from eaglelint.tracing.comparing import NOTHING
from eaglelint.tracing.excerpts import excerpt
from eaglelint.tracing.markup import element, tag, text
from eaglelint.tracing.provenance import together
from eaglelint.tracing.records import Drawing, Fed, Hint, Kept, Note, Panel, Row
from eaglelint.tracing.ruler import caption, ruler
from eaglelint.tracing.text import MARKS, beside, facts, said

Texts = Callable[[str], "MappedText | None"]

#: The sign that something opens.
_TURN = '<span class="turn" aria-hidden="true"></span>'


def render(drawings: Sequence[Drawing], texts: Texts, samples: str = "") -> str:
    """The page; `texts` gives the text of a file for excerpts, `samples` is a section that is HTML already."""
    panels = [
        (f"d{number}p{place}", panel)
        for number, drawing in enumerate(drawings)
        for place, panel in enumerate(drawing.panels)
    ]
    style = _file("page.css") + "".join(_grid(name, panel) for name, panel in panels)
    script = _file("page.js")
    own = f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    policy = f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
    head = (
        element("meta", "", {"charset": "utf-8"})
        + element("meta", "", {"name": "viewport", "content": "width=device-width, initial-scale=1"})
        + element("meta", "", {"http-equiv": "Content-Security-Policy", "content": policy})
        + element("meta", "", {"name": "color-scheme", "content": "light dark"})
        + element("title", text(_title(drawings)))
        + f"<style>{style}</style>"
    )
    body = (
        element("a", "Skip to the drawings", {"class": "skip", "href": "#drawings"})
        + tag("header", "top", _top(drawings))
        + element("main", _drawings(drawings, texts) + samples, {"id": "drawings", "tabindex": "-1"})
        + tag("footer", "foot", text(f"Drawn by eaglelint {__version__} from files alone: nothing was run."))
        + f"<script>{script}</script>"
    )
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>{body}</body>\n</html>\n'


def _file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _title(drawings: Sequence[Drawing]) -> str:
    names = ", ".join(drawing.name or "code of no drafter" for drawing in drawings[:3])
    return f"{names} - eaglelint trace" if names else "eaglelint trace"


def _top(drawings: Sequence[Drawing]) -> str:
    lead = (
        "Each row is a column of fc, the layer that takes the auxiliary hidden states: on the left what the drafter "
        "was trained on and how that came there, on the right what the engine feeds it. A boundary is the residual "
        "stream after that many layers of the target. Open a row to see the lines that say so."
    )
    parts = [tag("p", "brand", "eaglelint trace"), element("h1", "What each drafter is fed"), tag("p", "lead", lead)]
    if len(drawings) > 1:
        links = [
            element("a", _mark(drawing.status) + text(_name(drawing)), {"href": f"#d{number}"})
            for number, drawing in enumerate(drawings)
        ]
        parts.append(element("nav", "".join(links), {"class": "contents", "aria-label": "Drafters"}))
    button = element("button", "Open all rows", {"id": "all", "type": "button"})
    parts.append(f'<div class="tools" hidden>{button}</div>')
    return "".join(parts)


def _drawings(drawings: Sequence[Drawing], texts: Texts) -> str:
    if not drawings:
        return tag("p", "drawing", "No drafter and no captured states: nothing to draw.")
    return "".join(_drawing(drawing, number, texts) for number, drawing in enumerate(drawings))


def _name(drawing: Drawing) -> str:
    return drawing.name or "code that belongs to no drafter"


def _mark(status: str) -> str:
    return tag("span", f"mark {status}", MARKS[status])  # type: ignore[index]


def _drawing(drawing: Drawing, number: int, texts: Texts) -> str:
    kind = tag("span", "kind", text(drawing.head)) if drawing.head else ""
    title = element("h2", text(_name(drawing)) + kind, {"id": f"t{number}"})
    target = tag("p", "target", text(f"target {drawing.target}" if drawing.target else "the target is not known"))
    parts = [title, target]
    for place, panel in enumerate(drawing.panels):
        parts.append(_panel(panel, drawing, f"d{number}p{place}", texts))
    notes = [_note(note) for note in drawing.notes] + [_hint(hint) for hint in drawing.hints]
    if notes:
        parts.append(tag("ul", "notes after", "".join(notes)))
    if drawing.sources:
        parts.append(_places(drawing))
    return element("section", "".join(parts), {"class": "drawing", "id": f"d{number}", "aria-labelledby": f"t{number}"})


# ---- panels --------------------------------------------------------------------------------------------------------


def _panel(panel: Panel, drawing: Drawing, name: str, texts: Texts) -> str:
    title = _mark(panel.status) + element("h3", text(_served_title(panel))) + tag("p", "verdict", text(panel.verdict))
    said_of = "".join(element("dt", text(key)) + element("dd", text(words)) for key, words in facts(panel, drawing))
    parts = [element("header", title), tag("dl", "facts", said_of)]
    drawn = ruler(panel)
    if drawn:
        parts.append(tag("figure", "ruler", drawn + element("figcaption", text(caption(panel)))))
    if panel.rows:
        parts.append(element("div", _rows(panel, name, texts), {"class": "rows", "id": name}))
    notes = [_entry("beside fc", beside(kept)) for kept in panel.trained.beside]
    notes += [_note(note) for note in panel.notes]
    notes += [_entry("right ids", panel.right)] if panel.right else []
    if notes:
        parts.append(tag("ul", "notes", "".join(notes)))
    return tag("article", f"panel {panel.status}", "".join(parts))


def _served_title(panel: Panel) -> str:
    """What serves; engines keep their own spelling."""
    titles = {"unknown": "Served by an engine that is not known", "runtime": "The project's own runtime"}
    return titles.get(panel.served.source, panel.served.title)


def _has(panel: Panel) -> tuple[bool, bool, bool, bool]:
    """Which columns a panel needs: kept as, named, id, key."""
    kept = [row.kept for row in panel.rows if row.kept is not None]
    fed = [row.fed for row in panel.rows if row.fed is not None]
    return (
        any(one.slot is not None for one in kept),
        any(one.names for one in kept),
        any(one.ids or one.formula for one in fed),
        any(one.ids for one in fed),
    )


def _grid(name: str, panel: Panel) -> str:
    """The columns of a panel's rows: the same for all of them, so that they stand below each other."""
    slot, named, ids, key = _has(panel)
    wire, state = "minmax(18px, 34px)", "minmax(0, 1.25fr)"
    left = [f"{cell} {wire}" for cell, there in (("minmax(0, 1.2fr)", slot), ("minmax(0, 1.5fr)", named)) if there]
    right = [f"{wire} {cell}" for cell, there in (("minmax(0, 0.9fr)", ids), ("minmax(76px, 0.8fr)", key)) if there]
    columns = " ".join([state, wire, *left, "76px", wire, state, *right, "minmax(120px, 0.8fr)"])
    rows = f"#{name} .headings, #{name} .row > summary"
    return f"@media (min-width: 1061px) {{ {rows} {{ grid-template-columns: {columns}; }} }}\n"


def _rows(panel: Panel, name: str, texts: Texts) -> str:
    slot, named, ids, key = _has(panel)
    titles = ["captured", "", *(["kept as", ""] if slot else []), *(["named", ""] if named else []), "column", ""]
    titles += ["served", *(["", "id"] if ids else []), *(["", "of"] if key else []), ""]
    cells = "".join(element("span", title) for title in titles)
    headings = element("div", cells, {"class": "headings", "aria-hidden": "true"})
    return headings + "".join(_row(row, panel, f"{name}c{row.column}", texts) for row in panel.rows)


def _row(row: Row, panel: Panel, name: str, texts: Texts) -> str:
    slot, named, ids, key = _has(panel)
    left = "".join(_left(row, slot, named))
    right = "".join(_right(row, ids, key))
    column = tag("span", "node fc", f'<span class="sr">into </span>fc[{row.column}]')
    verdict = tag("span", "verdict-cell", _mark(row.status) + _TURN)
    summary = tag("span", "half left", left) + column + tag("span", "half right", right) + verdict
    why = tag("p", "why", text(said(row))) if row.status != "match" and row.words else ""
    more = tag("div", "more", _more(row, panel, texts))
    return element("details", element("summary", summary) + why + more, {"class": f"row {row.status}", "id": name})


def _left(row: Row, slot: bool, named: bool) -> Iterator[str]:
    kept = row.kept
    yield tag("span", "label", "trained on")
    yield _boundary(kept, "trained") if kept is not None else tag("span", "node none", "not known")
    yield _wire("right", kept is not None)
    if slot:
        yield _cell(kept.slot.text, "kept as") if kept is not None and kept.slot is not None else _nothing()
        yield _wire("right", kept is not None)
    if named:
        yield _names(kept) if kept is not None and kept.names else _nothing()
        yield _wire("right", kept is not None)


def _right(row: Row, ids: bool, key: bool) -> Iterator[str]:
    fed = row.fed
    yield _wire(f"left {row.status}", fed is not None)
    yield tag("span", "label", "served")
    if fed is None:
        yield tag("span", "node none", "nothing" if row.words == NOTHING else "not known")
    else:
        known = bool(fed.boundary.by_depth)
        yield _boundary(fed, f"{'served' if known else 'none'}{' lost' if fed.lost else ''}")
    known = fed is not None and bool(fed.ids or fed.formula)
    if ids:
        yield _wire("left", known)
        yield _id(fed) if fed is not None and known else _nothing()
    if key:
        yield _wire("left", fed is not None and bool(fed.ids))
        index = fed.key[fed.key.rfind("[") :] if fed is not None and "[" in fed.key else ""
        yield _cell(f"ids{index}", "of") if fed is not None and fed.ids else _nothing()


def _boundary(state: Kept | Fed, kind: str) -> str:
    words = state.boundary.words
    if isinstance(state, Kept) and state.normed:
        words = "after the final norm"
    if isinstance(state, Kept) and state.flaw:
        words = state.flaw
    small = element("small", text(words)) if words else ""
    spoken = f'<span class="sr">{"captured" if isinstance(state, Kept) else "served"} boundary </span>'
    return tag("span", f"node {kind}", f"{spoken}<b>{text(state.boundary.text)}</b>{small}")


def _names(kept: Kept) -> str:
    shown = []
    for name in kept.names[:3]:
        lie = f'<small class="lie">says {text(name.lie)}</small>' if name.lie else ""
        shown.append(f"<code>{text(name.text)}</code>{lie}")
    return tag("span", "node", '<span class="sr">named </span>' + "<br>".join(shown))


def _id(fed: Fed) -> str:
    if not fed.ids:
        return tag("span", "node", f"<code>{text(fed.formula)}</code><small>default</small>")
    return tag("span", "node", f'<span class="sr">from id </span><code>{text(", ".join(fed.ids))}</code>')


def _cell(words: str, spoken: str) -> str:
    return tag("span", "node", f'<span class="sr">{spoken} </span><code>{text(words)}</code>')


def _nothing() -> str:
    return tag("span", "none", "")


def _wire(kind: str, there: bool) -> str:
    return element("span", "", {"class": f"wire {kind}{'' if there else ' gone'}", "aria-hidden": "true"})


# ---- what a row opens into -----------------------------------------------------------------------------------------


def _more(row: Row, panel: Panel, texts: Texts) -> str:
    kept, fed = row.kept, row.fed
    left = _steps((*(kept.steps if kept is not None else ()), *panel.trained.steps), texts)
    if not left:
        left = tag("p", "what", text(panel.trained.title if kept is not None else "No code in scope says it."))
    right = _steps((*(fed.steps if fed is not None else ()), *panel.served.steps), texts)
    if panel.served.rule:
        right = tag("p", "what", text(panel.served.rule)) + right
    if panel.served.evidence:
        lines = "; ".join(panel.served.evidence)
        right += tag("p", "evidence", text(f"How this engine reads ids was found in its own source: {lines}"))
    if not right:
        right = tag("p", "what", "Nothing in scope says it.")
    return tag("div", "left", "<h4>How it was trained</h4>" + left) + tag(
        "div", "right", "<h4>How it is served</h4>" + right
    )


def _steps(steps: Sequence[Step], texts: Texts) -> str:
    """The steps with the lines that they stand on; those of one line together."""
    lines: dict[tuple[str, int], list[Step]] = {}
    for step in steps:
        lines.setdefault((step.where.path, step.where.line), []).append(step)
    items = [_step(group[0].where, together([step.what for step in group]), texts) for group in lines.values()]
    return tag("ol", "steps", "".join(items)) if items else ""


def _step(where: Location, what: str, texts: Texts) -> str:
    place = tag("span", "place", text(f"{where.path}:{where.line}"))
    return element("li", f"{place} {tag('span', 'what', text(what))}{excerpt(texts(where.path), where)}")


# ---- notes ---------------------------------------------------------------------------------------------------------


def _entry(kind: str, words: str) -> str:
    return element("li", tag("span", "kind", text(kind)) + element("span", _prose(words)))


def _prose(words: str) -> str:
    """Words as HTML: what stands between backticks is code, arrows are arrows."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", text(words)).replace(" -&gt; ", " &rarr; ")


def _note(note: Note) -> str:
    return _entry(note.mark, f"{note.text}, at {note.where}" if note.where is not None else note.text)


def _hint(hint: Hint) -> str:
    words = text(hint.missing)
    if hint.settle:
        lines = "\n".join(text(line) for line in hint.settle.split("\n"))
        words += f" - in <code>eaglelint.toml</code>:<pre>{lines}</pre>"
    return element("li", tag("span", "kind", "not known") + element("span", words))


def _places(drawing: Drawing) -> str:
    items = []
    for source in drawing.sources:
        place = tag("span", "place", text(f"{source.where.path}:{source.where.line}"))
        columns = f" ({', '.join(source.columns)})" if source.columns else ""
        items.append(element("li", place + tag("span", "what", text(source.what + columns))))
    title = element("summary", f"All {len(items)} places that this rests on{_TURN}")
    return tag("details", "places", title + element("ol", "".join(items)))
