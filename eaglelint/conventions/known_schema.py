"""The schema of `rules/targets.yaml` and `rules/drafters.yaml`; the tests hold the files to it."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from eaglelint.conventions.known import Convention
from eaglelint.conventions.schema import Architecture, Pointer

Size = Annotated[int, Field(gt=0)]
Doubt = Literal["one_source", "no_config_copy", "class_defaults", "conflicting", "incomplete", "no_architecture"]


class Row(BaseModel):
    """What all parts share: unknown keys are mistakes, and nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True)


class SourceRow(Row):
    ref: str
    kind: str
    gives: list[str]


class Conflict(Row):
    field: str
    value: int | str
    ref: str


class Special(Row):
    kind: Literal["linear_attention", "deepstack"]
    layers: list[int] = []
    every_but: int | None = None


class TargetRow(Row):
    name: str
    ids: Annotated[list[str], Field(min_length=1)]
    architecture: Architecture | None = None
    model_type: str | None = None
    text_model_type: str | None = None
    nested_in: str | None = None
    num_hidden_layers: Size | None = None
    hidden_size: Size | None = None
    vocab_size: Size | None = None
    max_position_embeddings: Size | None = None
    context_length: Size | None = None
    num_attention_heads: Size | None = None
    num_key_value_heads: Size | None = None
    head_dim: Size | None = None
    dtype: str | None = None
    special: list[Special] = []
    doubts: list[Doubt] = []
    conflicts: list[Conflict] = []
    note: str = ""
    sources: list[SourceRow]


class TargetsFile(Row):
    verified: datetime.date
    targets: list[TargetRow]


class DrafterRow(Row):
    repo: Annotated[str, Field(pattern=r"\S+")]
    target: str
    algorithm: Literal["eagle3", "eagle3.1", "eagle", "peagle", "dflash", "dflash2", "dspark"]
    trainer: str
    target_num_hidden_layers: Size | None = None
    architectures: list[Architecture] = []
    num_hidden_layers: Size | None = None
    hidden_size: Size | None = None
    vocab_size: Size | None = None
    draft_vocab_size: Size | None = None
    max_position_embeddings: Size | None = None
    num_attention_heads: Size | None = None
    num_key_value_heads: Size | None = None
    head_dim: Size | None = None
    block_size: Size | None = None
    mask_token_id: int | None = None
    ids: list[int] | None = None
    ids_key: Pointer | None = None
    ids_place: Literal["nested", "top_level", "none", "both", "unknown"]
    convention: Convention
    boundaries: list[int] | None = None
    default_boundaries: list[int] | None = None
    basis: str = ""
    flags: dict[str, bool] = {}
    evidence: Literal["config_page", "published_config_in_a_test", "card", "training_config", "issue_thread", "list"]
    established: bool
    note: str = ""
    sources: Annotated[list[str], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> DrafterRow:
        if self.established and not (self.boundaries or self.default_boundaries):
            raise ValueError("nothing is established without boundaries")
        if self.ids and self.boundaries:
            shift = {"output": 1, "output_in_boundary_slot": 1, "boundary": 0}.get(self.convention)
            if shift is not None and [i + shift for i in self.ids] != self.boundaries:
                raise ValueError("ids and boundaries contradict the convention")
        return self


class DraftersFile(Row):
    verified: datetime.date
    drafters: list[DrafterRow]
