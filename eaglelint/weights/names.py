"""Names of tensors in checkpoints: what each is in a head, and whether a release of an engine knows it so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from eaglelint.conventions.weights import Loading
from eaglelint.weights.layout import FIRST, FUSED, QUANTISED

_KNOWN = re.compile(
    r"(?:^|\.)((?:layers\.\d+\.|midlayer\.)\S+|(?:fc|input_norm|lm_head|embed_tokens)\.\w+|norm\.weight"
    r"|fc_norm\.\d+\.weight|aux_norm_(?:low|mid|high)\.weight)$"
)
_LEGACY = {"aux_norm_low": "fc_norm.0", "aux_norm_mid": "fc_norm.1", "aux_norm_high": "fc_norm.2"}
#: Names within a decoder layer, for layers that are called something else altogether.
_INNER = re.compile(
    r"(?:^|\.)((?:self_attn\.(?:[qkvo]_proj|qkv_proj|q_a_proj|q_b_proj|kv_a_proj_with_mqa|kv_b_proj)"
    r"|mlp\.(?:gate|up|down|gate_up)_proj)\.\w+|(?:input_layernorm|hidden_norm|post_attention_layernorm)\.weight)$"
)
_TOP = re.compile(r"(?:fc|input_norm|embed_tokens|norm|fc_norm\.\d+|aux_norm_(?:low|mid|high))\.\w+$")


def canonical(name: str) -> str:
    """What a tensor is in the head, whatever stands before its name; "" when it is no part of one.

    Maps between vocabularies are "d2t" and "t2d": engines look for these letters anywhere in a name.
    """
    for kind in ("d2t", "t2d"):
        if kind in name:
            return kind
    found = _KNOWN.search(name)
    if found is not None:
        known = found[1]
        if known.startswith("midlayer."):
            return FIRST + known.removeprefix("midlayer.")
        old, dot, rest = known.partition(".")
        return f"{_LEGACY[old]}{dot}{rest}" if old in _LEGACY else known
    inner = _INNER.search(name)
    return FIRST + inner[1] if inner is not None else ""


def is_taken(name: str, loading: Loading) -> bool:
    """Whether a release finds the place of a tensor under this name."""
    if "d2t" in name or "t2d" in name or name.startswith("lm_head."):
        return True
    if loading.model_prefix:
        name = name.removeprefix("model.")
    if name.startswith("midlayer."):
        return "midlayer." in loading.first_layer
    found = re.match(r"layers\.(\d+)\.", name)
    if found is not None:
        return FIRST in loading.first_layer if found[1] == "0" else loading.layers == "any"
    return _TOP.match(name) is not None


def before(name: str) -> str:
    """The part of a tensor's name that says where it belongs: "layers.0", "model.midlayer", "model"."""
    for pattern in (_INNER, _KNOWN):
        found = pattern.search(name)
        if found is not None:
            head = name[: found.start(1)].rstrip(".")
            return head or found[1].partition(".")[0]
    return name


@dataclass(frozen=True)
class Names:
    """The tensors of a checkpoint by what they are: canonical name -> name in the file."""

    given: Mapping[str, str]

    @cached_property
    def modules(self) -> Mapping[str, str]:
        """The modules of which some weight is there, with the name of one of their tensors; fused ones taken apart."""
        found: dict[str, str] = {}
        for what, name in self.given.items():
            module, _, leaf = what.rpartition(".")
            if leaf != "weight" and leaf not in QUANTISED:
                continue
            found.setdefault(module, name)
            above, _, own = module.rpartition(".")
            for part in FUSED.get(own, ()):
                found.setdefault(f"{above}.{part}", name)
        return found

    def has(self, what: str) -> bool:
        """Whether a tensor (by its canonical name), or a quantised form of it, is there."""
        module, _, leaf = what.rpartition(".")
        return what in self.given or (leaf == "weight" and module in self.modules)

    @cached_property
    def layers(self) -> tuple[int, ...]:
        """The decoder layers of which there are tensors."""
        numbers = {int(found[1]) for what in self.given if (found := re.match(r"layers\.(\d+)\.", what))}
        return tuple(sorted(numbers))
