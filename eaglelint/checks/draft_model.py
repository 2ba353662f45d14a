"""EGL303 (EAGLE-3 without a draft model) and EGL304 (the method is left to be guessed from the draft's path)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from eaglelint.checks.launching import Served, absent, finding, judge, only_captures, served, spelled
from eaglelint.checks.registry import check
from eaglelint.facts import Launch, Value
from eaglelint.findings import Finding
from eaglelint.linking.methods import method, spelling
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

_DRAFTS = {
    "sglang": "speculative_draft_model_path",
    "vllm": "model",
    "tensorrt-llm": "speculative_model_dir",
}
#: Kinds of heads in words.
_HEADS = {
    "eagle3": "an EAGLE-3 head",
    "eagle": "an EAGLE-1 head",
    "dflash": "a DFlash head",
    "dspark": "a DSpark head",
}
#: What the methods that are guessed make of a head.
_PICKS = {
    "eagle": "eagle (EAGLE-1)",
    "draft_model": "draft_model (a language model of its own)",
}


@check("EGL303")
def draft_model_missing(pipeline: Pipeline) -> Iterator[Finding]:
    """A method that needs a head of its own, no head, and a target that brings none. One finding a launch."""
    seen: set[Location] = set()
    for one in served(pipeline, *_DRAFTS):
        launch, engine = one.launch, one.server.engine
        said = method(launch)
        needs = ("eagle3", "dflash") if engine != "tensorrt-llm" else ("eagle3",)
        if said.kind not in needs or said.argument is None or launch.where in seen or only_captures(launch):
            continue
        if launch.draft is not None or not _no_draft(launch, engine):
            continue
        target = one.server.target
        architectures = target.architectures if target is not None else ()
        sure = bool(architectures) or engine != "sglang" or said.kind == "dflash"
        judged = judge(one, partial(_brings_none, one, architectures))
        if judged is None:
            continue
        seen.add(launch.where)
        lacking = spelled(launch, _DRAFTS[engine]) if engine == "sglang" else _DRAFTS[engine]
        name = target.name if target is not None else "the target"
        whole = launch.get("speculative_config")
        effect = f"{name} brings no draft layer" + (
            ", so the target is loaded a second time as its own drafter and the server dies"
            if engine == "sglang" and said.kind == "eagle3"
            else ", so the server does not start"
        )
        if not sure:
            effect = "unless the target brings a draft layer, the target is loaded as its own drafter and dies"
        yield finding(
            "EGL303",
            judged,
            f"{said.argument.spelling} {said.argument.value.value} without {lacking}: {effect} ({{name}})",
            whole.value.where if whole is not None and engine != "sglang" else launch.where,
            given=(said.argument,),
            doubts=(target.assumed,) if target is not None and engine == "sglang" else (),
            severity="error" if sure else "warning",
            cure=f"name the head with {lacking}",
        )


def _brings_none(one: Served, architectures: tuple[str, ...], release: str) -> bool | None:
    return None if set(one.arguments.bundled(release)) & set(architectures) else True


def _no_draft(launch: Launch, engine: str) -> bool:
    if engine == "tensorrt-llm":
        return absent(launch, "speculative_config.speculative_model_dir", "speculative_config.speculative_model")
    whole = launch.get("speculative_config")
    return absent(launch, "speculative_draft_model_path", "speculative_config.model") and (
        whole is None or whole.value.known
    )


@check("EGL304")
def method_guessed_from_path(pipeline: Pipeline) -> Iterator[Finding]:
    """vLLM takes the method from the draft's path: none is written, or one that it overrides. One finding a launch."""
    seen: set[Location] = set()
    for one in served(pipeline, "vllm"):
        launch = one.launch
        draft = launch.draft
        said = method(launch)
        if said.kind not in ("guessed", "standalone") or launch.where in seen or draft is None:
            continue
        if not draft.known or not isinstance(draft.value, str):
            continue
        if said.kind == "standalone":
            for found in _overridden(one, draft, pipeline.method):
                seen.add(launch.where)
                yield found
            continue
        path, head = draft.value, pipeline.method
        wrong = judge(one, partial(_wrong_guess, one, path, head))
        judged = wrong or judge(one, partial(_right_guess, one, path, head))
        if judged is None:
            continue
        seen.add(launch.where)
        pick, word = judged.fault
        took = f'contains "{word}"' if word else "holds none of the words that it looks for"
        message = (
            f'"method" is not written, so {{name}} takes it from the path {path}, which {took}: it picks '
            f"{_PICKS.get(pick, pick)}"
        )
        right = spelling("vllm", head) or "eagle3"
        if wrong is not None:
            message += f", but the head is {_HEADS[head]}"
        elif head in _HEADS:
            message += ", which is right as long as nobody renames the folder"
        whole = launch.get("speculative_config")
        where = whole.value.where if whole is not None else draft.where
        yield finding(
            "EGL304",
            judged,
            message,
            where,
            doubts=(draft.assumed, one.server.assumed),
            severity="error" if wrong is not None else "warning",
            cure=f'write "method": "{right}"',
            defect="method",
        )


def _overridden(one: Served, draft: Value, head: str) -> Iterator[Finding]:
    """A language model is written as the draft, and a word in its path makes vLLM load it as a head."""
    said, path = method(one.launch).argument, str(draft.value)

    def fault(release: str) -> tuple[str, str] | None:
        pick, word = _pick(one, path, release)
        return (pick, word) if word else None

    judged = judge(one, fault)
    if judged is None or said is None or head in _HEADS:
        return
    pick, word = judged.fault
    message = (
        f'"method" is {said.value.value}, and {{name}} does not keep to it: the path {path} contains "{word}", so that '
        f"the draft is loaded as {_PICKS.get(pick, pick)}"
    )
    cure = f'serve the draft under a path without "{word}"'
    doubts = (draft.assumed, one.server.assumed)
    yield finding("EGL304", judged, message, said.where, doubts=doubts, severity="error", cure=cure, defect="method")


def _wrong_guess(one: Served, path: str, head: str, release: str) -> tuple[str, str] | None:
    """What a release picks for a head of a known kind, and the word that decides, when that is wrong."""
    pick, word = _pick(one, path, release)
    if head not in _HEADS or not pick or pick == head:
        return None
    return pick, word


def _right_guess(one: Served, path: str, head: str, release: str) -> tuple[str, str] | None:
    """The same for a guess that is right, or for a head of which nothing is known but the word in its path."""
    pick, word = _pick(one, path, release)
    if not word or head == "eagle" or (head in _HEADS and pick != head):
        return None
    return pick, word


def _pick(one: Served, path: str, release: str) -> tuple[str, str]:
    """The method that a release picks for a path, and the word in it that decides."""
    for span, words, otherwise in one.arguments.guesses:
        if span.covers(release):
            found = next(((method, word) for word, method in words if word in path.lower()), None)
            return found or (otherwise, "")
    return "", ""
