"""From a result to one of the output formats: one module a format, each with `render(result, color=...) -> str`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eaglelint.run import Result

#: The formats, each the name of its module.
FORMATS = ("text", "json", "github", "sarif", "gitlab", "junit", "markdown")


def render(format_: str, result: Result, *, color: bool = False) -> str:
    """The report in one of `FORMATS`, ending in a line break. `color` matters to text alone."""
    text: str = importlib.import_module(f"eaglelint.report.{format_}").render(result, color=color)
    return text
