"""Which checks there are. A check announces itself with a decorator; `load_all` imports the modules that hold them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from eaglelint.facts import Facts
    from eaglelint.findings import Finding
    from eaglelint.pipeline import Pipeline

    PipelineFunction = Callable[[Pipeline], Iterable[Finding]]
    ProjectFunction = Callable[[Facts], Iterable[Finding]]


class Registered(NamedTuple):
    """A check: the codes of the rules it may report, and the function (of a Pipeline, or of the Facts)."""

    codes: tuple[str, ...]
    function: Callable[[Any], Iterable[Finding]]


_pipeline_checks: list[Registered] = []
_project_checks: list[Registered] = []


def check(*codes: str) -> Callable[[PipelineFunction], PipelineFunction]:
    """Register a check that looks at one pipeline; `codes` are the rules it may report."""

    def register(function: PipelineFunction) -> PipelineFunction:
        _pipeline_checks.append(Registered(codes, function))
        return function

    return register


def project_check(*codes: str) -> Callable[[ProjectFunction], ProjectFunction]:
    """Register a check that looks at all facts of the project at once."""

    def register(function: ProjectFunction) -> ProjectFunction:
        _project_checks.append(Registered(codes, function))
        return function

    return register


class Checks(NamedTuple):
    """All checks: those over one pipeline and those over the whole project."""

    pipeline: tuple[Registered, ...]
    project: tuple[Registered, ...]


def load_all() -> Checks:
    """Import every module of this package and give the checks they registered."""
    package = importlib.import_module("eaglelint.checks")
    for module in sorted(module.name for module in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"eaglelint.checks.{module}")
    return Checks(tuple(_pipeline_checks), tuple(_project_checks))
