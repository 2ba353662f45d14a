"""How many findings each rule has, most first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from eaglelint import catalog
from eaglelint.findings import SEVERITIES

if TYPE_CHECKING:
    from eaglelint.run import Result


def lines(result: Result) -> list[str]:
    """One line for each rule and severity, such as `12 error   EGL401 aux-layers-mismatch in 3 files`."""
    counts = Counter((finding.rule, finding.severity) for finding in result.findings)
    files = {key: {f.where.path for f in result.findings if (f.rule, f.severity) == key} for key in counts}
    order = sorted(counts, key=lambda key: (-counts[key], -SEVERITIES.index(key[1]), key[0]))
    width = len(str(max(counts.values(), default=0)))
    names = {key: f"{key[0]} {catalog.slug(key[0])}" for key in order}
    longest = max(map(len, names.values()), default=0)
    return [
        f"{counts[key]:{width}} {key[1]:7} {names[key]:{longest}} "
        f"in {len(files[key])} file{'' if len(files[key]) == 1 else 's'}"
        for key in order
    ]
