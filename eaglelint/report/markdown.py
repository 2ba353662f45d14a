"""A table in Markdown, for the summary of a CI step, a comment or a wiki: every finding with its trace and its fix.

GitHub takes 1 MiB of summary from a step; what would go beyond is counted in a last line. Names and contents of files
mean themselves: nothing in them becomes markup, a link, a mention or a reference to an issue.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from eaglelint.findings import Finding
from eaglelint.report.excerpt import one_line
from eaglelint.report.places import place, title
from eaglelint.report.summary import footer, plural

if TYPE_CHECKING:
    from eaglelint.run import Result

#: Bytes of the table: below the limit of 1 MiB, with room for what other commands of the step wrote.
_LARGEST = 900_000


def render(result: Result, *, color: bool = False) -> str:
    """The table under a heading that counts; `color` is not used."""
    head = f"### eaglelint: {footer(result)}\n"
    if not result.findings:
        return head
    rows = ["| | Rule | Place | Finding |\n", "|---|---|---|---|\n"]
    size = sum(len(row.encode()) for row in rows)
    for index, finding in enumerate(result.findings):
        row = _row(finding)
        size += len(row.encode())
        if size > _LARGEST:
            rows.append(f"\n{plural(len(result.findings) - index, 'finding')} more, left out for their size.\n")
            break
        rows.append(row)
    return "\n".join((head, "".join(rows)))


def _row(finding: Finding) -> str:
    fix = f"<br>fix: {escape(finding.fix.description)}" if finding.fix else ""
    trace = "".join(
        f"<br>{number}. <code>{escape(place(step.where))}</code> {escape(step.what)}"
        for number, step in enumerate(finding.related, 1)
    )
    where = f"<code>{escape(place(finding.where))}</code>"
    return f"| {finding.severity} | {title(finding)} | {where} | {escape(finding.message)}{trace}{fix} |\n"


def escape(text: str) -> str:
    """A text that means itself in a cell of a Markdown table.

    Punctuation becomes character references. What GitHub and GitLab find in the finished page all the same (mentions,
    references to issues, addresses without a scheme) is kept apart by an empty comment.
    """
    plain = re.sub(r"[^\w\s.,;()/-]|_", lambda match: f"&#{ord(match[0])};", one_line(text))
    plain = re.sub(r"(?i)\bwww\.", lambda match: f"{match[0][:-1]}&#46;", plain)
    return re.sub(r"(&#(?:64|35|33|37|126|36);)(?=\w)", r"\1<!-- -->", plain)
