"""What a drawing holds. One `Drawing` for each pipeline, one `Panel` for each way in which its drafter is served.

A row is a column of fc: on its left what the drafter was trained on and how that came there (`Kept`), on its right what
the engine feeds it and from which id (`Fed`). What is not known is there and says so; nothing is left out for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from eaglelint.facts import Step
from eaglelint.location import Location

#: How the two halves of a row (or of a whole panel) compare.
Status = Literal["match", "mismatch", "unknown"]


class Boundary(NamedTuple):
    """A boundary as it is drawn.

    `text` is its number, or a formula of N where that is not known ("N - 3", "12 for N = 24"), or "unknown". `value` is
    the number for the depth that is drawn, None when not known. `words` say which place in the target it is, "" when
    that can not be told. `by_depth` holds it for each depth N that is possible.
    """

    text: str
    value: int | None = None
    words: str = ""
    by_depth: tuple[tuple[int, int], ...] = ()


UNKNOWN = Boundary("unknown")


class Name(NamedTuple):
    """A name under which a state goes. `kind` as in `facts.Label`; `lie` is what a wrong name claims, else ""."""

    text: str
    kind: str
    where: Location
    lie: str = ""


@dataclass(frozen=True)
class Kept:
    """A captured state and its way to fc.

    `slot` is the key or file that it is first kept under ("" for none), `names` what it is called after that. `flaw`
    says in words why it is not what a drafter is fed ("its residual is missing"), "" when it is a complete stream.
    `normed` is True after the final norm, `dtype` the type that it is cast to, or "".
    """

    boundary: Boundary
    slot: Name | None = None
    names: tuple[Name, ...] = ()
    steps: tuple[Step, ...] = ()
    normed: bool = False
    dtype: str = ""
    flaw: str = ""


@dataclass(frozen=True)
class Fed:
    """What arrives in one column of fc when the drafter is served.

    `ids` are the ids that mean it ("-1"; several when the engine takes them for one, none for its default), `key` what
    holds them, with the index (`eagle_config.eagle_aux_hidden_state_layer_ids[0]`). `formula` says which boundary of
    the engine's default it is ("N // 2"), "" where ids are taken. `lost` says why the state does not arrive, "" when it
    does.
    """

    boundary: Boundary
    ids: tuple[str, ...] = ()
    key: str = ""
    formula: str = ""
    steps: tuple[Step, ...] = ()
    lost: str = ""


@dataclass(frozen=True)
class Row:
    """One column of fc. `words` say how its halves differ or what is not known; "" when they match."""

    column: int
    kept: Kept | None
    fed: Fed | None
    status: Status
    words: str = ""


@dataclass(frozen=True)
class Trained:
    """The left half of a panel.

    `title` says what it rests on ("concatenated at training/samples.py:25"). `ordered` is False when the order of the
    columns can not be told. `judged` is False when the evidence can not be compared (a defect already spoils it).
    `beside` are states that were captured and go into no column, such as the one that the drafter learns to predict.
    """

    title: str
    columns: tuple[Kept, ...] = ()
    source: str = "unknown"
    ordered: bool = True
    judged: bool = True
    assumed: str = ""
    steps: tuple[Step, ...] = ()
    beside: tuple[Kept, ...] = ()


@dataclass(frozen=True)
class Served:
    """The right half of a panel.

    `title` names engine and release, `launches` the places that start it. `ids` is the list as declared, with its key
    and place, in words; `rule` how it is read, `evidence` the engine's own lines that say so. `target` is the target of
    that launch. `default` is True when no ids are taken.
    """

    title: str
    columns: tuple[Fed, ...] = ()
    source: str = "unknown"
    launches: tuple[Location, ...] = ()
    release: Location | None = None
    ids: str = ""
    rule: str = ""
    target: str = ""
    default: bool = False
    assumed: str = ""
    steps: tuple[Step, ...] = ()
    evidence: tuple[str, ...] = ()


class Note(NamedTuple):
    """Something to know about a drawing. `where` is its place, `mark` a word for what kind it is ("name", "defect")."""

    mark: str
    text: str
    where: Location | None = None


class Hint(NamedTuple):
    """What is not known, and the lines of eaglelint.toml that would settle it ("" when no configuration does)."""

    missing: str
    settle: str = ""


class Source(NamedTuple):
    """A line that a drawing rests on: what it does, and the columns of fc that it is about (() for all of them)."""

    number: int
    where: Location
    what: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Panel:
    """One training beside one way of serving.

    `depth` is N of the target, 0 when not known. `right` are ids that would make the two halves match, in words.
    """

    trained: Trained
    served: Served
    rows: tuple[Row, ...]
    status: Status
    verdict: str
    depth: int = 0
    right: str = ""
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Drawing:
    """A pipeline, drawn. `depth` is N, 0 when not known; `sources` everything that the panels rest on."""

    name: str
    head: str
    target: str
    where: Location
    depth: int
    panels: tuple[Panel, ...]
    notes: tuple[Note, ...] = ()
    hints: tuple[Hint, ...] = ()
    sources: tuple[Source, ...] = ()

    @property
    def status(self) -> Status:
        """The worst of its panels: a mismatch before an unknown before a match."""
        found = {panel.status for panel in self.panels}
        return "mismatch" if "mismatch" in found else "match" if found == {"match"} else "unknown"
