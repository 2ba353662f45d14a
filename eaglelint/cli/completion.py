"""`eaglelint completion`: what a shell needs to complete commands, options and rules."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def command(shell: str) -> None:
    """Print the completion script of a SHELL.

    bash: eval "$(eaglelint completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc; fish: save it as
    ~/.config/fish/completions/eaglelint.fish.
    """
    from click.shell_completion import get_completion_class

    from eaglelint.cli.group import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "eaglelint", "_EAGLELINT_COMPLETE").source())
