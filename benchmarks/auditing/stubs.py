"""What stands in for everything that an engine's setter does not need: one device, one rank, a model of N layers."""

from __future__ import annotations

from typing import Any

#: Attributes of the surroundings: one device, one rank.
RANKS = {"world_size": 1, "is_first_rank": True, "is_last_rank": True, "rank_in_group": 0}

#: What was set while a setter ran: the attribute, the value.
JOURNAL: list[tuple[str, Any]] = []


def note(name: str, value: Any) -> None:
    """Write down what is set."""
    JOURNAL.append((name, value))


class Stub:
    """Something of the surroundings: true, callable, with every attribute."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        return RANKS.get(name, Stub())

    def __call__(self, *_: Any, **__: Any) -> Stub:
        return Stub()

    def __getitem__(self, key: Any) -> Any:
        return Stub()

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __int__(self) -> int:
        return 1

    def __lt__(self, other: object) -> bool:
        return False

    def __setattr__(self, name: str, value: Any) -> None:
        note(name, value)
        object.__setattr__(self, name, value)


class Config(Stub):
    """The config of a model of `depth` layers, outer and inner one alike."""

    def __init__(self, depth: int) -> None:
        object.__setattr__(self, "num_hidden_layers", depth)

    def __getattr__(self, name: str) -> Any:
        if name in ("text_config", "llm_config", "language_config", "thinker_config", "hf_config", "hf_text_config"):
            return self
        if name == "get_text_config":
            return lambda *_, **__: self
        return Stub.__getattr__(self, name)


class Layer:
    """A decoder layer: it keeps what is set."""


class LayerNames(dict[int, str]):
    """The names of the layers by number, by which vLLM's Transformers backend records what comes out of a layer."""

    def __getitem__(self, number: int) -> str:
        name = super().__getitem__(number)
        note("recorded", number + 1)
        return name
