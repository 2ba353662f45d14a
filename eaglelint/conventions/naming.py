"""What the names of models say of them: which are copies of one model, which are surely of another size or family."""

from __future__ import annotations

import re

from eaglelint.conventions.known import known_target

#: Words that say how a copy was made, and nothing of the model.
_COPIES = re.compile(
    r"^(?:fp8|fp4|nvfp4|mxfp4|mxfp8|awq|gptq|autoround|int[48]|w[48]a(?:4|8|16)\w*|bnb|[48]bit|gguf|exl[23]|quantized|kv"
    r"|dynamic|static|block|bf16|bfloat16|fp16|float16|hf|g\d+|marlin|sym|quarot|spinquant|rot|rotated|converted|mlx"
    r"|v\d|main|latest)$"
)
#: Families of models by the words in their names.
_FAMILIES = (
    "llama", "qwen", "qwq", "mistral", "mixtral", "gemma", "phi", "deepseek", "kimi", "glm", "gpt", "minimax",
    "granite", "nemotron", "falcon", "yi", "internlm", "olmo", "exaone", "hunyuan", "longcat", "ernie", "vicuna",
)  # fmt: skip
_SIZE = re.compile(r"(?<![a-z0-9.])(?:a)?(\d+(?:\.\d+)?)b(?![a-z0-9])")


def same_model(one: str, other: str) -> bool | None:
    """Whether two names or paths are of one model, quantised and renamed copies included; None when nothing tells.

    The names of published models are known; of others the sizes and families in the names are compared.
    """
    first, second = known_target(one), known_target(other)
    if first is not None and second is not None:
        return first.name == second.name
    if _stem(one) and _stem(one) == _stem(other):
        return True
    sizes = [set(_SIZE.findall(_tail(name))) for name in (one, other)]
    if all(sizes) and not sizes[0] & sizes[1]:
        return False
    families = [{family for family in _FAMILIES if family in _tail(name)} for name in (one, other)]
    if all(families) and not families[0] & families[1]:
        return False
    return None


def _tail(name: str) -> str:
    return name.rstrip("/").rsplit("/", 1)[-1].lower()


def _stem(name: str) -> tuple[str, ...]:
    """The words of a name without those that say how a copy was made."""
    words = re.split(r"[-_.\s]+", _tail(name))
    return tuple(word for word in words if word and not _COPIES.match(word))
