"""What recipes say that a drafter was trained on: their ids, by the rules of the trainer that was told them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from eaglelint.boundary import SAMPLED_DEPTHS, Layers, show_ids
from eaglelint.conventions import recipes as forms
from eaglelint.conventions import rules, trainers
from eaglelint.conventions.known import known_drafter
from eaglelint.conventions.recipes import Form
from eaglelint.conventions.table import engine as known_engine
from eaglelint.conventions.versions import parse
from eaglelint.facts import Confidence, DrafterConfig, EnginePin, Facts, LayerIds, Recipe
from eaglelint.linking import paths, targets
from eaglelint.linking.recipes import Told
from eaglelint.linking.records import Target, Training, integers

#: How strongly a recipe speaks among the evidence: one that lists ids, and one that leaves the trainer its default.
_LISTED, _DEFAULT = 2, 1

#: Keys of `eagle_config` that only ModelOpt's exporter writes.
_MODELOPT = ("next_layer_regular", "parallel_draft_step", "parallel_draft_heads_num_layers")

_TITLES = {
    "specforge": "SpecForge",
    "modelopt": "ModelOpt",
    "angelslim": "AngelSlim",
    "nemo-automodel": "NeMo Automodel",
    "nemo-rl": "NeMo RL",
    "torchspec": "TorchSpec",
    "baldeagle": "BaldEagle",
    "eagle": "EAGLE's trainer",
}


#: The boundaries for a target of some depth, None when they are not known.
_Way = Callable[[int], tuple[int, ...] | None]


class _Table(NamedTuple):
    """Boundaries by depth: one way in which what was told may be meant."""

    layers: Layers
    ascending: bool
    reading: str = ""


def trainings(
    mine: Sequence[Told], config: DrafterConfig | None, target: Target | None, facts: Facts
) -> list[tuple[int, Training]]:
    """What the recipes of one head say, with their rank; those that name the head before those that may mean it.

    A recipe whose own target is known to be another model than `target` says nothing here.
    """
    found = [(told, statement) for told in mine for statement in _statements(told, config, target, facts)]
    named = [(told, statement) for told, statement in found if told.named]
    return [statement for _, statement in named or found]


def dated(mine: Sequence[Told], config: DrafterConfig | None, facts: Facts) -> tuple[Told, ...]:
    """The recipes with the releases of their trainers, where these are known exactly."""
    found = ((told, _specifier(told.recipe, facts.pins, config)) for told in mine)
    return tuple(
        replace(told, release=text[2:]) if text.startswith("==") and not set(text) & set(",*") else told
        for told, text in found
    )


def beside(
    mine: Sequence[Told], config: DrafterConfig | None, target: Target | None, facts: Facts
) -> tuple[tuple[Training, Training], ...]:
    """What each training was told, and what the recipe that stored its states was told; only where both list ids."""
    found = []
    for told in mine:
        if told.recipe.step != "train" or told.recipe.ids is None:
            continue
        for source in told.data:
            both = [_listed(recipe, told, config, target, facts) for recipe in (told.recipe, source)]
            consumer, producer = both
            if consumer is not None and producer is not None:
                found.append((consumer, producer))
    return tuple(found)


def _listed(
    recipe: Recipe, told: Told, config: DrafterConfig | None, target: Target | None, facts: Facts
) -> Training | None:
    own = targets.find(recipe.target or told.recipe.target, facts.targets)
    if recipe.ids is None or targets.differ(own, target):
        return None
    return _statement(recipe, config, target if target is not None and target.depth else own, facts, told.named)


def _always_stores_the_same(recipe: Recipe) -> bool:
    """Whether the states of a path are known without the command that stored them: no option of it chooses them."""
    entries = forms.forms()[recipe.form].entries(recipe.path) if recipe.form >= 0 else ()
    return bool(entries) and all(entry.rule == "ignored" and entry.default for entry in entries)


def lineage(config: DrafterConfig, target: Target | None) -> Training | None:
    """What the form of a config says where nothing else does: ModelOpt's exports list outputs of layers.

    Only for its default layers, since the ids of other heads have been rewritten by hand.
    """
    depth = target.depth if target is not None else 0
    nested = config.document.get("/eagle_config")
    known = trainers.trainer("modelopt")
    if not depth or known is None or not isinstance(nested, dict) or not any(key in nested for key in _MODELOPT):
        return None
    entry = known.recipe("hf")[0]
    default = entry.defaults(depth)
    for ids in config.id_lists:
        values = integers(ids.ids) if ids.key in entry.keys else None
        if default is not None and values is not None and tuple(b - 1 for b in default) == tuple(sorted(values)):
            return Training(
                boundaries=Layers.of(default),
                where=ids.where,
                source="lineage",
                what=f"{title('modelopt')} exported {show_ids(values)} as outputs of layers",
                confidence="likely",
                ordered=False,
            )
    return None


def title(trainer: str) -> str:
    """How a trainer writes its own name."""
    return _TITLES.get(trainer, trainer)


def _statements(
    told: Told, config: DrafterConfig | None, target: Target | None, facts: Facts
) -> Iterator[tuple[int, Training]]:
    recipe = told.recipe
    if recipe.step == "convert":
        yield from _of_conversion(recipe)
        return
    stored = recipe.step == "train" and recipe.stored is not None
    sources = told.data if stored and told.data else (recipe,)
    for source in sources:
        own = targets.find(source.target or recipe.target, facts.targets)
        if targets.differ(own, target):
            continue
        said = _statement(source, config, target if target is not None and target.depth else own, facts, told.named)
        if said is None:
            continue
        if stored and source is recipe and not _always_stores_the_same(source):
            if source.ids is None:
                continue
            said = replace(said, confidence="likely")  # what was stored is only assumed to be what the training names
        yield (_LISTED if source.ids is not None else _DEFAULT), said


def _of_conversion(recipe: Recipe) -> Iterator[tuple[int, Training]]:
    """A head that a converter rewrote was trained on what the original was, whatever ids the converter was given."""
    source = recipe.source
    if source is None or not source.known or not isinstance(source.value, str):
        return
    original = known_drafter(source.value)
    if original is None or original.trained is None:
        return
    yield (
        _LISTED,
        Training(
            boundaries=Layers.of(original.trained),
            where=source.where,
            source="recipe",
            what=f"converted from {original.repo}",
            confidence="proven" if original.established else "likely",
            assumed="" if original.established else f"what {original.repo} was trained on is not established",
            ordered=False,
        ),
    )


def _statement(
    recipe: Recipe, config: DrafterConfig | None, target: Target | None, facts: Facts, named: bool
) -> Training | None:
    depth = target.depth if target is not None else 0
    tables: list[_Table] = []
    draft: LayerIds | None = None
    if not recipe.trainer or recipe.form < 0:
        tables = list(_by_every_rule(recipe, depth))
    else:
        form = forms.forms()[recipe.form]
        specifier = _specifier(recipe, facts.pins, config)
        for entry in form.entries(recipe.path, specifier):
            ids, open_ = _ids(recipe, entry, facts)
            if open_:
                return None
            draft = draft or (ids if recipe.ids is None else None)
            tables += _by_entry(recipe, form, entry, ids, target)
    tables = list(dict.fromkeys(tables))
    if not tables:
        return None
    first = tables[0]
    listed = recipe.ids or draft
    assumed = _assumed(recipe, listed)
    confidence: Confidence = "proven"
    if not recipe.trainer and recipe.step != "card" and "hidden_state" not in (listed.key if listed else ""):
        confidence = "likely"
    if listed is None and not named and config is not None and config.id_lists:
        confidence = "likely"  # a head that declares ids is hardly one that a recipe without ids made
    place = recipe.draft.where if draft is not None and recipe.draft is not None else recipe.where
    return Training(
        boundaries=first.layers,
        where=recipe.ids.where if recipe.ids is not None else place,
        source="recipe",
        what=_words(recipe, listed),
        confidence=confidence,
        assumed=assumed,
        ordered=not first.ascending,
        also=tuple(table.layers for table in tables[1:]),
        readings=tuple(table.reading for table in tables) if first.reading else (),
    )


def _words(recipe: Recipe, listed: LayerIds | None) -> str:
    who = title(recipe.trainer) if recipe.trainer else "a trainer"
    if listed is None:
        return f"{who} takes its default"
    ids = show_ids(listed.ids)
    if recipe.ids is None:
        return f"{who} takes {ids} from the draft config"
    return f"{who} is told {ids}" if recipe.step != "card" else f"the model card says {ids}"


def _assumed(recipe: Recipe, listed: LayerIds | None) -> str:
    if recipe.ids is not None:
        value = recipe.given.get(recipe.ids.key)
        return value.assumed if value is not None else ""
    if listed is None and not recipe.complete:
        return "nothing else in the command chooses layers"
    return ""


def _by_every_rule(recipe: Recipe, depth: int) -> Iterator[_Table]:
    """What a list may be whose writer is not known; a last entry beyond the auxiliary ones may be the verifier's."""
    ids = integers(recipe.ids.ids) if recipe.ids is not None else None
    if ids is None:
        return
    known = trainers.trainer(recipe.trainer) if recipe.trainer else None
    own = tuple(dict.fromkeys(entry.rule for entry in known.recipes)) if known is not None else ()
    usual = [rule for rule in own if rule in rules.NAMES and rule != "ignored"] or list(forms.unknown().rules)
    for rule in dict.fromkeys(usual):
        whole = {n: b for n in _depths(depth) if (b := rules.apply(rule, ids, n)) is not None}
        if whole:
            yield _table(whole, ascending=False, reading=rules.MEANING[rule])
        kept = {n: tuple(i for i in b if i < n) for n, b in whole.items()}
        if depth and kept != whole and all(kept.values()):
            yield _table(kept, ascending=False, reading=f"{rules.MEANING[rule]}, and the last is the verifier's")


def _ids(recipe: Recipe, entry: trainers.Recipe, facts: Facts) -> tuple[LayerIds | None, bool]:
    """The ids that a trainer takes (None: its default), and whether they can not be told."""
    if recipe.ids is not None:
        return recipe.ids, False
    if recipe.preset == "?":
        return None, True
    draft = recipe.draft
    if draft is None or not entry.keys:
        return None, False
    if not draft.known or not isinstance(draft.value, str):
        return None, True
    places = {config.path: config for config in facts.drafters}
    found = paths.resolve(draft.value, draft.where.path, places)
    if found is None:
        folders = {paths.folder_of(path): path for path in places}
        folder = paths.resolve(draft.value, draft.where.path, folders) if not draft.value.endswith(".json") else None
        found = folders[folder] if folder is not None else None
    if found is not None:
        lists = {ids.key: ids for ids in places[found].id_lists}
        return next((lists[key] for key in entry.keys if key in lists), None), False
    ids = forms.shipped(recipe.trainer, draft.value)
    if ids is None:
        return None, True
    return (LayerIds(entry.keys[0], ids, draft.where) if ids else None), False


def _by_entry(
    recipe: Recipe, form: Form, entry: trainers.Recipe, ids: LayerIds | None, target: Target | None
) -> Iterator[_Table]:
    """The boundaries that one entry of a trainer makes of ids; several where they go through an engine."""
    depth = target.depth if target is not None else 0
    values = integers(ids.ids) if ids is not None else None
    if ids is not None and values is None:
        return
    if values is not None and entry.rule == "ignored" and not entry.arguments and recipe.ids is not None:
        return  # a release that has no such option can not be the one that was told
    ascending = entry.order == "ascending"
    for ways in _mapped(form, entry, values, target):
        table = {}
        for n in _depths(depth):
            boundaries = ways(n)
            if boundaries is None:
                continue
            kept = _auxiliary(recipe, form, boundaries, n) if values is not None else boundaries
            if kept:
                table[n] = tuple(sorted(set(kept))) if ascending else kept
        if table and (not depth or depth in table):
            yield _table(table, ascending)


def _mapped(form: Form, entry: trainers.Recipe, ids: tuple[int, ...] | None, target: Target | None) -> Iterator[_Way]:
    """For each way in which ids may be read: the boundaries by depth."""
    if ids is None or entry.rule != "engine":
        yield partial(entry.boundaries, ids)
        return
    engine = known_engine(entry.engine)
    if engine is None:
        return
    for reading in engine.readings(form.engine or None, target):
        if reading.status == "ok" and reading.rule not in ("ignored", "unknown", "nothing_captured"):
            yield partial(reading.boundaries, ids)


def _auxiliary(recipe: Recipe, form: Form, boundaries: tuple[int, ...], depth: int) -> tuple[int, ...]:
    """What is left of the listed states when that of the verifier is taken out."""
    alone = any(name in recipe.given for name in form.alone)
    if form.last == "listed" or (form.last == "appended" and alone):
        return tuple(sorted(set(boundaries)))[:-1]
    if form.last == "appended":
        return tuple(b for b in boundaries if b != depth)
    return boundaries


def _depths(depth: int) -> tuple[int, ...]:
    return (depth,) if depth else SAMPLED_DEPTHS


def _table(table: dict[int, tuple[int, ...]], ascending: bool, reading: str = "") -> _Table:
    if len(table) == 1:
        return _Table(Layers.of(next(iter(table.values()))), ascending, reading)
    return _Table(Layers.by_depth(table), ascending, reading)


def _specifier(recipe: Recipe, pins: Sequence[EnginePin], config: DrafterConfig | None) -> str:
    """The releases of the trainer that the nearest pins admit, else the one that wrote the head; "" for any."""
    mine = [pin for pin in pins if pin.package == recipe.trainer and not pin.unknown]
    above = [pin for pin in mine if paths.is_above(paths.folder_of(pin.where.path), recipe.where.path)]
    deepest = max((len(paths.parts(paths.folder_of(pin.where.path))) for pin in above), default=0)
    near = [pin for pin in above if len(paths.parts(paths.folder_of(pin.where.path))) == deepest] or mine
    said = {f"=={pin.exact}" if pin.exact else pin.specifier for pin in near}
    if len(said) == 1 and _is_specifier(text := said.pop()):
        return text
    version = config.document.get(f"/{recipe.trainer}_version") if config is not None else None
    if not mine and isinstance(version, str) and parse(version) is not None:
        return f"=={version}"
    return ""


def _is_specifier(text: str) -> bool:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return False
    return True
