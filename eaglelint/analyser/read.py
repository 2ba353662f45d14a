"""The analyser's door: Python sources, and Python inside scripts and patches, in; facts out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from eaglelint.analyser import gate, memory
from eaglelint.errors import DocumentError, UnreadableSource
from eaglelint.facts import Facts, Unreadable
from eaglelint.location import MappedText

if TYPE_CHECKING:
    from eaglelint.project import Source

#: Kinds of files that may hold Python: for `python -`, as a step, as cells, in fences.
_HOLDERS = frozenset({"shell", "dockerfile", "makefile", "yaml", "notebook", "markdown"})
#: Code in the fragments of at most this many patch files is read.
_MAX_PATCHES = 200
#: N for which code is run when no target is known: two lists that agree for all of them are taken to be equal.
_DEPTHS = (94, 61, 48, 36)


def analyse(sources: Sequence[Source], facts: Facts) -> Iterator[object]:
    """Captures, assemblies, labels, defects and launches that the project's Python proves.

    `facts` are what the other readers found: target configs, launches, commands, pins and environment settings.
    """
    embedded = list(_embedded(sources))
    if not embedded and not any(source.kind == "python" and _relevant(source) for source in sources):
        return
    try:
        yield from _analysed(sources, facts, embedded)
    finally:
        memory.forget()


def _analysed(sources: Sequence[Source], facts: Facts, embedded: list[list[MappedText]]) -> Iterator[object]:
    from eaglelint.analyser import launches, outcome
    from eaglelint.analyser.program import run_project
    from eaglelint.analyser.sources import Code
    from eaglelint.analyser.surroundings import project_depths

    code = Code(sources)
    depths = project_depths(facts) or list(_DEPTHS)
    runs = []
    for depth in depths:
        recorder, world = run_project(code, facts, embedded, depth)
        runs.append((depth, recorder))
        world.forget()
        if not world.depth_matters(recorder) or (len(runs) == 2 and outcome.settled(runs[0][1], recorder)):
            break
    yield from outcome.facts(runs)
    yield from launches.found(runs[0][1])
    seen: set[Unreadable] = set()
    for unreadable in code.unreadable:
        if unreadable not in seen:
            seen.add(unreadable)
            yield unreadable


def _relevant(source: Source) -> bool:
    try:
        return gate.relevant(source.data, source.path)
    except UnreadableSource:
        return False


def _embedded(sources: Sequence[Source]) -> Iterator[list[MappedText]]:
    """Python inside files of other kinds and in the hunks of patches, grouped by the file that it belongs to."""
    patches = 0
    for source in sources:
        if source.kind in _HOLDERS and _relevant(source):
            yield from _heredocs(source)
        elif source.kind == "patch" and _relevant(source) and patches < _MAX_PATCHES:
            patches += 1
            yield from _hunks(source)


def _heredocs(source: Source) -> Iterator[list[MappedText]]:
    from eaglelint.readers.launch import python_code

    try:
        for text in python_code(source):
            yield [text]
    except (UnreadableSource, DocumentError, RecursionError):
        return  # the readers of such files say so


def _hunks(source: Source) -> Iterator[list[MappedText]]:
    from eaglelint.readers.diff import read_diff

    try:
        patches = read_diff(source.text)
    except UnreadableSource:
        return
    for patch in patches:
        pieces = [hunk.post for hunk in patch.hunks if hunk.added]
        if pieces and patch.new_path.endswith(".py"):
            yield pieces
