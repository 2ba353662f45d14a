"""Checks of a workspace with the texts that an editor holds, and what can be asked about the last one."""

from __future__ import annotations

import tokenize
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from eaglelint import watch
from eaglelint.boundary import describe, show
from eaglelint.checks.meanings import meanings
from eaglelint.configuration import load
from eaglelint.facts import LayerIds
from eaglelint.findings import Edit, Finding
from eaglelint.fixing.planning import plan
from eaglelint.linking.records import Serving
from eaglelint.location import MappedText
from eaglelint.pipeline import Pipeline
from eaglelint.run import Result, check


class Action(NamedTuple):
    """A fix of one finding: its edits by path, relative to the root of the workspace."""

    finding: Finding
    title: str
    edits: tuple[Edit, ...]
    safe: bool


class _Pipelines(watch.Listener):
    """Keeps what a run linked."""

    def __init__(self) -> None:
        self.pipelines: tuple[Pipeline, ...] = ()

    def linked(self, pipelines: Sequence[Pipeline]) -> None:
        self.pipelines = tuple(pipelines)


class Workspace:
    """One folder, checked as a whole. It must be the current directory, from which paths in findings are seen."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.result: Result | None = None
        self.pipelines: tuple[Pipeline, ...] = ()

    def check(self, texts: Mapping[str, str]) -> Result:
        """Check the folder; `texts` are those of the editor, by path relative to the root. Raises UsageError."""
        settings = load(["."])
        contents = {path: _bytes(path, text) for path, text in texts.items()}
        keeper = _Pipelines()
        with watch.listening(keeper):
            result = check(["."], settings, contents=contents)
        for path in {place for finding in result.findings for place in _paths(finding)}:
            result.text(path)  # read and kept now: later the file may be another
        self.result, self.pipelines = result, keeper.pipelines
        return result

    def path(self, file: Path) -> str | None:
        """A file as it stands in findings; None for one that lies elsewhere."""
        try:
            return file.relative_to(self.root).as_posix()
        except ValueError:
            return None

    def text(self, path: str) -> MappedText | None:
        """The text that was checked."""
        return self.result.text(path) if self.result is not None else None

    def actions(self, path: str, start: int, end: int) -> list[Action]:
        """The fixes of findings between two offsets of a file, proven to change nothing else."""
        if self.result is None:
            return []
        actions = []
        for finding in self.result.findings:
            where = finding.where
            if where.path != path or where.start > end or start > max(where.end, where.start) or not finding.fix:
                continue
            step = plan([finding], self.result.sources, unsafe=True)
            for made in step.fixes:
                safe = finding.fix.applicability == "safe"
                actions.append(Action(finding, f"{finding.rule}: {finding.fix.description}", made.edits, safe))
        return actions

    def hover(self, path: str, offset: int) -> tuple[LayerIds, str] | None:
        """What the list of ids at an offset means for each engine in scope, as Markdown; None elsewhere."""
        for pipeline in self.pipelines:
            lists = [*pipeline.id_lists, *(s.ids for s in pipeline.servings if s.ids is not None)]
            for ids in lists:
                if ids.where.path == path and ids.where.start <= offset <= ids.where.end:
                    return ids, "\n".join(_meaning(pipeline, ids))
        return None


def _paths(finding: Finding) -> Iterator[str]:
    yield finding.where.path
    for step in finding.related:
        yield step.where.path


def _bytes(path: str, text: str) -> bytes:
    """A text of the editor as the bytes that a file would have."""
    data = text.encode("utf-8", "surrogatepass")
    if not path.endswith((".py", ".pyw")):
        return data
    try:
        return text.encode(tokenize.detect_encoding(BytesIO(data).readline)[0])
    except (SyntaxError, UnicodeError, LookupError):
        return data


def _meaning(pipeline: Pipeline, ids: LayerIds) -> Iterator[str]:
    """Lines of Markdown: what was trained, what each engine takes, or what the list usually means."""
    depth = pipeline.depth or 0
    training = pipeline.training
    trained = training.at(depth) if training is not None else None
    if trained is not None:
        yield f"**trained on** boundaries {show(trained)}"
        yield ""
    servings = [serving for serving in pipeline.servings if serving.reading.status == "ok"]
    for serving in servings:
        yield f"- {_served(serving, ids)}"
    if not servings:
        for meaning in meanings(ids):
            yield f"- as {meaning.reader}: boundaries {show(meaning.boundaries)}"
    shown = next((s.captured(s.depth) for s in servings if s.ids is not None and s.ids.where == ids.where), None)
    for boundary in shown or ():
        yield f"\n{describe(boundary, depth)}" if depth else ""


def _served(serving: Serving, ids: LayerIds) -> str:
    """What one reading makes of the list."""
    name = f"**{serving.name}**"
    if serving.launch is not None:
        name += f" ({serving.launch.where})"
    captured = serving.captured(serving.depth)
    if serving.off:
        return f"{name} captures nothing: it is switched off"
    if serving.ids is None or serving.ids.where != ids.where:
        return f"{name} does not read this list" + (f": it captures boundaries {show(captured)}" if captured else "")
    if captured is None:
        return f"{name}: the boundaries are not known"
    return f"{name} captures boundaries {show(captured)}"
