"""`eaglelint inspect`: a drafter's folder as each engine would see it."""

from __future__ import annotations

import click

from eaglelint.inspecting import FORMATS


@click.command("inspect")
@click.argument("path", type=click.Path())
@click.option(
    "--engine", "engines", multiple=True, metavar="NAME[@RELEASE]", help="An engine to ask (the newest of each)."
)
@click.option("--target", metavar="NAME", help="The target model: its Hub id.")
@click.option("--depth", type=click.IntRange(min=1), help="Its number of decoder layers, where --target does not say.")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", help="What is printed (text).")
def command(path: str, engines: tuple[str, ...], target: str | None, depth: int | None, format_: str) -> None:
    """Show what a drafter's folder holds, and what each engine would make of it.

    PATH is the folder, its config or one of its files of weights. Only headers of weights are read, and nothing is
    unpickled. For each engine: which class loads the head, which boundaries it is fed, how wide fc is built, whose
    lm_head and embedding it runs with, what is not read, and what eaglelint would report.
    """
    import importlib

    from eaglelint.inspecting.run import inspect

    inspection = inspect(path, engines, target, depth)
    text: str = importlib.import_module(f"eaglelint.inspecting.{format_}").render(inspection)
    _print(text)


def _print(text: str) -> None:
    """The text on standard output, whatever characters the terminal's encoding has."""
    import sys

    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    click.echo(text.encode(encoding, "backslashreplace").decode(encoding), nl=False)
