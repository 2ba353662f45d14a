"""What a trainer does with layer ids, by the paths through it."""

from __future__ import annotations

from collections.abc import Iterator

from eaglelint.boundary import show
from eaglelint.conventions import versions
from eaglelint.conventions.rules import MEANING
from eaglelint.conventions.trainers import Export, Layout, Recipe, Trainer, TrainerDefect, trainer, trainers
from eaglelint.linking.records import title
from eaglelint.reference.asking import Asked, Subject
from eaglelint.reference.engines import Page, Row, Section, Summary, range_words
from eaglelint.reference.trainer_ways import places
from eaglelint.reference.words import boundaries_words, key_words, listed, trainer_title

_LAST = {"post_norm": "after the final norm", "pre_norm": "before the final norm", "none": "not kept"}


def summaries() -> Iterator[Summary]:
    """All trainers, each with the commits or releases that its table covers."""
    for name in trainers():
        found = trainer(name)
        if found is not None:
            certainties = list(dict.fromkeys(recipe.certainty for recipe in found.recipes))
            yield Summary(name, found.kind, covered(found), found.verified, listed(certainties))


def covered(found: Trainer) -> str:
    """The releases or commits that a table covers, in words."""
    released = [r for r in found.recipes if versions.parse(r.first) and versions.parse(r.last)]
    if released:
        first = min((r.first for r in released), key=versions.order)
        return f"{first} to {max((r.last for r in released), key=versions.order)}"
    lasts = [r.last for r in found.recipes if not r.last.startswith("before ")]
    named = sorted({x for r in found.recipes for x in r.releases if versions.parse(x)}, key=versions.order)
    words = f"up to {lasts[-1] if lasts else found.recipes[-1].last}"
    return f"{words}; {listed(named)}" if named else words


def page(asked: Asked, about: Subject) -> Page:
    """What is known of a trainer."""
    found = asked.trainer
    assert found is not None
    paths: dict[str, list[Row]] = {}
    for recipe in found.recipes:
        if not asked.path or recipe.path == asked.path:
            paths.setdefault(recipe.path, []).append(_recipe(recipe, about))
    sections = [Section(f"Path {path}", tuple(rows)) for path, rows in paths.items()]
    certainties = listed(list(dict.fromkeys(r.certainty for r in found.recipes)))
    head = [f"{covered(found)}; verified {found.verified}, {certainties}"]
    if asked.specifier and not any(versions.parse(r.first) for r in found.recipes):
        head.append(f"{trainer_title(found.name)} is known by commits; every range is shown")
    return Page(found.name, trainer_title(found.name), tuple(head), tuple(sections))


def _recipe(recipe: Recipe, about: Subject) -> Row:
    rule = (
        f"ids follow the rule of {title(recipe.engine)}"
        if recipe.rule == "engine"
        else MEANING.get(recipe.rule, recipe.rule)
    )
    if recipe.rule == "ignored":
        rule = "no ids are taken: the layers are fixed"
    details = [_default(recipe, about)] if recipe.default else []
    taken = places(recipe)
    if taken:
        details.append(f"ids are taken from {listed(taken, 'else')}")
    order = {"ascending": "of the layers", "as_listed": "of the list", "unordered": "of a set"}
    details.append(f"concatenated in the order {order.get(recipe.order, recipe.order)}")
    details += [f"exactly {recipe.count} ids"] if recipe.count else []
    details += (
        [f"the last state is kept {_LAST[recipe.last_state]}"] if recipe.last_state in ("post_norm", "pre_norm") else []
    )
    details += ["the last state of its lists is the verifier's, no auxiliary one"] if recipe.last_is_verifier else []
    details += [_export(recipe.exports)] if recipe.exports is not None else []
    details += [_layout(recipe.layout)] if recipe.layout is not None and recipe.layout.tensors else []
    details += [f"broken: {_defect(defect)}" for defect in recipe.defects]
    details += [" ".join(recipe.note.split())] if recipe.note else []
    return Row(range_words(recipe.first, recipe.last) or "every release", rule, tuple(details), recipe.evidence)


def _default(recipe: Recipe, about: Subject) -> str:
    default = recipe.defaults(about.depth)
    words = f"boundaries {', '.join(recipe.default)}" if default is None else boundaries_words(default)
    ids = f", written as ids {', '.join(recipe.default_ids)}" if recipe.default_ids else ""
    return f"without ids it captures {words}{ids}"


def _export(export: Export) -> str:
    if export.ids == "never":
        return "its export holds no ids"
    how = "always writes" if export.ids == "always" else "keeps, where they were given,"
    meaning = {"output": "outputs of layers", "boundary": "boundaries"}.get(export.convention, "ids")
    order = " in no order" if export.order == "unordered" else ""
    return f"its export {how} the ids as {meaning}{order} in {key_words(export.key)}"


def _layout(layout: Layout) -> str:
    held = [
        f"{tensor.key} ({tensor.holds.replace('_', ' ')}{f', {tensor.width} wide' if tensor.width else ''})"
        for tensor in layout.tensors
    ]
    carries = "with the ids" if layout.carries_ids else "without the ids"
    return f"samples{f' in {layout.files}' if layout.files else ''} hold {listed(held)}, {carries}"


def _defect(defect: TrainerDefect) -> str:
    fixed = f"; fixed in {defect.fixed_in}" if defect.fixed_in else ""
    return f"{' '.join(defect.effect.split())}{fixed}"


def default_words(recipe: Recipe, depth: int) -> str:
    """The default boundaries of a recipe for a target of `depth` layers."""
    return show(recipe.defaults(depth) or ())
