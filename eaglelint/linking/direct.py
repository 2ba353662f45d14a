"""vLLM started on a drafter itself: a head in the form of speculators names its target, its method and its tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from eaglelint.conventions.known import known_drafter
from eaglelint.facts import Argument, DrafterConfig, Facts, Launch, Value
from eaglelint.linking import paths, releases

_VERIFIER = "/speculators_config/verifier/name_or_path"
_ALGORITHM = "/speculators_config/algorithm"
_TOKENS = "/speculators_config/proposal_methods/0/speculative_tokens"


def applied(launches: Iterable[Launch], facts: Facts) -> tuple[Launch, ...]:
    """The launches; those whose model is a head become launches of its target with this head.

    vLLM does the same from 0.10.1 on, when nothing is said of speculative decoding on the command line.
    """
    heads = {paths.folder_of(config.path): config for config in facts.drafters if config.dialect == "speculators"}
    return tuple(_applied(launch, heads) for launch in launches)


def _applied(launch: Launch, heads: dict[str, DrafterConfig]) -> Launch:
    if releases.canonical(launch.engine) != "vllm" or launch.draft is not None or launch.target is None:
        return launch
    value = launch.target.value
    if not isinstance(value, str) or any(a.name.startswith("speculative_config") for a in launch.arguments):
        return launch
    folder = paths.resolve(paths.through(value, launch.mounts), launch.where.path, heads)
    if folder is not None:
        return _of_config(launch, launch.target, heads[folder])
    known = known_drafter(value)
    if known is None or known.trainer != "speculators" or known.repo.lower() != value.lower() or not known.target:
        return launch
    where = launch.target.where
    method = Argument("speculative_config.method", value, Value(known.method, where), where)
    target = Value(known.target, where, assumed=launch.target.assumed)
    return replace(launch, draft=launch.target, target=target, arguments=(*launch.arguments, method), complete=False)


def _of_config(launch: Launch, draft: Value, config: DrafterConfig) -> Launch:
    document = config.document
    verifier = document.get(_VERIFIER)
    if not isinstance(verifier, str) or not verifier:
        return launch
    given = []
    for pointer, name in ((_ALGORITHM, "method"), (_TOKENS, "num_speculative_tokens")):
        stated = document.get(pointer)
        if stated is not None:
            where = document.where(pointer)
            given.append(
                Argument(f"speculative_config.{name}", pointer.rpartition("/")[2], Value(stated, where), where)
            )
    target = Value(verifier, document.where(_VERIFIER), assumed=draft.assumed)
    return replace(launch, draft=draft, target=target, arguments=(*launch.arguments, *given))
