"""JUnit's XML, as Jenkins and GitLab read it: a test case for each finding.

A finding that makes the exit status 1 is a failure, a failure of eaglelint itself (EGL005) an error, and what is only
reported a skipped test, so that the test report and the exit status agree. A run without findings is one passed test,
since Jenkins refuses a report without any.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from eaglelint.findings import Finding
from eaglelint.report.encoding import as_xml
from eaglelint.report.excerpt import one_line, visible
from eaglelint.report.places import from_root, place, title
from eaglelint.report.summary import footer

if TYPE_CHECKING:
    from eaglelint.run import Result

#: Characters that XML 1.0 can not hold, not even as references, and that `visible` leaves.
_NOT_XML = re.compile("[\ufffe\uffff]")


def render(result: Result, *, color: bool = False) -> str:
    """The report as XML (ASCII only); `color` is not used."""
    kinds = [_kind(finding, result) for finding in result.findings]
    counts = {
        "tests": str(len(kinds) or 1),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
    }
    root = ElementTree.Element("testsuites", {"name": "eaglelint", **counts})
    suite = ElementTree.SubElement(
        root, "testsuite", {"name": "eaglelint", **counts, "skipped": str(kinds.count("skipped"))}
    )
    for finding, kind in zip(result.findings, kinds, strict=True):
        _case(suite, finding, kind)
    if not kinds:
        ElementTree.SubElement(suite, "testcase", {"classname": "eaglelint", "name": footer(result)})
    return as_xml(root)


def _kind(finding: Finding, result: Result) -> str:
    if finding.rule == "EGL005":
        return "error"
    return "failure" if result.fails(finding) else "skipped"


def _case(suite: ElementTree.Element, finding: Finding, kind: str) -> None:
    where = finding.where
    name = f"{title(finding)} at {where.line}:{where.column}"
    case = ElementTree.SubElement(suite, "testcase", {"classname": _xml(visible(from_root(where.path))), "name": name})
    message = _xml(f"{place(where)}: {one_line(finding.message)}")
    verdict = ElementTree.SubElement(case, kind, {"type": finding.severity, "message": message})
    verdict.text = "\n".join(map(_xml, _lines(finding)))


def _lines(finding: Finding) -> Iterator[str]:
    yield f"{place(finding.where)}:{finding.where.column}: {one_line(finding.message)}"
    for number, step in enumerate(finding.related, 1):
        yield f"{number}. {place(step.where)} {one_line(step.what)}"
    if finding.fix is not None:
        yield f"fix: {one_line(finding.fix.description)}"


def _xml(text: str) -> str:
    return _NOT_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
