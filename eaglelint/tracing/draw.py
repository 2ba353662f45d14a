"""From pipelines to drawings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eaglelint import catalog
from eaglelint.boundary import show_ids
from eaglelint.checks import wording
from eaglelint.errors import UsageError
from eaglelint.facts import Defect
from eaglelint.pipeline import Pipeline
from eaglelint.tracing.comparing import aligned, rows, verdict
from eaglelint.tracing.hints import hints, takes_states
from eaglelint.tracing.names import Names
from eaglelint.tracing.provenance import sources
from eaglelint.tracing.records import Drawing, Kept, Note, Panel, Served, Trained
from eaglelint.tracing.served import Side, key_words, sides
from eaglelint.tracing.trained import runtime, trained

_HEADS = {
    "eagle3": "EAGLE-3",
    "eagle": "EAGLE",
    "dflash": "DFlash",
    "dspark": "DSpark",
    "medusa": "Medusa",
    "mtp": "MTP",
    "unknown": "unknown kind of head",
}


def draw(pipeline: Pipeline) -> Iterator[Drawing]:
    """The drawing of a pipeline; nothing for code of no drafter in which there is nothing to draw."""
    panels = tuple(_panels(pipeline)) if takes_states(pipeline) else ()
    target = pipeline.target
    drawing = Drawing(
        name=pipeline.name,
        head=_HEADS.get(pipeline.method, pipeline.method) if pipeline.name else "",
        target=target.words if target is not None else "",
        where=pipeline.where,
        depth=pipeline.depth,
        panels=panels,
        notes=tuple(_notes(pipeline, panels)),
        hints=hints(pipeline, panels),
        sources=sources(panels),
    )
    if drawing.name or drawing.panels or pipeline.unresolved or pipeline.ambiguities:
        yield drawing


def _panels(pipeline: Pipeline) -> Iterator[Panel]:
    names = Names.of(pipeline)
    lefts = trained(pipeline, names)
    rights = sides(pipeline, runtime(pipeline, names))
    if lefts == [Trained("not known")] and rights == [Side(Served("not known"), known=False)]:
        return
    for side in rights:
        for left in lefts:
            yield _panel(pipeline, left, side)


def _panel(pipeline: Pipeline, left: Trained, side: Side) -> Panel:
    served = side.served
    found = rows(left, served.columns, decided=side.known)
    status, words = verdict(found, left, side.known)
    return Panel(
        trained=aligned(left, served.columns),
        served=served,
        rows=found,
        status=status,
        verdict=words,
        depth=_depth(pipeline, left, side),
        right=_right(left, side, pipeline.depth) if status == "mismatch" and left.judged else "",
        notes=tuple(_panel_notes(left, side)),
    )


def _depth(pipeline: Pipeline, left: Trained, side: Side) -> int:
    """N of the target that is served, else of the pipeline, else the only one that the captures allow; 0: not known."""
    if side.serving is not None and side.serving.depth:
        return side.serving.depth
    possible = {n for kept in left.columns for n, _ in kept.boundary.by_depth}
    return pipeline.depth or (possible.pop() if len(possible) == 1 else 0)


def _right(left: Trained, side: Side, depth: int) -> str:
    """Ids (or a newer release) that make the engine capture what the drafter was trained on; "" without any."""
    serving = side.serving
    boundaries = [kept.boundary.value for kept in left.columns]
    known = [value for value in boundaries if value is not None]
    if serving is None or len(known) < len(boundaries) or serving.off or serving.reading.status != "ok":
        return ""
    depth = serving.depth or depth
    key = next((key for key in (serving.key, *serving.reading.keys) if key), "")
    wanted = known if left.ordered else sorted(known)
    ids = serving.reading.ids_for(wanted, depth or None, key) if key else None
    if ids is not None:
        return f"{show_ids(ids)} under {key_words(key)}"
    if list(wanted) != sorted(wanted):
        return ""
    later = wording.newer(serving, known, depth)
    if later is None:
        return ""
    name, newer = later
    return f"the ids as they are with {name}" if newer is None else f"{show_ids(newer)} with {name}"


# ---- notes -----------------------------------------------------------------------------------------------------------


def _panel_notes(left: Trained, side: Side) -> Iterator[Note]:
    served, serving = side.served, side.serving
    for reason in dict.fromkeys(reason for reason in (left.assumed, served.assumed) if reason):
        yield Note("assumed", reason)
    if len(left.columns) > 1 and not left.ordered:
        yield Note("order", "the order of the columns in training is not known; they stand in the order of fc")
    if serving is None:
        return
    if serving.reading.beyond:
        yield Note("assumed", f"{serving.name} reads ids as the newest release that was read does")
    for ids in serving.unread:
        yield Note("not read", f"{show_ids(ids.ids)} under {key_words(ids.key)}", ids.where)
    arriving = [fed for fed in served.columns if not fed.lost or serving.reading.status == "broken"]
    if left.judged and left.columns and served.columns and len(arriving) != len(left.columns):
        yield Note("width", f"{len(arriving)} of {len(left.columns)} states arrive: fc has no input of that width")


def _notes(pipeline: Pipeline, panels: Sequence[Panel]) -> Iterator[Note]:
    yield from _lies(panels)
    for defect in pipeline.defects:
        if defect.confidence != "possible":
            yield Note("defect", _defect(defect), defect.where)
    if not takes_states(pipeline):
        yield Note("method", "this kind of head is fed no auxiliary hidden states: there is nothing to draw")


def _defect(defect: Defect) -> str:
    try:
        code = f" ({catalog.resolve(defect.kind)})"
    except UsageError:
        code = ""
    message = defect.details.get("message")
    return f"{message or defect.kind.replace('-', ' ')}{code}"


def _lies(panels: Sequence[Panel]) -> Iterator[Note]:
    """Names that claim another state than they hold."""
    seen = set()
    for panel in panels:
        for kept in (*panel.trained.columns, *panel.trained.beside):
            for name in (*((kept.slot,) if kept.slot is not None else ()), *kept.names):
                if name.lie and name.where not in seen:
                    seen.add(name.where)
                    yield Note("name", f"`{name.text}` claims {name.lie}, but holds {_held(kept)}", name.where)


def _held(kept: Kept) -> str:
    words = f"boundary {kept.boundary.text}"
    if kept.normed:
        return f"{words} after the final norm"
    return f"{words} ({kept.boundary.words})" if kept.boundary.words else words
