"""What fails in eaglelint itself becomes a finding (EGL005); the run goes on."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from eaglelint.findings import Finding
from eaglelint.location import Location

Item = TypeVar("Item")


@dataclass
class Guard:
    """Runs the parts of eaglelint and keeps what fails: a finding for the report, the traceback for `--verbose`."""

    findings: list[Finding] = field(default_factory=list)
    tracebacks: list[str] = field(default_factory=list)

    def each(self, part: str, where: Location, function: Callable[[], Iterable[Item]]) -> Iterator[Item]:
        """The items that `function` yields, up to a failure; `part` and `where` name it in the finding."""
        try:
            yield from function()
        except Exception as error:
            what = f"{type(error).__name__}: {error}".rstrip(": ")
            message = (
                f"internal error in {part}: {what}; what it would have said is missing, the rest of the run went on"
            )
            self.findings.append(Finding("EGL005", "warning", message, where))
            self.tracebacks.append(f"in {part}, at {where}:\n{traceback.format_exc()}")
