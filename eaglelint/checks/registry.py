"""The checks: generators from a pipeline to findings, one module for each group of the catalogue.

A check is a function decorated with `@check("EGL401")` that takes a `Pipeline` and yields `Finding`s. It is pure: no
files are read, nothing is parsed, nothing is kept between calls. A module put into this package is found by itself.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from eaglelint.findings import Finding
    from eaglelint.pipeline import Pipeline

CheckFunction = Callable[["Pipeline"], "Iterator[Finding]"]


class Check(NamedTuple):
    """A check and the rules that it may report."""

    codes: tuple[str, ...]
    run: CheckFunction

    @property
    def name(self) -> str:
        """The function's name with its module, as an internal error names it."""
        return f"{self.run.__module__.rpartition('.')[2]}.{self.run.__name__}"


_CHECKS: list[Check] = []


def check(*codes: str) -> Callable[[CheckFunction], CheckFunction]:
    """Register a function as the check that reports these rules."""

    def register(function: CheckFunction) -> CheckFunction:
        _CHECKS.append(Check(codes, function))
        return function

    return register


def all_checks() -> tuple[Check, ...]:
    """Every check of this package, in the order of their first rule; imports the modules that hold them."""
    import eaglelint.checks as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return tuple(sorted(_CHECKS, key=lambda item: (item.codes, item.name)))
