"""Small records of what an engine or a trainer does with layer ids. Units are boundaries; N is the target's depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from eaglelint.boundary import evaluate
from eaglelint.conventions import rules

Certainty = Literal["executed", "read", "reported", "suspected"]
Status = Literal["ok", "broken", "unsupported"]
Order = Literal["ascending", "as_listed"]
Edge = Literal["captured", "dropped", "crash", "wrong_layer", "unknown"]


class TargetLike(Protocol):
    """Whatever describes a target: a `TargetConfig`, a `KnownTarget` or a `Target`. `depth` is N, 0 when not known."""

    @property
    def architectures(self) -> tuple[str, ...]: ...
    @property
    def model_type(self) -> str: ...
    @property
    def depth(self) -> int: ...


class Target(NamedTuple):
    """A target by its architectures, model type and depth N (0: not known)."""

    architectures: tuple[str, ...] = ()
    model_type: str = ""
    depth: int = 0


class EngineDefect(NamedTuple):
    """A known defect of an engine: which releases have it, what it does, since which release it is gone ("": open).

    `architectures` are the targets that it concerns, () for all; `applies_when` says on what else it depends. `purpose`
    is "extraction" for what only goes wrong when hidden states are extracted.
    """

    id: str
    first: str
    last: str
    effect: str
    applies_when: str = ""
    fixed_in: str = ""
    architectures: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    purpose: str = "serving"


class IdKey(NamedTuple):
    """A key of the drafter's config from which ids are read, as a JSON pointer.

    `shift` is added to the boundary that the id rule gives. `method` is the kind of head the key is meant for.
    """

    pointer: str
    shift: int = 0
    method: str = "eagle3"


class Gate(NamedTuple):
    """A boolean key of the drafter's config that switches capture off.

    `missing` is what its absence means; where a `container` (a JSON pointer) is named, only its absence within that
    container means it, and without the container capture is on.
    """

    pointer: str
    missing: bool = True
    container: str = ""

    def off(self, value: Callable[[str], Any]) -> bool:
        """Whether capture is off in a config; `value` gives its values by JSON pointer, None for what is absent."""
        given = value(self.pointer)
        if given is not None:
            return given is False
        return not self.missing and (not self.container or value(self.container) is not None)


@dataclass(frozen=True)
class IdLocation:
    """Where a range of releases reads the ids from.

    `keys` in order of preference: the first that is given counts. `fall_through` is False when a container that exists
    ends the search even without ids in it. `arguments` are launch arguments or run-config keys that carry ids.
    `empty_is_default`: an empty list counts as none. `purpose` is "serving" or "extraction"; `methods` are the kinds of
    heads that are meant. `rule`, when given, replaces the rule of the target's entry, and `end` what becomes of
    boundary N (its other edges are not known).
    """

    first: str
    last: str
    runner: str = ""
    purpose: str = "serving"
    methods: tuple[str, ...] = ("eagle3",)
    rule: str = ""
    end: Edge = "unknown"
    keys: tuple[IdKey, ...] = ()
    gates: tuple[Gate, ...] = ()
    arguments: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    fall_through: bool = True
    empty_is_default: bool = False
    no_default: bool = False
    duplicates: str = ""
    note: str = ""
    evidence: tuple[str, ...] = ()

    def keys_for(self, method: str) -> tuple[IdKey, ...]:
        """The keys that count for a kind of head: those of EAGLE-3 for all, the others for their own kind."""
        return tuple(k for k in self.keys if k.method == "eagle3" or _alike(k.method, method))

    def serves(self, method: str) -> bool:
        """Whether this is a place for the ids of that kind of head."""
        return method in self.methods or any(_alike(k.method, method) for k in self.keys)


def _alike(one: str, other: str) -> bool:
    return one == other or {one, other} <= {"dflash", "dspark"}


@dataclass(frozen=True)
class Reading:
    """One way in which the admitted releases of an engine read the ids of a drafter.

    `first` and `last` are the admitted releases to which it applies. `rule` is an id rule, "ignored" when those
    releases read no ids. `keys` are the JSON pointers in the drafter's config that are read, in order of preference,
    and `shifts` what is added to the boundary for each. `default` and `reach` are formulas of N in boundaries. `zero`,
    `end` and `outside` say what happens to boundary 0, boundary N and anything beyond. `tensor` is what is captured:
    "stream" is the complete residual stream. `beyond` is True when it is newer than the last release that was read.
    `releases` are the published ones among the commits of an entry, for engines whose entries carry commits.
    `fall_through` is False when a container that exists (`eagle_config`) ends the search even without ids in it.
    """

    engine: str
    first: str
    last: str
    rule: str
    keys: tuple[str, ...] = ()
    shifts: tuple[int, ...] = ()
    gates: tuple[Gate, ...] = ()
    arguments: tuple[str, ...] = ()
    default: tuple[str, ...] = ()
    zero: Edge = "unknown"
    end: Edge = "unknown"
    outside: Edge = "unknown"
    order: Order = "ascending"
    duplicates: str = "collapsed"
    status: Status = "ok"
    tensor: str = "stream"
    runner: str = ""
    model_files: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()
    defects: tuple[EngineDefect, ...] = ()
    evidence: tuple[str, ...] = ()
    certainty: Certainty = "read"
    note: str = ""
    beyond: bool = False
    empty_is_default: bool = False
    fall_through: bool = True

    @property
    def reach(self) -> tuple[str, str]:
        """The lowest and the highest boundary that is captured, as formulas of N; an unknown edge counts as reached."""
        low = "0" if self.zero in ("captured", "unknown") else "1"
        high = "N" if self.end in ("captured", "unknown") else "N - 1"
        return low, high

    def shift(self, key: str) -> int:
        """What this engine adds to the boundary of ids that stand under the JSON pointer `key`."""
        return next((s for k, s in zip(self.keys, self.shifts, strict=True) if k == key), 0)

    def defaults(self, depth: int | None) -> tuple[int, ...] | None:
        """The boundaries that are captured when no ids are given; None when not known for that depth."""
        if not self.default or not depth:
            return None
        return tuple(evaluate(formula, depth) for formula in self.default)

    def boundaries(self, ids: Sequence[int] | None, depth: int | None, key: str = "") -> tuple[int, ...] | None:
        """The boundaries that this engine means by `ids` found under `key`, in their order, reachable or not.

        The default boundaries for None and for engines that read no ids; None when not known.
        """
        if self._takes_default(ids):
            return self.defaults(depth)
        assert ids is not None
        mapped = rules.apply(self.rule, ids, depth)
        shift = self.shift(key)
        return mapped if mapped is None or not shift else tuple(b + shift for b in mapped)

    def _takes_default(self, ids: Sequence[int] | None) -> bool:
        return ids is None or self.rule == "ignored" or (not ids and self.empty_is_default)

    def _reached(self, boundary: int, depth: int | None) -> bool:
        if boundary == 0:
            return self.zero in ("captured", "unknown")
        if boundary < 0:
            return False
        if not depth or boundary < depth:
            return True
        return boundary == depth and self.end in ("captured", "unknown")

    def captured(self, ids: Sequence[int] | None, depth: int | None, key: str = "") -> tuple[int, ...] | None:
        """The boundaries that really arrive, in the order in which they are concatenated; None when not known."""
        wanted = self.boundaries(ids, depth, key)
        if wanted is None:
            return None
        reached = [b for b in wanted if self._reached(b, depth)]
        if self.order == "ascending":
            return tuple(sorted(set(reached)))
        return tuple(dict.fromkeys(reached)) if self.duplicates == "collapsed" else tuple(reached)

    def unreachable(self, ids: Sequence[int] | None, depth: int | None, key: str = "") -> tuple[int, ...]:
        """The ids (or, for None, default boundaries) that this engine can not capture; () when not known."""
        wanted = self.boundaries(ids, depth, key)
        if wanted is None:
            return ()
        named = wanted if ids is None or self._takes_default(ids) else tuple(ids)
        return tuple(i for i, b in zip(named, wanted, strict=True) if not self._reached(b, depth))

    def ids_for(self, boundaries: Sequence[int], depth: int | None, key: str = "") -> tuple[int, ...] | None:
        """Ids that make this engine capture exactly these boundaries in this order; None when there are none."""
        if not boundaries or any(not self._reached(b, depth) for b in boundaries):
            return None
        if self.order == "ascending" and list(boundaries) != sorted(set(boundaries)):
            return None
        shift = self.shift(key)
        ids = rules.invert(self.rule, [b - shift for b in boundaries], depth)
        if ids is None and self.order == "ascending" and len(boundaries) > 1:
            turned = [b - shift for b in (*boundaries[1:], boundaries[0])]
            ids = rules.invert(self.rule, turned, depth)
        return ids if ids is not None and self.captured(ids, depth, key) == tuple(boundaries) else None
