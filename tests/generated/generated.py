"""Compares what the analyser infers of generated code with what running the code gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grammar import Variant

from eaglelint.facts import Facts
from eaglelint.guard import Guard
from eaglelint.project import discover
from eaglelint.reading import read
from eaglelint.settings import Settings

#: (boundary, normed, part) of each state of a concatenation, in order.
Columns = tuple[tuple[int, bool, str], ...]


class Verdict(NamedTuple):
    """How the analyser did on a variant: "equal", "unknown" (it says what it does not know), "silent" or "wrong"."""

    variant: Variant
    kind: str
    ran: str
    inferred: str


def truths(variants: Sequence[Variant]) -> list[dict[int, dict[str, Any]]]:
    """What running each variant gives, for each depth."""
    jobs = [{"files": v.run_files or v.files, "style": v.style, "depths": v.depths, "steps": v.steps} for v in variants]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("running.py"))],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [{int(depth): run for depth, run in result.items()} for result in json.loads(done.stdout)]


def facts_of(folder: Path, files: dict[str, str]) -> Facts:
    """What `eaglelint check` reads in these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    before = Path.cwd()
    os.chdir(folder)
    try:
        guard = Guard()
        facts = read(discover(["."], settings=Settings()), Settings(), guard)
    finally:
        os.chdir(before)
    assert not guard.tracebacks, guard.tracebacks[0]
    return facts


def judge(variant: Variant, truth: dict[int, dict[str, Any]], facts: Facts) -> Verdict:
    """The verdict on one variant: every depth that the analyser speaks of must be right, and none left out."""
    for depth, run in truth.items():
        assert "error" not in run, f"{variant.name} at {depth}: {run['error']}"
    ran = {depth: {_columns(parts) for parts in run["joined"]} for depth, run in truth.items()}
    inferred: dict[int, set[Columns]] = {}
    for assembly in facts.assemblies:
        for depth, states in assembly.states:
            inferred.setdefault(depth, set()).add(tuple((s.boundary, s.normed, s.part) for s in states))
    shown = json.dumps({d: sorted(map(str, c)) for d, c in inferred.items()}, indent=1)
    expected = json.dumps({d: sorted(map(str, c)) for d, c in ran.items()}, indent=1)
    if not inferred:
        reasons = "; ".join(f"{u.missing} ({u.where})" for u in facts.unresolved)
        return Verdict(variant, "unknown" if reasons else "silent", expected, reasons)
    equal = all(depth in ran and columns == ran[depth] for depth, columns in inferred.items())
    wrong = _wrong_names(truth, facts) if equal else []
    if not equal or wrong:
        return Verdict(variant, "wrong", expected, "; ".join([shown, *wrong]))
    if len(inferred) == 1 and len(truth) > 1:
        return Verdict(variant, "wrong", expected, shown)
    return Verdict(variant, "equal", expected, shown)


def _columns(parts: list[list[Any]]) -> Columns:
    return tuple((boundary, normed, part) for boundary, normed, part in parts)


def _wrong_names(truth: dict[int, dict[str, Any]], facts: Facts) -> list[str]:
    """Names of files and keys of which the analyser says that they hold another state than they do."""
    wrong = []
    for label in facts.labels:
        for depth, states in label.states:
            held = truth.get(depth, {}).get("named", {}).get(label.name)
            said = [states[0].boundary, states[0].normed, states[0].part]
            if label.kind in ("file", "key") and held is not None and said != list(held):
                wrong.append(f"{label.name} is said to be {said} and is {held}")
    return wrong
