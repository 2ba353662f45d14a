"""HTML that can not be broken by what it shows: every text and attribute is escaped where it enters."""

from __future__ import annotations

import html
from collections.abc import Mapping

from eaglelint.report.excerpt import one_line

_VOID = frozenset({"meta", "br"})


def text(value: str) -> str:
    """A text as one line of HTML: markup escaped, control characters made visible."""
    return html.escape(one_line(value), quote=True)


def element(name: str, content: str = "", attributes: Mapping[str, str] | None = None) -> str:
    """An element around content that is HTML already. Attributes are escaped; empty ones are left out."""
    given = "".join(f' {key}="{html.escape(value, quote=True)}"' for key, value in (attributes or {}).items() if value)
    return f"<{name}{given}>" if name in _VOID else f"<{name}{given}>{content}</{name}>"


def tag(name: str, kind: str, content: str) -> str:
    """An element of a class."""
    return element(name, content, {"class": kind})
