"""What `eaglelint inspect` shows, as plain records that become text or JSON."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class WeightFile:
    """A file of tensors: its format, how many tensors and bytes of them, the types of its numbers.

    `calls` are functions that unpickling it would run; `problem` says why it can not be read.
    """

    path: str
    format: str = ""
    tensors: int = 0
    bytes: int = 0
    dtypes: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class IdList:
    """A list of layer ids as declared: the key (dotted), the ids, and the line of the config."""

    key: str
    ids: tuple[object, ...]
    line: int


@dataclass(frozen=True)
class Map:
    """A map between the vocabularies: `kind`, entries, how many tokens it leads to or marks, and the last of them."""

    path: str
    kind: str
    length: int
    tokens: int | None
    last: int | None


@dataclass(frozen=True)
class Problem:
    """Something that eaglelint reports: rule, severity, message, and where."""

    rule: str
    severity: str
    message: str
    path: str
    line: int


@dataclass(frozen=True)
class Head:
    """What the folder holds, whoever reads it. Sizes are those of the config that are given.

    `fc` is the shape of fc.weight, None when it is not known; `states` how many states of the target it takes, None
    when that is no whole number. `complete` is False when some weights are not in scope or could not be read.
    """

    path: str
    form: str
    method: str
    architectures: tuple[str, ...]
    ids: tuple[IdList, ...]
    target: str
    depth: int | None
    sizes: dict[str, int]
    draft_vocab_size: int | None
    flags: dict[str, object]
    files: tuple[WeightFile, ...] = ()
    complete: bool = False
    fc: tuple[int, ...] | None = None
    states: int | None = None
    norms: tuple[str, ...] = ()
    maps: tuple[Map, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class View:
    """What one release of an engine makes of the head, in one of the ways in which it may read it.

    `loads` says which class loads it, `reads` how ids become boundaries. `boundaries` are those that are captured, None
    when not known, `formulas` the default where it is used. `built_for` is the number of states that fc is built for.
    `ignored` are fields that are not read, `dropped` tensors without a place.
    """

    engine: str
    release: str
    runner: str
    loads: str
    reads: str
    ids: tuple[int, ...] | None
    boundaries: tuple[int, ...] | None
    formulas: tuple[str, ...]
    built_for: int | None
    lm_head: str
    embedding: str
    ignored: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Inspection:
    """A head and the views on it."""

    head: Head
    views: tuple[View, ...] = field(default=())
