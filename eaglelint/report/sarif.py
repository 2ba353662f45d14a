"""SARIF 2.1.0, for GitHub code scanning and everything else that reads it.

What GitHub asks for beyond the schema: paths from the root of the repository, a primary region of one line (an alert
is shown in a pull request only when all of its lines are in the diff), the rule's texts in the report, and links from
the message to related locations. The trace of a finding is its code flow. `primaryLocationLineHash` is left to
GitHub's own upload, which warns when it differs; `eaglelint/v1` is the fingerprint that stays when lines move.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from eaglelint import __version__, catalog
from eaglelint.facts import Step
from eaglelint.findings import Edit, Finding, Severity
from eaglelint.location import Location
from eaglelint.report.encoding import as_json
from eaglelint.report.excerpt import line_of, one_line
from eaglelint.report.places import fingerprints, from_root, place
from eaglelint.report.rule_help import flat, markdown, plain

if TYPE_CHECKING:
    from eaglelint.run import Result

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
_PROBLEMS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "recommendation"}
_INTERNAL = "EGL005"
#: Characters of a short or full description that GitHub takes.
_DESCRIPTION = 1024
#: Related locations of one finding; GitHub shows no more.
_RELATED = 100


def render(result: Result, *, color: bool = False) -> str:
    """The log as JSON (ASCII only); `color` is not used."""
    return as_json(log(result), len(result.findings))


def log(result: Result) -> dict[str, Any]:
    """The log as plain values. Of the rules it holds those that a finding names.

    A failure of eaglelint itself is no result, since it is nothing about the code: it is a notification.
    """
    marked = list(zip(result.findings, fingerprints(result), strict=True))
    found = [(finding, mark) for finding, mark in marked if finding.rule != _INTERNAL]
    failures = [finding for finding in result.findings if finding.rule == _INTERNAL]
    codes = sorted({finding.rule for finding, _ in found})
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "eaglelint",
                        "version": __version__,
                        "semanticVersion": __version__,
                        "rules": [_rule(code) for code in codes],
                    }
                },
                "automationDetails": {"id": "eaglelint/"},
                "invocations": [
                    {
                        "executionSuccessful": not result.tracebacks,
                        "toolExecutionNotifications": [_notification(failure) for failure in failures],
                    }
                ],
                "columnKind": "utf16CodeUnits",
                "results": [_result(finding, codes.index(finding.rule), mark, result) for finding, mark in found],
            }
        ],
    }


def _notification(failure: Finding) -> dict[str, Any]:
    return {
        "level": _LEVELS[failure.severity],
        "message": {"text": _text(failure.message)},
        "associatedRule": {"id": failure.rule},
    }


def _rule(code: str) -> dict[str, Any]:
    rule = catalog.load(code)
    return {
        "id": code,
        "name": rule.slug,
        "shortDescription": {"text": _short(flat(rule.summary))},
        "fullDescription": {"text": _short(flat(rule.why))},
        "help": {"text": plain(rule), "markdown": markdown(rule)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {
            "precision": "very-high" if rule.severity == "error" else "high",
            "problem.severity": _PROBLEMS[rule.severity],
            "tags": ["correctness", "eagle3", "speculative-decoding"],
        },
    }


def _short(text: str) -> str:
    return text if len(text) <= _DESCRIPTION else text[: _DESCRIPTION - 3] + "..."


def _result(finding: Finding, index: int, mark: str, result: Result) -> dict[str, Any]:
    related = finding.related[:_RELATED]
    found = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(finding, related)},
        "locations": [_location(finding.where, result, one=True)],
        "partialFingerprints": {"eaglelint/v1": mark},
        "properties": {"confidence": finding.confidence},
    }
    if related:
        found["relatedLocations"] = [
            {"id": number, **_location(step.where, result), "message": {"text": _text(step.what)}}
            for number, step in enumerate(related, 1)
        ]
        found["codeFlows"] = [{"threadFlows": [{"locations": list(_flow(finding, result))}]}]
    if finding.fix is not None and finding.fix.edits:
        found["fixes"] = [_fix(finding.fix.description, finding.fix.edits, result)]
    return found


def _message(finding: Finding, related: Sequence[Step]) -> str:
    """The message, the trace with links to its places, and the fix."""
    lines = [_text(finding.message)]
    lines += [f"{n}. [{_label(place(step.where))}]({n}) {_text(step.what)}" for n, step in enumerate(related, 1)]
    if finding.fix is not None:
        lines.append(f"Fix: {_text(finding.fix.description)}")
    return "\n".join(lines)


def _text(text: str) -> str:
    """A text in which nothing is a link: SARIF reads `[text](destination)` as one."""
    shown = one_line(text)
    return _label(shown) if "](" in shown else shown


def _label(text: str) -> str:
    """The text of a link."""
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _flow(finding: Finding, result: Result) -> list[dict[str, Any]]:
    """The trace as a code flow, in the order of the data; what is to be edited is essential, and part of it."""
    where = finding.where
    steps = [(step.where, step.what) for step in finding.related]
    if not any((step.path, step.line) == (where.path, where.line) for step, _ in steps):
        steps.append((where, finding.message))
    return [
        {
            "location": {**_location(step, result), "message": {"text": _text(what)}},
            "importance": "essential" if (step.path, step.line) == (where.path, where.line) else "important",
        }
        for step, what in steps
    ]


def _location(where: Location, result: Result, *, one: bool = False) -> dict[str, Any]:
    physical = {"artifactLocation": _artifact(where.path), "region": _region(where, result, one)}
    return {"physicalLocation": physical}


def _artifact(path: str) -> dict[str, str]:
    return {"uri": quote(from_root(path), safe="/")}


def _region(where: Location, result: Result, one: bool) -> dict[str, int]:
    """Lines and columns, the latter in UTF-16 units; `one` keeps to the first line."""
    several = where.end_line > where.line
    start = _units(where.line, where.column, result, where.path)
    region = {"startLine": where.line, "startColumn": start}
    if several and not one:
        end = _units(where.end_line, where.end_column, result, where.path)
        return {**region, "endLine": where.end_line, "endColumn": end}
    if not several:
        end = _units(where.line, where.end_column, result, where.path)
        if end > start:  # an empty region marks nothing; without an end it goes on to the end of the line
            return {**region, "endLine": where.line, "endColumn": end}
    return {**region, "endLine": where.line}


def _units(line: int, column: int, result: Result, path: str) -> int:
    """A column counted in UTF-16 units."""
    text = result.text(path)
    before = "" if text is None else line_of(text, line)[: column - 1]
    return column + sum(character > "\uffff" for character in before)


def _fix(description: str, edits: Sequence[Edit], result: Result) -> dict[str, Any]:
    files: dict[str, list[dict[str, Any]]] = {}
    for edit in edits:
        text = result.text(edit.path)
        if text is not None:
            region = _region(text.lines.location(edit.start, edit.end), result, one=False)
            if edit.start == edit.end:
                region["endColumn"] = region["startColumn"]
            replacement = {"deletedRegion": region, "insertedContent": {"text": edit.text}}
            files.setdefault(edit.path, []).append(replacement)
    changes = [{"artifactLocation": _artifact(path), "replacements": entries} for path, entries in files.items()]
    return {"description": {"text": _text(description)}, "artifactChanges": changes}
