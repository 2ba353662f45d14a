"""Which releases of an engine a launch runs with, and which engines the project has besides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from packaging.specifiers import SpecifierSet

from eaglelint.conventions import trainers
from eaglelint.conventions.table import engine as known_engine
from eaglelint.facts import EnginePin, Launch, Recipe
from eaglelint.linking import paths
from eaglelint.linking.records import Extraction, Release
from eaglelint.location import Location


def canonical(name: str) -> str:
    """The table's name of an engine or package; the name itself when the tables do not have it."""
    known = known_engine(name)
    return known.name if known is not None else name.strip().lower().replace("_", "-")


def configured(engines: Mapping[str, str], file: str) -> tuple[Release, ...]:
    """The releases that the configuration states for engines, with the line of each."""
    if not engines:
        return ()
    from eaglelint.configuration import places_in

    places = places_in(file) if file else {}
    prefix = "/tool/eaglelint" if file.endswith("pyproject.toml") else ""
    releases = []
    for name, text in engines.items():
        release = _stated(name, text, file)
        releases.append(release._replace(where=places.get(f"{prefix}/engines/{name}", release.where)))
    return tuple(releases)


def stated(text: str, file: str) -> Release | None:
    """The release of one pipeline's `engine = "sglang==0.5.9"`; None for an empty text."""
    if not text:
        return None
    at = next((place for place, sign in enumerate(text) if sign in "=<>~! "), len(text))
    return _stated(text[:at], text[at:].strip(), file)


def _stated(name: str, text: str, file: str) -> Release:
    specifier = text if not text or text[0] in "=<>~!" else f"=={text}"
    exact = specifier[2:].strip() if specifier.startswith("==") and "," not in specifier else ""
    return Release(canonical(name), specifier, "" if exact.endswith("*") else exact, Location(file) if file else None)


def for_launch(launch: Launch, pins: Sequence[EnginePin], settings: Sequence[Release]) -> tuple[Release, ...]:
    """The releases that a launch may run with; one entry for each pin that counts.

    The configuration comes first, then pins of the same service, stage or job, then the project-wide pins of the
    nearest folder above the launch, then those of the whole project. Without any, every release.
    """
    name = canonical(launch.engine)
    said = tuple(release for release in settings if release.engine == name)
    if said:
        return said
    mine = [pin for pin in pins if canonical(pin.package) == name]
    unit = [pin for pin in mine if launch.unit and pin.unit == launch.unit]
    same = [pin for pin in unit if pin.where.path == launch.where.path]
    same = same or [p for p in unit if paths.is_above(paths.folder_of(p.where.path), launch.where.path)]
    wide = [pin for pin in mine if not pin.unit or (not launch.unit and pin.where.path == launch.where.path)]
    above = [pin for pin in wide if paths.is_above(paths.folder_of(pin.where.path), launch.where.path)]
    deepest = max((len(paths.parts(paths.folder_of(pin.where.path))) for pin in above), default=0)
    near = [pin for pin in above if len(paths.parts(paths.folder_of(pin.where.path))) == deepest]
    chosen = same or near or wide
    if not chosen and launch.unit == "":
        chosen = mine
    return narrowed(Release.of(name, pin) for pin in chosen) or (Release(name),)


def only_pinned(pins: Sequence[EnginePin], settings: Sequence[Release], served: Iterable[str]) -> tuple[Release, ...]:
    """The releases of engines that nothing in the project starts; `served` are the engines that something starts."""
    started = set(served)
    found = [release for release in settings if release.engine not in started]
    named = {release.engine for release in found} | started
    for name in dict.fromkeys(canonical(pin.package) for pin in pins):
        if name not in named and known_engine(name) is not None:
            found += narrowed(Release.of(name, pin) for pin in pins if canonical(pin.package) == name)
    return tuple(found)


def of_nobody(
    pins: Sequence[EnginePin], launches: Sequence[Launch], extractions: Sequence[Extraction], recipes: Sequence[Recipe]
) -> tuple[EnginePin, ...]:
    """The pins of serving engines that no launch runs with: of a workflow, an image, a requirement beside the others.

    Left out are those of servers that extract and those of a training: a file that pins a trainer beside an engine,
    and one in the folder of a command that trains or extracts.
    """
    taken = {release.where for extraction in extractions for release in extraction.releases}
    taken |= {release.where for launch in launches for release in for_launch(launch, pins, ())}
    training = {pin.where.path for pin in pins if trainers.trainer(pin.package) is not None}
    folders = {paths.folder_of(recipe.where.path) for recipe in recipes if recipe.step in ("data", "train")} - {""}
    return tuple(
        pin
        for pin in pins
        if pin.where not in taken
        and pin.where.path not in training
        and paths.folder_of(pin.where.path) not in folders
    )


def named_besides(engine: str, chosen: Sequence[Release], pins: Sequence[EnginePin]) -> list[Release]:
    """Releases of an engine that pins limit, besides those that are chosen; none that a chosen one already resolves."""
    mine = [Release.of(engine, pin) for pin in pins if canonical(pin.package) == engine and not pin.unknown]
    return [release for release in narrowed([*chosen, *mine]) if release.bounded and release not in chosen]


def narrowed(releases: Iterable[Release]) -> tuple[Release, ...]:
    """Releases without repetitions, and without ranges that an exact pin (a lock file) already resolves."""
    every = list(releases)
    exact = [release.exact for release in every if release.exact]
    kept: dict[tuple[str, str, str], Release] = {}
    for release in every:
        if release.exact or release.unknown or not any(_admits(release.specifier, version) for version in exact):
            kept.setdefault((release.specifier, release.exact, release.unknown), release)
    return tuple(kept.values())


def _admits(specifier: str, version: str) -> bool:
    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except ValueError:  # InvalidSpecifier, and numbers of thousands of digits
        return False
