"""Mappings of YAML that hold an engine's arguments: options files of TensorRT-LLM, vLLM and SGLang, and recipes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eaglelint.errors import DocumentError
from eaglelint.facts import Document, Launch, Value
from eaglelint.location import Location
from eaglelint.readers.arguments import json_arguments
from eaglelint.readers.places import pointer_part
from eaglelint.readers.starting import from_keywords
from eaglelint.readers.words import Word

Pair = tuple[str, Value, Location]


def options_launch(document: Document, pointer: str, value: Mapping[str, Any], unit: str = "") -> Launch | None:
    """The launch that a mapping describes with the names of an engine's arguments as its keys; None for any other.

    Only mappings that ask for speculative decoding count: other names are common to too many kinds of files.
    """
    keys = {str(key).replace("-", "_"): key for key in value}
    engine = _engine(keys, value)
    if not engine:
        return None
    pairs = list(_pairs(document, pointer, "", value))
    inner = keys.get("speculative_config")
    if inner is not None and isinstance(value[inner], str):
        pairs += _json_pairs(document, f"{pointer}/{pointer_part(inner)}")
    deciding = inner if inner is not None else keys["speculative_algorithm"]
    where = document.where(f"{pointer}/{pointer_part(deciding)}")
    return from_keywords(engine, pairs, where, form="yaml", unit=unit)


def _engine(keys: Mapping[str, str], value: Mapping[str, Any]) -> str:
    """The engine whose arguments the keys name, "" when it is none."""
    if "speculative_config" in keys:
        inner = value[keys["speculative_config"]]
        names = {str(key) for key in inner} if isinstance(inner, dict) else set()
        if "decoding_type" in names:
            return "tensorrt-llm"
        if {"method", "num_speculative_tokens"} & names:
            return "vllm"
        if isinstance(inner, str) and inner.lstrip().startswith("{") and "num_speculative_tokens" in inner:
            return "vllm"
    if "speculative_algorithm" in keys and {"speculative_draft_model_path", "model_path"} & set(keys):
        return "sglang"
    return ""


def _pairs(document: Document, pointer: str, prefix: str, value: Mapping[str, Any]) -> Iterator[Pair]:
    """The entries of a mapping and of those inside it, with dotted names."""
    for key, entry in value.items():
        below = f"{pointer}/{pointer_part(str(key))}"
        name = f"{prefix}{key}"
        yield name, Value(entry, document.spans[below]), document.where(below)
        if isinstance(entry, dict):
            yield from _pairs(document, below, f"{name}.", entry)


def _json_pairs(document: Document, pointer: str) -> Iterator[Pair]:
    """The entries of JSON in a string."""
    text = document.texts.get(pointer)
    if text is None:
        return
    try:
        _, arguments = json_arguments("speculative_config", Word(text.text, document.where(pointer), text))
    except DocumentError:
        return
    for argument in arguments:
        yield argument.name, argument.value, argument.where
