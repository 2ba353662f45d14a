"""EGL309: a DFlash or DSpark head is run on blocks of another size than it was trained for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from eaglelint.checks.launching import Served, finding, integer, judge, served
from eaglelint.checks.registry import check
from eaglelint.facts import Argument, Step
from eaglelint.findings import Finding, Severity
from eaglelint.linking.methods import method
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

_TOKENS = "speculative_num_draft_tokens"
#: Where the configs of these heads hold the size of their blocks.
_SIZES = {
    "dflash": ("/block_size", "/dflash_config/block_size"),
    "dspark": ("/block_size", "/dspark_block_size", "/dspark_config/block_size", "/dflash_config/block_size"),
}


class _Size(NamedTuple):
    """The size of the head's blocks and where it stands."""

    size: int
    where: Location


class _Asked(NamedTuple):
    """The tokens that a launch asks for, by which argument, and those that fit the head's blocks, the best first.

    `rule` says in words how tokens and block go together; `fatal` whether the engine refuses to start.
    """

    argument: Argument
    tokens: int
    fitting: tuple[int, ...]
    rule: str
    effect: str
    severity: Severity = "error"


@check("EGL309")
def block_size_contract(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each launch that asks for blocks of a size that the head does not have."""
    size = _block_size(pipeline)
    if size is None:
        return
    seen: set[Location] = set()
    for one in served(pipeline, "sglang", "vllm"):
        asked = _of_sglang(one, size.size) if one.server.engine == "sglang" else _of_vllm(one, size.size)
        if asked is None or asked.tokens in asked.fitting or one.launch.where in seen:
            continue
        judged = judge(one, lambda release: True)
        if judged is None:
            continue
        seen.add(one.launch.where)
        message = (
            f"{asked.argument.spelling} {asked.tokens} does not fit {pipeline.name}, whose blocks have {size.size} "
            f"tokens ({asked.rule}): {{name}} {asked.effect}"
        )
        doubts = [one.server.assumed, one.launch.draft.assumed if one.launch.draft is not None else ""]
        yield finding(
            "EGL309",
            judged,
            message,
            asked.argument.where,
            given=(asked.argument,),
            doubts=doubts,
            severity=asked.severity,
            related=(Step(size.where, f"the head's blocks have {size.size} tokens"),),
            cure=f"write {asked.argument.spelling} {asked.fitting[0]}, or leave it out where the engine reads the head",
        )


def _block_size(pipeline: Pipeline) -> _Size | None:
    if pipeline.drafter is None:
        return None
    document = pipeline.drafter.document
    for pointer in _SIZES.get(pipeline.method, ()):
        size = document.get(pointer)
        if isinstance(size, int) and not isinstance(size, bool) and size > 0:
            return _Size(size, document.where(pointer))
    return None


def _of_sglang(one: Served, size: int) -> _Asked | None:
    """DFLASH counts the whole block; DSPARK verifies the block and the token before it."""
    kind = method(one.launch).kind
    own = one.launch.get(f"speculative_{kind}_block_size")
    argument = own or one.launch.get(_TOKENS)
    tokens = integer(argument)
    if argument is None or tokens is None:
        return None
    if kind == "dflash":
        rule = "for DFLASH the draft tokens are the block"
        return _Asked(argument, tokens, (size,), rule, "only warns and runs the head on blocks that it has never seen")
    if kind == "dspark" and own is not None:
        rule = "the block is what the head proposes"
        return _Asked(argument, tokens, (size,), rule, "runs the head on blocks that it has never seen")
    if kind == "dspark":
        rule = "for DSPARK the draft tokens are the block and the token before it"
        return _Asked(argument, tokens, (size + 1,), rule, "wants one token more than the head's block and stops")
    return None


def _of_vllm(one: Served, size: int) -> _Asked | None:
    """DFlash proposes the block without its anchor (the whole block is let pass), DSpark the whole block."""
    argument = one.launch.get("speculative_config.num_speculative_tokens")
    tokens = integer(argument)
    kind = method(one.launch).kind
    if argument is None or tokens is None or kind not in ("dflash", "dspark"):
        return None
    effect = "runs the head on blocks that it has never seen"
    if kind == "dspark":
        return _Asked(argument, tokens, (size,), "DSpark proposes its whole block", effect)
    severity: Severity = "error" if tokens > size else "warning"
    rule = "DFlash proposes its block without the token that it starts from"
    return _Asked(argument, tokens, (size - 1, size), rule, effect, severity)
