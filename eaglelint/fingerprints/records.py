"""What was found in sample files of states by their values: small records without the values themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from eaglelint.location import Location


class Scan(NamedTuple):
    """What a look at the values of a slot found.

    `rows` tokens were looked at. `infinite` and `nan` count numbers, `first` is the first token with one (-1: none).
    `zero` is True when every value that was looked at is zero.
    """

    rows: int = 0
    infinite: int = 0
    nan: int = 0
    first: int = -1
    zero: bool = False

    @property
    def bad(self) -> int:
        """How many numbers are not finite."""
        return self.infinite + self.nan


class EmbeddingVerdict(NamedTuple):
    """Whether a state is rows of the target's embedding.

    `is_` is "rows", "other" or "unknown". `scale` is the factor between them, `shift` the distance from a token to the
    id whose row it is, `compared` how many tokens were looked at.
    """

    is_: Literal["rows", "other", "unknown"] = "unknown"
    scale: float = 0.0
    shift: int = 0
    compared: int = 0


class NormVerdict(NamedTuple):
    """Whether a state has been through the target's final norm.

    `is_` is "after", "before" or "unknown". `low`, `middle` and `high` are root mean squares of x / w by token.
    """

    is_: Literal["after", "before", "unknown"] = "unknown"
    low: float = 0.0
    middle: float = 0.0
    high: float = 0.0
    compared: int = 0


class Named(NamedTuple):
    """A name that code gives to what it stores in a sample, and the place where it is first bound."""

    name: str
    where: Location


_NO_SCAN, _NO_EMBEDDING, _NO_NORM = Scan(), EmbeddingVerdict(), NormVerdict()


@dataclass(frozen=True)
class MeasuredSlot:
    """One state of a sample: where it is kept, and what its values say.

    `key` is the name that the file gives it, "" for a slot that is known by its place alone; `shown` is how messages
    name it. `group` is what holds the slots beside it (`parts` of them), `index` its place there. `count` counts
    tokens, `width` features, `expected` the tokens of its prompt (0: not known). `sizes` are root mean squares of some
    tokens, evenly spread. `probe` are some values of some tokens, by which slots are compared. `names` are those that
    code gives it, the first binding first.
    """

    key: str
    shown: str
    group: str
    index: int
    parts: int
    columns: bool
    count: int
    width: int
    dtype: str
    expected: int
    scan: Scan = _NO_SCAN
    embedding: EmbeddingVerdict = _NO_EMBEDDING
    norm: NormVerdict = _NO_NORM
    sizes: tuple[float, ...] = ()
    probe: tuple[float, ...] = ()
    names: tuple[Named, ...] = ()


@dataclass(frozen=True)
class Sample:
    """A sample file. `pattern` is the entry of the configuration that named it.

    `prompt` identifies its token ids (0: it has none), `beyond` counts ids outside the target's vocabulary, `ids` are
    the tokens of the first prompt. `broken` says that the file ends before its tensors do. `unclear` are tensors whose
    axes can not be told apart. `shifted` is the place of code that leaves out a token on purpose.
    """

    path: str
    pattern: str
    slots: tuple[MeasuredSlot, ...] = ()
    ids: int = 0
    prompt: int = 0
    beyond: int = 0
    ids_dtype: str = ""
    highest: int = 0
    broken: str = ""
    unclear: tuple[str, ...] = ()
    shifted: Location | None = None

    @property
    def where(self) -> Location:
        """The file; there are no lines in it."""
        return Location(self.path)


@dataclass(frozen=True)
class SampleTarget:
    """The target that samples are held against: sizes are 0 and `scale` is None where they are not known.

    `config` is the place of its hidden size, `problem` says why its weights can not be read.
    """

    path: str
    hidden: int = 0
    vocab: int = 0
    depth: int = 0
    scale: float | None = None
    embedding: str = ""
    problem: str = ""
    config: Location | None = None
