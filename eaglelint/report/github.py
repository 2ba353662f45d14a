"""Annotations of a pull request: GitHub workflow commands, and the whole table in the summary of the step.

GitHub shows at most 10 annotations of each level in a step; what goes beyond is counted in a last notice and stands in
the step's summary, a Markdown file whose path is in $GITHUB_STEP_SUMMARY and which may hold 1 MiB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from eaglelint import catalog
from eaglelint.findings import Finding, Severity
from eaglelint.location import Location
from eaglelint.report.excerpt import one_line, visible
from eaglelint.report.summary import footer, plural

if TYPE_CHECKING:
    from eaglelint.run import Result

#: Annotations of one level that GitHub keeps of a step.
LIMIT = 10
#: Bytes of the table: below the limit of 1 MiB, with room for what other commands of the step wrote.
_SUMMARY_BYTES = 900_000

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
        yield from (_command(finding) for finding in found[:limit])
        if len(found) > limit:
            left.append(plural(len(found) - limit, severity))
    if left:
        more = f"{', '.join(left)} more: see the summary of this step, or the log of `eaglelint check`"
        yield f"::notice title=eaglelint::{escape_message(more)}"


def _command(finding: Finding) -> str:
    where = finding.where
    properties = {"file": where.path, "line": where.line}
    if where.end_line > where.line:
        properties["endLine"] = where.end_line  # GitHub takes no columns for more than one line
    else:
        properties |= {"endLine": where.line, "col": where.column, "endColumn": max(where.end_column, where.column)}
    properties["title"] = f"{finding.rule} {catalog.slug(finding.rule)}"
    shown = ",".join(f"{key}={escape_property(str(value))}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {shown}::{escape_message(_message(finding))}"


def _message(finding: Finding) -> str:
    """The message with its place, so that the plain log is of use too, its trace and its fix."""
    lines = [f"{_place(finding.where)}:{finding.where.column}: {one_line(finding.message)}"]
    lines += [f"{i}. {_place(step.where)} {one_line(step.what)}" for i, step in enumerate(finding.related, 1)]
    if finding.fix is not None:
        lines.append(f"fix: {one_line(finding.fix.description)}")
    return "\n".join(lines)


def _place(where: Location) -> str:
    return f"{visible(where.path)}:{where.line}"


def escape_message(text: str) -> str:
    """The text of a workflow command, as GitHub's own toolkit escapes it."""
    return _encodable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """The value of a property of a workflow command."""
    return escape_message(text).replace(":", "%3A").replace(",", "%2C")


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def summary(result: Result) -> str:
    """The step's summary: every finding as a row of a Markdown table, cut where GitHub would refuse more."""
    head = f"### eaglelint: {footer(result)}\n\n"
    if not result.findings:
        return head
    rows = ["| | Rule | Place | Finding |\n", "|---|---|---|---|\n"]
    size = sum(len(row.encode()) for row in rows)
    for index, finding in enumerate(result.findings):
        row = _row(finding)
        size += len(row.encode("utf-8", "backslashreplace"))
        if size > _SUMMARY_BYTES:
            rows.append(f"\n{plural(len(result.findings) - index, 'finding')} more, left out for their size.\n")
            break
        rows.append(row)
    return _encodable(head + "".join(rows) + "\n")


def _row(finding: Finding) -> str:
    fix = f"<br>fix: {_markdown(finding.fix.description)}" if finding.fix else ""
    trace = "".join(
        f"<br>{number}. <code>{_markdown(_place(step.where))}</code> {_markdown(step.what)}"
        for number, step in enumerate(finding.related, 1)
    )
    rule = f"{finding.rule} {catalog.slug(finding.rule)}"
    place = f"<code>{_markdown(_place(finding.where))}</code>"
    return f"| {finding.severity} | {rule} | {place} | {_markdown(finding.message)}{trace}{fix} |\n"


def _markdown(text: str) -> str:
    """A text that means itself in a cell of a Markdown table: punctuation becomes character references."""
    return re.sub(r"[^\w\s.,;()/-]|_", lambda match: f"&#{ord(match[0])};", one_line(text))
