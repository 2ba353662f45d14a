"""What each trainer and data generator does with layer ids: rules, defaults, bytes on disk, and what it exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

from eaglelint._resources import data_root
from eaglelint.boundary import evaluate
from eaglelint.conventions import rules, versions
from eaglelint.conventions.load import read_yaml
from eaglelint.conventions.records import Certainty

LastState = Literal["post_norm", "pre_norm", "none", "unknown"]

_NAMES = (
    "angelslim", "baldeagle", "eagle", "modelopt", "nemo-automodel", "nemo-rl", "specforge", "speculators", "torchspec",
    "transformers",
)  # fmt: skip


class TensorOnDisk(NamedTuple):
    """What a key of a dumped sample holds: "aux", "last_state", "stack" (aux and last), "tokens", "mask", ...

    `width` is in units of the target's hidden size ("1", "3", "k" for as many as there are ids), "" when not fixed.
    """

    key: str
    holds: str
    width: str = ""
    shape: str = ""


@dataclass(frozen=True)
class Layout:
    """How a trainer stores samples. `renamed` maps keys on disk to names in memory; `manifest` keys carry the ids."""

    files: str = ""
    tensors: tuple[TensorOnDisk, ...] = ()
    renamed: Mapping[str, str] | None = None
    manifest: tuple[str, ...] = ()
    carries_ids: bool = False

    def holds(self, key: str) -> str:
        """What that key holds, "" when the layout has no such key."""
        return next((t.holds for t in self.tensors if t.key == key), "")


@dataclass(frozen=True)
class Export:
    """What an exporter writes: `ids` is "always", "never" or "as_given"; `convention` "output" or "boundary" ids."""

    ids: str
    key: str = ""
    convention: str = ""
    order: str = ""
    architectures: tuple[str, ...] = ()


class TrainerDefect(NamedTuple):
    """A known defect of a trainer."""

    id: str
    effect: str
    first: str = ""
    last: str = ""
    fixed_in: str = ""
    certainty: Certainty = "read"
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """One path through a trainer, over one range of releases or commits.

    `rule` is an id rule, or "engine" where the ids go through another engine (`engine`) and follow its rule. `default`
    are boundaries, `default_ids` the ids that stand for them (with the one of the last state, where it is listed).
    `keys` are JSON pointers in the drafter's config, `run_config` keys of the run's configuration, `arguments`
    normalised command-line arguments. `last_is_verifier`: the last state listed is the verifier's, no auxiliary one.
    """

    trainer: str
    path: str
    first: str
    last: str
    releases: tuple[str, ...]
    rule: str
    engine: str
    default_ids: tuple[str, ...]
    default: tuple[str, ...]
    order: str
    count: int
    keys: tuple[str, ...]
    run_config: tuple[str, ...]
    arguments: tuple[str, ...]
    last_is_verifier: bool
    last_state: LastState
    layout: Layout | None
    exports: Export | None
    defects: tuple[TrainerDefect, ...]
    certainty: Certainty
    note: str
    evidence: tuple[str, ...]

    def defaults(self, depth: int | None) -> tuple[int, ...] | None:
        """The boundaries that are captured without ids for a target of `depth` layers; None when not known."""
        if not self.default or not depth:
            return None
        return tuple(evaluate(formula, depth) for formula in self.default)

    def boundaries(self, ids: Sequence[int] | None, depth: int | None) -> tuple[int, ...] | None:
        """The boundaries that this path makes of ids, in their order; None when not known or left to an engine."""
        if ids is None or self.rule == "ignored":
            return self.defaults(depth)
        return None if self.rule == "engine" else rules.apply(self.rule, ids, depth)


@dataclass(frozen=True)
class Trainer:
    """One trainer with its recipes, oldest first. `kind` is "trainer" or "library"."""

    name: str
    kind: str
    names: tuple[str, ...]
    package: str
    verified: str
    recipes: tuple[Recipe, ...]

    def recipe(self, path: str, specifier: str | None = None) -> tuple[Recipe, ...]:
        """The recipes of a path whose releases a specifier admits; all of them where releases are not known."""
        own = tuple(r for r in self.recipes if r.path == path)
        if not specifier:
            return own
        known = sorted(
            {x for r in own for x in (*r.releases, r.first, r.last) if versions.parse(x)}, key=versions.order
        )
        wanted = versions.admitted(specifier, sorted(known, key=versions.order))
        return tuple(r for r in own if not _ranged(r) or any(versions.within(w, r.first, r.last) for w in wanted))


def _ranged(recipe: Recipe) -> bool:
    return versions.parse(recipe.first) is not None and versions.parse(recipe.last) is not None


def trainers() -> tuple[str, ...]:
    """The names of all known trainers."""
    return _NAMES


def trainer(name: str) -> Trainer | None:
    """The trainer of that name (`SpecForge`, `nvidia-modelopt`, `SafeAILab/EAGLE`), None when it is not known."""
    wanted = name.strip().lower().replace("_", "-")
    if wanted in _NAMES:
        return _load(wanted)
    aliases = {alias.lower(): stem for stem in _NAMES for alias in _load(stem).names}
    return _load(aliases[wanted]) if wanted in aliases else None


@cache
def _load(stem: str) -> Trainer:
    raw = read_yaml(data_root("rules") / "conventions" / "trainers" / f"{stem}.yaml")
    return Trainer(
        name=raw["trainer"],
        kind=raw.get("kind", "trainer"),
        names=_texts(raw["names"]),
        package=raw.get("package", ""),
        verified=str(raw["verified"]),
        recipes=tuple(_recipe(row, raw) for row in raw["entries"]),
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(v) for v in value or ())


def _recipe(row: Mapping[str, Any], raw: Mapping[str, Any]) -> Recipe:
    return Recipe(
        trainer=raw["trainer"],
        path=row["path"],
        first=str(row.get("first", "")),
        last=str(row.get("last", "")),
        releases=_texts(row.get("releases")),
        rule=row["rule"],
        engine=row.get("engine", ""),
        default_ids=_texts(row.get("default_ids")),
        default=_texts(row.get("default")),
        order=row["order"],
        count=row.get("count", 0),
        keys=_texts(row.get("keys")),
        run_config=_texts(row.get("run_config")),
        arguments=_texts(row.get("arguments")),
        last_is_verifier=row.get("last_is_verifier", False),
        last_state=row.get("last_state", "unknown"),
        layout=_layout(row["layout"]) if "layout" in row else None,
        exports=_export(row["exports"]) if "exports" in row else None,
        defects=tuple(_defect(d, row) for d in row.get("defects", ())),
        certainty=row.get("certainty", raw.get("certainty", "read")),
        note=row.get("note", ""),
        evidence=_texts(row.get("evidence")),
    )


def _layout(row: Mapping[str, Any]) -> Layout:
    tensors = row.get("tensors", {}).items()
    return Layout(
        files=row.get("files", ""),
        tensors=tuple(TensorOnDisk(k, t["holds"], t.get("width", ""), t.get("shape", "")) for k, t in tensors),
        renamed=row.get("renamed"),
        manifest=_texts(row.get("manifest")),
        carries_ids=row.get("carries_ids", False),
    )


def _export(row: Mapping[str, Any]) -> Export:
    return Export(
        row["ids"],
        row.get("key", ""),
        row.get("convention", ""),
        row.get("order", ""),
        _texts(row.get("architectures")),
    )


def _defect(row: Mapping[str, Any], entry: Mapping[str, Any]) -> TrainerDefect:
    return TrainerDefect(
        row["id"],
        row["effect"],
        str(row.get("first", entry.get("first", ""))),
        str(row.get("last", entry.get("last", ""))),
        str(row.get("fixed_in", "")),
        row.get("certainty", "read"),
        _texts(row.get("evidence")),
    )
