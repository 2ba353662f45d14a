"""Which code belongs to which drafter: captures, assemblies, names and defects, shared out among the drafters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from eaglelint.facts import Assembly, Capture, Defect, Facts, Label, ScriptRun, Unresolved, Value
from eaglelint.linking import paths, recipes, targets
from eaglelint.linking.heads import Head
from eaglelint.linking.recipes import Told
from eaglelint.linking.records import Ambiguity, Target
from eaglelint.location import Location
from eaglelint.settings import Settings, matches

Item = TypeVar("Item", Assembly, Capture, Label, Defect, Unresolved)


@dataclass(frozen=True)
class Share:
    """The code facts of one drafter."""

    captures: tuple[Capture, ...] = ()
    assemblies: tuple[Assembly, ...] = ()
    labels: tuple[Label, ...] = ()
    defects: tuple[Defect, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    told: tuple[Told, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it."""
        code = self.captures or self.assemblies or self.labels or self.defects or self.unresolved
        return not (code or self.told)

    @property
    def where(self) -> Location | None:
        """A place to name the share by: that of its first fact."""
        for items in (self.captures, self.assemblies, self.labels, self.defects, self.unresolved):
            if items:
                return items[0].where
        return self.told[0].recipe.where if self.told else None


@dataclass(frozen=True)
class Owned:
    """The shares by the index of the drafter, what belongs to none, and what could belong to several."""

    shares: dict[int, Share] = field(default_factory=dict)
    rest: Share = Share()
    ambiguities: tuple[Ambiguity, ...] = ()

    def of(self, index: int) -> Share:
        """The share of the drafter with that index."""
        return self.shares.get(index, Share())


def attribute(facts: Facts, heads: Sequence[Head], settings: Settings) -> Owned:
    """Share out the code facts of a project among its drafters."""
    owner = _Owner(facts, heads, settings)
    captures = _sorted(facts.captures, owner)
    assemblies = _sorted(facts.assemblies, owner)
    labels = _sorted(facts.labels, owner)
    defects = _sorted(facts.defects, owner)
    unresolved = _sorted(facts.unresolved, owner)
    told: dict[int | None, list[Told]] = {}
    for recipe in recipes.settle(facts):
        index, named = owner.of_recipe(recipe)
        told.setdefault(index, []).append(recipes.marked(recipe, named))

    def share(index: int | None) -> Share:
        return Share(
            captures=tuple(captures.get(index, ())),
            assemblies=tuple(assemblies.get(index, ())),
            labels=tuple(labels.get(index, ())),
            defects=tuple(defects.get(index, ())),
            unresolved=tuple(unresolved.get(index, ())),
            told=tuple(told.get(index, ())),
        )

    return Owned({index: share(index) for index in range(len(heads))}, share(None), owner.ambiguities())


def _sorted(items: Sequence[Item], owner: _Owner) -> dict[int | None, list[Item]]:
    found: dict[int | None, list[Item]] = {}
    for item in items:
        found.setdefault(owner.of(item), []).append(item)
    return found


class _Owner:
    """Finds the drafter that a fact belongs to, and remembers what could belong to several."""

    def __init__(self, facts: Facts, heads: Sequence[Head], settings: Settings) -> None:
        self._heads = heads
        self._facts = facts
        self._settings = settings
        self._targets: list[Target | None] = [self._target(head) for head in heads]
        local = [index for index, head in enumerate(heads) if head.config is not None and not head.template]
        drafting = [index for index in local if heads[index].method not in ("unknown", "mtp", "medusa")]
        self._candidates = drafting or local
        self._files = self._by_file()
        self._doubts: dict[tuple[int, ...], list[Location]] = {}

    def _target(self, head: Head) -> Target | None:
        stated = head.settings.target if head.settings is not None else ""
        found = targets.configured(stated, self._facts.targets, self._settings.file)
        named = [targets.of_launch(launch, self._facts.targets) for launch in head.launches]
        if head.config is not None:
            named.append(targets.hinted(head.config, self._facts.targets))
        return found or next((target for target in named if target is not None), None)

    def _by_file(self) -> dict[str, int]:
        """The drafter of each file that the facts of a capture name: whole files belong together."""
        owners: dict[str, set[int]] = {}
        found = [(a.where, a.trace, self._find(a.where.path, a.target, a.drafter)) for a in self._facts.assemblies]
        found += [(c.where, c.trace, self._find(c.where.path, c.target, "")) for c in self._facts.captures]
        for where, trace, index in found:
            if index is not None:
                for path in {where.path, *(step.where.path for step in trace)}:
                    owners.setdefault(path, set()).add(index)
        return {path: found.pop() for path, found in owners.items() if len(found) == 1}

    def of(self, item: Assembly | Capture | Label | Defect | Unresolved) -> int | None:
        """The index of the drafter that a fact belongs to, None when it belongs to none or could belong to several."""
        if isinstance(item, (Assembly, Capture)):
            hint = item.drafter if isinstance(item, Assembly) else ""
            found = self._find(item.where.path, item.target, hint)
            if found is None and self._plausible(item.target):
                self._doubt(item.where)
            return found
        path = item.where.path
        return self._files[path] if path in self._files else self._find(path, None, "")

    def of_recipe(self, told: Told) -> tuple[int | None, bool]:
        """The index of the drafter that a recipe makes, and whether the recipe names it."""
        heads = [self._heads[index] for index in self._candidates]
        configs = [head.config.path if head.config is not None else "" for head in heads]
        named = recipes.names_head(told, [head.folder for head in heads], configs)
        if named is not None:
            return self._candidates[named], True
        if told.recipe.step in ("card", "convert"):
            return None, False
        return self._find(told.recipe.where.path, told.recipe.target, ""), False

    def _plausible(self, target: Value | None) -> bool:
        return any(not self._other_target(index, target) for index in self._candidates)

    def _doubt(self, where: Location) -> None:
        """Remember a capture that could be of several drafters; the draft configs that a trainer ships are none."""
        if len(self._candidates) > 1 and any(self._heads[index].exported for index in self._candidates):
            places = self._doubts.setdefault(tuple(self._candidates), [])
            if all(place.path != where.path for place in places):
                places.append(where)

    def _find(self, path: str, target: Value | None, drafter: str) -> int | None:
        stated = [index for index in range(len(self._heads)) if self._stated(index, path)]
        if stated:
            return stated[0] if len(stated) == 1 else None
        if drafter:
            folders = {self._heads[index].folder: index for index in self._candidates}
            named = paths.resolve(drafter, path, folders)
            if named is not None:
                return folders[named]
        open_for = [
            index for index in self._candidates if not self._other_target(index, target) and not self._closed(index)
        ]
        if len(open_for) <= 1:
            return open_for[0] if open_for else None
        for narrower in (self._named_by_runs(path, open_for), self._same_target(target, open_for)):
            if len(narrower) == 1:
                return narrower[0]
        near = paths.nearest(path, [self._heads[index].folder for index in open_for])
        return next(i for i in open_for if self._heads[i].folder == near[0]) if len(near) == 1 else None

    def _stated(self, index: int, path: str) -> bool:
        own = self._heads[index].settings
        globs = (*own.capture, *own.training) if own is not None else ()
        return bool(globs) and matches(globs, self._settings.inside(path))

    def _closed(self, index: int) -> bool:
        """Whether the configuration names the captures of this drafter, so that no others are its."""
        own = self._heads[index].settings
        return own is not None and bool(own.capture)

    def _other_target(self, index: int, target: Value | None) -> bool:
        """Whether the fact's target is known to be another model than the drafter's."""
        return targets.differ(self._targets[index], targets.find(target, self._facts.targets))

    def _same_target(self, target: Value | None, indexes: Sequence[int]) -> list[int]:
        if target is None or not target.known:
            return []
        found = targets.find(target, self._facts.targets)
        return [
            index
            for index in indexes
            if (own := self._targets[index]) is not None
            and (own.name == target.value or (found is not None and found.depth and found.depth == own.depth))
        ]

    def _named_by_runs(self, path: str, indexes: Sequence[int]) -> list[int]:
        """The drafters whose folders the commands name that run this script."""
        folders = {self._heads[index].folder: index for index in indexes}
        found: set[int] = set()
        for run in self._facts.runs:
            if runs(run, path):
                for word in run.words:
                    if word.known and isinstance(word.value, str) and "/" in word.value + "/":
                        named = paths.resolve(word.value.partition("=")[2] or word.value, run.where.path, folders)
                        if named is not None:
                            found.add(folders[named])
        return sorted(found)

    def ambiguities(self) -> tuple[Ambiguity, ...]:
        """One for each set of drafters between which some capture could not be told."""
        found = []
        for candidates, places in self._doubts.items():
            first = self._heads[candidates[0]]
            found.append(
                Ambiguity(
                    where=first.where,
                    what="which code captured the states of which drafter",
                    candidates=tuple(self._heads[index].name for index in candidates),
                    places=tuple(places),
                )
            )
        return tuple(found)


def runs(run: ScriptRun, path: str) -> bool:
    """Whether a command runs the script at `path`: by its path from the command's file upwards, or as a module."""
    script = run.script.replace("\\", "/")
    if not script.endswith(".py"):
        script = script.replace(".", "/") + ".py"
    return paths.parts(path)[-len(paths.parts(script)) :] == paths.parts(script)
