"""What `eaglelint check` leaves out of its report: what the baseline accepts, and what touches no changed line."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from eaglelint.report.excerpt import visible
from eaglelint.report.summary import plural

if TYPE_CHECKING:
    from eaglelint.baseline import Baseline, Comparison, Entry
    from eaglelint.changed import Changes
    from eaglelint.run import Result
    from eaglelint.settings import Settings


class Baselines:
    """The baseline of a run: read before anything else, so that a wrong one is told at once, and applied at the end."""

    def __init__(self, given: str | None, settings: Settings, paths: Sequence[str], *, write: bool) -> None:
        from eaglelint import baseline

        file = given or (settings.baseline and os.path.relpath(os.path.join(settings.folder, settings.baseline)))
        self._write = write
        self._concerned = _concerned(paths, settings)
        self._before: Baseline | None = None
        if write:
            file = file or os.path.relpath(os.path.join(settings.folder or os.getcwd(), baseline.DEFAULT_FILE))
            self._before = baseline.load(file) if os.path.exists(file) else baseline.Baseline(file)
        elif file:
            self._before = baseline.load(file)

    def without(self, result: Result) -> Result:
        """The result without what the baseline accepts, which with --write-baseline is everything there is."""
        from eaglelint import baseline
        from eaglelint.cli.output import write

        if self._before is None:
            return result
        accepting = self._before
        if self._write:
            accepting = baseline.written(result.findings, self._before, self._concerned)
            write(accepting.file, baseline.text(accepting))
            _say(f"the baseline {accepting.file} accepts {_size(accepting)}; before: {_size(self._before)}")
        compared = baseline.compare(result.findings, accepting, self._concerned)
        _tell(compared)
        return replace(result, findings=compared.kept, baselined=compared.accepted)


def changes_since(revision: str | None) -> Changes | None:
    """The changes since a revision, None without one; raises UsageError for what is none."""
    if revision is None:
        return None
    from eaglelint.changed import since

    return since(revision)


def in_changed_lines(result: Result, changes: Changes | None) -> Result:
    """The result with what touches a changed line only; all of it without changes to ask."""
    if changes is None:
        return result
    from eaglelint.changed import touching

    kept = tuple(touching(result.findings, changes))
    return replace(result, findings=kept, unchanged=len(result.findings) - len(kept), changed=changes.touches)


def _concerned(paths: Sequence[str], settings: Settings) -> Callable[[str, str], bool]:
    """Whether a run over `paths` would have reported a rule in a file, be it there or not."""
    from eaglelint import catalog
    from eaglelint.suppress import reported

    tops = [os.path.abspath(path) for path in paths]

    def concerned(file: str, rule: str) -> bool:
        inside = any(file == top or file.startswith(top.rstrip(os.sep) + os.sep) for top in tops)
        return inside and (catalog.find(rule) is None or reported(rule, settings))

    return concerned


def _tell(compared: Comparison) -> None:
    for entry in compared.grown:
        found = plural(entry.found, "finding")
        _say(f"{_named(entry)}: {found}, {entry.accepted} in the baseline; all of them are shown")
    if compared.shrunk:
        listed = ", ".join(f"{_named(entry)} {entry.accepted} -> {entry.found}" for entry in compared.shrunk[:3])
        more = f" and {len(compared.shrunk) - 3} more" if len(compared.shrunk) > 3 else ""
        _say(f"the baseline can shrink: {listed}{more}; --write-baseline writes it anew")


def _named(entry: Entry) -> str:
    return f"{entry.rule} in {entry.path}"


def _size(baseline: Baseline) -> str:
    files = len({path for path, _ in baseline.counts})
    return f"{plural(sum(baseline.counts.values()), 'finding')} in {plural(files, 'file')}"


def _say(text: str) -> None:
    click.echo(f"eaglelint: {visible(text)}", err=True)
