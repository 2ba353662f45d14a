"""What one release of an engine makes of a head: its class, the states that it is fed, its weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from eaglelint.checks.heads import HeadConfig, config_of, releases_of
from eaglelint.checks.ownership import own_vocabulary
from eaglelint.checks.stored import Stored, stored
from eaglelint.checks.wording import pointer_words
from eaglelint.conventions import weights
from eaglelint.conventions.heads import HeadRules, head_rules
from eaglelint.conventions.rules import MEANING
from eaglelint.conventions.weights import Loading
from eaglelint.inspecting.records import View
from eaglelint.linking.records import Serving, title
from eaglelint.pipeline import Pipeline
from eaglelint.reference.asking import Asked
from eaglelint.weights.names import is_taken

#: The most names of tensors that a view lists.
_MOST = 8


def views(pipeline: Pipeline, asked: Asked) -> Iterator[View]:
    """One view for each way in which the releases that are asked for read the ids."""
    rules = head_rules(asked.name)
    config = config_of(pipeline)
    servers = [server for server in pipeline.servers if server.engine == asked.name]
    release = next((r for server in servers for r in releases_of(server)[-1:]), "")
    found = config.found(rules, release).found if rules is not None and config is not None else None
    name = found.name if found is not None and found.kind == "eagle3" else ""
    head = stored(pipeline)
    row = weights.loading(asked.name, name, release) if name else None
    describe = partial(
        View,
        engine=title(asked.name),
        loads=_loads(rules, config, release),
        built_for=_built_for(rules, config, release, name),
        lm_head=_lm_head(head, row) if head is not None and row is not None else "",
        embedding=_embedding(head, row) if head is not None and row is not None else "",
        ignored=tuple(_ignored(rules, config, release, name)),
        dropped=tuple(_dropped(head, row)) if head is not None and row is not None else (),
    )
    mine = [serving for serving in pipeline.servings if serving.engine == asked.name]
    same: dict[View, list[str]] = {}
    for serving in mine:
        view = describe(
            release=_release(serving),
            runner=serving.reading.runner,
            reads=_reads(serving),
            ids=serving.declared,
            boundaries=serving.captured(serving.depth) if serving.depth else _anywhere(serving),
            formulas=serving.reading.default if serving.ids is None else (),
        )
        same.setdefault(replace(view, reads=""), []).append(view.reads)
    for view, reads in same.items():
        yield replace(view, reads=", or (by the target) ".join(dict.fromkeys(reads)))
    if not mine:
        yield describe(release=release, runner="", reads="", ids=None, boundaries=None, formulas=())


def _release(serving: Serving) -> str:
    first, last = serving.reading.first, serving.reading.last
    return serving.release.exact or (f"{first} to {last}" if first and first != last else last)


def _anywhere(serving: Serving) -> tuple[int, ...] | None:
    """The boundaries where they are the same for every depth of the target; None where they are not."""
    found = {serving.meant(depth) for depth in serving.depths}
    return found.pop() if len(found) == 1 else None


def _reads(serving: Serving) -> str:
    if serving.off:
        return "a key of the config switches the capture off"
    if serving.reading.status != "ok":
        return "captures nothing for this target" + (f": {serving.reading.note}" if serving.reading.note else "")
    if serving.ids is None:
        unread = ", ".join(pointer_words(ids.key) for ids in serving.unread)
        return "takes its default" + (f"; {unread} is not read" if unread else "")
    return f"reads {pointer_words(serving.ids.key)} ({MEANING.get(serving.reading.rule, serving.reading.rule)})"


def _loads(rules: HeadRules | None, config: HeadConfig | None, release: str) -> str:
    if rules is None or config is None or not rules.classes:
        return ""
    if rules.reads(release, config.form) is False:
        return f"does not read this form: {rules.unread}"
    found = config.found(rules, release)
    if found.found is None:
        return f"no class for {found.name or 'a config without architectures'}: {found.why}"
    if found.found.kind != "eagle3":
        return f"{found.name}, which is no EAGLE-3 class: it {found.found.effect}"
    return f"{found.name} ({found.found.name})"


def _built_for(rules: HeadRules | None, config: HeadConfig | None, release: str, name: str) -> int | None:
    width = rules.width(release, config.form, name) if rules is not None and config is not None else None
    if width is None or config is None:
        return None
    for pointer in width.pointers:
        value = config.value(pointer)
        if isinstance(value, list) and value:
            return len(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return width.otherwise


def _lm_head(head: Stored, row: Loading) -> str:
    if row.tied and head.sizes.value("tie_word_embeddings") is True:
        return "tied: the embedding of the target"
    size = own_vocabulary(head, row)
    if not size:
        rule = row.size_null if head.sizes.has("draft_vocab_size") else row.size_missing
        return "loading fails without draft_vocab_size" if rule == "error" else "the target's"
    if head.names.has("lm_head.weight"):
        return f"its own, {size} rows"
    if not head.complete:
        return f"its own, {size} rows (the weights are not in scope)"
    reduced = bool(head.sizes.vocab) and size < head.sizes.vocab
    filler = row.lm_head_missing["reduced" if reduced else "full"]
    return {"targets": "the target's", "truncated": f"the first {size} rows of the target's"}.get(
        filler, f"{size} rows that nothing fills"
    )


def _embedding(head: Stored, row: Loading) -> str:
    there = head.names.has("embed_tokens.weight")
    narrower = head.sizes.target_hidden != head.sizes.hidden
    if row.embedding == "targets" and there:
        return "refused: there is no place for one"
    if there and (narrower or row.embedding == "own_if_given"):
        return "its own"
    if narrower:
        return "one that nothing fills" if head.complete else "its own (the weights are not in scope)"
    return "the target's" + (", in place of its own" if there else "")


def _ignored(rules: HeadRules | None, config: HeadConfig | None, release: str, name: str) -> Iterator[str]:
    """Fields that are given and not read, and flags that the release does not honour."""
    if rules is None or config is None or not name:
        return
    for row in rules.ignoring(release, config.form, name):
        for pointer in row.pointers:
            value = config.value(pointer)
            if value is not None and value not in row.neutral:
                yield f"{pointer_words(pointer)} ({row.effect})"
    for flag in rules.flags:
        places = (f"/{flag.name}", f"/eagle_config/{flag.name}", f"/transformer_layer_config/{flag.name}")
        declared = any(config.value(place) is True for place in places)
        if declared and rules.honoured(flag, release, config.form, name) is None:
            yield f"`{flag.name}` ({flag.effect})"


def _dropped(head: Stored, row: Loading) -> Iterator[str]:
    """Tensors for which the release has no place, and those that it passes over on purpose."""
    names = list(head.checkpoint.names) if head.checkpoint is not None else []
    lost = [name for name in names if not is_taken(name, row)]
    yield from lost[:_MOST]
    if len(lost) > _MOST:
        yield f"{len(lost) - _MOST} others"
