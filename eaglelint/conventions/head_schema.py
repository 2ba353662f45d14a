"""The schema of the files in `rules/heads/`, for their authors, for editors and for the tests.

Shipped data is not validated at run time. `schemas/head.schema.json` is made from these models:
`python -m eaglelint.conventions.head_schema > schemas/head.schema.json`.
"""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from eaglelint.conventions.schema import Architecture, Evidence, Model, Pointer, Range, schema_text

Format = Literal["flat", "speculators"]
Algorithm = Literal["eagle3", "peagle", "dflash", "dflash2", "dspark"]
ClassName = Annotated[str, Field(pattern=r"^[a-z0-9]+$", description="a drafter class, by a name of its own")]


class ScopeRow(Range):
    """For which releases, drafter classes, config formats and algorithms a row holds; all that are not limited."""

    classes: list[ClassName] = Field(default_factory=list)
    formats: list[Format] = Field(default_factory=list)
    algorithms: list[Algorithm] = Field(default_factory=list, description="kinds of heads in the speculators format")


class FormatRow(Range):
    name: Format
    algorithms: list[Algorithm] = Field(default_factory=list)
    evidence: Evidence


class ClassRow(Range):
    name: ClassName
    kind: Literal["eagle3", "eagle", "mtp"]
    architectures: Annotated[list[Architecture], Field(min_length=1)]
    effect: Annotated[str, Field(description="what comes of an EAGLE-3 head in a class of another kind")] = ""
    evidence: Evidence

    @model_validator(mode="after")
    def _explained(self) -> ClassRow:
        if (self.kind == "eagle3") == bool(self.effect):
            raise ValueError("a class of another kind of head says what comes of an EAGLE-3 head, and no other does")
        return self


class NamingRow(ScopeRow):
    always: Architecture | None = None
    by_layer: dict[str, Architecture] = Field(
        default_factory=dict, description="the name by the type of the draft's layers"
    )
    prefix: str = ""
    unless_starts: list[str] = Field(default_factory=list)
    unless_ends: list[str] = Field(default_factory=list)
    effect: Annotated[str, Field(description="what comes of layers of another type")] = ""
    evidence: Evidence

    @model_validator(mode="after")
    def _one_way(self) -> NamingRow:
        if sum(map(bool, (self.always, self.by_layer, self.prefix))) != 1:
            raise ValueError("a name comes from one of `always`, `by_layer` and `prefix`")
        return self


class WidthRow(ScopeRow):
    pointers: list[Pointer] = Field(
        default_factory=list, description="what says the number of states, the decisive one first"
    )
    otherwise: Annotated[int, Field(ge=1, description="the number when none of them is given")]
    evidence: Evidence


class DepthRow(ScopeRow):
    most: Annotated[int, Field(ge=1)]
    effect: str
    evidence: Evidence


class HonouredRow(ScopeRow):
    pointers: Annotated[list[Pointer], Field(min_length=1)]
    missing: Annotated[bool, Field(description="what the absence of the flag means")] = False
    trainer: Annotated[str, Field(description="the trainer that takes its absence for the opposite")] = ""
    evidence: Evidence


class FlagRow(Model):
    name: Annotated[str, Field(pattern=r"^[a-z_]+$")]
    effect: str
    honoured: list[HonouredRow] = Field(default_factory=list)
    evidence: Evidence


class IgnoredRow(ScopeRow):
    pointers: Annotated[list[Pointer], Field(min_length=1)]
    neutral: list[Any] = Field(default_factory=list, description="values that say what is done anyway")
    effect: str
    evidence: Evidence


class HeadFile(Model):
    """A file of rules/heads: what one engine makes of a drafter's config besides its layer ids."""

    engine: str
    verified: datetime.date
    exhaustive: Annotated[bool, Field(description="names of drafters that no class has are refused")] = False
    formats: list[FormatRow] = Field(default_factory=list)
    unread: Annotated[str, Field(description="what comes of a config in another format")] = ""
    unread_evidence: list[str] = Field(default_factory=list)
    classes: list[ClassRow] = Field(default_factory=list)
    naming: list[NamingRow] = Field(default_factory=list)
    layer_type: Pointer | None = None
    unknown: Annotated[str, Field(description="what comes of a name that no class has")] = ""
    unknown_evidence: list[str] = Field(default_factory=list)
    widths: list[WidthRow] = Field(default_factory=list)
    depths: list[DepthRow] = Field(default_factory=list)
    flags: list[FlagRow] = Field(default_factory=list)
    ignored: list[IgnoredRow] = Field(default_factory=list)

    @model_validator(mode="after")
    def _whole(self) -> HeadFile:
        if self.exhaustive and not (self.classes and self.unknown):
            raise ValueError("a file that knows every name says what comes of others")
        if self.formats and not self.unread:
            raise ValueError("a file that lists formats says what comes of others")
        named = {row.name for row in self.classes}
        rows = [*self.naming, *self.widths, *self.depths, *self.ignored]
        rows += [row for flag in self.flags for row in flag.honoured]
        unknown = {name for row in rows for name in row.classes} - named
        if unknown:
            raise ValueError(f"rows name classes that are not there: {', '.join(sorted(unknown))}")
        return self


def text() -> str:
    """The JSON Schema of such a file, as it stands in `schemas/head.schema.json`."""
    return schema_text(HeadFile, "head", "A file of eaglelint on what an engine makes of drafter configs")


if __name__ == "__main__":
    print(text(), end="")
