"""The analyser against the code itself: what it infers of generated programs is what running them gives.

`EAGLELINT_VARIANTS=5000 EAGLELINT_SEED=7 pytest tests/generated` for a longer run, `benchmarks/accuracy.py generated`
for a table.
"""

from __future__ import annotations

import os
from pathlib import Path

import grammar
from generated import Verdict, facts_of, judge, truths

VARIANTS = int(os.environ.get("EAGLELINT_VARIANTS", "200"))
SEED = int(os.environ.get("EAGLELINT_SEED", "1"))
#: At most this part of the variants may be answered with "unknown" and a reason.
UNKNOWN = 0.03


def test_what_is_inferred_is_what_running_the_code_gives(tmp_path: Path) -> None:
    variants = grammar.variants(SEED, VARIANTS)
    verdicts = [
        judge(variant, truth, facts_of(tmp_path / str(number), variant.files))
        for number, (variant, truth) in enumerate(zip(variants, truths(variants), strict=True))
    ]
    assert [told(verdict) for verdict in verdicts if verdict.kind in ("wrong", "silent")] == []
    unknown = [told(verdict) for verdict in verdicts if verdict.kind == "unknown"]
    assert len(unknown) <= UNKNOWN * VARIANTS, unknown


def told(verdict: Verdict) -> str:
    """A verdict with the program that it is about."""
    files = "\n".join(f"--- {name}\n{text}" for name, text in verdict.variant.files.items())
    return f"{verdict.variant.name}: {verdict.kind}\nran: {verdict.ran}\ninferred: {verdict.inferred}\n{files}"


def test_the_same_seed_gives_the_same_programs() -> None:
    assert grammar.variants(3, 5) == grammar.variants(3, 5)
    assert grammar.variants(3, 5) != grammar.variants(4, 5)
