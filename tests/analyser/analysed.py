"""Runs the analyser on small trees of files and gives what it found in short form."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import Any

from eaglelint.facts import Assembly, Capture, Facts
from eaglelint.guard import Guard
from eaglelint.project import discover
from eaglelint.reading import read
from eaglelint.settings import Settings


def facts_of(folder: Path, files: dict[str, str]) -> Facts:
    """Write the files and read the folder as `eaglelint check` would."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    before = Path.cwd()
    os.chdir(folder)
    try:
        guard = Guard()
        facts = read(discover(["."], settings=Settings()), Settings(), guard)
    finally:
        os.chdir(before)
    assert not guard.tracebacks, guard.tracebacks[0]
    return facts


def boundaries(fact: Assembly | Capture, depth: int | None = None) -> list[int]:
    """The boundaries of a fact, for one depth or for the only one."""
    table = dict(fact.states)
    states = table[depth] if depth is not None else next(iter(table.values()))
    return [state.boundary for state in states]


def joined(folder: Path, code: str, depth: int | None = None, **files: str) -> list[int]:
    """The boundaries of the only concatenation in a script that has to do with EAGLE-3."""
    facts = facts_of(folder, {"eagle3_dump.py": code, **files})
    assert len(facts.assemblies) == 1, [str(a.where) for a in facts.assemblies]
    return boundaries(facts.assemblies[0], depth)


def defects(facts: Facts) -> dict[str, int]:
    """kind -> line of each defect."""
    return {defect.kind: defect.where.line for defect in facts.defects}


def names(facts: Facts) -> dict[str, Any]:
    """name -> boundary of each label."""
    return {label.name: label.states[0][1][0].boundary for label in facts.labels}
