"""EGL001 and EGL002: what could not be read, and captures whose layers can not be told."""

from __future__ import annotations

from collections.abc import Iterator

from eaglelint.checks.registry import project_check
from eaglelint.facts import Facts, Step
from eaglelint.findings import Finding


@project_check("EGL001")
def unreadable_source(facts: Facts) -> Iterator[Finding]:
    """A file that speaks of EAGLE-3 and can not be read as what it is; others are nobody's business here."""
    for fact in facts.unreadable:
        if fact.evidence:
            yield Finding("EGL001", "warning", f"can not be read: {fact.reason}; nothing in it is checked", fact.where)


@project_check("EGL002")
def unresolved_capture(facts: Facts) -> Iterator[Finding]:
    """A capture whose layers depend on a value that no file gives."""
    for fact in facts.unresolved:
        message = f"which hidden states are captured here can not be told from the files: {fact.missing}"
        related = (Step(fact.at, "the value that is not known"),) if fact.at else ()
        yield Finding("EGL002", "info", message, fact.where, related=related)
