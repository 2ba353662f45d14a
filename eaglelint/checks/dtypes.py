"""EGL408: the type in which a drafter runs against the one it was trained in and that of its target."""

from __future__ import annotations

from collections.abc import Iterator

from eaglelint.checks import wording
from eaglelint.checks.heads import Fault, HeadConfig, Outcome, config_of, findings, judge
from eaglelint.checks.registry import check
from eaglelint.conventions import contract
from eaglelint.conventions.known import known_target
from eaglelint.facts import Argument, Launch, Step
from eaglelint.findings import Finding, Fix
from eaglelint.linking.methods import method
from eaglelint.linking.records import Server
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline

_SPELLINGS = {"half": "float16", "fp16": "float16", "bf16": "bfloat16", "float": "float32", "fp32": "float32"}
_KEYS = ("dtype", "torch_dtype")
#: Kinds of heads that are fed the target's hidden states and overflow where these are cast.
_CAST = ("eagle3", "dflash", "dspark")
#: Kinds of heads whose type engines choose by their own config alone.
_ALONE = ("eagle3", "eagle")
_INNER = "/transformer_layer_config"


def plain(value: object) -> str:
    """A type by its usual name: `torch.bfloat16` and `bf16` are `bfloat16`; "" for what is none."""
    text = value.strip().lower().removeprefix("torch.") if isinstance(value, str) else ""
    text = _SPELLINGS.get(text, text)
    return text if text in ("float16", "bfloat16", "float32") else ""


@check("EGL408")
def dtype_contract(pipeline: Pipeline) -> Iterator[Finding]:
    """A bfloat16 head that is cast to float16, or a head that gets another type than its target. One a place."""
    config = config_of(pipeline)
    if config is None or config.recorded or pipeline.template or pipeline.method not in (*_CAST, *_ALONE):
        return
    outcomes: list[Outcome] = []
    for server in pipeline.servers:
        said = method(server.launch) if server.launch is not None else None
        if server.launch is None or said is None or not (said.kind == pipeline.method or said.captures):
            continue
        argument = server.launch.get("dtype")
        asked = plain(argument.value.value) if argument is not None and argument.value.known else ""
        if argument is not None and asked == "float16" and pipeline.method in _CAST:
            yield from _cast(pipeline, config, server, argument)
        elif pipeline.method in _ALONE and (argument is None or str(argument.value.value).lower() == "auto"):
            found = _different(config, server, server.launch)
            if found is not None:
                outcomes.append(found._replace(severity="warning"))
    yield from findings("EGL408", pipeline, outcomes, ("dtype", pipeline.name))


def _cast(pipeline: Pipeline, config: HeadConfig, server: Server, argument: Argument) -> Iterator[Finding]:
    """`--dtype float16` for a head that was trained in bfloat16."""
    trained = _trained(pipeline, config)
    if trained is None:
        return
    kind, where, what = trained
    if kind != "bfloat16":
        return
    target = server.target.name if server.target is not None else "the target"
    message = (
        f"`{argument.spelling} {argument.value.value}` casts the head to float16, but it is bfloat16 ({what}): values "
        f"beyond 65504 overflow, and the acceptance can fall to zero; {target} is cast as well"
    )
    doubts = [text for text in (argument.value.assumed, server.doubt) if text]
    message += f" (assumed: {wording.listed(doubts)})" if doubts else ""
    assert server.launch is not None
    yield Finding(
        rule="EGL408",
        severity="warning",
        message=message,
        where=argument.where,
        confidence="likely" if doubts else "proven",
        related=wording.unique((Step(where, f"the head is {kind}"), Step(server.launch.where, "served here"))),
        fix=Fix(f"leave `{argument.spelling}` out, or say bfloat16"),
        defect=("dtype", pipeline.name, str(argument.where)),
    )


def _trained(pipeline: Pipeline, config: HeadConfig) -> tuple[str, Location, str] | None:
    """The type of a head's weights: as its config says, else as its training was told."""
    for key in _KEYS:
        for pointer in (f"/{key}", f"{_INNER}/{key}"):
            kind = plain(config.value(pointer))
            if kind:
                return kind, config.where(pointer), f"{config.where(pointer)}"
    for told in pipeline.told:
        value = told.recipe.dtype
        kind = plain(value.value) if value is not None else ""
        if value is not None and kind:
            return kind, value.where, f"trained so, {value.where}"
    return None


def _different(config: HeadConfig, server: Server, launch: Launch) -> Outcome | None:
    """Without an argument, engines that look at each config alone give head and target different types."""
    given = _target_type(server)
    if given is None or config.form.name == "speculators" or not launch.complete:
        return None

    def fault(release: str) -> Fault | None:
        rows = contract.type_rules(server.engine, release)
        if not rows:
            return None
        row = rows[0]
        said = next((kind for key in row.keys if (kind := plain(config.value(f"/{key}")))), "")
        model_type = config.value("/model_type")
        mine = row.chosen(said, model_type if isinstance(model_type, str) else "")
        theirs = row.chosen(given, server.target.model_type if server.target is not None else "")
        if mine == theirs:
            return None
        present = next((key for key in _KEYS if config.value(f"/{key}") is not None), "")
        if said and said == mine:
            why = f"the drafter's config says {said}"
        elif present and present not in row.keys:
            why = f"{{name}} does not read `{present}`, and takes a config without `torch_dtype` for {mine}"
        elif present:
            why = f"`{present}` is {config.value(f'/{present}')}, which {{name}} takes for {mine}"
        else:
            why = f"the drafter's config gives no type, which {{name}} takes for {mine}"
        target = server.target.name if server.target is not None else "the target"
        what = f"{why}, while {target} runs in {theirs}: fc is fed states of another type than its weights have"
        cure = f'write `torch_dtype`: "{theirs}" into the drafter\'s config, or pass `--dtype {theirs}`'
        return Fault(what, config.where(f"/{present}" if present else ""), cure)

    found = judge(server, fault)
    return found if found is not None and (found.certain or server.release.bounded) else None


def _target_type(server: Server) -> str | None:
    """The type that a target's config gives; None when that is not known, or gives none."""
    target = server.target
    if target is None:
        return None
    if target.config is not None:
        prefixes = ("", target.config.text_prefix) if target.config.text_prefix else ("",)
        values = [target.config.document.get(f"{prefix}/{key}") for prefix in prefixes for key in _KEYS]
        return next((kind for value in values if (kind := plain(value))), None)
    known = known_target(target.name)
    if known is None or known.quantised or not known.dtype or "dtype" in known.disputed:
        return None
    return plain(known.dtype) or None
