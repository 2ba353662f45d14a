"""The closing line of a report: what was found, in how many files, and how much was suppressed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eaglelint.run import Result


def plural(count: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def footer(result: Result) -> str:
    """`2 errors, 1 warning in 14 files (1 suppressed)`."""
    if not result.files and not result.findings:
        return "no files to check"
    nouns = (("error", "error"), ("warning", "warning"), ("info", "info"))
    counts = [plural(result.count(severity), noun) for severity, noun in nouns if result.count(severity)]  # type: ignore[arg-type]
    suppressed = f" ({result.suppressed} suppressed)" if result.suppressed else ""
    return f"{', '.join(counts) or 'no findings'} in {plural(result.files, 'file')}{suppressed}"
