"""Commands that only look things up, run within the tests' own process."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from eaglelint.cli.group import cli


class Said(NamedTuple):
    """What a command printed, what it said on standard error, and its exit status."""

    out: str
    err: str
    status: int


@pytest.fixture
def said() -> Callable[..., Said]:
    def run(*arguments: str) -> Said:
        done = CliRunner().invoke(cli, arguments)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Said(done.stdout, done.stderr, done.exit_code)

    return run
