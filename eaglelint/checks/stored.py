"""A drafter's weights as the rules on checkpoints see them, and what the releases in use make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from eaglelint.checks.heads import Fault, HeadConfig, Outcome, config_of, drafting, findings, judge
from eaglelint.conventions import weights
from eaglelint.conventions.heads import HeadClass, HeadRules, head_rules
from eaglelint.conventions.table import engine as known_engine
from eaglelint.conventions.weights import Loading
from eaglelint.findings import Finding, Fix
from eaglelint.linking.checkpoints import Checkpoint
from eaglelint.location import Location
from eaglelint.pipeline import Pipeline
from eaglelint.weights.dimensions import Dimensions, dimensions
from eaglelint.weights.names import Names, canonical

#: The engines whose tables tell what a class is made of where none is in use, the one with most classes first.
_ENGINES = ("vllm", "sglang", "tokenspeed")


@dataclass(frozen=True)
class Stored:
    """An EAGLE-3 head with its config and its weights; `checkpoint` is None when none are in scope.

    `layout` is the drafter class that its config leads to ("llama", "qwen3", "mla"): in the engines in use, else in any
    that is known; "" when none has it.
    """

    pipeline: Pipeline
    config: HeadConfig
    sizes: Dimensions
    checkpoint: Checkpoint | None
    names: Names
    layout: str

    @property
    def complete(self) -> bool:
        """Whether what is not among the weights is nowhere."""
        return self.checkpoint is not None and self.checkpoint.complete and bool(self.checkpoint.names)

    def shape(self, what: str) -> tuple[int, ...] | None:
        """The shape of a tensor (by its canonical name); None when it is not there, not known, or packed."""
        header = self.checkpoint.tensors.get(self.names.given.get(what, "")) if self.checkpoint is not None else None
        if header is None or not header.dtype.startswith(("float", "bfloat")) or header.dtype.startswith("float4"):
            return None
        return header.shape

    def where(self, what: str = "") -> Location:
        """The file that holds a tensor, or the one to point at for what is missing."""
        if self.checkpoint is None:
            return self.pipeline.where
        return self.checkpoint.file_of(self.names.given.get(what, ""))


def stored(pipeline: Pipeline) -> Stored | None:
    """The head of a pipeline for the rules on weights; None for other kinds of heads and configs of training runs."""
    config = config_of(pipeline)
    if pipeline.drafter is None or config is None or pipeline.method != "eagle3" or pipeline.template:
        return None
    given: dict[str, str] = {}
    for name in pipeline.checkpoint.names if pipeline.checkpoint is not None else ():
        what = canonical(name)
        if what and (what not in given or len(name) < len(given[what])):
            given[what] = name
    sizes = dimensions(pipeline.drafter)
    return Stored(pipeline, config, sizes, pipeline.checkpoint, Names(given), _layout(pipeline, config))


def _layout(pipeline: Pipeline, config: HeadConfig) -> str:
    used = [(rules, server.release.exact or _latest(rules)) for server, rules in drafting(pipeline)]
    known = [(rules, _latest(rules)) for engine in _ENGINES if (rules := head_rules(engine)) is not None]
    for rules, release in used or known:  # the layers of a class that the engine in use has not are not known
        found = config.found(rules, release).found
        if found is not None and found.kind == "eagle3":
            return found.name
    return ""


def _latest(rules: HeadRules) -> str:
    engine = known_engine(rules.engine)
    return engine.latest if engine is not None else ""


#: What a release that loads a head by some row makes of it.
Judgement = Callable[[Loading], Fault | None]


def outcomes(head: Stored, fault: Judgement) -> list[Outcome]:
    """What the servers in use make of a head."""
    found = []
    for server, rules in drafting(head.pipeline):

        def at(release: str, rules: HeadRules = rules) -> Fault | None:
            named: HeadClass | None = head.config.found(rules, release).found
            if named is None or named.kind != "eagle3" or rules.reads(release, head.config.form) is False:
                return None
            row = weights.loading(rules.engine, named.name, release)
            return fault(row) if row is not None else None

        outcome = judge(server, at)
        if outcome is not None:
            found.append(outcome)
    return found


def told(code: str, head: Stored, fault: Judgement, defect: tuple[str, ...]) -> Iterator[Finding]:
    """The findings of a rule: for the servers in use, or where there are none, when the newest releases all agree."""
    if list(drafting(head.pipeline)) or head.pipeline.servers:
        yield from findings(code, head.pipeline, outcomes(head, fault), defect)
        return
    rows = weights.newest(head.layout)
    faults: Sequence[Fault | None] = [fault(row) for row in rows]
    first = next((found for found in faults if found is not None), None)
    if first is None or any(found is None for found in faults):
        return
    message = first.what.replace("{name}", "every engine that is known")
    yield Finding(code, "error", message, first.where, "proven", (), fix_of(first), defect)


def fix_of(fault: Fault) -> Fix | None:
    """What a fault says should be done."""
    return Fix(fault.cure) if fault.cure else None
