"""JSON and XML that may be printed anywhere: ASCII, and no command of a GitHub workflow's log in them (`##[`)."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree


def as_json(value: Any) -> str:
    """A value as JSON, ending in a line break."""
    return json.dumps(value, indent=2).replace("##[", "##\\u005b") + "\n"


def as_xml(root: ElementTree.Element) -> str:
    """A document as XML, ending in a line break."""
    ElementTree.indent(root)
    data: bytes = ElementTree.tostring(root, encoding="us-ascii", xml_declaration=True)
    return data.decode("ascii").replace("##[", "##&#91;") + "\n"
