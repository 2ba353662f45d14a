"""Where quoted and bracketed stretches of shell text end, and shell text with all of them masked.

A grammar sees masked text: every quoted or expanded stretch, array, comment and here-document body is replaced, at the
same length, by letters or blanks. So no quote in an embedded program can lead it astray, and its places are places in
the text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_HEREDOC = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|(\\?[^\s;&|()<>'\"`$]+))")
_DESCRIPTOR = re.compile(r"[0-9]+[<>]")
_PLAIN = re.compile(r"[A-Za-z_./:+,@%-]+")
_SETTING = re.compile(r"[A-Za-z_]\w*(?:\[(?:[^\[\]\s]|\[[^\[\]\s]*\])*\])?\+?=", re.ASCII)


class Heredoc(NamedTuple):
    """A here-document: `literal` when nothing in it is expanded, `indented` when leading tabs are taken off (`<<-`)."""

    start: int
    end: int
    literal: bool
    indented: bool


class Masked(NamedTuple):
    """Masked shell text, and the here-documents by the offset of their operator. A here-string looks like a file."""

    text: str
    heredocs: dict[int, Heredoc]


class _Pending:
    """Here-documents whose bodies begin on the next line."""

    def __init__(self) -> None:
        self.waiting: list[tuple[int, str, bool, bool]] = []
        self.found: dict[int, Heredoc] = {}

    def operator(self, source: str, index: int, end: int) -> int:
        """Take note of the operator at an offset; the offset after its word, or 0 when it is none."""
        match = _HEREDOC.match(source, index, end)
        if match is None or source.startswith("<<<", index):
            return 0
        word = match[2] or match[3] or match[4]
        self.waiting.append((index, word.lstrip("\\"), match[4] is None or word.startswith("\\"), bool(match[1])))
        return match.end()

    def bodies(self, source: str, index: int, end: int) -> int:
        """Read the bodies that begin at an offset, just after a newline; the offset after the last of them."""
        for operator, word, literal, indented in self.waiting:
            start = index
            while True:
                stop = source.find("\n", index, end)
                stop = end if stop < 0 else stop
                line = source[index:stop]
                line = line.lstrip("\t") if indented else line
                if line == word or stop >= end or line.rstrip() == word:
                    closed = line.rstrip() == word
                    self.found[operator] = Heredoc(start, index if closed else end, literal, indented)
                    index = stop
                    break
                index = stop + 1
        self.waiting = []
        return index


def end_of_parenthesis(source: str, index: int, end: int) -> int:
    """The offset after the `)` that closes what was opened just before `index` (`end` when nothing does)."""
    depth = 1
    pending = _Pending()
    while index < end:
        char = source[index]
        if char == "\\":
            index += 1
        elif char == "'":
            index = _end_of_single(source, index + 1, end) - 1
        elif char == '"':
            index = end_of_double(source, index + 1, end) - 1
        elif source.startswith("${", index):
            index = end_of_brace(source, index + 2, end) - 1
        elif char == "#" and source[index - 1].isspace():
            close = source.find("\n", index, end)
            index = (end if close < 0 else close) - 1
        elif source.startswith("<<<", index):
            index += 2
        elif char == "<" and (after := pending.operator(source, index, end)):
            index = after - 1
        elif char == "\n" and pending.waiting:
            index = pending.bodies(source, index + 1, end) - 1
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if not depth:
                return index + 1
        index += 1
    return end


def end_of_brace(source: str, index: int, end: int, quoted: bool = False) -> int:
    """The offset after the `}` that closes `${`; in double quotes (`quoted`) single quotes mean nothing."""
    while index < end:
        char = source[index]
        if char == "}":
            return index + 1
        if char == "\\":
            index += 1
        elif char == "'" and not quoted:
            index = _end_of_single(source, index + 1, end) - 1
        elif char == '"':
            index = end_of_double(source, index + 1, end) - 1
        elif source.startswith("${", index):
            index = end_of_brace(source, index + 2, end, quoted) - 1
        elif source.startswith("$(", index):
            index = end_of_parenthesis(source, index + 2, end) - 1
        index += 1
    return end


def end_of_double(source: str, index: int, end: int) -> int:
    """The offset after the closing double quote of what was opened just before `index`."""
    while index < end:
        char = source[index]
        if char == '"':
            return index + 1
        if char == "\\":
            index += 1
        elif source.startswith("$(", index):
            index = end_of_parenthesis(source, index + 2, end) - 1
        elif source.startswith("${", index):
            index = end_of_brace(source, index + 2, end, True) - 1
        index += 1
    return end


def _end_of_single(source: str, index: int, end: int) -> int:
    close = source.find("'", index, end)
    return end if close < 0 else close + 1


def _end_of_ansi(source: str, index: int, end: int) -> int:
    while index < end and source[index] != "'":
        index += 2 if source[index] == "\\" else 1
    return min(index + 1, end)


def _end_of_test(source: str, index: int, end: int) -> int:
    """The offset after the `]]` of a test that was opened just before `index`."""
    while index < end:
        char = source[index]
        if source.startswith("]]", index) and source[index - 1].isspace():
            return index + 2
        if char == "\\":
            index += 1
        elif char == "'":
            index = _end_of_single(source, index + 1, end) - 1
        elif char == '"':
            index = end_of_double(source, index + 1, end) - 1
        elif char == "\n" and not source[:index].rstrip(" \t").endswith(("&&", "||", "\\")):
            return index
        index += 1
    return end


def _opaque(source: str, index: int, end: int, word_start: bool) -> int:
    """The offset after the quoted or expanded stretch that starts at `index`; `index` itself when none does."""
    char = source[index]
    if char == "'":
        return _end_of_single(source, index + 1, end)
    if char == '"':
        return end_of_double(source, index + 1, end)
    if char == "`":
        close = source.find("`", index + 1, end)
        return end if close < 0 else close + 1
    if char == "\\":
        return min(index + 2, end)
    two = source[index : index + 2]
    if two == "$'":
        return _end_of_ansi(source, index + 2, end)
    if two == '$"':
        return end_of_double(source, index + 2, end)
    if two in ("$(", "<(", ">("):
        return end_of_parenthesis(source, index + 2, end)
    if two == "${":
        return end_of_brace(source, index + 2, end)
    if word_start and two == "((":
        close = end_of_parenthesis(source, index + 1, end)
        return close if source[close - 2 : close] == "))" else index
    if word_start and two == "[[" and source[index + 2 : index + 3].isspace():
        return _end_of_test(source, index + 2, end)
    return index


def _plain(source: str, index: int, end: int, word_start: bool) -> str:
    """What a grammar sees of one unquoted character."""
    char = source[index]
    after = source[index + 1] if index + 1 < end else "\n"
    if char == "{":
        return char if word_start and after.isspace() else "x"
    if char == "!":
        return " " if word_start and after.isspace() else "x"
    if char == "}":
        return char if word_start and (after.isspace() or after in ";&|)<>") else "x"
    if char.isdigit():  # a number would be taken for a descriptor
        return char if _DESCRIPTOR.match(source, index, end) else "x"
    if char.isascii() and (char.isalnum() or char in " \t\n_./:+,@%-;&|()<>"):
        return char
    return " " if char == "\r" else "x"


def mask(source: str) -> Masked:
    """Shell text with everything masked that is not structure."""
    out: list[str] = []
    pending = _Pending()
    index, end, word_start = 0, len(source), True
    while index < end:
        char = source[index]
        if char == "#" and word_start:
            close = source.find("\n", index, end)
            close = end if close < 0 else close
            out.append(" " * (close - index))
            index = close
        elif source.startswith("\\\n", index):
            inside = not word_start and index + 2 < end and not source[index + 2].isspace()
            out.append("xx" if inside else "  ")
            index += 2
        elif char == "\n":
            out.append(char)
            index += 1
            word_start = True
            if pending.waiting:
                after = pending.bodies(source, index, end)
                out.append("".join("\n" if c == "\n" else " " for c in source[index:after]))
                index = after
        elif source.startswith("<<<", index):
            out.append("<  ")
            index, word_start = index + 3, True
        elif source.startswith("<>", index):
            out.append("< ")
            index, word_start = index + 2, True
        elif char == "<" and (after := pending.operator(source, index, end)):
            out.append("< " + "x" * (after - index - 2))
            index, word_start = after, False
        elif word_start and (setting := _SETTING.match(source, index, end)):
            if source.startswith("(", setting.end()):
                after = end_of_parenthesis(source, setting.end() + 1, end)
                out.append("x" * (after - index))
                index = after
            else:
                out.append(re.sub(r"[^\w=+]", "x", setting[0], flags=re.ASCII))
                index = setting.end()
            word_start = False
        elif (plain := _PLAIN.match(source, index, end)) is not None:
            out.append(plain[0])
            index, word_start = plain.end(), False
        elif (after := _opaque(source, index, end, word_start)) > index:
            out.append("x" * (after - index))
            index, word_start = after, False
        else:
            out.append(_plain(source, index, end, word_start))
            word_start = char.isspace() or char in ";&|()<>"
            index += 1
    return Masked("".join(out), pending.found)


def stretches(text: str) -> list[tuple[int, int]]:
    """The stretches of a text between unquoted white space, where only quotes and backslashes mean anything."""
    found: list[tuple[int, int]] = []
    start, index, quote = -1, 0, ""
    while index < len(text):
        char = text[index]
        if not quote and char.isspace():
            if start >= 0:
                found.append((start, index))
            start = -1
        else:
            start = index if start < 0 else start
            if char == "\\" and quote != "'":
                index += 1
            elif quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
        index += 1
    if start >= 0:
        found.append((start, len(text)))
    return found
