"""Which of an engine's releases a PEP 440 specifier admits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version


@cache
def parse(text: str) -> Version | None:
    """The PEP 440 version of a text ("v0.5.9", "0.5.9+cu128"), None when it is none."""
    try:
        return Version(text)
    except ValueError:  # InvalidVersion, and numbers of thousands of digits
        return None


def order(text: str) -> Version:
    """A key that sorts releases; what is no version comes first."""
    return parse(text) or Version("0")


def within(release: str, first: str, last: str) -> bool:
    """Whether a release lies in an inclusive range; an empty bound is open, local parts ("+cu128") do not count."""
    version = parse(release)
    if version is None:
        return False
    version = Version(version.public)
    low, high = parse(first), parse(last)
    return (low is None or low <= version) and (high is None or version <= high)


def admitted(specifier: str | None, releases: Sequence[str]) -> tuple[str, ...]:
    """The releases that a specifier set admits, ascending; `releases` is the ascending list of those known.

    An exact pin of a release that is not in the list (newer, a nightly, a local build) is admitted as itself, and so is
    the bound of a specifier that admits none of the list. A bare version is an exact pin; "" and None admit all.
    Raises ValueError for anything else.
    """
    text = (specifier or "").strip()
    if not text:
        return tuple(releases)
    if parse(text) is not None:
        text = f"=={text}"
    try:
        wanted = SpecifierSet(text)
    except InvalidSpecifier as error:
        raise ValueError(f"not a version specifier: {specifier!r}") from error
    found = {r for r in releases if wanted.contains(r, prereleases=True)}
    exact = {s.version for s in wanted if s.operator in ("==", "===") and not s.version.endswith(".*")}
    if exact:
        found = {v for v in exact if parse(v) is not None and wanted.contains(v, prereleases=True)}
    elif not found:
        bounds = [s.version.removesuffix(".*") for s in wanted if s.operator in (">=", ">", "~=", "==")]
        newest = parse(releases[-1]) if releases else None
        found = {b for b in bounds if (v := parse(b)) is not None and newest is not None and v > newest}
    return tuple(sorted(found, key=order))
