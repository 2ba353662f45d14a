"""What a folder holds, whoever reads it: the config of the head, its weights and maps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eaglelint.facts import DrafterConfig, Facts
from eaglelint.inspecting.records import Head, IdList, Map, WeightFile
from eaglelint.linking.checkpoints import Checkpoint
from eaglelint.pipeline import Pipeline
from eaglelint.stored import CheckpointHeader, VocabularyMap
from eaglelint.tracing.served import key_words
from eaglelint.weights.dimensions import Dimensions, dimensions
from eaglelint.weights.names import Names, canonical

_SIZES = (
    "hidden_size", "target_hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim",
    "intermediate_size", "vocab_size", "draft_vocab_size", "num_aux_hidden_states", "max_position_embeddings",
    "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim",
)  # fmt: skip
_FLAGS = (
    "norm_before_residual", "norm_before_fc", "fc_norm", "use_aux_norm", "norm_output", "tie_word_embeddings", "bias",
    "attention_bias", "use_aux_hidden_state",
)  # fmt: skip
_FORMS = {"flat": "flat", "speculators": "speculators", "dflash": "DFlash", "dspark": "DSpark"}
#: Norms that a head may have besides those of its layers.
_NORMS = ("input_norm", "fc_norm")


def describe(pipeline: Pipeline, facts: Facts) -> Head:
    """The head of a pipeline."""
    config = pipeline.drafter
    assert config is not None
    sizes = dimensions(config)
    checkpoint = pipeline.checkpoint
    names = checkpoint.names if checkpoint is not None else {}
    stored = Names({canonical(name): name for name in names if canonical(name)})
    fc = _shape(checkpoint, stored, "fc.weight")
    return Head(
        path=config.path,
        form=_FORMS.get(config.dialect, config.dialect),
        method=config.method,
        architectures=config.architectures,
        ids=tuple(IdList(key_words(ids.key), tuple(ids.ids), ids.where.line) for ids in config.id_lists),
        target=pipeline.target.words if pipeline.target is not None else "",
        depth=pipeline.depth or None,
        sizes={key: sizes.size(key) for key in _SIZES if sizes.size(key)},
        draft_vocab_size=sizes.draft_vocab or None,
        flags=dict(_flags(config, sizes)),
        files=tuple(_files(facts, checkpoint)),
        complete=checkpoint is not None and checkpoint.complete,
        fc=fc,
        states=_states(pipeline, sizes, fc),
        norms=tuple(sorted(what for what in stored.given if what.startswith(_NORMS))),
        maps=tuple(_map(found) for found in (*checkpoint.maps, *checkpoint.beside)) if checkpoint is not None else (),
    )


def without_config(facts: Facts, path: str) -> Head:
    """A folder without a drafter's config: its tensors alone."""
    target = facts.targets[0] if facts.targets else None
    return Head(
        path=target.path if target is not None else path,
        form="no drafter",
        method="unknown",
        architectures=target.architectures if target is not None else (),
        ids=(),
        target="",
        depth=target.depth if target is not None else None,
        sizes={},
        draft_vocab_size=None,
        flags={},
        files=tuple(_files(facts, None)),
        maps=tuple(_map(found) for found in facts.maps),
    )


def _flags(config: DrafterConfig, sizes: Dimensions) -> Iterator[tuple[str, object]]:
    for key in _FLAGS:
        nested = config.document.get(f"/eagle_config/{key}")
        value = nested if nested is not None else sizes.value(key)
        if value is not None:
            yield key, value


def _shape(checkpoint: Checkpoint | None, names: Names, what: str) -> tuple[int, ...] | None:
    header = checkpoint.tensors.get(names.given.get(what, "")) if checkpoint is not None else None
    return header.shape if header is not None else None


def _states(pipeline: Pipeline, sizes: Dimensions, fc: tuple[int, ...] | None) -> int | None:
    """How many states of the target fc takes; None when that is not known."""
    if fc is None or len(fc) != 2:
        return None
    width = pipeline.target.hidden_size if pipeline.target is not None else 0
    width = width or sizes.target_hidden
    return fc[1] // width if width and fc[1] % width == 0 else None


def _files(facts: Facts, checkpoint: Checkpoint | None) -> Iterator[WeightFile]:
    every: list[WeightFile] = [_file(header) for header in facts.checkpoints]
    every += [WeightFile(fact.where.path, problem=fact.reason) for fact in facts.unreadable]
    known = {file.path for file in every}
    if checkpoint is not None and checkpoint.index is not None:
        for path in dict.fromkeys(checkpoint.index.files.values()):
            if path not in known:
                every.append(WeightFile(path, problem="the index names it, and it is not there"))
    yield from sorted(every, key=lambda file: file.path)


def _file(header: CheckpointHeader) -> WeightFile:
    tensors = header.tensors.values()
    problem = "a pointer of Git LFS: the file was not fetched" if header.format == "pointer" else ""
    dtypes: Sequence[str] = sorted({tensor.dtype for tensor in tensors})
    size = sum(tensor.length for tensor in tensors)
    return WeightFile(header.path, header.format, len(header.tensors), size, tuple(dtypes), header.calls, problem)


def _map(found: VocabularyMap) -> Map:
    if found.values is None:
        return Map(found.path, found.kind, found.length, None, None)
    if found.kind == "d2t":
        tokens = {place + value for place, value in enumerate(found.values)}
    else:
        tokens = {token for token, value in enumerate(found.values) if value}
    return Map(found.path, found.kind, found.length, len(tokens), max(tokens, default=None))
