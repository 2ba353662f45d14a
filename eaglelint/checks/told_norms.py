"""EGL207 against the training: a recipe asks for norms that the head's config does not declare."""

from __future__ import annotations

from collections.abc import Iterator

from eaglelint.checks.heads import HeadConfig, config_of
from eaglelint.checks.registry import check
from eaglelint.checks.wording import listed
from eaglelint.facts import Step, Value
from eaglelint.findings import Finding, Fix
from eaglelint.pipeline import Pipeline

#: Flags of trainers that have the same name in the config of a head.
_FLAGS = ("fc_norm", "norm_output", "norm_before_fc")
_PLACES = ("/{}", "/eagle_config/{}", "/transformer_layer_config/{}")


@check("EGL207")
def norms_lost_in_export(pipeline: Pipeline) -> Iterator[Finding]:
    """Flags that the training of this head was told and its config does not have. One finding a head."""
    config = config_of(pipeline)
    if config is None or config.recorded or pipeline.drafter is None or pipeline.template:
        return
    lost: dict[str, Value] = {}
    for told in pipeline.told:
        if told.recipe.step != "train" or not told.named:
            continue
        for key, value in told.recipe.given.items():
            name = key.rpartition(".")[2]
            if name in _FLAGS and value.known and value.value is True and not _declared(config, name):
                lost.setdefault(name, value)
    if not lost:
        return
    names = listed([f"`{name}`" for name in lost])
    first = next(iter(lost.values()))
    yield Finding(
        "EGL207",
        "warning",
        f"the training was told {names} ({first.where}), but the config of the head does not declare "
        f"{'it' if len(lost) == 1 else 'them'}: an engine runs it as a head without these norms",
        pipeline.where,
        "likely",
        tuple(Step(value.where, f"`{name}` is asked for here") for name, value in lost.items()),
        Fix("see whether the head was trained with them; if so, write them into its config"),
        ("norms of the recipe", pipeline.name),
    )


def _declared(config: HeadConfig, name: str) -> bool:
    return any(config.value(place.format(name)) is True for place in _PLACES)
