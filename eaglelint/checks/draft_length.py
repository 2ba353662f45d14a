"""EGL302: how many tokens are drafted is left out in part, contradicts itself, or does not fit the tree."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from eaglelint.checks.launching import Served, absent, finding, integer, judge, only_captures, served, spelled
from eaglelint.checks.registry import check
from eaglelint.conventions.versions import order, within
from eaglelint.facts import Argument, Launch
from eaglelint.findings import Finding, Severity
from eaglelint.linking.methods import method
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

_STEPS, _TOPK, _TOKENS = "speculative_num_steps", "speculative_eagle_topk", "speculative_num_draft_tokens"
#: The first release of SGLang that rewrites the number of tokens of a chain; older ones take it as it stands.
_REWRITES = "0.4.5.post3"
#: The last release of vLLM that is known not to take the number of tokens from a speculators head that is given as the
#: draft (vllm-project/vllm PR 44566, shown on the main branch of 2026-07-02).
_NOT_DERIVED = "0.23.0"


class _Wrong(NamedTuple):
    """What is wrong: the message, where, the arguments that it rests on, how severe, and the cure."""

    message: str
    where: Location
    given: tuple[Argument | None, ...]
    severity: Severity = "error"
    cure: str = ""


@check("EGL302")
def draft_length_arithmetic(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each launch whose draft length the engine refuses, rewrites or can not fill."""
    seen: set[Location] = set()
    for one in served(pipeline, "sglang", "vllm", "tensorrt-llm"):
        wrong = _wrong(pipeline, one)
        if wrong is None or one.launch.where in seen or only_captures(one.launch):
            continue
        judged = judge(one, partial(_in_release, one.server.engine, wrong))
        if judged is not None:
            seen.add(one.launch.where)
            yield finding(
                "EGL302",
                judged,
                wrong.message,
                wrong.where,
                given=wrong.given,
                severity=wrong.severity,
                cure=wrong.cure,
            )


def _wrong(pipeline: Pipeline, one: Served) -> _Wrong | None:
    if one.server.engine == "sglang":
        return _of_sglang(one.launch)
    return _of_vllm(pipeline, one) if one.server.engine == "vllm" else _of_tensorrt(one.launch)


def _in_release(engine: str, wrong: _Wrong, release: str) -> bool | None:
    """Whether a release does wrong (True), or not (None)."""
    rewritten = engine == "sglang" and wrong.severity == "warning"
    return None if rewritten and release and not within(release, _REWRITES, "") else True


def _of_sglang(launch: Launch) -> _Wrong | None:
    if method(launch).kind not in ("eagle3", "eagle", "mtp", "standalone") or launch.get("speculative_adaptive"):
        return None
    steps, topk, tokens = (launch.get(name) for name in (_STEPS, _TOPK, _TOKENS))
    return _missing(launch, steps, topk, tokens) or _contradiction(launch, steps, topk, tokens)


def _missing(launch: Launch, steps: Argument | None, topk: Argument | None, tokens: Argument | None) -> _Wrong | None:
    """A part of the three is left out: without all of them the engine chooses, with some of them it stops."""
    given = tuple(argument for argument in (steps, topk, tokens) if argument is not None)
    every = " and ".join(argument.spelling for argument in given)
    cure = f"give {spelled(launch, _STEPS)}, {spelled(launch, _TOPK)} and {spelled(launch, _TOKENS)}, or none of them"
    if not given or not launch.complete:
        return None
    if steps is None:
        lacking = spelled(launch, _STEPS)
        return _Wrong(f"{every} without {lacking}: {{name}} stops at an assertion", launch.where, given, cure=cure)
    if topk is None:
        lacking = spelled(launch, _TOPK)
        message = f"{every} without {lacking}: {{name}} compares the missing top-k with a number and stops"
        return _Wrong(message, launch.where, given, cure=cure)
    width = integer(topk)
    if tokens is None and width is not None and width > 1:
        lacking = spelled(launch, _TOKENS)
        message = f"{every} without {lacking}: {{name}} has no number of tokens to choose from the tree"
        return _Wrong(message, launch.where, given, cure=cure)
    return None


def _contradiction(
    launch: Launch, steps: Argument | None, topk: Argument | None, tokens: Argument | None
) -> _Wrong | None:
    """All three are given and do not fit each other."""
    depth, width, count = integer(steps), integer(topk), integer(tokens)
    if depth is None or width is None or count is None or tokens is None or depth < 1 or width < 1:
        return None
    given = (tokens, steps, topk)
    if width == 1 and count != depth + 1:
        message = (
            f"{tokens.spelling} {count} is not what is drafted: {depth} steps with top-k 1 are a chain of {depth + 1} "
            f"tokens, and {{name}} silently rewrites {count} to {depth + 1}"
        )
        more = f", or {spelled(launch, _STEPS)} {count - 1}" if count > 1 else ""
        return _Wrong(message, tokens.where, given, "warning", f"write {tokens.spelling} {depth + 1}{more}")
    room = width + (depth - 1) * width * width
    if width > 1 and count - 1 > room:
        message = (
            f"{tokens.spelling} {count} is more than the tree has: {depth} steps with top-k {width} give {room} "
            f"candidates and the root, {room + 1} tokens; {{name}} does not check it and fails while it drafts"
        )
        return _Wrong(message, tokens.where, given, cure=f"write at most {tokens.spelling} {room + 1}")
    return None


def _of_vllm(pipeline: Pipeline, one: Served) -> _Wrong | None:
    """`num_speculative_tokens` is missing and the head brings no number of its own."""
    launch = one.launch
    whole = launch.get("speculative_config")
    said = method(launch)
    if said.kind not in ("eagle3", "eagle", "guessed") or launch.draft is None:
        return None
    if not absent(launch, "speculative_config.num_speculative_tokens", "num_speculative_tokens"):
        return None
    if whole is not None and not whole.value.known:
        return None
    drafter = pipeline.drafter
    severity: Severity = "error"
    if drafter is not None:
        exact = one.server.release.exact
        told = not exact or order(exact) > order(_NOT_DERIVED)
        if (drafter.dialect == "speculators" and told) or drafter.document.has("/n_predict"):
            return None
    elif said.kind == "guessed" or "speculator" in str(launch.draft.value).lower() or not launch.draft.known:
        return None
    elif pipeline.published is None or any("Speculator" in name for name in pipeline.published.architectures):
        severity = "warning"
    message = (
        "num_speculative_tokens is missing, and {name} has no default for an EAGLE head without `n_predict`: it does "
        "not start"
    )
    where = whole.value.where if whole is not None else launch.where
    given = (launch.get("speculative_config.model"),)
    return _Wrong(message, where, given, severity, "add num_speculative_tokens to the speculative configuration")


def _of_tensorrt(launch: Launch) -> _Wrong | None:
    """`max_draft_len` is missing beside a head."""
    whole = launch.get("speculative_config")
    if method(launch).kind != "eagle3" or launch.draft is None:
        return None
    if not absent(launch, "speculative_config.max_draft_len") or (whole is not None and not whole.value.known):
        return None
    message = "max_draft_len is missing, and {name} has no default for Eagle heads: it does not start"
    where = whole.value.where if whole is not None else launch.where
    return _Wrong(message, where, (), cure="add max_draft_len to speculative_config")
