"""Names of hidden states: EGL501 (wrong under every usual reading), EGL503 (right under one of two, off by default)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eaglelint import naming
from eaglelint.boundary import State, describe
from eaglelint.checks.registry import check
from eaglelint.facts import Label, Step
from eaglelint.findings import Finding, Fix
from eaglelint.naming import Claim
from eaglelint.pipeline import Pipeline


@check("EGL501")
def mislabeled_hidden_state(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each wrong name, at its first binding."""
    reported: set[tuple[str, tuple[int, State]]] = set()
    for label in _first_bindings(pipeline.labels):
        said = naming.claim(label.name)
        held = _held(label, pipeline.depth)
        if said is None or not held or label.confidence == "possible":
            continue
        siblings = [other for other in pipeline.labels if _neighbours(label, other)]
        if label.name in naming.slot_numbers(other.name for other in siblings):
            continue
        if not _wrong(said, held, label, siblings, pipeline.depth):
            continue
        key = (naming.bare_name(label.name), held[0])
        if key not in reported:
            reported.add(key)
            yield _finding(label, said, held[0], held[0] if len(held) == 1 else held[-1])


@check("EGL503")
def ambiguous_layer_name(pipeline: Pipeline) -> Iterator[Finding]:
    """One finding for each name with a layer number that does not say which side of the layer it means."""
    reported: set[str] = set()
    for label in _first_bindings(pipeline.labels):
        said = naming.claim(label.name)
        held = _held(label, pipeline.depth)
        if said is None or said.number is None or len(said.boundaries) < 2 or not held or label.confidence != "proven":
            continue
        siblings = [other.name for other in pipeline.labels if _neighbours(label, other)]
        name = naming.bare_name(label.name)
        fits = all(said.fits(state, n) for n, state in held)
        if not fits or name in reported or label.name in naming.slot_numbers(siblings):
            continue
        reported.add(name)
        depth, state = held[0]
        side = "input" if state.boundary == said.number else "output"
        yield Finding(
            rule="EGL503",
            severity="info",
            message=f"{_kind(label)} `{name}` may mean {said.words}; it holds the {side}, boundary {state.boundary}",
            where=label.where,
            related=tuple(step for step in label.trace if step.where != label.where),
            fix=Fix(f"name it {_shown(_better((depth, state)))}"),
            defect=("label", name, label.where.path),
        )


def _first_bindings(labels: Sequence[Label]) -> list[Label]:
    """The labels in the order of the data flow: those that are bound closest to the capture first."""
    return sorted(labels, key=lambda label: (len(label.trace), label.where.path, label.where.start))


def _neighbours(one: Label, other: Label) -> bool:
    return one.where.path == other.where.path and one.owner == other.owner and one.kind == other.kind


def _held(label: Label, depth: int | None) -> list[tuple[int, State]]:
    """The one state that the name holds, for each depth N that is possible; empty for lists and incomplete streams."""
    entries = [(n, states) for n, states in label.states if not depth or n == depth] or list(label.states)
    if any(len(states) != 1 or states[0].part != "stream" for _, states in entries):
        return []
    return [(n, states[0]) for n, states in entries]


def _wrong(said: Claim, held: list[tuple[int, State]], label: Label, siblings: list[Label], depth: int | None) -> bool:
    """Whether the name is wrong for every possible depth under every usual reading."""
    if said.rank is not None:
        return _out_of_order(said, label, siblings, depth)
    if any(said.fits(state, n) for n, state in held):
        return False
    if said.number is not None and all(said.number > n for n, _ in held):
        return False  # no such layer: the number counts something else
    others = [other for other in siblings if other.name != label.name]
    if said.weak and said.final:
        boundaries = {state.boundary for other in others for _, state in _held(other, depth)}
        return bool(boundaries) and any(state.boundary < max(boundaries) for _, state in held)
    if said.weak and said.number is None:
        # The last state of a model is often kept as *the* embedding of a text; beside named layers it is not meant so.
        sentence = all(state.boundary == n or state.normed for n, state in held)
        return not sentence or any(naming.claim(other.name) is not None for other in others)
    return True


def _out_of_order(said: Claim, label: Label, siblings: list[Label], depth: int | None) -> bool:
    """Whether `low`, `mid`, `high` do not ascend and this one is not at its place."""
    ranks: dict[int, list[tuple[int, State]]] = {}
    for other in siblings:
        claimed = naming.claim(other.name)
        held = _held(other, depth)
        if claimed is not None and claimed.rank is not None and claimed.stem == said.stem and held:
            if claimed.rank in ranks and ranks[claimed.rank] != held:
                return False
            ranks[claimed.rank] = held
    own = _held(label, depth)
    if said.rank is None or len(ranks) < 2 or ranks.get(said.rank) != own:
        return False
    place = sorted(ranks).index(said.rank)
    for index in range(min(len(held) for held in ranks.values())):
        ascending = sorted(ranks[rank][index][1].boundary for rank in ranks)
        if ascending[place] == own[index][1].boundary:
            return False
    return True


def _finding(label: Label, said: Claim, first: tuple[int, State], last: tuple[int, State]) -> Finding:
    name = naming.bare_name(label.name)
    held = _in_words(*first)
    if last[1] != first[1]:
        held = f"{held} of a target with {first[0]} layers, {_in_words(*last)} of one with {last[0]}"
    message = f"{_kind(label)} `{name}` claims {said.words}, but holds {held}"
    flow = [step for step in label.trace if step.where != label.where]
    if flow:
        message += f": {flow[0].what} at {flow[0].where}"
    related = (*flow, Step(label.where, f"held by the name `{name}`")) if flow else ()
    return Finding(
        rule="EGL501",
        severity="warning",
        message=message,
        where=label.where,
        confidence=label.confidence,
        related=related,
        fix=Fix(
            f"name it after what it holds, such as {_shown(_better(first))}, or after its slot, such as `aux_0`",
            "safe" if label.confidence == "proven" and last[1] == first[1] else "unsafe",
            rename=_better(first) if label.kind == "variable" else (),
        ),
        defect=("label", name, label.where.path),
    )


def _kind(label: Label) -> str:
    return {"variable": "the name", "key": "the key", "file": "the file name", "argument": "the argument"}.get(
        label.kind, "the name"
    )


def _in_words(depth: int, state: State) -> str:
    if state.normed:
        return f"boundary {state.boundary} after the final norm"
    return describe(state.boundary, depth)


def _better(held: tuple[int, State]) -> tuple[str, ...]:
    """Names that say what is held."""
    depth, state = held
    if state.normed:
        return ("final_normed",)
    if state.boundary == 0:
        return ("embed",)
    if state.boundary == depth:
        return ("final_pre_norm",)
    return (f"layer{state.boundary - 1}_out", f"layer{state.boundary}_in")


def _shown(names: Sequence[str]) -> str:
    return " or ".join(f"`{name}`" for name in names)
