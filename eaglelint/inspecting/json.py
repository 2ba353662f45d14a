"""An inspection as JSON."""

from __future__ import annotations

from dataclasses import asdict

from eaglelint.inspecting.records import Inspection
from eaglelint.report.encoding import as_json


def render(inspection: Inspection) -> str:
    """The records as they are, keys in their order."""
    return as_json({"version": 1, **asdict(inspection)}, 0)
