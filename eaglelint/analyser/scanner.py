"""Logical lines of Python code that may be cut off anywhere, and how deeply its expressions nest.

No parser: a token scan that never fails. It serves to complete fragments until a parser reads them, and to refuse
code on whose nesting a recursive parser would exhaust the stack.
"""

from __future__ import annotations

import re
from typing import NamedTuple

CLOSING = {"(": ")", "[": "]", "{": "}"}

#: One token of Python, or what there is of it where the code is cut off.
TOKEN = re.compile(
    r"""(?P<space>[ \t\f]+|\\(?:\r\n|\r|\n))
    |(?P<comment>\#[^\r\n]*)
    |(?P<newline>\r\n|\r|\n)
    |(?P<string>(?i:[rbuft]{0,2})(?:
        \"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:\"{3}|(?P<open_double>\\?\Z))
        |'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:'{3}|(?P<open_single>\\?\Z))
        |"[^"\\\r\n]*(?:\\(?:\r\n|.)[^"\\\r\n]*)*"
        |'[^'\\\r\n]*(?:\\(?:\r\n|.)[^'\\\r\n]*)*'))
    |(?P<word>\w+)
    |(?P<open>[(\[{])
    |(?P<close>[)\]}])
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)

#: Words that make an expression one level deeper.
_NESTING_WORDS = frozenset({"not", "lambda", "if", "else", "and", "or", "await", "for", "async", "yield", "is", "in"})

#: CPython itself reads no more than 200 brackets inside each other; nobody writes 100.
MAX_BRACKETS = 100

#: The most operators that may follow each other in one expression, and branches in one `elif` ladder.
MAX_CHAIN = 1_000


class LogicalLine(NamedTuple):
    """A statement line with its continuation lines.

    `start` is the offset of the physical line on which it begins, `end` that after its line end; `first` is its first
    token, `colon` says whether `:` is its last one (a header whose body is on the following lines).
    """

    start: int
    end: int
    indent: str
    first: str
    colon: bool


class Scan(NamedTuple):
    """What a scan found.

    `unopened` are the offsets of closing brackets without an opening one, `unclosed` the offsets of opening brackets
    that are never closed; `last` is the last token; `unterminated` says that a triple-quoted string runs to the end.
    `too_deep` is the offset at which the code nests too deeply to be parsed, else None.
    """

    lines: tuple[LogicalLine, ...]
    unopened: tuple[int, ...]
    unclosed: tuple[int, ...]
    last: str
    unterminated: bool
    too_deep: int | None


def scan(text: str) -> Scan:
    """The logical lines and brackets of a text, and whether it nests too deeply."""
    lines: list[LogicalLine] = []
    unopened: list[int] = []
    opened: list[int] = []
    chains = [0]  # for each open bracket, how many operators the expression in it has had since the last comma
    total = elifs = 0
    too_deep: int | None = None
    unterminated = False
    start: int | None = None  # of the logical line that is being read
    first = last = ""
    begin = 0  # of the physical line
    for found in TOKEN.finditer(text):
        kind = found.lastgroup
        if kind == "space" or kind == "comment":
            if found[0][0] == "\\" and start is None:
                begin = found.end()
            continue
        token = found[0]
        if kind == "newline":
            if not opened:
                if start is not None:
                    lines.append(_line(text, start, found.end(), first, last))
                    start = None
                    total, chains = 0, [0]
                begin = found.end()
            continue
        if start is None:
            start, first = begin, token
            elifs = elifs + 1 if first == "elif" else elifs
        if kind == "open":
            opened.append(found.start())
            chains.append(0)
            step = 1
        elif kind == "close":
            step = 1
            if opened:
                opened.pop()
                total -= chains.pop()
            else:
                unopened.append(found.start())
        elif kind == "word":
            step = 3 if token == "lambda" else token in _NESTING_WORDS  # a lambda takes the most of the stack
        elif kind == "other":
            step = token not in ",;:"
            if token == "," or token == ";":
                total -= chains[-1]
                chains[-1] = 0
        else:  # a string
            step = 1
            unterminated = unterminated or found["open_double"] is not None or found["open_single"] is not None
            if len(token) > MAX_BRACKETS and _braces(token) > MAX_BRACKETS:
                too_deep = found.start() if too_deep is None else too_deep
        chains[-1] += step
        total += step
        last = token
        if too_deep is None and (len(opened) > MAX_BRACKETS or total > MAX_CHAIN or elifs > MAX_CHAIN):
            too_deep = found.start()
    if start is not None:
        lines.append(_line(text, start, len(text), first, last))
    return Scan(tuple(lines), tuple(unopened), tuple(opened), last, unterminated, too_deep)


def _line(text: str, start: int, end: int, first: str, last: str) -> LogicalLine:
    index = start
    while text[index] in " \t\f":
        index += 1
    return LogicalLine(start, end, text[start:index].replace("\f", ""), first, last == ":")


def _braces(token: str) -> int:
    """How many braces are open at most at once in an f-string; 0 for other strings."""
    if token.lstrip("rRfFtT")[0] not in "'\"" or (token[0] in "rR'\"" and token[1] not in "fFtT"):
        return 0
    depth = deepest = 0
    for brace in re.findall(r"[{}]", token):
        depth = max(0, depth + (1 if brace == "{" else -1))
        deepest = max(deepest, depth)
    return deepest
