"""The schema of the files in `rules/arguments/`, for their authors, for editors and for the tests.

Shipped data is not validated at run time. `schemas/arguments.schema.json` is made from these models:
`python -m eaglelint.conventions.argument_schema > schemas/arguments.schema.json`.
"""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Literal

from pydantic import Field, model_validator

from eaglelint.conventions.schema import Architecture, Evidence, Model, Release, schema_text

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z_][A-Za-z0-9_]*)*$", description="a normalised argument")]
Option = Annotated[str, Field(pattern=r"^--?[A-Za-z][A-Za-z0-9_-]*$")]
_LINE = re.compile(r"(?:--?[\w-]+|[a-z]\w*) \d\S* \d\S*")


class Releases(Model):
    """An inclusive range of releases; a bound that is left out is open."""

    since: Release | None = None
    until: Release | None = None


class RangeRow(Releases):
    type: Literal["integer", "number", "string", "flag", "list", "mapping"] = "string"
    options: list[Option] = Field(default_factory=list, description="spellings on the command line, with aliases")
    choices: list[str] = Field(default_factory=list, description="the only values that it takes")
    any_case: Annotated[bool, Field(description="whether the choices may be written in any case")] = False
    plugins: Annotated[bool, Field(description="whether plug-ins add choices of their own")] = False
    least: Annotated[int | None, Field(description="the smallest number that it takes")] = None
    default: str | int | float | bool | None = None
    evidence: Evidence


class ArgumentRow(Model):
    name: Name
    renamed_to: Name | None = None
    note: Annotated[str, Field(description="what to write instead")] = ""
    ranges: Annotated[list[RangeRow], Field(min_length=1)]


class ConditionRow(Model):
    """What must hold of an argument's value; exactly one of these."""

    above: int | None = None
    one_of: list[str] | None = None
    none_of: list[str] | None = None
    given: bool | None = None
    default: Annotated[str | int | None, Field(description="the value of an argument that is absent")] = None

    @model_validator(mode="after")
    def _one(self) -> ConditionRow:
        if sum(entry is not None for entry in (self.above, self.one_of, self.none_of, self.given)) != 1:
            raise ValueError("a condition says exactly one thing")
        return self


class ConstraintRow(Releases):
    id: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    rule: Literal["EGL306", "EGL307"]
    severity: Literal["error", "warning"] = "error"
    methods: list[str] = Field(default_factory=list)
    architectures: list[Architecture] = Field(default_factory=list)
    drafts: Annotated[list[Architecture], Field(description="architectures of the head, none for all")] = Field(
        default_factory=list
    )
    when: dict[Name, ConditionRow] = Field(default_factory=dict)
    unless: dict[Name, ConditionRow] = Field(default_factory=dict)
    environment: dict[str, list[str]] = Field(default_factory=dict)
    effect: Annotated[str, Field(description="{name} is the engine, {page_size} a value, {--page_size} an option")]
    cure: str = ""
    points_at: Name | None = None
    evidence: Evidence


class BundleRow(Releases):
    architectures: Annotated[list[Architecture], Field(min_length=1)]
    evidence: Evidence


class GuessRow(Releases):
    words: Annotated[dict[str, str], Field(description="a word in the draft's path and its method, the first wins")]
    otherwise: str = ""
    evidence: Evidence


class ArgumentsFile(Model):
    """What one engine takes on its command line and as keywords, and what it refuses together."""

    engine: str
    verified: datetime.date
    abbreviations: Annotated[bool, Field(description="whether unique prefixes of options are taken")] = False
    keys_complete: Annotated[bool, Field(description="whether all keys of JSON-valued arguments stand here")] = False
    options_always: list[Option] = Field(default_factory=list)
    keywords_always: list[Name] = Field(default_factory=list)
    arguments: list[ArgumentRow] = Field(default_factory=list)
    bundles: list[BundleRow] = Field(default_factory=list)
    constraints: list[ConstraintRow] = Field(default_factory=list)
    guesses: list[GuessRow] = Field(default_factory=list)
    options: Annotated[str, Field(description="every option, a line each: name, first and last release")] = ""
    keywords: Annotated[str, Field(description="every keyword of the Python engine, in the same way")] = ""

    @model_validator(mode="after")
    def _lines(self) -> ArgumentsFile:
        for line in (*self.options.splitlines(), *self.keywords.splitlines()):
            if not _LINE.fullmatch(line):
                raise ValueError(f"not `name since until`: {line}")
        return self


def text() -> str:
    """The JSON Schema of such a file, as it stands in `schemas/arguments.schema.json`."""
    return schema_text(ArgumentsFile, "arguments", "A file of eaglelint on the arguments of an engine")


if __name__ == "__main__":
    print(text(), end="")
