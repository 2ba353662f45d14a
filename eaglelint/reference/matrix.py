"""Which trainer's drafters the newest release of each engine serves right: a matrix of trainers and engines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from eaglelint.boundary import difference, evaluate, show, show_ids
from eaglelint.conventions import rules
from eaglelint.conventions.records import Reading
from eaglelint.conventions.rules import NOWHERE
from eaglelint.conventions.table import Engine, Target, engine, engines
from eaglelint.conventions.trainers import Recipe, trainer, trainers
from eaglelint.conventions.versions import order, parse
from eaglelint.linking.records import title
from eaglelint.reference.asking import Subject
from eaglelint.reference.words import key_words, listed, span, trainer_title

#: The target for which the matrix is made when none is asked for: what every engine knows.
USUAL = Subject("", Target(("LlamaForCausalLM",), "llama", 32), 32)
#: Boundaries of a person who does not take the default layers.
OTHER = ("4", "N // 2 + 2", "N - 2")

Outcome = Literal["same", "differs", "default", "other_default", "refused", "unknown"]


class Drafter(NamedTuple):
    """A drafter as trainers export it; those that export the same stand together.

    `trained` are the boundaries in order, `ids` what its config declares under `key` (None: nothing). `default` says
    whether the layers are the trainer's default ones. `trainers` are names with the paths through them.
    """

    default: bool
    trained: tuple[int, ...]
    ids: tuple[int, ...] | None
    key: str
    trainers: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def name(self) -> str:
        """The trainers and their paths, and which layers."""
        names = [f"{trainer_title(name)} ({listed(paths)})" for name, paths in self.trainers]
        return ", ".join(names) + ("" if self.default else "; other layers")


class Column(NamedTuple):
    """The newest release of an engine, with its model runner where it has several."""

    engine: str
    release: str
    reading: Reading

    @property
    def name(self) -> str:
        """Engine, release and runner."""
        runner = f" ({self.reading.runner})" if self.reading.runner else ""
        return span(title(self.engine), self.release, self.release) + runner


class Cell(NamedTuple):
    """What an engine makes of a drafter.

    `outcome` is "same" where it reads the ids and they mean what was trained, "default" where it finds none and its
    default is right, "other_default" where that is wrong, "differs" where it reads the ids as something else, and
    "refused" where it can not serve. `ids` under `place` would be right. `needs` is a key without which it captures
    nothing at all.
    """

    outcome: Outcome
    captured: tuple[int, ...] = ()
    words: str = ""
    ids: tuple[int, ...] | None = None
    place: str = ""
    needs: str = ""


class Matrix(NamedTuple):
    """The matrix for one target."""

    about: Subject
    drafters: tuple[Drafter, ...]
    columns: tuple[Column, ...]
    cells: dict[tuple[Drafter, Column], Cell]


def matrix(about: Subject) -> Matrix:
    """The matrix of all trainers and engines for a target whose depth is known."""
    every = tuple(drafters(about.depth or 0))
    at = tuple(columns(about))
    return Matrix(about, every, at, {(d, c): cell(d, c, about) for d in every for c in at})


# ---- rows ------------------------------------------------------------------------------------------------------------


def drafters(depth: int) -> Iterator[Drafter]:
    """What the current paths of every trainer export, with their default layers and with others."""
    groups: dict[Drafter, dict[str, list[str]]] = {}
    for name in trainers():
        found = trainer(name)
        if found is None or found.kind != "trainer":
            continue
        for recipe in found.recipes:
            if _current(recipe, found.recipes):
                for drafter in _exported(recipe, depth):
                    paths = groups.setdefault(drafter, {}).setdefault(name, [])
                    paths += [recipe.path] if recipe.path not in paths else []
    for default in (True, False):
        for drafter, sources in groups.items():
            if drafter.default == default:
                yield drafter._replace(trainers=tuple((name, tuple(paths)) for name, paths in sources.items()))


def _current(recipe: Recipe, every: Sequence[Recipe]) -> bool:
    """Whether a path is that of the newest release, makes EAGLE-3 heads and says what it exports."""
    if recipe.exports is None or recipe.last.startswith("before "):
        return False
    if any("dflash" in text for text in (recipe.path, *recipe.keys)):
        return False
    released = [other.last for other in every if parse(other.last) is not None]
    return not released or parse(recipe.last) is None or order(recipe.last) == max(order(last) for last in released)


def _exported(recipe: Recipe, depth: int) -> Iterator[Drafter]:
    exports = recipe.exports
    default = recipe.defaults(depth)
    if default is not None:
        yield _drafter(recipe, default, exports is not None and exports.ids == "always", default=True, depth=depth)
    takes = recipe.keys or recipe.run_config or recipe.arguments
    if takes and recipe.rule != "ignored":
        other = tuple(evaluate(formula, depth) for formula in OTHER)
        yield _drafter(recipe, other, exports is not None and exports.ids != "never", default=False, depth=depth)


def _drafter(recipe: Recipe, trained: tuple[int, ...], declares: bool, *, default: bool, depth: int) -> Drafter:
    if not declares or recipe.exports is None:
        return Drafter(default, trained, None, "")
    # An exporter writes the ids that the run was given, whatever the capture made of them.
    rule = recipe.rule if recipe.rule != "engine" else "plus_one" if recipe.exports.convention == "output" else "as_is"
    ids = rules.invert(rule, trained, depth)
    return Drafter(default, trained, ids, recipe.exports.key)


# ---- columns ---------------------------------------------------------------------------------------------------------


def columns(about: Subject) -> Iterator[Column]:
    """The newest release of every engine, as it reads ids for the target; each of its model runners."""
    for name in engines():
        table = engine(name)
        if table is None:
            continue
        for runner in _runners(table):
            readings = table.readings(table.latest or None, about.target, runner=runner)
            if readings:
                yield Column(name, table.latest, readings[0])


def _runners(table: Engine) -> tuple[str, ...]:
    runners = [r for row in table.runners for r in (row.usual, row.special) if r]
    newest = table.runners[-1].usual if table.runners else ""
    return tuple(dict.fromkeys((newest, *runners))) if runners else ("",)


# ---- cells -----------------------------------------------------------------------------------------------------------


def cell(drafter: Drafter, column: Column, about: Subject) -> Cell:
    """What an engine makes of a drafter."""
    reading, depth = column.reading, about.depth
    if reading.status != "ok" or reading.rule in ("unknown", "nothing_captured"):
        return Cell("refused", words="not served")
    key = drafter.key if drafter.ids is not None and drafter.key in reading.keys and reading.rule != "ignored" else ""
    ids = drafter.ids if key else None
    captured = reading.captured(ids, depth, key)
    meant = reading.boundaries(ids, depth, key)
    if captured is None or meant is None:
        return Cell("unknown", words="not known")
    right = list(captured) == list(drafter.trained)
    place = key or next(iter((*reading.arguments, *reading.keys)), "")
    ids = reading.ids_for(drafter.trained, depth, key) if place and not right else None
    outcome: Outcome = ("same" if key else "default") if right else ("differs" if key else "other_default")
    words = {
        "same": "the same",
        "default": "the same by default",
        "other_default": f"its default {show(captured)}",
        "differs": difference(drafter.trained, [b for b in meant if b != NOWHERE]),
    }[outcome]
    needs = next((key_words(gate.pointer) for gate in reading.gates if not gate.missing and (key or ids)), "")
    return Cell(outcome, captured, f"{words}, where {needs} is true" if needs else words, ids, place, needs)


def needed_words(found: Cell) -> str:
    """What would have to be written, in words; "" where nothing has to."""
    if found.outcome not in ("differs", "other_default"):
        return ""
    if found.ids is None:
        return "no ids help"
    place = key_words(found.place) if found.place.startswith("/") else found.place
    return f"write {show_ids(found.ids)} in {place}"
