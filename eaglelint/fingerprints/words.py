"""What is said of a state by its values, in the same words wherever it is shown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from eaglelint.fingerprints.records import EmbeddingVerdict, NormVerdict, Scan


def number(value: float | None) -> str:
    """A number as it is shown: four digits that count."""
    if value is None:
        return "?"
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def span(sizes: Sequence[float]) -> str:
    """The smallest and the largest of some sizes, "" without any."""
    known = [size for size in sizes if math.isfinite(size)]
    return f"{number(min(known))} to {number(max(known))}" if known else ""


def remarks(scan: Scan | None, embedding: EmbeddingVerdict | None, norm: NormVerdict | None) -> list[str]:
    """What is to be said of a state beside its numbers; None for what was not looked at."""
    said = []
    if scan is not None and scan.bad:
        said.append(f"{scan.bad} not finite, first at token {scan.first}")
    if scan is not None and scan.zero:
        said.append("all zero")
    if embedding is not None and embedding.is_ == "rows":
        shift = f", of the ids {abs(embedding.shift)} {'later' if embedding.shift > 0 else 'earlier'}"
        scale = "" if abs(embedding.scale - 1) < 0.02 else f" times {number(embedding.scale)}"
        said.append(f"the embedding{scale}{shift if embedding.shift else ''}")
    elif embedding is not None and embedding.is_ == "other":
        said.append("not the embedding")
    if norm is not None and norm.is_ != "unknown":
        said.append("after the final norm" if norm.is_ == "after" else "not normed")
    if embedding is not None and norm is not None and embedding.is_ == norm.is_ == "unknown":
        said.append("can not tell")
    return said
