"""The schema of the convention files, for their authors, for editors and for the tests.

Shipped data is not validated at run time. `schemas/convention.schema.json` is made from these models:
`python -m eaglelint.conventions.schema > schemas/convention.schema.json`.
"""

from __future__ import annotations

import datetime
import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, model_validator

from eaglelint.conventions.records import Certainty, Edge, Order, Status

Formula = Annotated[str, Field(pattern=r"^[0-9N()+\-* /]+$", description="boundaries or ids as a formula of N")]
Pointer = Annotated[str, Field(pattern=r"^/", description="a JSON pointer into the drafter's config.json")]
Architecture = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
Evidence = Annotated[list[str], Field(min_length=1, description="release or commit, file and line; a thread")]
Release = Annotated[str, Field(min_length=1, description="a release, or a commit with its date")]
Rule = Literal[
    "plus_one",
    "as_is",
    "plus_one_if_first_is_one",
    "as_is_if_max_is_n",
    "plus_one_end_as_is",
    "plus_one_minus_one_is_last",
    "ignored",
    "nothing_captured",
    "unknown",
]
Method = Literal["eagle3", "dflash", "dspark"]
Duplicates = Literal["collapsed", "rejected", "unknown"]
Tensor = Literal[
    "stream", "stream_alias", "branch", "mhc_mean", "mhc_contraction", "mhc_stream", "prefix_sum", "unknown"
]


class Model(BaseModel):
    """What all parts share: unknown keys are mistakes, and nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Range(Model):
    """An inclusive range of releases or commits; a bound that is left out is open."""

    first: Release | None = None
    last: Release | None = None


class Key(Model):
    pointer: Pointer
    shift: Annotated[int, Field(description="added to the boundary that the id rule gives")] = 0
    method: Method = "eagle3"


class GateRow(Model):
    pointer: Pointer
    missing: Annotated[bool, Field(description="what the absence of the key means")] = True
    container: Pointer | None = None


class Location(Range):
    runner: Literal["V1", "V2"] | None = None
    purpose: Literal["serving", "extraction"] = "serving"
    methods: list[Method] | None = None
    rule: Rule | None = None
    end: Annotated[Edge | None, Field(description="what becomes of boundary N, where `rule` is given")] = None
    keys: list[Key] = []
    gates: list[GateRow] = []
    arguments: list[str] = []
    architectures: list[Architecture] = []
    releases: list[str] = []
    fall_through: bool = True
    empty_is_default: bool = False
    no_default: bool = False
    duplicates: Duplicates | None = None
    note: str = ""
    evidence: Evidence


class Defect(Range):
    id: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    effect: str
    applies_when: str = ""
    fixed_in: str = ""
    purpose: Literal["serving", "extraction"] = "serving"
    certainty: Certainty | None = None
    architectures: list[Architecture] = []
    evidence: Evidence


class Edges(Model):
    zero: Edge
    end: Edge
    outside: Edge


class Constraints(Model):
    count: int | None = None
    min_layers: int | None = None
    sorted: bool | None = None
    distinct: bool | None = None


class EngineEntry(Range):
    model_files: list[str] = []
    architectures: list[Architecture] = []
    limits: dict[Architecture, Range] = {}
    fallback: Literal["others", "perhaps"] | None = None
    releases: list[str] = []
    superseded: Annotated[bool, Field(description="commits that nobody installs unless asked to")] = False
    rule: Rule
    default: list[Formula] | None = None
    edges: Edges | None = None
    order: Order | None = None
    duplicates: Duplicates | None = None
    status: Status = "ok"
    tensor: Tensor = "stream"
    point: Annotated[str, Field(description="where in the forward pass boundary b is taken")] = ""
    pipeline_index: Literal["stage", "global", "global, pipeline parallelism supported"] | None = None
    constraints: Constraints | None = None
    defects: list[Defect] = []
    certainty: Certainty | None = None
    note: str = ""
    evidence: Evidence

    @model_validator(mode="after")
    def _complete(self) -> EngineEntry:
        if self.status == "ok" and self.rule not in ("unknown", "nothing_captured") and self.edges is None:
            raise ValueError("an entry that captures something says what happens at the edges")
        if self.rule == "nothing_captured" and self.status == "ok":
            raise ValueError("an entry that captures nothing is broken or unsupported")
        if set(self.limits) - set(self.architectures):
            raise ValueError("limits name architectures that the entry does not have")
        return self


class Runner(Range):
    usual: Literal["V1", "V2"]
    special: Literal["V1", "V2"] | None = None
    listed: list[Architecture] = []
    dense: bool = False
    not_hybrid: bool = False
    unless_quantised: bool = False
    note: str = ""
    evidence: list[str] = []


class Allowed(Range):
    model_types: list[str]
    methods: list[Literal["eagle3", "extract_hidden_states"]]
    evidence: Evidence


class EngineFile(Model):
    engine: str
    package: str = ""
    versioning: Literal["pep440", "commits"]
    exhaustive: Annotated[bool, Field(description="targets that no entry names can not be served")] = False
    verified: datetime.date
    read: Annotated[list[str], Field(description="releases whose source was read, ascending")] = []
    unread: Annotated[list[str], Field(description="releases between them; taken to be like either neighbour")] = []
    order: Order
    duplicates: Duplicates
    default: list[Formula]
    certainty: Certainty
    locations: list[Location] = []
    runners: list[Runner] = []
    traits: dict[Literal["hybrid", "moe", "dense"], list[Architecture]] = {}
    allow_list: list[Allowed] = []
    defects: list[Defect] = []
    entries: Annotated[list[EngineEntry], Field(min_length=1)]


class TensorRow(Model):
    holds: Literal["tokens", "mask", "id", "flag", "embeddings", "positions", "aux", "aux_stack", "last_state", "stack"]
    width: Annotated[str, Field(description="in hidden sizes of the target; k for one an id")] = ""
    shape: str = ""


class LayoutRow(Model):
    files: str = ""
    format: str = ""
    tensors: dict[str, TensorRow] = {}
    renamed: dict[str, str] = {}
    manifest: list[str] = []
    carries_ids: bool


class ExportRow(Model):
    ids: Literal["always", "never", "as_given"]
    key: Pointer | None = None
    convention: Literal["output", "boundary"] | None = None
    order: Literal["ascending", "as_listed", "unordered"] | None = None
    default_ids: list[Formula] = []
    architectures: list[Architecture] = []
    examples: dict[str, list[int]] = {}


class Trap(Model):
    when: str
    default: list[Formula] = []
    effect: str = ""


class TrainerEntry(Range):
    path: Annotated[str, Field(pattern=r"^[a-z0-9_]+$", description="the path through the trainer")]
    releases: list[str] = []
    rule: Rule | Literal["engine"]
    engine: str | None = None
    default_ids: list[Formula] = []
    default: list[Formula] = []
    order: Literal["ascending", "as_listed", "unordered"]
    count: int | None = None
    keys: list[Pointer] = []
    run_config: list[str] = []
    arguments: list[str] = []
    last_is_verifier: bool = False
    last_state: Literal["post_norm", "pre_norm", "none"] | None = None
    layout: LayoutRow | None = None
    exports: ExportRow | None = None
    defects: list[Defect] = []
    traps: list[Trap] = []
    certainty: Certainty | None = None
    note: str = ""
    evidence: Evidence


class TrainerFile(Model):
    trainer: str
    kind: Literal["trainer", "library"] = "trainer"
    names: Annotated[list[str], Field(min_length=1)]
    package: str = ""
    versioning: Literal["pep440", "commits"] = "commits"
    verified: datetime.date
    certainty: Certainty
    entries: Annotated[list[TrainerEntry], Field(min_length=1)]


class ConventionFile(RootModel[EngineFile | TrainerFile]):
    """A file of rules/conventions: what one engine or one trainer does with layer ids."""


def text() -> str:
    """The JSON Schema of a convention file, as it stands in `schemas/convention.schema.json`."""
    return schema_text(ConventionFile, "convention", "A convention file of eaglelint")


def schema_text(model: type[BaseModel], name: str, title: str) -> str:
    """The text of the JSON Schema of a kind of data file."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:eaglelint:schema:{name}",
        "title": title,
    }
    schema: dict[str, Any] = _untitled(model.model_json_schema())
    return json.dumps({**head, **schema}, indent=2) + "\n"


def _untitled(value: Any) -> Any:
    """A schema without the titles that only repeat the names of keys."""
    if isinstance(value, list):
        return [_untitled(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    return {key: _untitled(entry) for key, entry in value.items() if not (key == "title" and isinstance(entry, str))}


if __name__ == "__main__":
    print(text(), end="")
