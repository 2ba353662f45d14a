"""`eaglelint trace`: draw each pipeline, from the captured boundary to the one that is served."""

from __future__ import annotations

import click

from eaglelint.cli.output import put, wants_color
from eaglelint.tracing import FORMATS


@click.command("trace")
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATHS]...")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", help="What is drawn (text).")
@click.option("--output", metavar="FILE", help="Write the drawing to a file instead of printing it.")
@click.option("--config", metavar="FILE", help="Configuration, instead of the nearest above PATHS.")
@click.option("--isolated", is_flag=True, help="Read no configuration.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="Colours (auto).")
@click.option("--verbose", is_flag=True, help="Show where eaglelint itself failed, if it did.")
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    format_: str,
    output: str | None,
    config: str | None,
    isolated: bool,
    color: str,
    verbose: bool,
) -> None:
    """Draw what each drafter was trained on beside what it is served.

    One row for each column of fc: the boundary that was captured, what it is kept as and called, the column, and from
    the other side the boundary that is served, the id that means it and the key that holds the id. Mismatches and what
    is not known are marked. The exit status is 0 whatever is drawn, and 2 when the call is wrong or eaglelint failed.
    """
    from eaglelint.cli.following import following
    from eaglelint.configuration import load
    from eaglelint.settings import Settings
    from eaglelint.tracing.run import trace

    if config and isolated:
        raise click.UsageError("--config and --isolated exclude each other")
    paths = paths or (".",)
    settings = Settings() if isolated else load(paths, config)
    with following(verbose=False):
        result = trace(paths, settings)
    colored = format_ == "text" and output is None and wants_color(color)
    text = result.render(format_, width=_width(output), color=colored)
    if output is None:
        put(text, colored)
    else:
        _write(output, text)
    for traceback in result.tracebacks:
        first, *_, last = traceback.strip().splitlines()
        shown = traceback if verbose else f"{first} {last} (--verbose shows where)"
        click.echo(f"eaglelint: internal error {shown}", err=True)
    ctx.exit(2 if result.tracebacks else 0)


def _width(output: str | None) -> int:
    """The columns of the terminal; 80 for a file or a pipe unless $COLUMNS says otherwise."""
    import os
    import shutil
    import sys

    if output is not None or (not sys.stdout.isatty() and not os.environ.get("COLUMNS")):
        return 80
    return shutil.get_terminal_size((80, 24)).columns


def _write(file: str, text: str) -> None:
    from eaglelint.errors import UsageError

    try:
        with open(file, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        raise UsageError(f"can not write {file}: {(error.strerror or str(error)).lower()}") from error
