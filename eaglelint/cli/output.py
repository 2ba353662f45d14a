"""Where reports go: standard output, files, the summary of a GitHub step."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from eaglelint.run import Result


def show(format_: str, result: Result, color: str) -> None:
    """The report on standard output."""
    from eaglelint.report import render

    colored = format_ == "text" and wants_color(color)
    put(render(format_, result, color=colored), colored)


def put(text: str, colored: bool) -> None:
    """A text on standard output, whatever characters the terminal's encoding has."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    click.echo(text.encode(encoding, "backslashreplace").decode(encoding), nl=False, color=colored)


def count(result: Result, *, beside_report: bool) -> None:
    """How many findings each rule has; on standard error unless it may stand beside the report."""
    from eaglelint.report.statistics import lines

    for line in lines(result):
        click.echo(line, err=not beside_report)


def failed(traceback: str) -> None:
    """Show where eaglelint itself failed."""
    from eaglelint.report.excerpt import visible

    for number, line in enumerate(traceback.split("\n")):
        click.echo(f"eaglelint: {visible(line) if number else f'internal error {visible(line)}'}", err=True)


def wants_color(color: str) -> bool:
    """Whether to colour: --color, then $NO_COLOR, then $FORCE_COLOR, then whether a person is looking."""
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def write_all(outputs: Sequence[tuple[str, str]], result: Result) -> None:
    """A report to each file of `outputs`, which are (format, file)."""
    from eaglelint.report import render

    for format_, file in outputs:
        write(file, render(format_, result))


def write(file: str, text: str) -> None:
    """Put a text in the place of a file, whole or not at all; what is no regular file (a pipe) is written to.

    Raises UsageError when that can not be done.
    """
    from eaglelint.errors import UsageError
    from eaglelint.fixing.writing import write as replace

    data = text.encode("utf-8", "backslashreplace")
    try:
        if os.path.exists(file) and not os.path.isfile(file):
            with open(file, "wb") as stream:
                stream.write(data)
        else:
            replace(file, data)
    except OSError as error:
        raise UsageError(f"can not write {file}: {(error.strerror or str(error)).lower()}") from error


def write_step_summary(result: Result) -> None:
    """Append the table to the summary of the GitHub step; without one, or where it can not be written, go on."""
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if not file:
        return
    from eaglelint.report.markdown import render

    try:
        with open(file, "a", encoding="utf-8") as stream:
            stream.write(render(result) + "\n")
    except OSError as error:
        click.echo(f"eaglelint: can not write the step summary: {(error.strerror or str(error)).lower()}", err=True)
