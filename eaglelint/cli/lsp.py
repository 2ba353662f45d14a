"""`eaglelint lsp`: the language server, on standard input and output."""

from __future__ import annotations

import click


@click.command("lsp")
def command() -> None:
    """Serve an editor: diagnostics while one types, quick fixes, and what a list of ids means.

    The editor starts it and speaks to it on standard input and output. It needs pygls: pip install "eaglelint[lsp]".
    """
    from eaglelint.errors import UsageError

    try:
        import pygls.lsp.server  # noqa: F401
    except ImportError as error:
        raise UsageError('the language server needs pygls: pip install "eaglelint[lsp]"') from error
    from eaglelint.lsp.server import make

    make().start_io()
