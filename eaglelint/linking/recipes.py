"""Which recipes belong together, and to which drafter: configurations, the commands that name them, data, exports."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from eaglelint.conventions import recipes as forms
from eaglelint.facts import DrafterConfig, Facts, Recipe, Value
from eaglelint.linking import paths
from eaglelint.readers.recipes import is_configuration, joined


@dataclass(frozen=True)
class Told:
    """A recipe by which a head may have been made.

    `outputs` are the folders into which it writes, those of later exports included. `data` are the recipes that stored
    the states on which it trains. `named` says that it names the head, by its folder or by its config. `source` is the
    draft config from which it starts, or that of the head which it converts, when it is in the project. `release` is
    that of the trainer, "" when no pin says it.
    """

    recipe: Recipe
    outputs: tuple[Value, ...] = ()
    data: tuple[Recipe, ...] = ()
    named: bool = False
    source: DrafterConfig | None = None
    release: str = ""

    @property
    def keeps_rope(self) -> bool:
        """Whether the head has the position embedding of `source`; ModelOpt exports another than it trains with."""
        return self.recipe.trainer != "modelopt"

    @property
    def places(self) -> tuple[Recipe, ...]:
        """The recipe and those of its data."""
        return (self.recipe, *self.data)


def settle(facts: Facts) -> tuple[Told, ...]:
    """Every recipe for a head, with what belongs to it: a command with its configuration, training with its data.

    Recipes for other kinds of heads are left out, and so are the data that only those train on.
    """
    every = [recipe for recipe in _joined(facts.recipes) if not _is_model_config(recipe, facts)]
    makers = [recipe for recipe in every if recipe.step in ("train", "convert", "card")]
    data = [recipe for recipe in every if recipe.step == "data"]
    rewriting = [recipe for recipe in every if recipe.step in ("export", "convert")]
    found: list[Told] = []
    used: set[int] = set()
    for maker in makers:
        own = tuple(_data_of(maker, makers, data))
        used |= {id(recipe) for recipe in own}
        if maker.path != "other":
            found.append(Told(maker, tuple(_outputs(maker, rewriting)), own, source=_source(maker, facts)))
    found += [Told(recipe) for recipe in data if id(recipe) not in used and recipe.path != "other"]
    return tuple(found)


def _source(maker: Recipe, facts: Facts) -> DrafterConfig | None:
    """The config in the project from which a training starts, or of the head that is converted."""
    value = maker.source if maker.step == "convert" else maker.draft
    if value is None or not value.known or not isinstance(value.value, str):
        return None
    configs = {config.path: config for config in facts.drafters}
    named = paths.resolve(value.value, value.where.path, configs) if value.value.endswith(".json") else None
    if named is not None:
        return configs[named]
    folders = {paths.folder_of(path): config for path, config in configs.items()}
    folder = paths.resolve(value.value, value.where.path, folders)
    return folders[folder] if folder is not None else None


def _is_model_config(recipe: Recipe, facts: Facts) -> bool:
    configs = {config.path for config in facts.drafters} | {config.path for config in facts.targets}
    return not recipe.trainer and recipe.step != "card" and recipe.where.path in configs


def _joined(recipes: Sequence[Recipe]) -> Iterator[Recipe]:
    """The recipes, each command together with the configuration that it names; such a configuration only so."""
    documents = {recipe.where.path: recipe for recipe in recipes if is_configuration(recipe)}
    named: set[str] = set()
    whole: list[Recipe] = []
    for recipe in recipes:
        if recipe.configured is None or is_configuration(recipe):
            continue
        path = _document(recipe, documents)
        if path is None:
            whole.append(replace(recipe, complete=False))
        elif documents[path].trainer in ("", recipe.trainer):
            named.add(path)
            whole.append(joined(recipe, documents[path]))
    for recipe in recipes:
        if (recipe.configured is None or is_configuration(recipe)) and recipe.where.path not in named:
            yield recipe
    yield from (recipe for recipe in whole if recipe.complete or not forms.forms()[recipe.form].configured)


def _document(recipe: Recipe, documents: dict[str, Recipe]) -> str | None:
    value = recipe.configured.value if recipe.configured is not None and recipe.configured.known else None
    return paths.resolve(value, recipe.where.path, documents) if isinstance(value, str) else None


def _data_of(maker: Recipe, makers: Sequence[Recipe], data: Sequence[Recipe]) -> Iterator[Recipe]:
    """The data that a training uses: by the folder that both name, else that of the same script, else the only one."""
    if maker.step != "train" or maker.stored is None:
        return
    mine = [recipe for recipe in data if recipe.trainer == maker.trainer and not _other_target(maker, recipe)]
    by_folder = [recipe for recipe in data if recipe.output is not None and _reads(maker, recipe.output)]
    if by_folder:
        yield from by_folder
        return
    beside = [recipe for recipe in mine if recipe.where.path == maker.where.path]
    if beside:
        yield from beside
        return
    trainings = [m for m in makers if m.trainer == maker.trainer and m.step == "train" and m.stored is not None]
    if len(trainings) == 1:
        yield from mine


def _reads(maker: Recipe, output: Value) -> bool:
    """Whether a training names a folder into which data are written, or one above or below it."""
    form = forms.forms()[maker.form] if maker.form >= 0 else None
    names = (*form.source, *form.stored) if form is not None else ()
    values = [maker.given[name] for name in names if name in maker.given]
    return any(_same_folder(value, output) or _inside(value, output) or _inside(output, value) for value in values)


def _other_target(one: Recipe, other: Recipe) -> bool:
    names = [r.target.value for r in (one, other) if r.target is not None and isinstance(r.target.value, str)]
    tails = [name.rstrip("/").rsplit("/", 1)[-1].lower() for name in names]
    return len(tails) == 2 and tails[0] != tails[1]


def _outputs(maker: Recipe, rewriting: Sequence[Recipe]) -> Iterator[Value]:
    """The folders into which a head is written: by its training, and by the exports of what that wrote."""
    reached = [maker.output] if maker.output is not None else []
    for value in reached:
        yield value
        for other in rewriting:
            if other is maker or other.source is None or other.output is None or other.output in reached:
                continue
            if _same_folder(other.source, value) or _inside(other.source, value):
                reached.append(other.output)


def _parts(value: Value) -> tuple[str, ...]:
    known = value.known and isinstance(value.value, str)
    return tuple(part for part in paths.parts(value.value) if part != "..") if known else ()


def _same_folder(one: Value, other: Value) -> bool:
    first, second = _parts(one), _parts(other)
    return bool(first) and first == second


def _inside(inner: Value, outer: Value) -> bool:
    """Whether one path lies in the folder of another."""
    first, second = _parts(inner), _parts(outer)
    return bool(second) and len(first) > len(second) and first[: len(second)] == second


def names_head(told: Told, folders: Sequence[str], configs: Sequence[str]) -> int | None:
    """The index of the head that a recipe names, None when it names none.

    `folders` are those of the heads, `configs` the paths of their configs. A recipe names a head by the folder that it
    or an export writes into, by the draft config that it starts from, and a model card by lying beside it.
    """
    if told.recipe.step == "card":
        own = paths.folder_of(told.recipe.where.path)
        return folders.index(own) if own in folders else None
    by_folder = {folder: index for index, folder in reversed(list(enumerate(folders)))}
    for output in reversed(told.outputs):
        if not output.known or not isinstance(output.value, str):
            continue
        found = paths.resolve(output.value, output.where.path, by_folder)
        if found is not None:
            return by_folder[found]
        below = [index for index, folder in enumerate(folders) if _lies_in(folder, output)]
        if len(below) == 1:
            return below[0]
    draft = told.recipe.draft
    if draft is not None and draft.known and isinstance(draft.value, str):
        by_config = {path: index for index, path in enumerate(configs)}
        found = paths.resolve(draft.value, draft.where.path, by_config)
        exact = found is not None and posixpath.basename(found) == posixpath.basename(draft.value)
        if found is not None and exact:
            return by_config[found]
        if not draft.value.endswith(".json"):
            found = paths.resolve(draft.value, draft.where.path, by_folder)
            return by_folder[found] if found is not None else None
    return None


def _lies_in(folder: str, output: Value) -> bool:
    """Whether a head's folder lies in a folder that is written in some file, from that file's folder upwards."""
    base = paths.folder_of(output.where.path)
    while True:
        wanted = paths.parts(posixpath.join(base, output.value))
        if wanted and paths.parts(folder)[: len(wanted)] == wanted:
            return True
        if not base:
            return False
        base = posixpath.dirname(base)


def marked(told: Told, named: bool) -> Told:
    """A recipe of which it is known whether it names its head."""
    return replace(told, named=named)
