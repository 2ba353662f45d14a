"""Python string literals, decoded so that each character knows its place in the file.

A character that was written as an escape stands where its backslash stands. Tokens may themselves be mapped text (code
in a heredoc, a hunk or another literal): the maps compose.
"""

from __future__ import annotations

import re
import unicodedata

from eaglelint.location import MappedText

_PREFIXES = frozenset({"", "r", "u", "b", "br", "rb", "f", "fr", "rf", "t", "tr", "rt"})
_START = re.compile(r"([A-Za-z]*)('''|\"\"\"|'|\")")
_SIMPLE = {"\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_SPECIAL = re.compile(r"[\\\r{}]")
_OCTAL = re.compile(r"[0-7]{1,3}")
_NAMED = re.compile(r"\{([^{}]*)\}")


def decode_literal(token: MappedText) -> MappedText:
    """The content of a string token as it is written, prefix and quotes included.

    Bytes are decoded as latin-1, so that each byte is one character. Raises ValueError for what is no single valid
    literal, and for f-strings with replacement fields, whose pieces `decode_fstring_text` decodes.
    """
    start = _START.match(token.text)
    if start is None or start[1].lower() not in _PREFIXES:
        raise ValueError("not a string literal")
    prefix, quote = start[1].lower(), start[2]
    end = _closing(token.text, start.end(), quote)
    if end + len(quote) != len(token.text):
        raise ValueError("characters after the end of the string literal")
    return _decode(token[start.end() : end], "r" in prefix, "b" in prefix, "f" in prefix or "t" in prefix)


def decode_fstring_text(part: MappedText, raw: bool) -> MappedText:
    """A stretch of literal text between the fields of an f-string, as it is written; doubled braces become one.

    Raises ValueError for invalid escapes and single braces.
    """
    return _decode(part, raw, False, True)


def _closing(text: str, start: int, quote: str) -> int:
    """The index of the quote that closes a literal whose content begins at `start`."""
    index = start
    while index < len(text):
        if text.startswith(quote, index):
            return index
        if text[index] == "\\":
            index += 3 if text.startswith("\\\r\n", index) else 2
            continue
        if len(quote) == 1 and text[index] in "\r\n":
            break
        index += 1
    raise ValueError("the string literal is not closed")


def _decode(content: MappedText, raw: bool, binary: bool, braces: bool) -> MappedText:
    """Decode the content of a literal without its quotes."""
    text = content.text
    if binary and not text.isascii():
        raise ValueError("bytes can only contain ASCII literal characters")
    decoded: list[str] = []
    indices: list[int] = []
    index = 0
    while True:
        found = _SPECIAL.search(text, index)
        stop = found.start() if found is not None else len(text)
        decoded.append(text[index:stop])
        indices.extend(range(index, stop))
        if found is None:
            break
        if found[0] == "\\":
            made, index = (None, stop + 1) if raw else _escape(text, stop, binary)
            made = "\\" if made is None else made
        elif found[0] == "\r":
            made, index = "\n", stop + (2 if text.startswith("\r\n", stop) else 1)
        elif not braces:
            made, index = found[0], stop + 1
        elif text.startswith(found[0] * 2, stop):
            made, index = found[0], stop + 2
        else:
            raise ValueError(f"single '{found[0]}' in the text of an f-string")
        decoded.append(made)
        indices.extend([stop] * len(made))
    indices.append(len(text))
    return content.pick("".join(decoded), indices)


def _escape(text: str, start: int, binary: bool) -> tuple[str | None, int]:
    """What the escape at `start` stands for and the index after it; None when the backslash stands for itself."""
    after = text[start + 1 : start + 2]
    if after in _SIMPLE and after:
        return _SIMPLE[after], start + 2
    if after == "\n":
        return "", start + 2
    if after == "\r":
        return "", start + (3 if text.startswith("\r\n", start + 1) else 2)
    octal = _OCTAL.match(text, start + 1)
    if octal is not None:
        value = int(octal[0], 8)
        return chr(value & 0xFF if binary else value), octal.end()
    if after == "x" or (after in ("u", "U") and not binary):
        digits = text[start + 2 : start + 2 + _HEX_DIGITS[after]]
        if re.fullmatch(rf"[0-9A-Fa-f]{{{_HEX_DIGITS[after]}}}", digits) is None or int(digits, 16) > 0x10FFFF:
            raise ValueError(f"invalid \\{after} escape")
        return chr(int(digits, 16)), start + 2 + len(digits)
    if after == "N" and not binary:
        return _named(text, start)
    return None, start + 1


def _named(text: str, start: int) -> tuple[str, int]:
    """The character of a `\\N{...}` escape and the index after it."""
    found = _NAMED.match(text, start + 2)
    if found is None:
        raise ValueError("malformed \\N character escape")
    try:
        character = unicodedata.lookup(found[1])
    except KeyError as error:
        raise ValueError(f"unknown character name: {found[1]}") from error
    if len(character) != 1:  # a named sequence, which literals do not take
        raise ValueError(f"unknown character name: {found[1]}")
    return character, found.end()
