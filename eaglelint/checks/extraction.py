"""EGL110: a server that extracts hidden states keeps on what makes it compute, or return, only some of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eaglelint.checks import wording
from eaglelint.checks.registry import check
from eaglelint.conventions.table import engine as known_engine
from eaglelint.facts import Argument, Confidence, Launch, Step
from eaglelint.findings import Finding, Fix
from eaglelint.linking import releases, targets
from eaglelint.linking.methods import method
from eaglelint.linking.records import Extraction, Release, title
from eaglelint.pipeline import Pipeline

#: Model types whose layers keep a running state: vLLM leaves prefix caching off for them unless it is asked for.
_RECURRENT = ("mamba", "_next", "qwen3_5", "nemotron_h", "falcon_h1", "bamba", "jamba", "hybrid", "lfm2", "kimi_linear")
#: Why each of the means loses states when code beside the engine takes them in its forward.
_LOST = {
    "states_lost_to_prefix_cache": "tokens that are found in the cache are not computed, so no state of theirs is seen",
    "states_lost_to_chunked_prefill": "a long prompt is computed in several forwards, each with a part of its states",
    "states_lost_to_speculation": "the forwards that verify drafts also hold the states of tokens that are rejected",
}


class _Means(NamedTuple):
    """Something that is left on: its name in words, the argument that switches it off, where it is asked for.

    `defect` is the id under which the conventions say in which releases it loses states.
    """

    name: str
    cure: str
    defect: str
    argument: Argument | None = None


class _Judged(NamedTuple):
    """What is known of one of the means: why it loses states, by which release, and whether all admitted ones do."""

    means: _Means
    effect: str
    certain: bool
    fixed_in: str = ""


@check("EGL110")
def capture_under_prefix_cache(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each server or offline engine that extracts hidden states and keeps such means on."""
    for extraction in pipeline.extractions:
        left_on = _left_on(extraction.launch)
        if pipeline.salts:
            left_on = [means for means in left_on if means.defect != "states_lost_to_prefix_cache"]
        judged = [found for means in left_on if (found := _judge(extraction, means)) is not None]
        if judged:
            yield _finding(extraction, judged)


def _left_on(launch: Launch) -> list[_Means]:
    """What a launch leaves on, by default or because it asks for it; what can not be told counts as off."""
    found = _of_sglang(launch) if releases.canonical(launch.engine) == "sglang" else _of_vllm(launch)
    drafting = method(launch)
    named = drafting.argument
    if named is not None and drafting.kind not in ("none", "extraction", "unknown") and not _only_names(launch):
        found.append(_Means("speculative decoding", "", "states_lost_to_speculation", named))
    return found


def _keywords(launch: Launch) -> bool:
    """Whether the arguments are keywords of a Python call, not options of a command."""
    return launch.form == "python" and not any(argument.spelling.startswith("-") for argument in launch.arguments)


def _only_names(launch: Launch) -> bool:
    """Whether the algorithm only names a convention of ids (SGLang's capture without a drafter)."""
    return launch.get("enable_return_aux_hidden_states") is not None


def _of_sglang(launch: Launch) -> list[_Means]:
    found = []
    if launch.complete and _off(launch.get("disable_radix_cache")):
        cure = "disable_radix_cache=True" if _keywords(launch) else "--disable-radix-cache"
        found.append(_Means("the radix cache", cure, "states_lost_to_prefix_cache"))
    size = launch.get("chunked_prefill_size")
    if launch.complete if size is None else _chunks(launch, size):
        cure = "chunked_prefill_size=-1" if _keywords(launch) else "--chunked-prefill-size -1"
        found.append(_Means("chunked prefill", cure, "states_lost_to_chunked_prefill", size))
    return found


def _chunks(launch: Launch, size: Argument) -> bool:
    """Whether prompts may be cut: the size of a chunk is known and below what a prompt may have."""
    length = _number(size.value.value) if size.value.known else None
    context = launch.get("context_length")
    longest = _number(context.value.value) if context is not None and context.value.known else None
    return length is not None and length > 0 and (longest is None or length < longest)


def _of_vllm(launch: Launch) -> list[_Means]:
    found = []
    python = _keywords(launch)
    asked, refused = launch.get("enable_prefix_caching"), launch.get("no_enable_prefix_caching")
    if _on(asked) or (asked is None and refused is None and launch.complete and not _recurrent(launch)):
        cure = "enable_prefix_caching=False" if python else "--no-enable-prefix-caching"
        found.append(_Means("prefix caching", cure, "states_lost_to_prefix_cache", asked))
    asked, refused = launch.get("enable_chunked_prefill"), launch.get("no_enable_chunked_prefill")
    if _on(asked) or (asked is None and refused is None and launch.complete):
        cure = "enable_chunked_prefill=False" if python else "--no-enable-chunked-prefill"
        found.append(_Means("chunked prefill", cure, "states_lost_to_chunked_prefill", asked))
    return found


def _recurrent(launch: Launch) -> bool:
    """Whether the target is, or may be, one for which prefix caching is off by default."""
    target = targets.find(launch.target, ())
    known = f"{target.model_type} {target.name}".lower() if target is not None else ""
    return any(word in known for word in _RECURRENT)


def _on(argument: Argument | None) -> bool:
    return argument is not None and argument.value.known and argument.value.value in (True, "true", "True", "1")


def _off(argument: Argument | None) -> bool:
    """Whether a switch is surely not set."""
    if argument is None:
        return True
    return argument.value.known and argument.value.value in (False, "false", "False", "0")


def _number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return int(str(value))
    except ValueError:
        return None


def _judge(extraction: Extraction, means: _Means) -> _Judged | None:
    """Whether one of the means loses states in the releases that are admitted; None when it does not, or is not known.

    Code inside the engine loses them in every release; what the engine's own means do is data of the conventions.
    """
    if not extraction.own_means:
        return _Judged(means, _LOST[means.defect], True)
    connector = extraction.launch.get("kv_transfer_config.kv_connector")
    if connector is not None and connector.value.value != "ExampleHiddenStatesConnector":
        return None
    verdicts = [found for release in extraction.releases for found in _by_release(release, means.defect)]
    losing = [defect for defect in verdicts if defect is not None]
    if not losing:
        return None
    return _Judged(means, losing[-1].effect, len(losing) == len(verdicts), losing[-1].fixed_in)


def _by_release(release: Release, defect: str) -> list[_Defect | None]:
    """The defect in each admitted release, None for those without it.

    Releases older than the first that has it do not count: they can not extract at all.
    """
    engine = known_engine(release.engine)
    if engine is None:
        return []
    try:
        every = engine.extraction_defects(release.specifier)
    except ValueError:
        every = engine.extraction_defects(None)
    found: list[_Defect | None] = []
    for _, defects in every:
        mine = next((entry for entry in defects if entry.id == defect), None)
        if mine is not None or found:
            found.append(_Defect(mine.effect, mine.fixed_in) if mine is not None else None)
    return found


class _Defect(NamedTuple):
    effect: str
    fixed_in: str


def _finding(extraction: Extraction, judged: Sequence[_Judged]) -> Finding:
    launch = extraction.launch
    on = wording.listed(found.means.name for found in judged)
    certain = all(found.certain for found in judged)
    name = title(launch.engine)
    exact = {release.exact for release in extraction.releases}
    if extraction.own_means and len(exact) == 1 and "" not in exact:
        name = f"{name} {next(iter(exact))}"
    effects = "; ".join(dict.fromkeys(found.effect for found in judged))
    said = [step.what if extraction.own_means else f"{step.what}: {step.where}" for step in extraction.evidence]
    message = f"hidden states are extracted from this engine ({wording.listed(said)}) with {on} on: {effects}"
    if not certain:
        fixed = next((found.fixed_in for found in judged if found.fixed_in), "")
        message += f" (in some of the releases that {name} may be here{f'; not from {fixed} on' if fixed else ''})"
    cures = wording.listed(found.means.cure for found in judged if found.means.cure)
    without = [f"without {f.means.argument.spelling}" for f in judged if not f.means.cure and f.means.argument]
    cure = wording.listed([f"with {cures}"] * bool(cures) + without)
    related = [*extraction.evidence]
    related += [Step(f.means.argument.where, f"{f.means.name} is asked for") for f in judged if f.means.argument]
    related += [Step(r.where, f"{name} comes from here") for r in extraction.releases if r.where is not None]
    confidence: Confidence = "proven" if certain else "possible"
    return Finding(
        rule="EGL110",
        severity="warning",
        message=message,
        where=launch.where,
        confidence=confidence,
        related=wording.unique(related),
        fix=Fix(f"start it {cure}"),
        defect=("extraction", str(launch.where)),
    )
