"""Model configs: which JSON is the config of a drafter, which that of a target, and where a drafter lists layer ids.

A drafter is known by its name (`architectures`, `model_type`), by the format that wraps it (speculators), or by keys
that nothing but such a head has. A config that is named like any other model and has no such key is a target.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from eaglelint.facts import Document, DrafterConfig, LayerIds, TargetConfig
from eaglelint.project import Source

_EAGLE3 = re.compile(r"eagle[-_]?3(?!\d)|^p-?eagle", re.IGNORECASE)
_EAGLE = re.compile(r"ForCausalLMEagle$|^Eagle(?!\d)\w*(?:ForCausalLM|MTPModel)$|^(?:EAGLE|Eagle)(?:Model)?$|^eagle$")
_DFLASH = re.compile(r"DFlash|XPress|MuseGlimmerAssistant|^dflash")
_DSPARK = re.compile(r"DSpark|^dspark")
_MEDUSA = re.compile(r"Medusa|^medusa$")
_MTP = re.compile(r"MTP(?![a-z])|NextN(?![a-z])|Gemma4\w*Assistant|_mtp$")
#: What speculators calls its kinds of heads. P-EAGLE takes the same states as EAGLE-3.
_SPECULATORS = {
    **dict.fromkeys(("eagle3", "eagle3.1", "peagle"), "eagle3"),
    "eagle": "eagle",
    **dict.fromkeys(("dflash", "dflash2"), "dflash"),
    "dspark": "dspark",
    "mtp": "mtp",
}
#: Keys that only EAGLE-3 heads have: the size of their vocabulary, how many states they take, where they norm them.
_EAGLE3_KEYS = ("draft_vocab_size", "num_aux_hidden_states", "norm_before_residual", "norm_before_fc")
_MODEL_KEYS = ("architectures", "model_type", "hidden_size", "num_hidden_layers", "transformer_layer_config")
#: Where a model that is more than its language model keeps the values of that one, the innermost first.
_TEXT_CONFIGS = (
    "/thinker_config/text_config",
    "/text_config",
    "/llm_config",
    "/language_config",
    "/thinker_config",
)
_DEPTHS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")
_WIDTHS = ("hidden_size", "n_embd", "d_model")
#: Names that say "layers of the target" outright; others must hold integers to count as a misspelling.
ID_KEYS = frozenset(
    {
        *("eagle_aux_hidden_state_layer_ids", "aux_hidden_state_layer_ids", "aux_hidden_states_layer_ids"),
        *("target_layer_ids", "dspark_target_layer_ids", "aux_layer_ids", "eagle3_layers_to_capture"),
    }
)
#: How deep a config nests its lists of ids.
_DEEPEST = 4


def read_config(source: Source, document: Document) -> DrafterConfig | TargetConfig | None:
    """The config of a drafter or of a target that a JSON document is; None when it is neither.

    `folder` of the result is that of the source's path.
    """
    value = document.value
    if not isinstance(value, dict) or "peft_type" in value:
        return None
    head = _head(value)
    if head is None:
        return _target(source, document)
    dialect, method = head
    return DrafterConfig(
        path=source.path,
        folder=posixpath.dirname(source.path),
        dialect=dialect,
        method=method,
        architectures=_architectures(value),
        model_type=_text(value, "model_type"),
        id_lists=id_lists(document),
        document=document,
    )


def id_lists(document: Document) -> tuple[LayerIds, ...]:
    """Every list of target layer ids in a config, in file order: under known keys, and under near misses of them.

    `where` is the place of the list. Only lists count; what else stands under such a key declares no layers.
    """
    found = [
        LayerIds(pointer, tuple(value), document.spans.get(pointer, document.where(pointer)))
        for pointer, key, value in _entries(document.value, "", 0)
        if isinstance(value, list) and _names_layers(key, value)
    ]
    return tuple(sorted(found, key=lambda ids: ids.where.start))


def _entries(value: Any, pointer: str, depth: int) -> Iterator[tuple[str, str, Any]]:
    """All entries of nested mappings: pointer, key, value."""
    if isinstance(value, dict) and depth < _DEEPEST:
        for key, entry in value.items():
            below = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            yield below, key, entry
            yield from _entries(entry, below, depth + 1)


def _names_layers(key: str, value: list[Any]) -> bool:
    if key in ID_KEYS:
        return True
    if not value or not all(isinstance(entry, int) and not isinstance(entry, bool) for entry in value):
        return False
    words = re.findall(r"[a-z]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower())
    if not {"layer", "layers"} & set(words) or {"num", "n", "count"} & set(words):
        return False
    if {"aux", "auxiliary", "capture", "captured", "eagle", "target"} & set(words) or {"hidden", "state"} <= set(words):
        return True
    return key in ("layer_ids", "layers_ids", "layer_indices", "layer_idxs")


def _head(value: Mapping[str, Any]) -> tuple[str, str] | None:
    """The dialect and the method of a drafter's config; None for anything else."""
    names = [*_architectures(value), _text(value, "model_type")]
    wrapped = value.get("speculators_config")
    if "speculators_model_type" in value or isinstance(wrapped, dict):
        said = _text(value, "speculators_model_type") or _text(wrapped, "algorithm")
        return "speculators", _SPECULATORS.get(said, "unknown")
    if not any(key in value for key in _MODEL_KEYS):
        return None
    block = _block_head(value, names)
    if block is not None:
        return block, block
    if _any(_EAGLE3, names) and not _sees(value):
        return "flat", "eagle3"
    if _any(_EAGLE, names) and not _sees(value):
        return "flat", "eagle3" if _takes_states(value) else "eagle"
    if _any(_MEDUSA, names) or "medusa_num_heads" in value:
        return "unknown", "medusa"
    if _any(_MTP, names):
        return "unknown", "mtp"
    if _has_eagle3_keys(value) or _takes_states(value):
        return "flat", "eagle3"
    if any("Speculator" in name for name in names):
        return "unknown", "unknown"
    return ("flat", "unknown") if _beyond_itself(value, "target_layer_ids") else None


def _block_head(value: Mapping[str, Any], names: list[str]) -> str | None:
    """ "dspark" or "dflash" for heads that draft a block at once.

    A target can carry such a head within itself; then its own layers reach beyond every layer that the head names.
    """
    for kind, pattern in (("dspark", _DSPARK), ("dflash", _DFLASH)):
        if _any(pattern, names):
            return kind
    for kind in ("dspark", "dflash"):
        nested = value.get(f"{kind}_config")
        if isinstance(nested, dict) and (
            "num_target_layers" in value or "architectures" not in value or _beyond_itself(value, f"{kind}_config")
        ):
            return kind
    if _beyond_itself(value, "dspark_target_layer_ids"):
        return "dspark"
    return "dflash" if _beyond_itself(value, "target_layer_ids") and "block_size" in value else None


def _beyond_itself(value: Mapping[str, Any], key: str) -> bool:
    """Whether the ids under a key (or under its `target_layer_ids`) name layers that this model itself has not."""
    ids = value.get(key)
    if isinstance(ids, dict):
        ids = ids.get("target_layer_ids")
    if not isinstance(ids, list):
        return False
    numbers = [entry for entry in ids if isinstance(entry, int)]
    return bool(numbers) and max(numbers) > _number(value, _DEPTHS)


def _takes_states(value: Mapping[str, Any]) -> bool:
    """Whether a config says in so many words that its model takes auxiliary states of a target."""
    nested = value.get("eagle_config")
    if isinstance(nested, dict) and nested.get("use_aux_hidden_state") is True:
        return True
    return any(
        isinstance(part, dict) and isinstance(part.get(key), list)
        for part in (value, nested, value.get("model"))
        for key in ("eagle_aux_hidden_state_layer_ids", "aux_hidden_state_layer_ids", "aux_hidden_states_layer_ids")
    )


def _has_eagle3_keys(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("eagle_config"), dict) or any(value.get(key) is not None for key in _EAGLE3_KEYS)


def _sees(value: Mapping[str, Any]) -> bool:
    """Whether it is a vision model and no head of one; a family of vision models is called Eagle too."""
    return isinstance(value.get("vision_config"), dict) and not _takes_states(value) and not _has_eagle3_keys(value)


def _target(source: Source, document: Document) -> TargetConfig | None:
    value: dict[str, Any] = document.value
    prefix = next((p for p in _TEXT_CONFIGS if isinstance(document.get(p), dict) and _described(document, p)), "")
    own = document.get(prefix)
    architectures, model_type = _architectures(value), _text(value, "model_type")
    depth = _number(own, _DEPTHS) or _number(value, _DEPTHS)
    if not (architectures or model_type) or not (depth or (architectures and model_type)):
        return None
    return TargetConfig(
        path=source.path,
        folder=posixpath.dirname(source.path),
        architectures=architectures,
        model_type=model_type,
        depth=depth,
        hidden_size=_number(own, _WIDTHS) or _number(value, _WIDTHS),
        vocab_size=_number(own, ("vocab_size",)) or _number(value, ("vocab_size",)),
        text_prefix=prefix,
        document=document,
    )


def _described(document: Document, prefix: str) -> bool:
    """Whether a nested config is that of a language model: it says how deep or wide it is, or of what type."""
    nested = document.get(prefix)
    return any(key in nested for key in (*_DEPTHS, *_WIDTHS, "model_type"))


def _any(pattern: re.Pattern[str], names: list[str]) -> bool:
    return any(pattern.search(name) for name in names)


def _architectures(value: Mapping[str, Any]) -> tuple[str, ...]:
    given = value.get("architectures")
    if isinstance(given, str):
        return (given,)
    return tuple(name for name in given if isinstance(name, str)) if isinstance(given, list) else ()


def _text(value: Any, key: str) -> str:
    given = value.get(key) if isinstance(value, dict) else None
    return given if isinstance(given, str) else ""


def _number(value: Any, keys: tuple[str, ...]) -> int:
    """The first of some keys that holds a positive integer, 0 without one."""
    for key in keys:
        given = value.get(key) if isinstance(value, dict) else None
        if isinstance(given, int) and not isinstance(given, bool) and given > 0:
            return given
    return 0
