"""What a run tells of itself while it goes on, for `--verbose` and for a progress bar.

There is one listener at a time, which by default hears nothing. It is no part of what a run returns, and nothing may
depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from eaglelint.facts import Facts
    from eaglelint.pipeline import Pipeline
    from eaglelint.project import Project

Item = TypeVar("Item")


class Listener:
    """Hears what happens, in this order; each method may be left as it is."""

    def left_out(self, path: str, why: str) -> None:
        """A file or folder (an absolute path) is not looked at."""

    def discovered(self, project: Project) -> None:
        """These files are going to be read."""

    def begins(self, part: str, steps: int) -> None:
        """A part of the run begins that takes this many steps."""

    def goes_on(self) -> None:
        """One more step is about to be taken."""

    def read(self, facts: Facts) -> None:
        """This is what the files say."""

    def linked(self, pipelines: Sequence[Pipeline]) -> None:
        """This is what belongs together."""


_listener = Listener()


def listener() -> Listener:
    """Whoever listens now."""
    return _listener


@contextmanager
def listening(to: Listener) -> Iterator[None]:
    """Tell everything to a listener within this block."""
    global _listener
    before, _listener = _listener, to
    try:
        yield
    finally:
        _listener = before


def each(part: str, items: Sequence[Item]) -> Iterator[Item]:
    """The items, each of which is a step of a part of the run."""
    return _told(part, items, len(items))


def _told(part: str, items: Iterable[Item], count: int) -> Iterator[Item]:
    _listener.begins(part, count)
    for item in items:
        _listener.goes_on()
        yield item
