"""The report of an audit, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from auditing.compare import Difference

#: Lines of one list in a report; what is left out is counted.
SHOWN = 40


class New(NamedTuple):
    """A release that the tables do not name: the one it was compared with, and what it changes."""

    version: str
    before: str
    changes: tuple[str, ...]


class Audit(NamedTuple):
    """What was found for one engine. `unlisted` are (architecture, first release, last release)."""

    engine: str
    verified: str
    releases: tuple[str, ...]
    comparisons: int
    differences: tuple[Difference, ...]
    not_run: tuple[Difference, ...]
    derivations: int
    derived_otherwise: tuple[Difference, ...]
    not_told: tuple[Difference, ...]
    failed: tuple[Difference, ...]
    unlisted: tuple[tuple[str, str, str], ...]
    new: tuple[New, ...]
    seconds: float

    @property
    def wrong(self) -> bool:
        """Whether something disagrees with the tables, or a new release changes something."""
        news = any(new.changes for new in self.new)
        return bool(self.differences or self.derived_otherwise or self.failed or news)


def render(audits: Sequence[Audit]) -> str:
    """The whole report."""
    return "\n".join(_lines(audits)) + "\n"


def _lines(audits: Sequence[Audit]) -> Iterator[str]:
    yield "# Audit of the convention tables"
    yield ""
    yield "| engine | releases | answers of setters | differ | not run | derived fields | differ | not told | new |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for audit in audits:
        yield (
            f"| {audit.engine} | {len(audit.releases)} | {audit.comparisons} | {len(audit.differences)} |"
            f" {len(audit.not_run)} | {audit.derivations} | {len(audit.derived_otherwise)} | {len(audit.not_told)} |"
            f" {', '.join(new.version for new in audit.new) or 'none'} |"
        )
    for audit in audits:
        yield from _engine(audit)


def _engine(audit: Audit) -> Iterator[str]:
    yield from ("", f"## {audit.engine}", "")
    if audit.releases:
        yield f"Releases {audit.releases[0]} to {audit.releases[-1]}; tables verified {audit.verified}."
    yield from _list("Could not be audited", (f"{d.release}: {d.what}" for d in audit.failed))
    yield from _list("Setters that differ from the tables", _words(audit.differences))
    yield from _list("Derived conventions that differ from the tables", _words(audit.derived_otherwise))
    for new in audit.new:
        title = f"{new.version} is not in the tables" + (f"; beside {new.before}" if new.before else "")
        yield from _list(title, new.changes or ("nothing that was looked at has changed",))
    spans = (f"{name}: {first} to {last}" for name, first, last in audit.unlisted)
    yield from _list("Setters of architectures that no entry names", spans)
    yield from _list("Setters that could not be run", _words(audit.not_run))
    yield from _list("Classes whose convention could not be derived", _words(audit.not_told))


def _words(found: Sequence[Difference]) -> Iterator[str]:
    """Differences in words: one line for each architecture and range of releases, with the first thing that differs."""
    by_release: dict[tuple[str, str], list[str]] = {}
    for one in found:
        by_release.setdefault((one.architecture, one.release), []).append(one.what)
    spans: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (architecture, release), said in by_release.items():
        spans.setdefault((architecture, tuple(said)), []).append(release)
    for (architecture, said), releases in spans.items():
        span = releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]} ({len(releases)} releases)"
        more = f" (and {len(said) - 1} more)" if len(said) > 1 else ""
        yield f"{span} {architecture}: {said[0]}{more}"


def _list(title: str, items: Iterable[str]) -> Iterator[str]:
    every = list(dict.fromkeys(items))
    if every:
        yield from ("", f"### {title}", "")
        yield from (f"- {item}" for item in every[:SHOWN])
        if len(every) > SHOWN:
            yield f"- and {len(every) - SHOWN} more"
