"""Whose tensors a drafter runs with: EGL602 (lm_head), EGL603 (embedding), EGL605 (biases), EGL607 (tied ones)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from eaglelint.checks.heads import Fault
from eaglelint.checks.registry import check
from eaglelint.checks.stored import Stored, fix_of, stored, told
from eaglelint.checks.wording import listed, pointer_words
from eaglelint.conventions import weights
from eaglelint.conventions.weights import Bias, Loading
from eaglelint.findings import Finding
from eaglelint.linking.records import title
from eaglelint.pipeline import Pipeline

_EMBEDDING = "embed_tokens.weight"
_LM_HEAD = "lm_head.weight"


@check("EGL602")
def lm_head_missing(pipeline: Pipeline) -> Iterator[Finding]:
    """The class allocates an lm_head of its own and the checkpoint does not fill it. One finding a head."""
    head = stored(pipeline)
    if head is None or not head.complete or head.names.has(_LM_HEAD) or not head.layout:
        return

    def fault(row: Loading) -> Fault | None:
        size = own_vocabulary(head, row)
        if not size or (row.tied and head.sizes.value("tie_word_embeddings") is True):
            return None
        reduced = bool(head.sizes.vocab) and size < head.sizes.vocab
        filler = row.lm_head_missing["reduced" if reduced else "full"]
        if filler == "targets":
            return None
        effect = "allocates one, which nothing fills: the logits are random, and nothing is accepted"
        if filler == "truncated":
            effect = f"takes the first {size} rows of the target's instead, which are not the tokens of the draft"
        what = f"the checkpoint has no lm_head.weight, of {size} rows: {{name}} {effect}"
        cure = "export lm_head.weight with the head" + ("" if reduced else ", or write `draft_vocab_size`: null")
        return Fault(what, head.where(), cure)

    yield from told("EGL602", head, fault, ("lm_head", pipeline.name))


def own_vocabulary(head: Stored, row: Loading) -> int:
    """The rows of the lm_head that a release allocates for the drafter itself; 0 when it takes the target's."""
    if head.sizes.draft_vocab:
        return head.sizes.draft_vocab
    rule = row.size_null if head.sizes.has("draft_vocab_size") else row.size_missing
    return head.sizes.vocab if rule == "full" else 0


@check("EGL603")
def embedding_ownership(pipeline: Pipeline) -> Iterator[Finding]:
    """An embedding that the engine needs and does not find, or finds and does not use. One finding a head."""
    head = stored(pipeline)
    if head is None or not head.layout or not head.names.given or not head.sizes.hidden:
        return
    there = head.names.has(_EMBEDDING)
    if not there and not head.complete:
        return
    defect = ("embedding", pipeline.name)
    lacks = list(told("EGL603", head, lambda row: _lacks(head, row, there), defect))
    yield from lacks
    if not lacks:
        for finding in told("EGL603", head, lambda row: _unused(head, row, there), defect):
            yield replace(finding, severity="warning", confidence="possible")


def _narrower(head: Stored) -> bool:
    """Whether the config gives the target another width than the head."""
    sizes = head.sizes
    if sizes.size("target_hidden_size"):
        return sizes.target_hidden != sizes.hidden
    return False


def _lacks(head: Stored, row: Loading, there: bool) -> Fault | None:
    """A missing table, or (for releases without a place for one) a table that makes loading fail."""
    sizes = head.sizes
    if there:
        if row.embedding != "targets":
            return None
        what = "the checkpoint has embed_tokens.weight, for which {name} has no place: loading fails (a KeyError)"
        return Fault(what, head.where(_EMBEDDING), "leave embed_tokens.weight out; the target's is used")
    if not _narrower(head):
        return None
    what = (
        f"the checkpoint has no embed_tokens.weight, and the head ({sizes.hidden} wide) can not use the table of its "
        f"target ({sizes.target_hidden}): {{name}} runs it with one that nothing fills"
    )
    if row.embedding == "own_if_given":
        what = (
            f"the checkpoint has no embed_tokens.weight, so {{name}} uses the target's, which is {sizes.target_hidden} "
            f"wide where the head is {sizes.hidden}"
        )
    rows = f"[{sizes.vocab}, {sizes.hidden}]" if sizes.vocab else f"[vocab_size, {sizes.hidden}]"
    return Fault(what, head.where(), f"export embed_tokens.weight, {rows}, with the head")


def _unused(head: Stored, row: Loading, there: bool) -> Fault | None:
    """A table that a release replaces by the target's."""
    if not there or _narrower(head) or row.embedding not in ("targets_unless_narrower", "targets_if_same_shape"):
        return None
    what = (
        "the checkpoint has embed_tokens.weight, which {name} replaces by the target's table: if it was trained, that "
        "is lost"
    )
    return Fault(what, head.where(_EMBEDDING), "leave it out when it is the target's, or train with the target's table")


@check("EGL605")
def bias_contract(pipeline: Pipeline) -> Iterator[Finding]:
    """Biases that the engine drops, or allocates and finds nothing for. One finding a place."""
    head = stored(pipeline)
    if head is None or not head.layout or not head.names.given:
        return
    layers = [f"layers.{layer}.self_attn." for layer in head.names.layers or (0,)]
    attention = [f"{layer}{name}.bias" for layer in layers for name in ("q_proj", "k_proj", "v_proj", "qkv_proj")]
    output = [f"{layer}o_proj.bias" for layer in layers]

    for what, names, of in (
        ("fc", ["fc.bias"], lambda row: row.fc_bias),
        ("q, k and v", attention, lambda row: row.qkv_bias),
        ("o_proj", output, lambda row: row.o_proj_bias),
    ):
        there = [name for name in names if name in head.names.given]

        def fault(row: Loading, what: str = what, there: Sequence[str] = there, of: Any = of) -> Fault | None:
            return _bias(head, row, of(row), what, there)

        yield from told("EGL605", head, fault, ("bias", pipeline.name, what))


def _bias(head: Stored, row: Loading, bias: Bias, what: str, there: Sequence[str]) -> Fault | None:
    flag = head.sizes.flag(*bias.flags, *(f"{head.sizes.prefix}{flag}" for flag in bias.flags if head.sizes.prefix))
    allocated = bias.always or bool(flag)
    if there and not allocated:
        effect = "drops it without a word" if row.unknown == "dropped" else "refuses it, so that the head does not load"
        why = "builds no such bias"
        if bias.flags:
            why = f"builds it only with {listed([pointer_words(f) for f in bias.flags], 'or')}, which the config lacks"
        names = listed([head.names.given[name] for name in there[:3]])
        cure = f"write {pointer_words(bias.flags[-1])}: true" if bias.flags else "train and export the head without it"
        return Fault(f"the checkpoint has {names}, but {{name}} {why}: it {effect}", head.where(there[0]), cure)
    if there or not allocated or not bias.random or not head.complete:
        return None
    asks = f"{pointer_words(flag)} asks for a bias of {what}" if flag else f"{{name}} always builds {what} with a bias"
    where = head.sizes.config.document.where(flag) if flag else head.where()
    name = "" if not flag else " {name} allocates it, and"
    cure = f"export the bias of {what}" + (", or take the flag away" if flag else ", or use a release that needs none")
    return Fault(f"{asks}, and the checkpoint has none:{name} nothing fills it, so that it is random", where, cure)


@check("EGL607")
def tied_with_reduced_vocabulary(pipeline: Pipeline) -> Iterator[Finding]:
    """tie_word_embeddings makes the target's whole embedding the lm_head of a head that has one of its own."""
    head = stored(pipeline)
    if head is None or head.sizes.value("tie_word_embeddings") is not True or not head.layout:
        return
    sizes = head.sizes
    own = head.names.has(_LM_HEAD)
    if not sizes.reduced and not own:
        return

    def fault(row: Loading) -> Fault | None:
        if not row.tied:
            return None
        ignored = ", and the lm_head of the checkpoint is ignored" if own else ""
        if sizes.reduced:
            effect = (
                f"{sizes.vocab} rows where the draft has {sizes.draft_vocab}{ignored}, and d2t is read out of range"
            )
        else:
            effect = f"the embedding of the target{ignored}"
        what = f"tie_word_embeddings is true, so {{name}} uses the embedding as lm_head: {effect}"
        return Fault(what, sizes.where("tie_word_embeddings"), "write `tie_word_embeddings`: false")

    if pipeline.servers:
        yield from told("EGL607", head, fault, ("tied", pipeline.name))
        return
    if pipeline.checkpoint is None:
        return
    faults = [(row, found) for row in weights.newest(head.layout) if (found := fault(row)) is not None]
    if faults:
        names = listed([title(row.engine) for row, _ in faults], "or")
        first = faults[0][1]
        message = first.what.replace("{name}", names)
        yield Finding("EGL607", "warning", message, first.where, "possible", (), fix_of(first), ("tied", pipeline.name))
