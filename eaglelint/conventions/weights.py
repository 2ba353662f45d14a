"""What the drafter classes of each engine make of a checkpoint: `rules/weights.yaml`, interpreted.

The fields are explained at the head of that file. It is parsed once in a process, and only where there are weights or a
draft vocabulary to judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

from eaglelint._resources import data_root
from eaglelint.conventions import versions
from eaglelint.conventions.load import read_yaml

Filler = Literal["random", "targets", "truncated"]
Embedding = Literal["targets_unless_narrower", "targets_if_same_shape", "own_if_given", "targets"]
SizeRule = Literal["error", "targets", "full"]


class Norm(NamedTuple):
    """A norm before fc: its tensors ("{i}" counts auxiliary states) and the flags of a config that ask for it."""

    tensor: str
    flags: tuple[str, ...]

    def tensors(self, states: int) -> tuple[str, ...]:
        """The names of its tensors for a number of auxiliary states."""
        if "{i}" not in self.tensor:
            return (self.tensor,)
        return tuple(self.tensor.replace("{i}", str(number)) for number in range(states))


class Bias(NamedTuple):
    """When a bias is allocated: never, always, or with one of the `flags` of the config; what it holds unfilled."""

    always: bool = False
    flags: tuple[str, ...] = ()
    random: bool = False


@dataclass(frozen=True)
class Loading:
    """How a range of releases of an engine loads a drafter class; the fields are those of the file."""

    engine: str
    name: str
    first: str
    last: str
    first_layer: tuple[str, ...]
    model_prefix: bool
    unknown: Literal["dropped", "refused"]
    layers: Literal["one", "first", "any"]
    target_width: bool
    fc_bias: Bias
    qkv_bias: Bias
    o_proj_bias: Bias
    lm_head_missing: Mapping[str, Filler]
    size_missing: SizeRule
    size_null: SizeRule
    tied: bool
    embedding: Embedding
    drops_map: bool
    evidence: tuple[str, ...]


def loading(engine: str, name: str, release: str) -> Loading | None:
    """How a release loads a drafter class; None when nothing is known of that.

    A release between two rows is taken for the older one, one beyond the last row (and "" for engines whose releases
    are not told apart) for the last.
    """
    own = [row for row in _rows() if (row.engine, row.name) == (engine, name)]
    version = versions.parse(release)
    if version is not None:
        own = [row for row in own if versions.order(row.first) <= version]
    return max(own, key=lambda row: versions.order(row.first), default=None)


def newest(name: str) -> tuple[Loading, ...]:
    """The newest row of each engine that has a drafter class."""
    engines = dict.fromkeys(row.engine for row in _rows())
    return tuple(row for engine in engines if (row := loading(engine, name, "")) is not None)


def norms() -> tuple[Norm, ...]:
    """The norms before fc."""
    return tuple(Norm(row["tensor"], tuple(row["flags"])) for row in _file()["norms"])


@cache
def _file() -> Any:
    return read_yaml(data_root("rules") / "weights.yaml")


@cache
def _rows() -> tuple[Loading, ...]:
    return tuple(_row(row, table["engine"], table["class"]) for table in _file()["tables"] for row in table["rows"])


def _row(row: Mapping[str, Any], engine: str, name: str) -> Loading:
    return Loading(
        engine=engine,
        name=name,
        first=str(row["first"]),
        last=str(row["last"]),
        first_layer=tuple(row["first_layer"]),
        model_prefix=row["model_prefix"],
        unknown=row["unknown"],
        layers=row["layers"],
        target_width=row.get("target_width", True),
        fc_bias=_bias(row["fc_bias"], row["fc_bias_missing"]),
        qkv_bias=_bias(row["qkv_bias"], "random"),
        o_proj_bias=_bias(row["o_proj_bias"], row["o_proj_bias_missing"]),
        lm_head_missing=row["lm_head_missing"],
        size_missing=row["size_missing"],
        size_null=row["size_null"],
        tied=row["tied"] == "honoured",
        embedding=row["embedding"],
        drops_map=row.get("d2t") == "dropped",
        evidence=tuple(row["evidence"]),
    )


def _bias(said: Any, missing: str) -> Bias:
    return Bias(said == "always", () if isinstance(said, str) else tuple(said), missing == "random")
