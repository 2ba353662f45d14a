"""The matrix as a Markdown table."""

from __future__ import annotations

from collections.abc import Iterator

from eaglelint.boundary import show, show_ids
from eaglelint.reference.matrix import Cell, Drafter, Matrix

_SYMBOLS = {"same": "✓", "default": "✓ default", "refused": "–", "unknown": "?"}


def markdown(found: Matrix) -> Iterator[str]:
    """One row a drafter, one column an engine."""
    target = f"`{found.about.name}`" if found.about.name else "a Llama target"
    yield f"For {target}, {found.about.depth} layers:"
    yield ""
    yield f"| drafter | trained on | declares | {' | '.join(column.name for column in found.columns)} |"
    yield "|" + "---|" * (3 + len(found.columns))
    for drafter in found.drafters:
        cells = [_cell(found.cells[drafter, column]) for column in found.columns]
        yield f"| {drafter.name} | {show(drafter.trained)} | {_declared(drafter)} | {' | '.join(cells)} |"


def _declared(drafter: Drafter) -> str:
    return f"{show_ids(drafter.ids)} `{drafter.key}`" if drafter.ids is not None else "nothing"


def _cell(cell: Cell) -> str:
    if cell.outcome in _SYMBOLS:
        return _SYMBOLS[cell.outcome] + (" if on" if cell.needs else "")
    wrong = f"✗ {show(cell.captured)}" + (" (default)" if cell.outcome == "other_default" else "")
    return f"{wrong} → {show_ids(cell.ids)}" if cell.ids is not None else wrong
