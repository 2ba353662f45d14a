"""Drawings of pipelines: what each column of fc was trained on beside what it is served. `eaglelint trace`."""

from __future__ import annotations

#: The formats of a drawing, each the name of its module.
FORMATS = ("text", "html", "mermaid", "json")
