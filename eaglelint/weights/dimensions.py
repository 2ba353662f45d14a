"""The sizes of a drafter, as its config gives them, each with the place that says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eaglelint.facts import DrafterConfig
from eaglelint.linking.records import integers
from eaglelint.location import Location

#: Where a config in speculators format holds what others hold at the top level.
_SPECULATORS = "/transformer_layer_config"


@dataclass(frozen=True)
class Dimensions:
    """Where a drafter's config gives sizes and flags. Sizes are 0 when they are not given or are no positive integers.

    `prefix` is the JSON pointer of the object that describes the layers, "" for the top level.
    """

    config: DrafterConfig
    prefix: str

    def pointer(self, key: str) -> str:
        """The JSON pointer under which a key stands: beside the layers, else at the top level."""
        inner = f"{self.prefix}/{key}"
        return inner if self.prefix and self.config.document.has(inner) else f"/{key}"

    def value(self, key: str) -> Any:
        """The value of a key, None when it is not given."""
        return self.config.document.get(self.pointer(key))

    def has(self, key: str) -> bool:
        """Whether a key is given, be it null."""
        return self.config.document.has(self.pointer(key))

    def size(self, key: str) -> int:
        """A size, 0 when it is not given or is none."""
        value = self.value(key)
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0

    def where(self, key: str) -> Location:
        """The place of a key; the object that lacks it when it is not given."""
        pointer = self.pointer(key)
        if self.config.document.has(pointer):
            return self.config.document.where(pointer)
        return self.config.document.spans.get(self.prefix, self.config.where)

    def flag(self, *pointers: str) -> str:
        """The first of some JSON pointers that stands for something true, "" when none does."""
        return next((pointer for pointer in pointers if self.config.document.get(pointer)), "")

    @property
    def hidden(self) -> int:
        """Width of the drafter."""
        return self.size("hidden_size")

    @property
    def target_hidden(self) -> int:
        """Width of the target's states, as the config gives it: `target_hidden_size`, else that of the drafter."""
        return self.size("target_hidden_size") or self.hidden

    @property
    def layers(self) -> int:
        """Decoder layers of the drafter."""
        return self.size("num_hidden_layers")

    @property
    def heads(self) -> int:
        """Attention heads."""
        return self.size("num_attention_heads")

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values; as many as of queries when they are not given."""
        return self.size("num_key_value_heads") or (0 if self.has("num_key_value_heads") else self.heads)

    @property
    def head_dim(self) -> int:
        """Width of a head."""
        if self.size("head_dim"):
            return self.size("head_dim")
        return self.hidden // self.heads if self.heads else 0

    @property
    def intermediate(self) -> int:
        """Width of the MLP."""
        key = "intermediate_size_mlp" if self.value("model_type") == "llama4_text" else "intermediate_size"
        return self.size(key)

    @property
    def vocab(self) -> int:
        """Size of the vocabulary that the config calls its own, which must be the target's."""
        return self.size("vocab_size")

    @property
    def draft_vocab(self) -> int:
        """Size of the draft vocabulary, 0 when it is not given or null."""
        return self.size("draft_vocab_size")

    @property
    def reduced(self) -> bool:
        """Whether the draft vocabulary is smaller than the target's."""
        return bool(self.draft_vocab and self.vocab and self.draft_vocab < self.vocab)

    @property
    def declared_states(self) -> tuple[int, ...]:
        """Every number of auxiliary states that the config declares: as a number, and as lists of ids."""
        found = [self.size("num_aux_hidden_states")]
        found += [len(ids.ids) for ids in self.config.id_lists if integers(ids.ids)]
        return tuple(dict.fromkeys(count for count in found if count))

    @property
    def takes_states(self) -> bool:
        """Whether auxiliary states are taken at all, as far as the config says."""
        return self.config.document.get("/eagle_config/use_aux_hidden_state") is not False


def dimensions(config: DrafterConfig) -> Dimensions:
    """The sizes of a drafter."""
    nested = config.dialect == "speculators" and isinstance(config.document.get(_SPECULATORS), dict)
    return Dimensions(config, _SPECULATORS if nested else "")
