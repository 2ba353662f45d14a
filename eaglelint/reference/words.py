"""Words for readers, rules, keys and fates, as the reference commands print them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eaglelint.boundary import State, describe, show
from eaglelint.conventions.versions import order, parse

_TRAINERS = {
    "specforge": "SpecForge", "eagle": "EAGLE", "modelopt": "ModelOpt", "angelslim": "AngelSlim",
    "torchspec": "TorchSpec", "nemo-automodel": "NeMo Automodel", "nemo-rl": "NeMo RL", "baldeagle": "BaldEagle",
}  # fmt: skip

#: What becomes of a boundary that an engine does not capture as asked.
FATES = {
    "captured": "captured",
    "dropped": "left out, so that fc gets one state too few",
    "crash": "ends with an error",
    "wrong_layer": "taken from another layer",
    "unknown": "not known",
}


def trainer_title(name: str) -> str:
    """How a trainer writes its own name."""
    return _TRAINERS.get(name, name)


def span(name: str, first: str, last: str) -> str:
    """A name with a range of releases; the name alone where it is known by commits or not bounded."""
    if parse(first) is None or parse(last) is None:
        return name
    return f"{name} {first}" + (f" to {last}" if last != first else "")


def joined_span(ranges: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """The range from the first to the last of several."""
    every = list(ranges)
    return min((first for first, _ in every), key=order), max((last for _, last in every), key=order)


def key_words(pointer: str) -> str:
    """A key of the drafter's config: "eagle_config.layer_ids", "target_layer_ids (top level)"."""
    parts = pointer.strip("/").split("/")
    return ".".join(parts) if len(parts) > 1 else f"{parts[0]} (top level)"


def argument_words(name: str) -> str:
    """A launch argument or a key of a run's configuration in words."""
    return f"{name} of its own configuration" if "." in name else f"the argument {name}"


def boundaries_words(boundaries: Sequence[int]) -> str:
    """Boundaries with the word before them: "boundaries 2, 16, 29", "boundary 3"."""
    return f"boundar{'y' if len(boundaries) == 1 else 'ies'} {show(boundaries)}" if boundaries else "no boundary"


def listed(items: Sequence[str], last: str = "and") -> str:
    """A list in words: "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}" if items else ""


def state_words(state: State, depth: int | None) -> str:
    """A state in words, with its boundary."""
    if state.normed:
        return "the last state after the final norm"
    if state.boundary < 0 or (depth and state.boundary > depth):
        return f"boundary {state.boundary}, which no layer has"
    return describe(state.boundary, depth)
