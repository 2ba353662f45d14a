"""Target models in the domain of the abstract execution: models, layers, their parts, configs and what they return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from eaglelint.analyser.file_values import Choice
from eaglelint.analyser.values import ClassV, DictV, Fused, ListV, Obj, SetV, Stacked, Tensor, V
from eaglelint.facts import Step, Value
from eaglelint.location import Location

if TYPE_CHECKING:
    import libcst as cst

    from eaglelint.analyser.scope import Frame, Spot


@dataclass(eq=False, slots=True, repr=False)
class ModelV:
    """A target model (or its inner decoder).

    `framework`: "hf" (transformers), "sglang", "vllm", "own". `depth` is N, 0 when not known (the run's N is used).
    `hooks` are forward hooks and pre-hooks that were registered, as (kind, layer index or "norm"/"embed", function).
    """

    framework: str
    name: Value | None = None
    depth: int = 0
    attrs: dict[str, V] = field(default_factory=dict)
    layers: dict[int, Layer] = field(default_factory=dict)
    hooks: list[tuple[str, int | str, V, cst.CSTNode, Frame]] = field(default_factory=list)
    ran: bool = False
    layer_class: ClassV | None = None
    arguments: dict[str, V] = field(default_factory=dict)
    pending: list[V] = field(default_factory=list)
    stock: bool = True
    all_states: bool = False
    engine_states: V = None
    owner: Obj | None = None

    def __repr__(self) -> str:
        return f"ModelV({self.framework}, {self.name and self.name.value})"


@dataclass(eq=False, slots=True)
class Layer:
    """Decoder layer `index` of a model; `obj` is its instance when its class is in scope."""

    model: ModelV
    index: int
    attrs: dict[str, V] = field(default_factory=dict)
    obj: Obj | None = None


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers `low` to `high` (exclusive) of a model, of one pipeline rank when `relative`."""

    model: ModelV
    low: int
    high: int
    relative: bool = False


@dataclass(frozen=True, slots=True)
class Module:
    """A part of a model: "norm", "embed", "lm_head"."""

    kind: str
    model: ModelV


@dataclass(frozen=True, slots=True)
class LayerResult:
    """What a decoder layer returned: one tensor or (branch, residual), which only its use tells."""

    model: ModelV
    boundary: int
    trace: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class HFStates:
    """The tuple `outputs.hidden_states` of a stock transformers model: N + 1 entries."""

    model: ModelV
    start: int = 0
    stop: int | None = None


@dataclass(frozen=True, slots=True)
class HFOutput:
    """What a transformers model returned."""

    model: ModelV
    all_states: bool
    where: Location | Spot


@dataclass(frozen=True, slots=True)
class ConfigV:
    """A transformers config: of a target (`model`) or of a file (`path`). `nested`: inside text_config."""

    model: ModelV | None = None
    path: str = ""
    nested: bool = False


def is_state(value: V) -> bool:
    """Whether a value is a hidden state or something made of hidden states."""
    return isinstance(value, Tensor | Fused | Stacked | LayerResult)


def holds_states(value: V, fuel: int = 200) -> bool:
    """Whether a value is or contains a hidden state."""
    if is_state(value) or isinstance(value, HFStates):
        return True
    if fuel <= 0:
        return False
    if isinstance(value, ListV | SetV):
        return any(holds_states(item, fuel - 10) for item in value.items)
    if isinstance(value, DictV):
        return any(holds_states(item, fuel - 10) for item in value.items.values())
    if isinstance(value, tuple):
        return any(holds_states(item, fuel - 10) for item in value)
    if isinstance(value, Choice):
        return any(holds_states(item, fuel - 10) for item in value.options)
    return False
