"""The flow of `eaglelint trace`: discover, read, link, draw."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from eaglelint.errors import UnreadableSource
from eaglelint.fingerprints.records import Sample, SampleTarget
from eaglelint.guard import Guard
from eaglelint.location import Location, MappedText
from eaglelint.settings import Settings
from eaglelint.tracing.records import Drawing

if TYPE_CHECKING:
    from eaglelint.project import Source


@dataclass(frozen=True)
class Traced:
    """The drawings of a run. `sources` gives the texts of the files for excerpts.

    `tracebacks` has one entry for each internal error; what it would have drawn is missing. `samples` are the sample
    files that the configuration names, by their values.
    """

    drawings: tuple[Drawing, ...]
    sources: Mapping[str, Source]
    tracebacks: tuple[str, ...] = ()
    samples: tuple[Sample, ...] = ()
    sample_target: SampleTarget | None = None

    def render(self, format_: str, *, width: int = 80, color: bool = False) -> str:
        """The drawings in one of `FORMATS`, ending in a line break; `width` and `color` matter to text alone."""
        module = importlib.import_module(f"eaglelint.tracing.{format_}")
        if format_ == "text":
            text: str = module.render(self.drawings, files=len(self.sources), width=width, color=color)
            text += self._samples("text")
        elif format_ == "html":
            text = module.render(self.drawings, self.text, self._samples("section"))
        else:
            text = module.render(self.drawings)
        return text

    def _samples(self, form: str) -> str:
        """The samples that the configuration names as text or as a section of the page, "" without any."""
        if not self.samples:
            return ""
        module = importlib.import_module("eaglelint.tracing.samples")
        made: str = getattr(module, form)(self.samples, self.sample_target)
        return "\n" + made if form == "text" else made

    def text(self, path: str) -> MappedText | None:
        """The text of a file, None when there is none to show."""
        source = self.sources.get(path)
        try:
            return source.text if source is not None and source.kind != "binary" else None
        except UnreadableSource:
            return None


def trace(paths: Sequence[str], settings: Settings) -> Traced:
    """Draw what the files under `paths` hold. Raises UsageError for a wrong path."""
    from eaglelint.pipeline import link
    from eaglelint.project import discover
    from eaglelint.reading import read
    from eaglelint.tracing.draw import draw

    guard = Guard()
    project = discover(paths, settings=settings)
    facts = read(project, settings, guard)
    pipelines = tuple(guard.each("the linking of files to pipelines", Location("."), lambda: link(facts, settings)))
    drawings = [
        drawing
        for pipeline in pipelines
        for drawing in guard.each("the drawing of a pipeline", pipeline.where, partial(draw, pipeline))
    ]
    return Traced(
        drawings=tuple(drawings),
        sources={source.path: source for source in project.sources},
        tracebacks=tuple(guard.tracebacks),
        samples=facts.samples,
        sample_target=facts.sample_targets[0] if facts.sample_targets else None,
    )
