"""JSON and XML that may be printed anywhere: ASCII, and no command of a GitHub workflow's log in them (`##[`)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xml.etree import ElementTree


#: Findings up to which a report is laid out for people: larger ones nobody reads, and layout makes them large and slow.
_READABLE = 1000


def as_json(value: Any, findings: int) -> str:
    """A report of so many findings as JSON, ending in a line break."""
    return json.dumps(value, indent=2 if findings <= _READABLE else None).replace("##[", "##\\u005b") + "\n"


def as_xml(root: ElementTree.Element) -> str:
    """A document as XML, ending in a line break."""
    from xml.etree import ElementTree

    ElementTree.indent(root)
    data: bytes = ElementTree.tostring(root, encoding="us-ascii", xml_declaration=True)
    return data.decode("ascii").replace("##[", "##&#91;") + "\n"
