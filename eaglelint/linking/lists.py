"""The lists of states that the code of one pipeline takes, and which of them are meant to be the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from eaglelint.facts import Assembly, Defect, ScriptRun, Value
from eaglelint.linking import evidence, paths, training
from eaglelint.linking.records import Training
from eaglelint.location import Location

if TYPE_CHECKING:
    from eaglelint.pipeline import Pipeline

#: Words in the path of code that uses states, rather than takes them for others.
_CONSUMER = re.compile(r"train|online|distil|finetun|fit|learn|loader|dataset|collat", re.IGNORECASE)
_PRODUCER = re.compile(r"dump|extract|captur|collect|gather|generat|record|hook", re.IGNORECASE)
#: Kinds of defects that by themselves explain why a list is another.
_EXPLAINING = training.EXPLAINING | {"dump-layout-mismatch"}


class Listed(NamedTuple):
    """A list of states: what it says of the training, where its choice of layers is written, and the target's name.

    `purpose` as in Assembly, or "capture". `files` are the files that it comes through.
    """

    said: Training
    place: Location
    purpose: str
    files: frozenset[str]
    target: Value | None = None


def runtime(assemblies: Sequence[Assembly], defects: Sequence[Defect], depth: int) -> list[Listed]:
    """What home-made runtimes and benchmarks feed to a head."""
    return [entry for entry in _assembled(assemblies, defects, depth) if entry.purpose == "runtime"]


def every(pipeline: Pipeline) -> list[Listed]:
    """Every concatenation of a pipeline."""
    return _assembled(pipeline.assemblies, pipeline.defects, pipeline.depth)


def of_training(pipeline: Pipeline) -> list[Listed]:
    """The lists of dump, extraction and training: concatenations, and captures that are stored or extracted."""
    found = [entry for entry in every(pipeline) if entry.purpose != "runtime"]
    fed = {step.where for assembly in pipeline.assemblies for step in assembly.trace}
    for capture in pipeline.captures:
        stored = any("saved to" in step.what or "extract" in step.what for step in capture.trace)
        if not stored or capture.where in fed or (capture.chosen is not None and capture.chosen in fed):
            continue
        for said in training.of_captures([capture], pipeline.depth):
            files = frozenset({capture.where.path, *(step.where.path for step in capture.trace)})
            if not _spoilt(files, pipeline.defects):
                found.append(Listed(said, capture.chosen or capture.where, "capture", files, capture.target))
    return found


def of_recipe(said: Training) -> Listed:
    """What a trainer or data generator was told."""
    place = said.where or Location("")
    return Listed(said, place, "recipe", frozenset({place.path}))


def _assembled(assemblies: Sequence[Assembly], defects: Sequence[Defect], depth: int) -> list[Listed]:
    found = []
    for assembly in assemblies:
        said = training.of_assembly(assembly, depth) if assembly.confidence != "possible" else None
        files = frozenset({assembly.where.path, *(step.where.path for step in assembly.trace)})
        if said is not None and not _spoilt(files, defects):
            place = assembly.preset or assembly.where
            found.append(Listed(said, place, assembly.purpose, files, assembly.target))
    return found


def _spoilt(files: frozenset[str], defects: Sequence[Defect]) -> bool:
    return any(defect.kind in _EXPLAINING and defect.where.path in files for defect in defects)


def related_pairs(pipeline: Pipeline, found: Sequence[Listed]) -> Iterator[tuple[Listed, Listed]]:
    """The pairs of lists that belong to one drafter: by data, by one script, or because the pipeline has a drafter."""
    for one, other in combinations(found, 2):
        if _other_target(one, other) or _alternatives(one, other):
            continue
        if pipeline.name or proven_link(pipeline, one, other):
            yield one, other


def _other_target(one: Listed, other: Listed) -> bool:
    """Whether two lists are of targets with different names."""
    named = [entry.target for entry in (one, other) if entry.target is not None and entry.target.known]
    names = [value.value.rstrip("/").split("/")[-1].lower() for value in named if isinstance(value.value, str)]
    return len(names) == 2 and names[0] != names[1]


def _alternatives(one: Listed, other: Listed) -> bool:
    """Whether two lists stand in one file as two ways to do the same: neither holds data that another file made."""
    same = one.said.where is not None and other.said.where is not None and one.said.where.path == other.said.where.path
    return same and len(one.files) == 1 and len(other.files) == 1


def proven_link(pipeline: Pipeline, one: Listed, other: Listed) -> bool:
    """Whether two lists surely belong together.

    They share a file, one script runs the code of both, or they are the producer's and the consumer's for the drafter.
    """
    if one.files & other.files:
        return True
    if pipeline.name and {_role(one), _role(other)} == {-1, 1}:
        return True
    by_script: dict[str, tuple[bool, bool]] = {}
    for run in pipeline.runs:
        first, second = by_script.get(run.where.path, (False, False))
        by_script[run.where.path] = (
            first or _runs_one_of(run.script, run, one.files),
            second or _runs_one_of(run.script, run, other.files),
        )
    return any(first and second for first, second in by_script.values())


def _runs_one_of(script: str, run: ScriptRun, files: frozenset[str]) -> bool:
    """Whether a command runs one of some files, or a script beside it in a folder of its own."""
    if any(evidence.runs(run, path) for path in files):
        return True
    folder = paths.folder_of(script) if script.endswith(".py") else ""
    return bool(folder) and any(paths.folder_of(path) == folder for path in files)


def consumes(one: Listed, other: Listed) -> bool:
    """Whether the first of two lists is rather the consumer's: by its purpose, its path, its place in the data flow."""
    return _weight(one) >= _weight(other)


def _weight(entry: Listed) -> tuple[int, int, int]:
    loaded = any(step.what.startswith("loaded") for step in entry.said.trace)
    return (int(entry.purpose != "capture"), _role(entry), int(loaded))


def _role(entry: Listed) -> int:
    """1 for code that uses states, -1 for code that takes them for others, by what it is called; 0 where both fit."""
    path = entry.said.where.path if entry.said.where is not None else entry.place.path
    takes = entry.purpose == "capture" or bool(_PRODUCER.search(path))
    return int(bool(_CONSUMER.search(path))) - int(takes)
