"""EGL112: a selected layer differs in kind from the others of its target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from eaglelint.checks import wording
from eaglelint.checks.registry import check
from eaglelint.conventions.known import known_target
from eaglelint.facts import Step, TargetConfig
from eaglelint.findings import Finding
from eaglelint.linking.records import Target
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

#: Kinds of `layer_types` that only differ in how far they look back.
_USUAL = frozenset({"full_attention", "sliding_attention", "chunked_attention", "attention", "global", "local"})
_KINDS = {
    "linear_attention": "a linear attention layer",
    "deepstack": "a layer behind which image features are added",
    "mamba": "a Mamba layer",
    "moe": "a layer without attention",
    "mlp": "a layer without attention",
}
#: Letters of Nemotron-H's pattern of layers.
_PATTERN = {"M": "mamba", "-": "mlp", "E": "moe"}


class _Special(NamedTuple):
    """The kind of each special layer by its 0-based index, and where that is said."""

    kinds: dict[int, str]
    scaled: str
    where: Location | None


@check("EGL112")
def special_layer_selected(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each list of ids (or of captured states) with such a layer, unless both sides take the same."""
    if pipeline.target is None or not pipeline.depth:
        return
    special = _special(pipeline.target)
    if not special.kinds and not special.scaled:
        return
    depth, trained = pipeline.depth, pipeline.evidence.best
    reported: set[Location] = set()
    for serving in pipeline.servings:
        meant = serving.meant(depth) if serving.ids is not None else None
        if meant is None or serving.ids is None or serving.ids.where in reported:
            continue
        if not any(said.allows(meant, depth) for said in trained):
            reported.add(serving.ids.where)
            yield from _finding(special, meant, serving.ids.where, f"{serving.name} takes the ids as")
    if pipeline.servings:
        return
    for said in trained:
        boundaries = said.at(depth)
        if boundaries is not None and said.where is not None and said.source != "published":
            yield from _finding(special, boundaries, said.where, f"{said.what} are")


def _finding(special: _Special, boundaries: Sequence[int], where: Location, who: str) -> Iterator[Finding]:
    said = []
    for boundary in boundaries:
        kind = special.kinds.get(boundary - 1)
        if kind is not None:
            said.append(
                f"boundary {boundary} is the output of layer {boundary - 1}, {_KINDS.get(kind, f'of kind {kind}')}"
            )
        elif boundary == 0 and special.scaled:
            said.append(f"boundary 0 is the embedding output, {special.scaled}")
    if said:
        yield Finding(
            rule="EGL112",
            severity="info",
            message=f"{who} {wording.numbers(boundaries)}: {wording.listed(said)}",
            where=where,
            confidence="likely",
            related=(Step(special.where, "the kinds of the target's layers"),) if special.where is not None else (),
            defect=("special", str(where)),
        )


def _special(target: Target) -> _Special:
    """What is known of the kinds of a target's layers: by its config in the project, else by the tables."""
    if target.config is not None:
        found = _of_config(target.config, target.depth)
        if found.kinds or found.scaled:
            return found
    known = known_target(target.name)
    if known is None or known.depth != target.depth:
        return _Special({}, "", None)
    kinds = {layer: entry.kind for entry in known.special for layer in entry.layers}
    scaled = "which this family scales by the root of its width" if known.model_type.startswith("gemma") else ""
    return _Special(kinds, scaled, target.where)


def _of_config(config: TargetConfig, depth: int) -> _Special:
    prefix = config.text_prefix

    def value(key: str) -> Any:
        return config.document.get(f"{prefix}/{key}")

    kinds, key = _kinds(value, depth)
    stack = config.document.get("/vision_config/deepstack_visual_indexes")
    if not kinds and isinstance(stack, list) and stack:
        kinds, key = dict.fromkeys(range(len(stack)), "deepstack"), ""
    scaled = ""
    for name in ("scale_emb", "embedding_multiplier"):
        factor = value(name)
        if isinstance(factor, (int, float)) and factor != 1:
            scaled, key = f"which the target scales by {factor}", key or name
    if not scaled and config.model_type.startswith("gemma"):
        scaled = "which this family scales by the root of its width"
    where = config.document.where(f"{prefix}/{key}" if key else "/vision_config/deepstack_visual_indexes")
    return _Special(kinds, scaled, where)


def _kinds(value: Any, depth: int) -> tuple[dict[int, str], str]:
    """The layers that are not plain attention layers, and the key that says so."""
    types = value("layer_types")
    if isinstance(types, list) and len(types) == depth:
        return {i: str(kind) for i, kind in enumerate(types) if str(kind) not in _USUAL}, "layer_types"
    interval = value("full_attention_interval")
    if isinstance(interval, int) and not isinstance(interval, bool) and interval > 1:
        return {i: "linear_attention" for i in range(depth) if (i + 1) % interval}, "full_attention_interval"
    linear = value("linear_attn_config/kda_layers")
    if isinstance(linear, list):
        return {i - 1: "linear_attention" for i in linear if isinstance(i, int)}, "linear_attn_config"
    flags = value("attn_type_list")
    if isinstance(flags, list) and len(flags) == depth:
        return {i: "linear_attention" for i, flag in enumerate(flags) if flag == 0}, "attn_type_list"
    pattern = value("hybrid_override_pattern")
    if isinstance(pattern, str) and len(pattern) == depth:
        return {i: _PATTERN[sign] for i, sign in enumerate(pattern) if sign in _PATTERN}, "hybrid_override_pattern"
    return {}, ""
