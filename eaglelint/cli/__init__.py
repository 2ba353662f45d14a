"""The command line. Nothing but this is imported until it is known which command runs; `--version` needs no more."""

from __future__ import annotations

import sys


def main() -> None:
    """The entry point `eaglelint`."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from eaglelint import __version__

        print(f"eaglelint {__version__}")
        return
    from eaglelint.cli.group import run

    run()
