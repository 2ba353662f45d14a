"""The content of a YAML scalar, each character with its place: quotes, escapes, folding and block indentation undone.

PyYAML says what the content is; what is worked out here are the places. Where the two do not agree, the characters all
get the place of the scalar.
"""

from __future__ import annotations

import re

from eaglelint.location import MappedText
from eaglelint.readers.places import Span, constant_text

_BREAK = re.compile(r"\r\n|[\r\n\x85\u2028\u2029]")
_BREAKS = re.compile(r"[ \t]*(?:(?:\r\n|[\r\n\x85])[ \t]*)+")
_HEX = {"x": 2, "u": 4, "U": 8}
_SINGLE = dict(zip('0abt\tnvfre "/\\N_LP', '\0\a\b\t\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029', strict=True))


def scalar_text(text: MappedText, span: Span, content: str) -> MappedText:
    """The content of the scalar that is written at a span of a YAML text (quotes or the `|` included)."""
    style = text.text[span[0] : span[0] + 1]
    if style in ("|", ">"):
        origin = _block(text.text, span, content) if style == "|" else None
        origin = origin or _aligned(text.text, _after_header(text.text, span), span[1], content)
    elif style in ("'", '"'):
        origin = _flow(text.text, (span[0] + 1, span[1] - 1), style, content)
    else:
        origin = _flow(text.text, span, "", content)
    if origin is None:
        return constant_text(content, text, span)
    last = len(text)
    return MappedText(content, [text.origin[min(place, last)] for place in origin], text.lines)


def _after_header(text: str, span: Span) -> int:
    found = _BREAK.search(text, *span)
    return found.end() if found else span[1]


def _block(text: str, span: Span, content: str) -> list[int] | None:
    """Places of a literal block: line by line, without the indentation that the first line with content shows."""
    start = _after_header(text, span)
    origin: list[int] = []
    indent: int | None = None
    for row, line in enumerate(content.split("\n")):
        if row:
            origin.append(start - 1)
        found = _BREAK.search(text, start, span[1])
        end = found.start() if found else span[1]
        if line:
            written = text[start:end]
            indent = written.find(line) if indent is None else indent
            if indent < 0 or written[indent:] != line:
                return None
            origin.extend(range(start + indent, end))
        start = found.end() if found else span[1]
    return [*origin, start]


def _aligned(text: str, start: int, end: int, content: str) -> list[int] | None:
    """Places of a folded block: folding changes nothing but white space, so the other characters come in order."""
    origin: list[int] = []
    place = start
    for character in content:
        if not character.isspace():
            while place < end and text[place].isspace():
                place += 1
            if place >= end or text[place] != character:
                return None
        origin.append(min(place, max(start, end - 1)))
        if place < end and (not character.isspace() or text[place].isspace()):
            place += 1
    return [*origin, place]


def _flow(text: str, span: Span, quote: str, content: str) -> list[int] | None:
    """Places of a plain or quoted scalar, None when what comes out is not the content."""
    decoded: list[str] = []
    origin: list[int] = []
    place, end = span
    while place < end:
        character, width = text[place], 1
        if quote == "'" and text.startswith("''", place):
            width = 2
        elif quote == '"' and character == "\\":
            character, width = _escape(text, place, end)
        else:
            folded = _BREAKS.match(text, place, end)
            if folded is not None and _BREAK.search(folded[0]):
                breaks = len(_BREAK.findall(folded[0]))
                character, width = "\n" * (breaks - 1) or " ", len(folded[0])
        decoded.append(character)
        origin.extend([place] * len(character))
        place += width
    return [*origin, end] if "".join(decoded) == content else None


def _escape(text: str, place: int, end: int) -> tuple[str, int]:
    """What the backslash at `place` stands for, and how many characters of the text that takes."""
    letter = text[place + 1 : place + 2]
    if letter in _HEX:
        digits = text[place + 2 : min(place + 2 + _HEX[letter], end)]
        try:
            return chr(int(digits, 16)), 2 + len(digits)
        except (ValueError, OverflowError):
            return "", 2
    broken = re.compile(r"\\(?:\r\n|[\r\n\x85])[ \t]*").match(text, place, end)
    if broken is not None:
        return "", len(broken[0])
    return _SINGLE.get(letter, ""), 2
