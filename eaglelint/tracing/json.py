"""Drawings for programs, as `schemas/trace.schema.json` has it. A new `version` comes when a key changes meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eaglelint import __version__
from eaglelint.facts import Step
from eaglelint.location import Location
from eaglelint.report.encoding import as_json
from eaglelint.tracing.records import Boundary, Drawing, Fed, Kept, Name, Note, Panel, Row

_VERSION = 1


def render(drawings: Sequence[Drawing]) -> str:
    """The drawings as JSON (ASCII only, so that any consumer reads it)."""
    return as_json(report(drawings), 0)


def report(drawings: Sequence[Drawing]) -> dict[str, Any]:
    """The drawings as plain values."""
    return {
        "version": _VERSION,
        "tool": {"name": "eaglelint", "version": __version__},
        "pipelines": [_drawing(drawing) for drawing in drawings],
    }


def _drawing(drawing: Drawing) -> dict[str, Any]:
    return {
        "name": drawing.name,
        "head": drawing.head,
        "target": drawing.target,
        "layers": drawing.depth or None,
        "status": drawing.status,
        "where": place(drawing.where),
        "panels": [_panel(panel) for panel in drawing.panels],
        "notes": [_note(note) for note in drawing.notes],
        "unknown": [{"missing": hint.missing, "configuration": hint.settle} for hint in drawing.hints],
        "sources": [
            {"number": source.number, **place(source.where), "what": source.what, "columns": list(source.columns)}
            for source in drawing.sources
        ],
    }


def _panel(panel: Panel) -> dict[str, Any]:
    trained, served = panel.trained, panel.served
    return {
        "status": panel.status,
        "verdict": panel.verdict,
        "layers": panel.depth or None,
        "trained": {
            "source": trained.source,
            "title": trained.title,
            "ordered": trained.ordered,
            "judged": trained.judged,
            "assumed": trained.assumed,
            "steps": _steps(trained.steps),
        },
        "served": {
            "source": served.source,
            "title": served.title,
            "launches": [place(where) for where in served.launches],
            "release": place(served.release) if served.release is not None else None,
            "ids": served.ids,
            "rule": served.rule,
            "target": served.target,
            "default": served.default,
            "assumed": served.assumed,
            "steps": _steps(served.steps),
            "evidence": list(served.evidence),
        },
        "rows": [_row(row) for row in panel.rows],
        "beside": [_kept(kept) for kept in trained.beside],
        "right_ids": panel.right,
        "notes": [_note(note) for note in panel.notes],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "column": row.column,
        "status": row.status,
        "words": row.words,
        "trained": _kept(row.kept) if row.kept is not None else None,
        "served": _fed(row.fed) if row.fed is not None else None,
    }


def _kept(kept: Kept) -> dict[str, Any]:
    return {
        "boundary": _boundary(kept.boundary),
        "normed": kept.normed,
        "dtype": kept.dtype,
        "flaw": kept.flaw,
        "kept_as": _name(kept.slot) if kept.slot is not None else None,
        "names": [_name(name) for name in kept.names],
        "steps": _steps(kept.steps),
    }


def _fed(fed: Fed) -> dict[str, Any]:
    return {
        "boundary": _boundary(fed.boundary),
        "ids": list(fed.ids),
        "key": fed.key,
        "formula": fed.formula,
        "lost": fed.lost,
        "steps": _steps(fed.steps),
    }


def _boundary(boundary: Boundary) -> dict[str, Any]:
    return {"text": boundary.text, "value": boundary.value, "words": boundary.words}


def _name(name: Name) -> dict[str, Any]:
    return {"text": name.text, "kind": name.kind, **place(name.where), "claims": name.lie}


def _note(note: Note) -> dict[str, Any]:
    return {"mark": note.mark, "text": note.text, "where": place(note.where) if note.where is not None else None}


def _steps(steps: Sequence[Step]) -> list[dict[str, Any]]:
    return [{**place(step.where), "what": step.what} for step in steps]


def place(where: Location) -> dict[str, Any]:
    """A place: path, and 1-based line and column."""
    return {"path": where.path, "line": where.line, "column": where.column}
