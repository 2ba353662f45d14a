"""An inspection as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

from eaglelint.inspecting.records import Inspection


def render(inspection: Inspection) -> str:
    """The records as they are, keys in their order."""
    return json.dumps({"version": 1, **asdict(inspection)}, indent=2, ensure_ascii=False) + "\n"
