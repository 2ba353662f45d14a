"""What a person asks about: a reader by name, with releases and a path through it, and a target."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import NamedTuple

from eaglelint.conventions import versions
from eaglelint.conventions.known import KnownTarget, known_target
from eaglelint.conventions.records import Target
from eaglelint.conventions.table import Engine, engine, engines
from eaglelint.conventions.trainers import Trainer, trainer, trainers
from eaglelint.errors import UsageError

#: Readers that are neither engine nor trainer: boundaries themselves, and indices of `hidden_states`.
PLAIN = ("boundaries", "hf")
_HF = ("hf", "transformers", "hidden-states", "huggingface", "huggingface/transformers")
_ASKED = re.compile(r"\s*(?P<name>[A-Za-z][\w.\-/ ]*?)\s*(?::(?P<path>\w+))?\s*(?P<release>@.*|[=<>~!].*)?\s*")


class Asked(NamedTuple):
    """A reader: `name` is that of an engine, a trainer, "boundaries" or "hf"; `specifier` its releases, "" for any.

    `path` is one way through a trainer, "" for every one.
    """

    name: str
    specifier: str = ""
    path: str = ""
    engine: Engine | None = None
    trainer: Trainer | None = None


def ask(text: str, *, plain: bool = False) -> Asked:
    """A reader from `sglang@0.5.10`, `vllm>=0.30`, `modelopt:vllm_dump`, or with `plain` `boundaries` and `hf`.

    Raises UsageError, with the nearest name, for what is none.
    """
    match = _ASKED.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is no reader; write NAME, NAME@RELEASE or NAME:PATH")
    name, path = match["name"].strip(), match["path"] or ""
    specifier = (match["release"] or "").removeprefix("@").strip()
    found = _named(name, plain)
    if specifier and found.name in PLAIN:
        raise UsageError(f"{name} has no releases")
    if path and (found.trainer is None or path not in {recipe.path for recipe in found.trainer.recipes}):
        paths = sorted({recipe.path for recipe in found.trainer.recipes}) if found.trainer is not None else []
        hint = f"its paths are {', '.join(paths)}" if paths else "only trainers have several"
        raise UsageError(f"{found.name} has no path {path!r}; {hint}")
    try:
        versions.admitted(specifier, ())
    except ValueError:
        raise UsageError(f"{specifier!r} is no release and no range of releases, in {text!r}") from None
    return found._replace(specifier=specifier, path=path)


def _named(name: str, plain: bool) -> Asked:
    wanted = name.lower().replace("_", "-")
    if plain and wanted in ("boundaries", "boundary"):
        return Asked("boundaries")
    if plain and wanted in _HF:
        return Asked("hf")
    table = engine(name)
    if table is not None:
        return Asked(table.name, engine=table)
    recipes = trainer(name)
    if recipes is not None:
        return Asked(recipes.name, trainer=recipes)
    names = (*engines(), *trainers(), *(PLAIN if plain else ()))
    near = get_close_matches(wanted, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names)}"
    raise UsageError(f"unknown engine or trainer {name!r}; {hint}")


class Subject(NamedTuple):
    """The target that is asked about: None when it is not known. `depth` is N, None when not known."""

    name: str
    target: KnownTarget | Target | None
    depth: int | None

    @property
    def words(self) -> str:
        """The target in words: "moonshotai/Kimi-K2.5, 61 layers"."""
        layers = f"{self.depth} layers" if self.depth else ""
        return ", ".join(part for part in (self.name, layers) if part)


def subject(name: str | None, depth: int | None) -> Subject:
    """The target of that Hub id (or path that ends like one), with the depth that is given or known.

    Without a name, any target of `depth` layers. Raises UsageError for a target that is not known, with the nearest.
    """
    if not name:
        return Subject("", Target(depth=depth) if depth else None, depth)
    known = known_target(name)
    if known is None:
        from eaglelint.conventions.known import known_targets

        tails = {text.rsplit("/", 1)[-1].lower(): text for text in known_targets()}
        near = get_close_matches(name.rsplit("/", 1)[-1].lower(), tails, n=1, cutoff=0.6)
        hint = f"; did you mean {tails[near[0]]!r}?" if near else "; without --target, give --depth"
        raise UsageError(f"unknown target {name!r}{hint}")
    return Subject(known.name if "/" not in name else name, known, depth or known.depth or None)
