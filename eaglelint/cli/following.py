"""What `eaglelint check` shows on standard error while it works: everything with --verbose, else a progress bar."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import click

from eaglelint import watch
from eaglelint.report.excerpt import visible
from eaglelint.watch import Listener

if TYPE_CHECKING:
    from eaglelint.facts import Facts
    from eaglelint.linking.records import Server
    from eaglelint.location import Location
    from eaglelint.pipeline import Pipeline
    from eaglelint.project import Project

#: Seconds of a run before a progress bar appears.
_SOON = 1.0

#: What the facts of each field of `Facts` are called.
_WORDS = {
    "drafters": "config of a drafter", "targets": "config of a target", "launches": "launch", "pins": "pin",
    "runs": "call of a script", "environment": "variable", "captures": "capture", "assemblies": "concatenation",
    "labels": "name of a state", "defects": "defect", "unresolved": "capture that is not resolved", "recipes": "recipe",
    "comments": "comment on layers", "salts": "cache namespace", "checkpoints": "checkpoint header",
    "indexes": "checkpoint index", "maps": "vocabulary map", "models": "engine's model",
}  # fmt: skip


@contextmanager
def following(verbose: bool) -> Iterator[None]:
    """Show what happens within this block; whatever ends it, no bar is left."""
    listener = follower(verbose)
    with watch.listening(listener):
        try:
            yield
        finally:
            if isinstance(listener, Progress):
                listener.close()


def follower(verbose: bool) -> Listener:
    """Whoever is to listen to a run."""
    if verbose:
        return Verbose()
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return Progress(sys.stderr)
    return Listener()


class Progress(Listener):
    """A bar for each part of a run that takes long; it leaves nothing behind."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._start = clock()
        self._part, self._steps, self._done = "", 0, 0
        self._bar: Any = None

    def begins(self, part: str, steps: int) -> None:
        """The bar of the part before goes; the next one comes when there is time to see it."""
        self.close()
        self._part, self._steps, self._done = part, steps, 0

    def goes_on(self) -> None:
        """The bar moves on."""
        self._done += 1
        if self._bar is None:
            if self._clock() - self._start < _SOON:
                return
            self._bar = click.progressbar(length=self._steps, label=self._part, file=self._stream)
            self._bar.__enter__()
        self._bar.update(self._done - 1 - self._bar.pos)

    def linked(self, pipelines: Sequence[Pipeline]) -> None:
        """What follows takes no time."""
        self.close()

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            click.echo("\x1b[1A\x1b[2K", file=self._stream, nl=False)
            self._bar = None


class Verbose(Listener):
    """Lines that say why a file was read or not, what it says, and what was linked to what."""

    def __init__(self) -> None:
        self._left: list[tuple[str, str]] = []
        self._project: Project | None = None

    def left_out(self, path: str, why: str) -> None:
        """Kept, to be told in order."""
        self._left.append((os.path.relpath(path).replace(os.sep, "/"), why))

    def discovered(self, project: Project) -> None:
        """What is not read, in the order of the paths."""
        self._project = project
        unreadable = [(fact.where.path, fact.reason) for fact in project.unreadable]
        for path, why in sorted({*self._left, *unreadable}):
            _say(f"not read: {path}: {why}")
        self._left = []

    def read(self, facts: Facts) -> None:
        """What each file says."""
        said: dict[str, Counter[str]] = {}
        for name, word in _WORDS.items():
            for fact in getattr(facts, name):
                where = getattr(fact, "where", None)
                path = where.path if where is not None else getattr(fact, "path", "")
                said.setdefault(path, Counter())[word] += 1
        for source in self._project.sources if self._project is not None else ():
            counts = said.get(source.path, Counter())
            found = ", ".join(f"{count} x {word}" if count > 1 else word for word, count in counts.items())
            _say(f"read: {source.path} ({source.kind}): {found or 'nothing that is looked for'}")

    def linked(self, pipelines: Sequence[Pipeline]) -> None:
        """What belongs to each drafter, with the places that say so."""
        for pipeline in pipelines:
            for line in _links(pipeline):
                _say(line)


def _links(pipeline: Pipeline) -> Iterator[str]:
    place = "" if pipeline.where.path == "." else f" ({pipeline.where})"
    yield f"linked: {pipeline.name or 'what belongs to no drafter'}{place}"
    if pipeline.target is not None:
        yield f"  target: {pipeline.target.words}{_at(pipeline.target.where)}"
    for ids in pipeline.id_lists:
        yield f"  declared: {list(ids.ids)} in {ids.key}{_at(ids.where)}"
    for said in pipeline.evidence.all:
        yield f"  trained: {said.what}{_at(said.where)}"
    for capture in pipeline.captures:
        yield f"  captured{_at(capture.where)}"
    for server in (*pipeline.servers, *pipeline.unlinked):
        yield f"  served: {_served(server)}"
    for told in pipeline.told:
        for recipe in told.places:
            yield f"  told: a recipe{_at(recipe.where)}"
    for ambiguity in pipeline.ambiguities:
        candidates = ", ".join(ambiguity.candidates)
        yield f"  not linked: {ambiguity.what}{_at(ambiguity.where)}; it could belong to {candidates or 'none'}"


def _served(server: Server) -> str:
    from eaglelint.linking.records import title

    release = server.release
    range_ = release.exact or release.specifier or "any release"
    launch = f" by {server.launch.where}" if server.launch is not None else " without a launch"
    return f"{title(server.engine)} {range_}{_at(release.where)}{launch}"


def _at(where: Location | None) -> str:
    return f" at {where}" if where is not None else ""


def _say(text: str) -> None:
    click.echo(f"eaglelint: {visible(text)}", err=True)
