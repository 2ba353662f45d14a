"""Options files: YAML that holds an engine's arguments belongs to the launch that names it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from eaglelint.facts import Launch
from eaglelint.linking import paths, releases
from eaglelint.readers.launch import with_options

#: The arguments by which engines are given such a file, normalised.
_NAMES = ("extra_llm_api_options", "config")


def applied(launches: Iterable[Launch]) -> tuple[Launch, ...]:
    """The launches, each with the options file that it names; a file that some launch names is none of its own."""
    every = tuple(launches)
    files = {launch.where.path: launch for launch in every if launch.form == "yaml"}
    used: set[str] = set()
    found = []
    for launch in every:
        path = _named(launch, files) if launch.form != "yaml" else None
        if path is not None:
            used.add(path)
            launch = replace(with_options(launch, files[path]), mounts=launch.mounts)
        found.append(launch)
    return tuple(launch for launch in found if launch.form != "yaml" or launch.where.path not in used)


def _named(launch: Launch, files: dict[str, Launch]) -> str | None:
    """The path of the options file that a launch names, when it is one for its engine."""
    argument = launch.get(*_NAMES)
    value = argument.value.value if argument is not None and argument.value.known else None
    if not isinstance(value, str) or not value.endswith((".yaml", ".yml")):
        return None
    own = [path for path in files if releases.canonical(files[path].engine) == releases.canonical(launch.engine)]
    return paths.resolve(paths.through(value, launch.mounts), launch.where.path, own)
