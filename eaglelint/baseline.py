"""The baseline: findings that are accepted for now, counted by file and rule, so that only new ones fail.

    {"version": 1, "findings": {"drafter/config.json": {"EGL401": 2}}}

Counts stay right when lines move. While a file has no more findings of a rule than its count, they are accepted; when
it has more, all of them are reported, since none can be told to be the new one. When it has fewer, the baseline can
shrink. Paths are relative to the folder of the baseline's file.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from eaglelint import catalog
from eaglelint.errors import UsageError
from eaglelint.findings import Finding

#: The name of the file where none is given.
DEFAULT_FILE = "eaglelint-baseline.json"
_VERSION = 1
_LARGEST = 64 << 20
#: What a baseline never accepts: failures of eaglelint itself.
_NEVER = frozenset({"EGL005"})

Counts = Mapping[tuple[str, str], int]


class Entry(NamedTuple):
    """A count of the baseline that is not what was found; `path` is as in its file."""

    path: str
    rule: str
    accepted: int
    found: int


@dataclass(frozen=True)
class Baseline:
    """The content of a baseline's file: how many findings are accepted, by path (as in the file) and rule."""

    file: str
    counts: Counts = field(default_factory=dict)

    def inside(self, path: str) -> str:
        """A path of this run (relative to the current folder) as it stands in the file."""
        folder = os.path.dirname(os.path.abspath(self.file))
        return os.path.relpath(os.path.abspath(path), folder).replace(os.sep, "/")

    def outside(self, path: str) -> str:
        """A path of the file as one of this run, absolute."""
        return os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(self.file)), path))


@dataclass(frozen=True)
class Comparison:
    """Findings beside a baseline: those to report, how many are accepted, which counts are too low or too high."""

    kept: tuple[Finding, ...]
    accepted: int
    grown: tuple[Entry, ...] = ()
    shrunk: tuple[Entry, ...] = ()


def load(file: str) -> Baseline:
    """The baseline in a file. Raises UsageError when there is none or it is not what `write` writes."""
    try:
        with open(file, "rb") as stream:
            data = stream.read(_LARGEST + 1)
    except FileNotFoundError:
        raise UsageError(f"there is no baseline {file}: --write-baseline writes it") from None
    except OSError as error:
        raise UsageError(f"can not read {file}: {(error.strerror or str(error)).lower()}") from error
    if len(data) > _LARGEST:
        raise UsageError(f"{file} is too large for a baseline")
    try:
        return Baseline(file, dict(_counts(json.loads(data))))
    except RecursionError:
        raise UsageError(f"{file} is no baseline: nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"{file} is no baseline: {error}") from error


def _counts(value: Any) -> Iterator[tuple[tuple[str, str], int]]:
    if not isinstance(value, dict) or "findings" not in value:
        raise ValueError("it has no findings")
    if value.get("version") != _VERSION:
        raise ValueError(f"this release of eaglelint reads version {_VERSION}, not {value.get('version')!r}")
    files = value["findings"]
    if not isinstance(files, dict):
        raise ValueError("findings must be counts by file and rule")
    for path, rules in files.items():
        if not isinstance(rules, dict):
            raise ValueError(f"{path!r} must hold counts by rule")
        for rule, count in rules.items():
            if type(count) is not int or count < 1:
                raise ValueError(f"the count of {rule!r} in {path!r} must be a whole number above 0")
            yield (path, catalog.find(rule) or rule), count


def compare(findings: Sequence[Finding], baseline: Baseline, concerned: Callable[[str, str], bool]) -> Comparison:
    """What of some findings a baseline accepts.

    `concerned` says whether this run would have reported a rule in a file (an absolute path): only then can a count be
    too high.
    """
    found = _found(findings, baseline)
    allowed = {key for key, count in found.items() if count <= baseline.counts.get(key, 0)}
    kept = tuple(finding for finding in findings if _key(finding, baseline) not in allowed)
    differing = sorted(Entry(*key, count, found[key]) for key, count in baseline.counts.items() if found[key] != count)
    return Comparison(
        kept,
        len(findings) - len(kept),
        tuple(entry for entry in differing if entry.found > entry.accepted),
        tuple(
            entry
            for entry in differing
            if entry.found < entry.accepted and concerned(baseline.outside(entry.path), entry.rule)
        ),
    )


def written(findings: Iterable[Finding], baseline: Baseline, concerned: Callable[[str, str], bool]) -> Baseline:
    """The baseline that accepts just these findings; what does not concern this run stays as it is."""
    kept = {key: count for key, count in baseline.counts.items() if not concerned(baseline.outside(key[0]), key[1])}
    return Baseline(baseline.file, {**kept, **_found(findings, baseline)})


def text(baseline: Baseline) -> str:
    """What stands in a baseline's file: sorted, so that a change of it is easy to read."""
    files: dict[str, dict[str, int]] = {}
    for (path, rule), count in sorted(baseline.counts.items()):
        files.setdefault(path, {})[rule] = count
    return json.dumps({"version": _VERSION, "findings": files}, indent=2) + "\n"


def _found(findings: Iterable[Finding], baseline: Baseline) -> Counter[tuple[str, str]]:
    return Counter(_key(finding, baseline) for finding in findings if finding.rule not in _NEVER)


def _key(finding: Finding, baseline: Baseline) -> tuple[str, str]:
    return baseline.inside(finding.where.path), finding.rule
