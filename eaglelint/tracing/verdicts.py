"""What single rules say of a pipeline, for the drawing."""

from __future__ import annotations

from collections.abc import Iterator

from eaglelint.checks.registry import load_all
from eaglelint.findings import Finding
from eaglelint.pipeline import Pipeline


def said(code: str, pipeline: Pipeline) -> Iterator[Finding]:
    """The findings of one rule."""
    for registered in load_all().pipeline:
        if code in registered.codes:
            yield from (finding for finding in registered.function(pipeline) if finding.rule == code)
