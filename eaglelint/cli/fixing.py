"""What `eaglelint check --fix` and `--diff` print besides the report."""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import TYPE_CHECKING

import click

from eaglelint import catalog
from eaglelint.report.excerpt import at_line_start, visible
from eaglelint.report.summary import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eaglelint.fixing.session import Fixed
    from eaglelint.run import Result
    from eaglelint.settings import Settings


def run(ctx: click.Context, paths: Sequence[str], settings: Settings, *, unsafe: bool, diff: bool) -> Result:
    """Fix, and return what is left to report; with `diff`, print the changes instead and end the command."""
    from eaglelint.fixing.session import fix

    fixed = fix(paths, settings, unsafe=unsafe)
    if diff:
        click.echo(_for_people(fixed.diff()), nl=False)
        tell(fixed, written=False)
        ctx.exit(2 if fixed.result.tracebacks else int(bool(fixed.files)))
    problems = fixed.write()
    tell(fixed, written=True)
    for problem in problems:
        click.echo(f"eaglelint: {visible(str(problem))}", err=True)
    if problems:
        ctx.exit(2)
    return fixed.result


def _for_people(diff: str) -> str:
    """A diff as it may be shown on a terminal or in a workflow's log; elsewhere it stays one that `git apply` takes."""
    if not sys.stdout.isatty() and not os.environ.get("GITHUB_ACTIONS"):
        return diff
    return "".join(f"{at_line_start(visible(line.removesuffix(chr(13))))}\n" for line in diff.split("\n")[:-1])


def tell(fixed: Fixed, *, written: bool) -> None:
    """Say on standard error what was fixed, and what could not be and why."""
    count = len(fixed.fixed)
    rules = Counter(finding.rule for finding in fixed.fixed)
    named = ", ".join(f"{number} {rule} {catalog.slug(rule)}" for rule, number in sorted(rules.items()))
    done = "fixed" if written else "would fix"
    if count:
        what = f"{plural(count, 'finding')} in {plural(len(fixed.files), 'file')}"
        click.echo(f"eaglelint: {done} {what}: {named}", err=True)
    else:
        click.echo(f"eaglelint: {'nothing was fixed' if written else 'would fix nothing'}", err=True)
    for finding, reason in fixed.refused:
        click.echo(visible(f"eaglelint: {finding.where} {finding.rule} is left to you: {reason}"), err=True)
    held = sum(1 for finding in fixed.result.findings if finding.fix and finding.fix.automatic)
    held -= len(fixed.refused)
    if held > 0:
        click.echo(
            f"eaglelint: {held} more can be fixed with --unsafe-fixes, which need a look: "
            "they rest on what is likely, not proven",
            err=True,
        )
