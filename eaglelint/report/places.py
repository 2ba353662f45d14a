"""How reports for other programs name places: paths from the root of the repository, and fingerprints of findings."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from eaglelint import catalog
from eaglelint.findings import Finding
from eaglelint.location import Location
from eaglelint.report.excerpt import line_of, visible

if TYPE_CHECKING:
    from eaglelint.run import Result

#: Where GitHub and GitLab say that they laid out the repository.
_CHECKOUTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")


def title(finding: Finding) -> str:
    """`EGL401 aux-layers-mismatch`."""
    return f"{finding.rule} {catalog.slug(finding.rule)}"


def place(where: Location) -> str:
    """`drafter/config.json:9`, as visible characters only."""
    return f"{visible(where.path)}:{where.line}"


@cache
def repository(folder: str) -> str:
    """The root of the repository that a folder lies in: the nearest one that holds `.git`.

    Where a CI laid out the files without one, it is the folder in which it did so, else `folder` itself.
    """
    above = [folder]
    while os.path.dirname(above[-1]) != above[-1]:
        above.append(os.path.dirname(above[-1]))
    checkouts = [os.path.realpath(os.environ[name]) for name in _CHECKOUTS if os.environ.get(name)]
    marked = (place for place in above if os.path.exists(os.path.join(place, ".git")))
    return next(marked, None) or next((place for place in above if place in checkouts), folder)


def from_root(path: str) -> str:
    """A path of this run (relative to the current folder) as seen from the root of the repository.

    That is how GitHub and GitLab name files, whatever folder eaglelint was started in. Without a repository, and for
    what lies outside it, nothing changes.
    """
    here = os.getcwd()
    root = repository(here)
    if root == here:
        return path
    relative = os.path.relpath(os.path.join(here, path), root).replace(os.sep, "/")
    return path if relative.startswith("../") else relative


def fingerprints(result: Result) -> Iterator[str]:
    """For each finding a name that it keeps when lines move: rule, file, what stands on the line, and which of those.

    The message is no part of it, since it names lines of other files.
    """
    import hashlib

    seen: Counter[tuple[str, str, str]] = Counter()
    for finding in result.findings:
        where = finding.where
        text = result.text(where.path)
        line = "" if text is None else " ".join(line_of(text, where.line).split())
        key = (finding.rule, from_root(where.path), line)
        seen[key] += 1
        data = "\0".join((*key, str(seen[key]))).encode("utf-8", "backslashreplace")
        yield hashlib.sha256(data).hexdigest()[:32]
