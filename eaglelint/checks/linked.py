"""EGL004: what belongs to which drafter can not be told, so that the contract between these files is not checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eaglelint.checks import wording
from eaglelint.checks.registry import check
from eaglelint.facts import Step
from eaglelint.findings import Finding, Fix
from eaglelint.pipeline import Pipeline


@check("EGL004")
def ambiguous_pipeline(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each set of drafters that the files do not tell apart."""
    for doubt in pipeline.ambiguities:
        files = wording.listed(_few([place.path for place in doubt.places]))
        heads = wording.listed(_few(doubt.candidates), "or")
        message = f"nothing says {doubt.what}: {files} may belong to {heads}, so their contract is not checked"
        yield Finding(
            rule="EGL004",
            severity="info",
            message=message,
            where=doubt.where,
            related=tuple(Step(place, "may belong to several drafters") for place in doubt.places),
            fix=Fix("say it in a [[tool.eaglelint.pipeline]] entry: drafter, capture, training, launch"),
        )


def _few(names: Sequence[str], most: int = 5) -> list[str]:
    """The first few of some names, and how many more there are."""
    different = list(dict.fromkeys(names))
    return different if len(different) <= most else [*different[:most], f"{len(different) - most} others"]
