"""Results made by hand, so that a report is tested without a linter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from eaglelint.findings import Finding
from eaglelint.kinds import kind_of
from eaglelint.location import LineMap, Location
from eaglelint.project import Source
from eaglelint.run import Result


class Project:
    """Files, and findings that point at words in them."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files

    def at(self, path: str, words: str) -> Location:
        """The place of the first occurrence of some words."""
        text = self.files[path]
        start = text.index(words)
        return LineMap(path, text).location(start, start + len(words))

    def result(self, findings: Sequence[Finding], suppressed: int = 0) -> Result:
        sources = {
            path: Source(path, kind_of(path) or "text", Path(path), text.encode("utf-8", "surrogatepass"))
            for path, text in self.files.items()
        }
        return Result(tuple(findings), suppressed, len(sources), sources)


@pytest.fixture
def project() -> Callable[[Mapping[str, str]], Project]:
    return Project
