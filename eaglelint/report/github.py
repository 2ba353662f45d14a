"""Annotations of a pull request: GitHub workflow commands.

GitHub shows at most 10 annotations of each level in a step; what goes beyond is counted in a last notice and stands in
the step's summary, a Markdown file whose path is in $GITHUB_STEP_SUMMARY (see `markdown.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from eaglelint.findings import Finding, Severity
from eaglelint.location import Location
from eaglelint.report.excerpt import one_line, visible
from eaglelint.report.places import from_root, place, title
from eaglelint.report.summary import footer, plural

if TYPE_CHECKING:
    from eaglelint.run import Result

#: Annotations of one level that GitHub keeps of a step.
LIMIT = 10

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}


def render(result: Result, *, color: bool = False) -> str:
    """The workflow commands, most severe first, then the closing line; `color` is not used."""
    return "".join(f"{line}\n" for line in (*_commands(result), footer(result)))


def _commands(result: Result) -> Iterator[str]:
    left: list[str] = []
    infos = result.count("info")
    for severity in ("error", "warning", "info"):
        found = [finding for finding in result.findings if finding.severity == severity]
        limit = LIMIT
        if severity == "info" and (left or infos > LIMIT):
            limit = LIMIT - 1  # the last notice counts the rest
        yield from (_command(finding, _shown_at(finding, result)) for finding in found[:limit])
        if len(found) > limit:
            left.append(plural(len(found) - limit, severity))
    if left:
        more = f"{', '.join(left)} more: see the summary of this step, or the log of `eaglelint check`"
        yield f"::notice title=eaglelint::{escape_message(more)}"


def _shown_at(finding: Finding, result: Result) -> Location:
    """Where a finding is annotated: its own place, or where that has not changed, the first of its places that has.

    A pull request shows annotations beside lines that it changes.
    """
    if result.changed is None or result.changed(finding.where):
        return finding.where
    return next((step.where for step in finding.related if result.changed(step.where)), finding.where)


def _command(finding: Finding, where: Location) -> str:
    properties: dict[str, str | int] = {"file": _file(where.path), "line": where.line}
    if where.path == ".":
        properties = {}  # the whole project: no file to stand in
    elif where.end_line > where.line:
        properties["endLine"] = where.end_line  # GitHub takes no columns for more than one line
    else:
        properties |= {"endLine": where.line, "col": where.column, "endColumn": max(where.end_column, where.column)}
    properties["title"] = title(finding)
    shown = ",".join(f"{key}={escape_property(str(value))}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {shown}::{escape_message(_message(finding))}"


def _file(path: str) -> str:
    """The name of a file as GitHub looks for it, but for characters that a log obeys."""
    return "\n".join(visible(part) for part in from_root(path).split("\n"))


def _message(finding: Finding) -> str:
    """The message with its place, so that the plain log is of use too, its trace and its fix."""
    lines = [f"{place(finding.where)}:{finding.where.column}: {one_line(finding.message)}"]
    lines += [f"{i}. {place(step.where)} {one_line(step.what)}" for i, step in enumerate(finding.related, 1)]
    if finding.fix is not None:
        lines.append(f"fix: {one_line(finding.fix.description)}")
    return "\n".join(lines)


def escape_message(text: str) -> str:
    """The text of a workflow command, as GitHub's own toolkit escapes it."""
    return _encodable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """The value of a property of a workflow command."""
    return escape_message(text).replace(":", "%3A").replace(",", "%2C")


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
