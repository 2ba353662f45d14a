"""The closing line of a report: what was found, in how many files, and how much was suppressed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eaglelint.run import Result


def plural(count: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def footer(result: Result) -> str:
    """`2 errors, 1 warning in 14 files (1 suppressed, 3 in the baseline, 5 in unchanged lines)`."""
    if not result.files and not result.findings:
        return "no files to check"
    nouns = (("error", "error"), ("warning", "warning"), ("info", "info"))
    counts = [plural(result.count(severity), noun) for severity, noun in nouns if result.count(severity)]  # type: ignore[arg-type]
    apart = (
        (result.suppressed, "suppressed"),
        (result.baselined, "in the baseline"),
        (result.unchanged, "in unchanged lines"),
    )
    said = ", ".join(f"{count} {what}" for count, what in apart if count)
    return f"{', '.join(counts) or 'no findings'} in {plural(result.files, 'file')}{f' ({said})' if said else ''}"


def fixable(result: Result) -> str:
    """`4 can be fixed with --fix, 1 more with --unsafe-fixes`; "" when eaglelint itself can fix none."""
    fixes = [finding.fix for finding in result.findings if finding.fix and finding.fix.automatic]
    safe = sum(fix.applicability == "safe" for fix in fixes)
    unsafe = len(fixes) - safe
    parts = [f"{safe} can be fixed with --fix"] if safe else []
    if unsafe:
        parts.append(f"{unsafe} {'more ' if safe else 'can be fixed '}with {'' if safe else '--fix '}--unsafe-fixes")
    return ", ".join(parts)
