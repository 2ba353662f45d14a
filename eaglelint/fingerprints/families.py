"""How a family of targets scales its embedding and applies its final norm: `rules/families.yaml`, interpreted."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from eaglelint._resources import data_root
from eaglelint.conventions.load import read_yaml


class Family(NamedTuple):
    """What is known of a target's family.

    `scale` is the factor by which rows of the embedding become boundary 0, None when it is not known. `offsets` are the
    numbers that may be added to the weight of the final norm before it multiplies: 0, 1, or both when not known.
    `rows` is False when boundary 0 is more than rows of the embedding.
    """

    scale: float | None = None
    offsets: tuple[int, ...] = (0, 1)
    rows: bool = True


#: Families that add positions to the embedding, or norm it: boundary 0 is not rows alone.
_ADDED = re.compile(r"(?:gpt2|gpt_neo$|opt$|bloom|.*bert|xglm|gpt_bigcode|ctrl|biogpt|gpt-sw3|openai-gpt)")
#: Families that are known not to scale their embedding.
_PLAIN = re.compile(
    r"(?:llama|mistral|ministral|mixtral|qwen|deepseek|kimi|gpt_oss|glm|chatglm|minimax|phi|internlm|olmo|nemotron|exaone|"
    r"seed_oss|mimo|step|ernie|hunyuan|starcoder2|yi|baichuan|gpt_neox|falcon$|cohere|longcat|bailing|apertus|smollm)"
)


def family(model_type: str, config: Mapping[str, Any], hidden: int) -> Family:
    """The family of a language model by the `model_type` and the other values of its config."""
    if not model_type:
        return Family()
    if _ADDED.match(model_type):
        return Family(rows=False)
    row = _rows().get(model_type.lower().removesuffix("_text"), {})
    offsets = (1,) if row.get("norm") == "one_plus_weight" else (0, 1) if _related(model_type) else (0,)
    rule = row.get("embedding") or ("" if row or _PLAIN.match(model_type) else None)
    return Family(_scale(rule, config, hidden), offsets)


_FACTORS = ("embedding_multiplier", "scale_emb", "embed_scale", "embedding_multiplier_scale")


def _related(model_type: str) -> bool:
    """Whether a type that is not listed, or listed without its norm, is a relative of one that adds 1."""
    return re.match(r"(?:gemma|t5gemma|qwen(?:3_next|3_5|[4-9]))", model_type) is not None


def _scale(rule: str | None, config: Mapping[str, Any], hidden: int) -> float | None:
    factor: object = None
    if not rule:
        factor = next((config[k] for k in _FACTORS if k in config), None if rule is None else 1.0)
    elif rule == "sqrt_hidden":
        factor = math.sqrt(hidden) if hidden else None
    else:
        factor = config.get(rule, 1.0)
    return float(factor) if isinstance(factor, (int, float)) and not isinstance(factor, bool) and factor > 0 else None


@cache
def _rows() -> Mapping[str, Mapping[str, Any]]:
    rows = read_yaml(data_root("rules") / "families.yaml")["families"]
    return {name: row for row in rows for name in row["model_types"]}
