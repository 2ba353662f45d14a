"""What the project says that a drafter was trained on: assemblies, captures, published records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from eaglelint.boundary import SAMPLED_DEPTHS, Layers, State
from eaglelint.conventions.known import KnownDrafter
from eaglelint.facts import Assembly, ByDepth, Capture, Confidence, Defect, Step
from eaglelint.linking.records import Evidence, Training
from eaglelint.location import Location

#: Defects that by themselves explain why other states than the intended ones were taken. What such a place captures is
#: reported there, and is no second proof against the ids.
EXPLAINING = frozenset(
    {
        "unreachable-layer",
        "residual-not-added",
        "rank-relative-layer-index",
        "inert-capture",
        "early-layers-captured",
        "all-layers-concatenated",
        "hook-output-not-stream",
        "capture-before-after-mixed",
        "nested-target-config",
        "concat-drops-wrong-state",
    }
)

_RANK = {"training": 3, "unknown": 2}


def weigh(
    assemblies: Sequence[Assembly],
    captures: Sequence[Capture],
    defects: Sequence[Defect],
    depth: int,
    recipes: Sequence[tuple[int, Training]] = (),
) -> Evidence:
    """The evidence of one drafter, the strongest first.

    An assembly in training code says most, then an assembly whose purpose is not known, then the captures alone. What
    a home-made runtime assembles says nothing of the training (EGL106), nor does a capture that only feeds one.
    `recipes` are what trainers were told, with their rank.
    """
    spoilt = [defect for defect in defects if defect.kind in EXPLAINING]
    ranked: list[tuple[int, Training]] = list(recipes)
    runtime = [assembly for assembly in assemblies if assembly.purpose == "runtime"]
    feeding = {step.where for assembly in runtime for step in assembly.trace}
    for assembly in assemblies:
        rank = _RANK.get(assembly.purpose, 0)
        said = of_assembly(assembly, depth) if rank else None
        if said is not None and not _explained(said, spoilt):
            ranked.append((rank, said))
    alone = of_captures([capture for capture in captures if capture.where not in feeding], depth)
    ranked += [(1, said) for said in alone if not _explained(said, spoilt)]
    ranked.sort(key=lambda item: -item[0])
    certain = [(rank, said) for rank, said in ranked if said.confidence != "possible"]
    top = certain[0][0] if certain else 0
    return Evidence(tuple(said for rank, said in certain if rank == top), tuple(said for _, said in ranked))


def of_assembly(assembly: Assembly, depth: int) -> Training | None:
    """The columns of fc as one place in the code puts them side by side; None when they are no complete streams."""
    layers = _layers(assembly.states, depth, keep_last=True)
    if layers is None:
        return None
    return Training(
        boundaries=layers,
        where=assembly.where,
        source="assembly",
        what="concatenated",
        confidence=assembly.confidence,
        assumed=assembly.assumed,
        trace=assembly.trace,
        ordered=assembly.ordered,
        capture=assembly.trace[0].where if assembly.trace else None,
    )


def of_captures(captures: Sequence[Capture], depth: int) -> list[Training]:
    """What captures alone say: each list of states, and the single states of one file taken together.

    The state after the last layer, normed or not, is the verifier's when it stands beside others; without the trainer
    it can not be told from an auxiliary state, so that both lists are allowed.
    """
    found: list[Training] = []
    singles: dict[str, list[Capture]] = {}
    for capture in captures:
        layers = _layers(capture.states, depth, keep_last=False)
        if layers is None:
            continue
        if max((len(states) for _, states in capture.states), default=0) > 1:
            found.append(_of_capture(capture, layers, depth))
        else:
            singles.setdefault(capture.where.path, []).append(capture)
    lists = {said.where.path for said in found if said.where is not None}
    for path, group in singles.items():
        if path in lists or len(group) < 2:
            continue
        joined = _joined(group, depth)
        if joined is not None:
            found.append(joined)
    return found


def _of_capture(capture: Capture, layers: Layers, depth: int) -> Training:
    whole = _layers(capture.states, depth, keep_last=True)
    trace = capture.trace
    return Training(
        boundaries=layers,
        where=capture.where,
        source="capture",
        what="captured",
        confidence=capture.confidence,
        assumed=capture.assumed,
        trace=trace,
        ordered=False,
        also=() if whole is None or whole == layers else (whole,),
        capture=capture.where,
    )


def _joined(captures: Sequence[Capture], depth: int) -> Training | None:
    """The single states of one file, in ascending order; None when they are not known for the same depths."""
    tables: list[dict[int, tuple[State, ...]]] = [dict(capture.states) for capture in captures]
    shared = set.intersection(*(set(table) for table in tables))
    if not shared:
        return None
    taken = {n: {table[n][0] for table in tables if table[n]} for n in shared}
    states = tuple((n, tuple(sorted(found, key=lambda state: state[:2]))) for n, found in taken.items())
    layers, whole = _layers(states, depth, keep_last=False), _layers(states, depth, keep_last=True)
    if layers is None:
        return None
    weakest: Confidence = "proven" if all(capture.confidence == "proven" for capture in captures) else "possible"
    first = captures[0]
    return Training(
        boundaries=layers,
        where=first.where,
        source="capture",
        what="captured",
        confidence=weakest,
        assumed=next((capture.assumed for capture in captures if capture.assumed), ""),
        trace=tuple(Step(capture.where, "captured") for capture in captures[1:]),
        ordered=False,
        also=() if whole is None or whole == layers else (whole,),
        capture=first.where,
    )


def published(head: KnownDrafter, where: Location | None) -> Training | None:
    """What a published drafter was trained on, as its record says; None when that is not known."""
    if head.trained is None:
        return None
    return Training(
        boundaries=Layers.of(head.trained),
        where=where,
        source="published",
        what=f"{head.repo} was trained on",
        confidence="proven" if head.established else "likely",
        assumed="" if head.established else f"what {head.repo} was trained on is not established",
        ordered=False,
    )


def explained(defects: Iterable[Defect]) -> bool:
    """Whether some defect already explains a wrong capture."""
    return any(defect.kind in EXPLAINING for defect in defects)


def _explained(said: Training, defects: Iterable[Defect]) -> bool:
    """Whether a defect in one of the files on the way already says what is wrong with this evidence."""
    files = {step.where.path for step in said.trace} | {said.where.path if said.where is not None else ""}
    return any(defect.where.path in files for defect in defects)


def _layers(states: ByDepth, depth: int, *, keep_last: bool) -> Layers | None:
    """The boundaries of the states, by depth; None when some state is not the complete stream or there are none.

    Without `keep_last` the state after the last layer (normed or boundary N) is left out at the end of a longer list.
    """
    table: dict[int, tuple[int, ...]] = {}
    for n, listed in entries_for(states, depth):
        if any(state.part != "stream" for state in listed):
            return None
        kept = list(listed)
        if not keep_last:
            kept = [state for state in kept if not state.normed]
            if len(kept) > 1 and kept[-1].boundary == n:
                kept.pop()
        if not kept:
            return None
        table[n] = tuple(state.boundary for state in kept)
    if not table:
        return None
    if len(table) == 1 and (depth in table or (not depth and _any_depth(table))):
        return Layers.of(next(iter(table.values())))
    return Layers.by_depth(table)


def entries_for(states: ByDepth, depth: int) -> ByDepth:
    """The entries that hold for a target of `depth` layers (0: not known); () when there are none.

    Code in which N does not matter is run once, for the largest sampled depth: its states hold for every depth, with
    the state after the last layer at that target's own N.
    """
    wanted = tuple((n, listed) for n, listed in states if not depth or n == depth)
    if wanted or len(states) != 1:
        return wanted or states
    (n, listed) = states[0]
    if n != max(SAMPLED_DEPTHS) or any(depth < state.boundary < n for state in listed):
        return ()
    moved = tuple(state._replace(boundary=depth) if state.boundary == n else state for state in listed)
    return ((depth, moved),)


def _any_depth(table: Mapping[int, tuple[int, ...]]) -> bool:
    """Whether the one entry of a table holds for every depth: it was made for the largest and is clear of its end."""
    return all(n == max(SAMPLED_DEPTHS) and n not in boundaries for n, boundaries in table.items())
