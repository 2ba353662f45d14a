"""Requirements that Python files declare: the strings of a setup.py, and the header of a script (PEP 723)."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from posixpath import basename

from eaglelint.facts import EnginePin
from eaglelint.location import LineMap, MappedText, join
from eaglelint.project import Source
from eaglelint.readers.documents import read_toml
from eaglelint.readers.manifests import requirement_list
from eaglelint.readers.releases import requirement_pin

_HEADER = re.compile(r"^# /// script[ \t]*\r?\n((?:#(?: .*)?\r?\n)+?)# ///[ \t]*\r?$", re.MULTILINE)
_HEADER_LINE = re.compile(r"# ?(.*\n)")


def python_pins(source: Source) -> Iterator[EnginePin]:
    """The pins of a setup.py, and of a script that says in its header what it needs."""
    header = _HEADER.search(source.text.text)
    if header is not None:
        lines = _HEADER_LINE.finditer(source.text.text, *header.span(1))
        document = read_toml(join(source.text[slice(*line.span(1))] for line in lines))
        yield from requirement_list(document, "/dependencies", "project")
    if basename(source.path) == "setup.py":
        yield from _setup_pins(source.text)


def _setup_pins(text: MappedText) -> Iterator[EnginePin]:
    """The requirements among the strings; a bare name may be anything, such as the name of the project itself."""
    places = LineMap(text.lines.path, text.text)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text.text, newline="").readline):
            if token.type == tokenize.STRING and re.search(r"[=<>~@]", token.string):
                content = _literal(token.string)
                where = text.location(*(places.offset(row, column + 1) for row, column in (token.start, token.end)))
                pin = requirement_pin(content, where, "setup")
                if pin is not None and not pin.unknown.endswith("is no valid requirement"):
                    yield pin
    except (tokenize.TokenError, SyntaxError):
        return  # the reader of Python code says so


def _literal(token: str) -> str:
    try:
        value = ast.literal_eval(token)
    except (ValueError, SyntaxError):
        return ""
    return value if isinstance(value, str) else ""
