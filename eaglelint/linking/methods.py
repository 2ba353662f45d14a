"""By which speculative method a launch drafts, and so whether the target captures auxiliary states for it."""

from __future__ import annotations

from typing import NamedTuple

from eaglelint.facts import Argument, Launch

#: Normalised argument names that carry the method, the decisive one first.
_NAMES = ("speculative_algorithm", "speculative_config.method", "speculative_config.decoding_type", "spec_decode_algo")

#: What the engines call their methods -> the kind of head that the method drafts with.
_KINDS = {
    "sglang": {
        "EAGLE3": "eagle3",
        "EAGLE": "eagle",
        "NEXTN": "mtp",
        "STANDALONE": "standalone",
        "DFLASH": "dflash",
        "DSPARK": "dspark",
        "NGRAM": "none",
    },
    "vllm": {
        "eagle3": "eagle3",
        "eagle": "eagle",
        "mtp": "mtp",
        "deepseek_mtp": "mtp",
        "draft_model": "standalone",
        "medusa": "medusa",
        "mlp_speculator": "medusa",
        "dflash": "dflash",
        "dspark": "dspark",
        "ngram": "none",
        "suffix": "none",
        "extract_hidden_states": "extraction",
    },
    "tensorrt-llm": {
        "Eagle": "eagle3",
        "Eagle3": "eagle3",
        "Medusa": "medusa",
        "MTP": "mtp",
        "DraftTarget": "standalone",
        "NGram": "none",
        "Lookahead": "none",
    },
    "tokenspeed": {"EAGLE3": "eagle3", "EAGLE": "eagle", "NEXTN": "mtp"},
}


class Method(NamedTuple):
    """The method of a launch.

    `kind` is the kind of head that it drafts with ("eagle3", "eagle", "mtp", "standalone", "dflash", ...), "unknown"
    when it is given but can not be told, "guessed" when it is not written and the engine guesses it, "none" when
    nothing drafts. `argument` is where it is written.
    """

    kind: str
    argument: Argument | None = None

    @property
    def captures(self) -> bool:
        """Whether auxiliary states are, or may be, captured for a drafter."""
        return self.kind in ("eagle3", "unknown", "guessed")


def method(launch: Launch) -> Method:
    """The speculative method of a launch, by the engine's own names; case does not matter."""
    argument = launch.get(*_NAMES)
    if argument is None:
        if launch.draft is not None:
            return Method("guessed" if launch.complete else "unknown")
        return Method("none" if launch.complete else "unknown")
    if not argument.value.known or not isinstance(argument.value.value, str):
        return Method("unknown", argument)
    kinds = {name.lower(): kind for name, kind in _KINDS.get(launch.engine, {}).items()}
    return Method(kinds.get(argument.value.value.lower(), "unknown"), argument)


def spelling(engine: str, kind: str) -> str:
    """What the engine calls a method that drafts with this kind of head; "" when it has none."""
    return next((name for name, own in _KINDS.get(engine, {}).items() if own == kind), "")
