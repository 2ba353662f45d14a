"""The model of `rules/weights.yaml`, for the tests: data that is shipped is not validated when it is used."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NormRow(_Strict):
    """A norm before fc."""

    tensor: str
    flags: list[str] = Field(min_length=1)


class Missing(_Strict):
    """What stands in for a missing lm_head."""

    full: Literal["random", "targets"]
    reduced: Literal["random", "truncated"]


BiasRule = Literal["never", "always"] | list[str]
Unfilled = Literal["zeros", "random"]
Size = Literal["error", "targets", "full"]


class Row(_Strict):
    """A range of releases."""

    first: str
    last: str
    first_layer: list[Literal["midlayer.", "layers.0."]] = Field(min_length=1)
    model_prefix: bool
    unknown: Literal["dropped", "refused"]
    layers: Literal["one", "first", "any"]
    target_width: bool = True
    fc_bias: BiasRule
    fc_bias_missing: Unfilled
    qkv_bias: BiasRule
    o_proj_bias: BiasRule
    o_proj_bias_missing: Unfilled
    lm_head_missing: Missing
    size_missing: Size
    size_null: Size
    tied: Literal["honoured", "ignored"]
    d2t: Literal["read", "dropped"] = "read"
    embedding: Literal["targets_unless_narrower", "targets_if_same_shape", "own_if_given", "targets"]
    evidence: list[str] = Field(min_length=1)


class Table(_Strict):
    """A drafter class of an engine."""

    engine: str
    name: Literal["llama", "qwen3", "mla"] = Field(alias="class")
    rows: list[Row] = Field(min_length=1)


class WeightsFile(_Strict):
    """The whole file."""

    verified: object
    norms: list[NormRow]
    tables: list[Table]
