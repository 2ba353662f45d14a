"""Findings: what eaglelint says about a project. A finding can not exist without a rule and a primary location."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from eaglelint.facts import Confidence, Step
from eaglelint.location import Location

Severity = Literal["error", "warning", "info"]

#: From the least to the most severe.
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")


class Edit(NamedTuple):
    """Replace the characters `start` to `end` of the file `path` by `text`.

    `old` is what has to stand there for the edit to be made; None where the place alone says it.
    """

    path: str
    start: int
    end: int
    text: str
    old: str | None = None


@dataclass(frozen=True)
class Fix:
    """How to make a finding go away: in words, and as edits when eaglelint can do it itself.

    `rename` are names for the variable at the finding's place, the best first; which edits that takes is worked out
    when the fix is made (`eaglelint.fixing.renaming`).
    """

    description: str
    applicability: Literal["safe", "unsafe"] = "unsafe"
    edits: tuple[Edit, ...] = ()
    rename: tuple[str, ...] = ()

    @property
    def automatic(self) -> bool:
        """Whether eaglelint can make it itself."""
        return bool(self.edits or self.rename)


@dataclass(frozen=True)
class Finding:
    """One defect.

    `rule` is the code (`EGL401`). `where` is the line to edit; `related` is everything else that the verdict rests on,
    in the order of the data flow. `defect` names the defect across rules: of findings with the same key the one that
    names the cause speaks (see `silences` in the catalogue).
    """

    rule: str
    severity: Severity
    message: str
    where: Location
    confidence: Confidence = "proven"
    related: tuple[Step, ...] = ()
    fix: Fix | None = None
    defect: tuple[str, ...] = field(default=(), compare=False)

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Findings are reported by path, line, column, rule and message."""
        return (self.where.path, self.where.line, self.where.column, self.rule, self.message)
