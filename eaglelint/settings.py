"""Settings: what `[tool.eaglelint]` or `eaglelint.toml` says that no other file says. Plain records, cheap to import.

The same records are the model that a configuration file is validated against and that
`schemas/settings.schema.json` is generated from (see `configuration.py`): the docstring of a field is its description
there. Underscores in names are dashes in the file. All paths and globs in a configuration file are relative to the
folder that holds it; `Settings.inside` turns a path of this run into such a path.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

FailOn = Literal["error", "warning", "info", "never"]


def _dashed(name: str) -> str:
    return name.replace("_", "-")


#: How pydantic reads these records: no unknown keys, dashes for underscores, docstrings as descriptions.
_STRICT: dict[str, Any] = {"extra": "forbid", "alias_generator": _dashed, "use_attribute_docstrings": True}


@dataclass(frozen=True)
class TargetSettings:
    """The target (verifier) model, where no file in the project describes it."""

    __pydantic_config__ = _STRICT

    name: str = ""
    """Hub id or name of the target, such as "moonshotai/Kimi-K2.5"."""
    path: str = ""
    """Folder of the target's config.json."""
    depth: int | None = None
    """Number of decoder layers N of the target."""


@dataclass(frozen=True)
class PipelineSettings:
    """What belongs to one drafter: how its data was captured, how it was trained, where it is served."""

    __pydantic_config__ = _STRICT

    drafter: str
    """Folder or config.json of the drafter, or its Hub id."""
    capture: tuple[str, ...] = ()
    """Files (globs) with the code that captures the hidden states it was trained on."""
    training: tuple[str, ...] = ()
    """Files (globs) with the code that loads the states and trains the drafter."""
    launch: tuple[str, ...] = ()
    """Files (globs) that start the servers with this drafter."""
    target: str = ""
    """Folder, Hub id or name of the target of this drafter."""
    engine: str = ""
    """Engine that serves it, with or without a release: "sglang", "sglang==0.5.9", "vllm>=0.12,<0.14"."""


@dataclass(frozen=True)
class DataSettings:
    """Sample files of dumped hidden states whose values may be looked at (rules EGL8xx)."""

    __pydantic_config__ = _STRICT

    samples: tuple[str, ...] = ()
    """Sample files (globs): a few files, never a whole data set."""
    target: str = ""
    """Folder of the target's weights (embedding and final norm are read)."""


@dataclass(frozen=True)
class ExceptionSettings:
    """A finding that is accepted, in a file that can not hold comments, such as JSON."""

    __pydantic_config__ = _STRICT

    path: str
    """The file (or glob)."""
    rule: str
    """Code or slug of the rule."""
    pointer: str = ""
    """JSON pointer of the value the finding stands at, such as "/eagle_config"; without one, the whole file."""
    reason: str = ""
    """Why it is accepted."""


@dataclass(frozen=True)
class Settings:
    """Everything that can be configured. An instance without arguments is what holds without a configuration file."""

    __pydantic_config__ = _STRICT

    engines: Mapping[str, str] = field(default_factory=dict)
    """Release of each engine in use, as a version ("0.5.9") or a range (">=0.5.8,<0.6"), by the engine's name."""
    target: TargetSettings | None = None
    """The target model of the project."""
    pipeline: tuple[PipelineSettings, ...] = ()
    """Which capture, training and launch belong to which drafter, where the files do not say so."""
    data: DataSettings = field(default_factory=DataSettings)
    """Sample files of dumped states, for the rules that look at values."""
    include: tuple[str, ...] = ()
    """Files to read (patterns as in .gitignore); without any, every file of a kind that eaglelint knows."""
    exclude: tuple[str, ...] = ()
    """Files and folders to leave out (patterns as in .gitignore), also when they are named on the command line."""
    markdown: bool = False
    """Whether to read the fenced code blocks of Markdown files: commands, Python, compose files, Dockerfiles."""
    select: tuple[str, ...] = ()
    """Rules to report: codes, prefixes of codes ("EGL4") or slugs; without any, all that are on by default."""
    extend_select: tuple[str, ...] = ()
    """Rules to report as well, such as those that are off by default."""
    ignore: tuple[str, ...] = ()
    """Rules not to report: codes, prefixes or slugs."""
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Rules not to report in files, by pattern (as in .gitignore)."""
    severity: Mapping[str, Literal["error", "warning", "info"]] = field(default_factory=dict)
    """Another severity for a rule, by code or slug."""
    fail_on: FailOn = "warning"
    """The least severity of a finding that makes the exit status 1."""
    exceptions: tuple[ExceptionSettings, ...] = ()
    """Accepted findings in files that can not hold an ignore comment."""
    baseline: str = ""
    """File of the findings that are accepted for now, by file and rule (`--write-baseline` writes it)."""

    folder: str = field(default="", init=False, compare=False)
    file: str = field(default="", init=False, compare=False)

    def placed(self, file: str, folder: str) -> Settings:
        """These settings as read from `file`; `folder` (absolute) is where their paths and patterns start from."""
        copy = replace(self)
        object.__setattr__(copy, "file", file)
        object.__setattr__(copy, "folder", folder)
        return copy

    def changed(self, **changes: Any) -> Settings:
        """These settings with some of them replaced (what the command line says goes before what a file says)."""
        return replace(self, **changes).placed(self.file, self.folder)

    def inside(self, path: str) -> str:
        """A path of this run (relative to the current directory) as seen from the folder of the configuration."""
        relative = os.path.relpath(os.path.abspath(path), self.folder or os.getcwd())
        return relative.replace(os.sep, "/")


def matches(patterns: Iterable[str], path: str) -> bool:
    """Whether a path matches one of some patterns as in .gitignore (a folder's pattern covers all below it)."""
    return _spec(tuple(patterns)).match_file(path)


@cache
def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns)
