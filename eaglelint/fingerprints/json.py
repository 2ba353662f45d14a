"""A fingerprint as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from eaglelint.fingerprints.looking import Fingerprint
from eaglelint.report.encoding import as_json


def render(found: Fingerprint, *, plain: bool = False) -> str:
    """The records as they are, keys in their order; numbers that are not finite are text, as JSON has none."""
    return as_json({"version": 1, **_plain(asdict(found))}, 0)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = {key.rstrip("_"): entry for key, entry in value._asdict().items()}
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
