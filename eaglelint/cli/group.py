"""The group of commands: each is a module of this package that is imported when it is used, and how a run ends."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from eaglelint import __version__

#: The commands, in the order in which help lists them. Each module holds one called `command`.
COMMANDS = (
    *("check", "trace", "inspect", "fingerprint", "convert", "engines", "drafters", "matrix", "explain", "rules"),
    *("derive", "init", "config", "schema", "completion", "lsp"),
)


@contextmanager
def _visible_errors() -> Iterator[None]:
    """Arguments stand in click's messages as they were given: names of files, which may hold control characters."""
    try:
        yield
    except click.ClickException as error:
        from eaglelint.report.excerpt import visible

        error.message = visible(error.message)  # type: ignore[misc,unused-ignore]
        raise


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in their order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, None when there is none."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"eaglelint.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name; an unknown one is told the nearest."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"commands are {', '.join(COMMANDS)}"
            if os.path.exists(name):
                hint = f"did you mean 'eaglelint check {name}'?"
            raise click.UsageError(f"no such command {name!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        """The context of a call; what click has to say about it is visible characters."""
        with _visible_errors():
            return super().make_context(*arguments, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; what is wrong with the call ends with status 2 and its message."""
        from eaglelint.errors import UsageError

        try:
            with _visible_errors():
                return super().invoke(ctx)
        except UsageError as error:
            from eaglelint.report.excerpt import visible

            for line in str(error).split("\n"):
                click.echo(f"eaglelint: {visible(line)}", err=True)
            ctx.exit(2)
        except KeyboardInterrupt:
            click.echo("eaglelint: interrupted", err=True)
            ctx.exit(130)


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="eaglelint", message="%(prog)s %(version)s")
def cli() -> None:
    """Proves, from files alone, that an EAGLE-3 drafter is served the hidden states it was trained on."""


def run() -> None:
    """Run the command line. A defect of eaglelint ends with status 2 too.

    It shows its traceback with --verbose, or with EAGLELINT_TRACEBACK where a command has no such option.
    """
    try:
        cli(prog_name="eaglelint")
    except Exception as error:
        if "--verbose" in sys.argv or os.environ.get("EAGLELINT_TRACEBACK"):
            import traceback

            traceback.print_exc()
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        verbose = sys.argv[1:2] and sys.argv[1] in ("check", "trace")
        hint = "--verbose" if verbose else "EAGLELINT_TRACEBACK=1"
        click.echo(f"eaglelint: internal error: {what} ({hint} shows where)", err=True)
        sys.exit(2)
