"""What the paths through a trainer make of ids, and which ids they need for given states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from eaglelint.boundary import State
from eaglelint.conventions import rules, versions
from eaglelint.conventions.rules import MEANING
from eaglelint.conventions.table import engine
from eaglelint.conventions.trainers import Recipe, Trainer
from eaglelint.reference.asking import Asked, Subject
from eaglelint.reference.engine_ways import engine_ways
from eaglelint.reference.ways import Meaning, Read, Way, Written
from eaglelint.reference.words import argument_words, boundaries_words, key_words, trainer_title


def trainer_ways(asked: Asked, trainer: Trainer, subject: Subject, method: str) -> Iterator[Way]:
    """The ways of a trainer, one a path and range; where an engine captures for it, those of the engine."""
    recipes = [r for r in trainer.recipes if (r.path == asked.path if asked.path else _for(r, method))]
    for recipe in recipes:
        if asked.specifier and not _within(recipe, asked.specifier, recipes):
            continue
        table = engine(recipe.engine) if recipe.rule == "engine" else None
        if table is not None:
            for way in engine_ways(table, "", subject, method):
                yield _through(way, recipe)
        elif recipe.rule != "ignored" or recipe.default:
            yield _of_recipe(recipe)


def _for(recipe: Recipe, method: str) -> bool:
    """Whether a path is one for that kind of head."""
    block = any("dflash" in text for text in (recipe.path, *recipe.keys))
    return block == (method != "eagle3")


def _within(recipe: Recipe, specifier: str, every: Sequence[Recipe]) -> bool:
    """Whether a recipe is of the releases asked for; one known by commits is, unless another names them."""
    if _released(recipe):
        known = sorted({x for r in every if _released(r) for x in (r.first, r.last)}, key=versions.order)
        return any(versions.within(v, recipe.first, recipe.last) for v in versions.admitted(specifier, known))
    naming = [
        r for r in every if r.path == recipe.path and set(versions.admitted(specifier, r.releases)) & {*r.releases}
    ]
    return recipe in naming or not naming


def _released(recipe: Recipe) -> bool:
    return versions.parse(recipe.first) is not None and versions.parse(recipe.last) is not None


def places(recipe: Recipe) -> tuple[str, ...]:
    """Where a path takes its ids from, in words."""
    return (
        *(argument_words(f"--{a.replace('_', '-')}") for a in recipe.arguments),
        *(f"{key} of the run" for key in recipe.run_config),
        *(key_words(key) for key in recipe.keys),
    )


def _of_recipe(recipe: Recipe) -> Way:
    return Way(
        family=f"{trainer_title(recipe.trainer)} {recipe.path}",
        rule=MEANING.get(recipe.rule, recipe.rule),
        read=lambda ids, depth: _read(recipe, ids, depth),
        write=lambda states, depth: _write(recipe, states, depth),
        first=recipe.first,
        last=recipe.last,
        commits=not _released(recipe),
        places=places(recipe),
        notes=tuple(_notes(recipe)),
    )


def _notes(recipe: Recipe) -> Iterator[str]:
    if recipe.last_is_verifier:
        yield "the last state of its lists is the verifier's, no auxiliary one"
    for defect in recipe.defects:
        yield " ".join(defect.effect.split()) + (f" (fixed in {defect.fixed_in})" if defect.fixed_in else "")


def _through(way: Way, recipe: Recipe) -> Way:
    """A way of an engine, taken through a trainer that leaves the ids to it."""
    family = f"{trainer_title(recipe.trainer)} {recipe.path} with {way.family}"
    return replace(way, family=family, places=places(recipe))


def _read(recipe: Recipe, ids: Sequence[int] | None, depth: int | None) -> Read:
    boundaries = recipe.boundaries(ids, depth)
    if boundaries is None:
        return Read((), None, "its states are not known" if depth else "it depends on N: give --target or --depth")
    given = list(ids) if ids is not None and recipe.rule != "ignored" else [None] * len(boundaries)
    notes = (
        () if ids is None or recipe.rule != "ignored" else ("ids are not read: the default boundaries are captured",)
    )
    meanings = tuple(Meaning(i, State(b)) for i, b in zip(given, boundaries, strict=True))
    ordered = sorted(set(boundaries)) if recipe.order == "ascending" else list(boundaries)
    return Read(meanings, tuple(State(b) for b in ordered), "", notes)


def _write(recipe: Recipe, states: Sequence[State], depth: int | None) -> Written:
    boundaries = [state.boundary for state in states]
    if any(state.normed for state in states):
        return Written(None, "it captures the residual stream, and the last state after the final norm is none of it")
    default = recipe.defaults(depth)
    if recipe.rule == "ignored":
        if default is None:
            return Written(None, "it takes no ids")
        if list(default) == boundaries:
            return Written((), f"it takes no ids; its default is {boundaries_words(default)}")
        return Written(None, f"it takes no ids; it captures its default {boundaries_words(default)}")
    if recipe.count and len(boundaries) != recipe.count:
        return Written(None, f"it takes exactly {recipe.count} ids")
    if recipe.order == "ascending" and boundaries != sorted(set(boundaries)):
        return Written(None, "it concatenates in the order of the layers, and these states stand in another order")
    ids = rules.invert(recipe.rule, boundaries, depth)
    if ids is None or any(i < 0 for i in ids):
        return Written(None, "no list of ids means them by its rule")
    notes = ("these are its default: without ids it captures the same",) if default == tuple(boundaries) else ()
    if recipe.exports is not None and recipe.exports.ids == "never" and not notes:
        notes = ("its export does not hold the ids, so that engines take their default",)
    return Written(ids, "", notes)
