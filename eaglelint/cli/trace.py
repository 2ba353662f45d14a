"""`eaglelint trace`: draw each pipeline, from the captured boundary to the one that is served."""

from __future__ import annotations

import click


@click.command("trace")
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATHS]...")
def command(paths: tuple[str, ...]) -> None:
    """Draw what each drafter was trained on beside what it is served."""
