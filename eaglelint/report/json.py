"""Findings for programs, as `schemas/report.schema.json` has it. A new `version` comes when a key changes meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eaglelint import __version__, catalog
from eaglelint.findings import Finding
from eaglelint.location import Location
from eaglelint.report.encoding import as_json

if TYPE_CHECKING:
    from eaglelint.run import Result

_VERSION = 1


def render(result: Result, *, color: bool = False) -> str:
    """The report as JSON (ASCII only, so that any consumer reads it); `color` is not used."""
    return as_json(report(result), len(result.findings))


def report(result: Result) -> dict[str, Any]:
    """The report as plain values."""
    return {
        "version": _VERSION,
        "tool": {"name": "eaglelint", "version": __version__},
        "findings": [_finding(finding) for finding in result.findings],
        "summary": {
            "errors": result.count("error"),
            "warnings": result.count("warning"),
            "infos": result.count("info"),
            "suppressed": result.suppressed,
            "baselined": result.baselined,
            "unchanged": result.unchanged,
            "files": result.files,
        },
    }


def _finding(finding: Finding) -> dict[str, Any]:
    fix = finding.fix
    return {
        "rule": finding.rule,
        "name": catalog.slug(finding.rule),
        "severity": finding.severity,
        "confidence": finding.confidence,
        "message": finding.message,
        **_place(finding.where),
        "related": [{**_place(step.where), "message": step.what} for step in finding.related],
        "fix": None if fix is None else {"description": fix.description, "applicability": fix.applicability},
    }


def _place(where: Location) -> dict[str, Any]:
    return {
        "path": where.path,
        "line": where.line,
        "column": where.column,
        "end_line": max(where.line, where.end_line),
        "end_column": where.end_column if where.end_line >= where.line else where.column,
    }
