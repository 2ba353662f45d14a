"""Completing code that was cut out of a file, so that a parser reads it.

What was cut off is added in its simplest form: the blocks around it (`if 1:`), bodies of headers (`pass`), the `if` or
`try` of a leading `else` or `except`, and the beginning or the end of a statement that the cut goes through. What can
not be known there is the name `UNKNOWN`, to which nothing is ever bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from eaglelint.analyser.scanner import CLOSING, LogicalLine, Scan, scan
from eaglelint.location import MappedText, join
from eaglelint.mapped import placed

#: Stands for conditions, functions and arguments that were cut off.
UNKNOWN = "__cut_off__"

#: Which statement must come before a clause on the same level.
_BEFORE = {
    "elif": frozenset({"if", "elif"}),
    "else": frozenset({"if", "elif", "for", "while", "async", "except"}),
    "except": frozenset({"try", "except"}),
    "finally": frozenset({"try", "except", "else"}),
}
_OPENERS = {"elif": f"if {UNKNOWN}:", "else": f"if {UNKNOWN}:", "except": "try:", "finally": "try:"}
_HEADERS = frozenset({"if", "elif", "for", "while", "with", "def", "class", "async", "except", "match", "case"})
#: Words after which an operand must follow, and words that can not begin an expression.
_OPERATOR_WORDS = frozenset({"and", "or", "not", "in", "is", "if", "else", "for", "lambda", "await", "yield", "as"})
_INFIX_WORDS = frozenset({"and", "or", "in", "is", "if", "for", "as"})


class Completed(NamedTuple):
    """A text to which code was added; `inserted` are the stretches of it that were added, in order."""

    text: MappedText
    inserted: tuple[tuple[int, int], ...]


class _Level:
    """An indentation level that is open: its white space and the first word of its last compound statement."""

    __slots__ = ("indent", "word")

    def __init__(self, indent: str, word: str) -> None:
        self.indent = indent
        self.word = word


def completions(text: MappedText) -> Iterator[Completed]:
    """A text with what was cut off added, in each way that can be meant; nothing when it can be no code."""
    found = scan(text.text)
    if not found.lines or found.unterminated or found.too_deep is not None:
        return
    text = text[: found.lines[-1].end]  # libcst loses comments at the end that are indented less than the code
    for opening in _openings(text.text, found) if found.unopened else ("",):
        for closing in _closings(text.text, found) if found.unclosed else ("",):
            lines = list(found.lines)
            if opening:
                _merge_head(text.text, found, lines, opening)
            if closing:
                lines[-1] = lines[-1]._replace(colon=closing.endswith(":\n"))
            structure = _Structure(lines)
            if not structure.read():
                return
            tail = closing
            if not closing and structure.tail and not text.text.endswith(("\n", "\r")):
                tail = "\n"
            head = [*structure.head, (0, f"{lines[0].indent}{opening}" if opening else "")]
            yield _assemble(text, [*head, *structure.inner, (len(text), tail + structure.tail)])


def _assemble(text: MappedText, insertions: list[tuple[int, str]]) -> Completed:
    pieces: list[MappedText] = []
    inserted: list[tuple[int, int]] = []
    start = length = 0
    for offset, string in insertions:
        if not string:
            continue
        pieces += [text[start:offset], placed(string, text, offset)]
        length += offset - start
        inserted.append((length, length + len(string)))
        length += len(string)
        start = offset
    return Completed(join([*pieces, text[start:]]), tuple(inserted))


def _merge_head(text: str, found: Scan, lines: list[LogicalLine], opening: str) -> None:
    """Make one line of the lines at the start that end a statement whose beginning was cut off."""
    last = found.unopened[-1]
    while lines and lines[0].start <= last:
        tail = lines.pop(0)
    indent = tail.indent
    if text[tail.start : last].strip() and lines:
        # The bracket hangs at the end of an argument, so its line tells nothing: the next statement does.
        indent = lines[0].indent[:-4] if tail.colon else lines[0].indent
    lines.insert(0, LogicalLine(0, tail.end, indent, re.match(r"\w*", opening)[0], tail.colon))  # type: ignore[index]


def _openings(text: str, found: Scan) -> tuple[str, ...]:
    """Beginnings of a statement of which only the end is there: `a,\n    b)` is the end of some call."""
    last = found.unopened[-1]
    openers = "".join("([{"[")]}".index(text[offset])] for offset in reversed(found.unopened))
    call = UNKNOWN + openers if openers.startswith("(") else openers
    first = found.lines[0].first
    if first == "else":
        call += f"{UNKNOWN} if {UNKNOWN} "
    elif first in _INFIX_WORDS or first in tuple(".=!<>%/&|^:@"):
        call += UNKNOWN + (" " if first != "." else "")
    rest = text[last + 1 :].lstrip(" \t")
    if rest.startswith("->"):
        return (f"def {call}",)
    if not rest.startswith(":"):
        return (call,)
    function = re.search(r"^\s*(self\b|cls\b|\*|\w+\s*:)", text[:last], re.MULTILINE) is not None
    return (f"def {call}", f"if {call}") if function else (f"if {call}", f"def {call}")


def _closings(text: str, found: Scan) -> tuple[str, ...]:
    """Ends of a statement of which only the beginning is there, with an unknown rest of its arguments."""
    line = found.lines[-1]
    innermost = found.unclosed[-1]
    opener = text[innermost]
    called = re.search(r"(\w+|[)\]])[ \t]*$", text[line.start : innermost])
    grouping = opener == "(" and (
        called is None or called[1] in _OPERATOR_WORDS | {"return", "assert", "elif", "while"}
    )
    rest = f"*{UNKNOWN}"
    if grouping or line.first in ("from", "import"):
        rest = UNKNOWN
    elif line.first in ("def", "async") or (opener == "{" and ":" in text[innermost:]):
        rest = f"**{UNKNOWN}"
    operand = found.last[-1].isalnum() or found.last[-1] in tuple("_)]}'\"")
    if found.last in (",", opener):
        fillings = [rest]
    elif found.last in _OPERATOR_WORDS or not operand:
        fillings = [f" {UNKNOWN}" if grouping else f" {UNKNOWN}, {rest}"]
    else:
        fillings = [f" + {rest}" if grouping and rest == UNKNOWN else f", {rest}", f" else {UNKNOWN}"]
        if not grouping:
            fillings[1] += f", {rest}"
    comment = "\n" if "#" in text[text.rfind("\n") + 1 :] else ""
    closers = "".join(CLOSING[text[offset]] for offset in reversed(found.unclosed))
    colon = ":" if line.first in _HEADERS and not line.colon else ""
    return tuple(f"{comment}{filling}{closers}{colon}\n" for filling in fillings)


class _Structure:
    """Follows the indentation of logical lines and collects what is missing to make it that of whole blocks.

    `head` and `inner` are insertions (offset, code) before and within the text, `tail` is code to append.
    """

    def __init__(self, lines: list[LogicalLine]) -> None:
        self.lines = lines
        self.inner: list[tuple[int, str]] = []
        self.tail = ""
        self._levels = [_Level(lines[0].indent, "")]
        self._below: list[tuple[str, str]] = []

    @property
    def head(self) -> list[tuple[int, str]]:
        """The headers of the blocks that the text is in."""
        outermost = self._below[-1][0] if self._below else self.lines[0].indent
        headers = ["if 1:\n"] if outermost else []
        headers += [f"{indent}{opener}\n" for indent, opener in reversed(self._below)]
        return [(0, "".join(headers))]

    def read(self) -> bool:
        """Go through the lines; False when they are indented in no way that blocks can be."""
        before: LogicalLine | None = None
        for line in self.lines:
            if not self._enter(line, before):
                return False
            self._clause(line)
            before = line
        if before is not None and before.colon:
            self.tail += f"{before.indent}    pass\n"
        elif before is not None and before.first == "@":
            self.tail += f"{before.indent}def {UNKNOWN}(): pass\n"
        while self._levels:
            self.tail += self._leave(self._levels.pop())
        return True

    def _enter(self, line: LogicalLine, before: LogicalLine | None) -> bool:
        """Open and close blocks until the level is that of `line`."""
        indent = line.indent
        top = self._levels[-1]
        if before is not None and before.colon and not _deeper(indent, before.indent):
            self.inner.append((line.start, f"{before.indent}    pass\n"))
        elif _deeper(indent, top.indent):
            if before is None or not before.colon:
                self.inner.append((line.start, f"{top.indent}if 1:\n"))
                top.word = "if"
            self._levels.append(_Level(indent, ""))
            return True
        while self._levels and _deeper(self._levels[-1].indent, indent):
            self.inner.append((line.start, self._leave(self._levels.pop())))
        if self._levels:
            return self._levels[-1].indent == indent
        if not _deeper(self._lowest, indent):
            return False
        opener = _OPENERS.get(line.first, "if 1:")
        self._below.append((indent, opener))
        self._levels.append(_Level(indent, opener.split()[0].rstrip(":")))
        return True

    @property
    def _lowest(self) -> str:
        return self._below[-1][0] if self._below else self.lines[0].indent

    def _clause(self, line: LogicalLine) -> None:
        """Add what a clause belongs to when it is not there, or the clause that a statement lacks."""
        level = self._levels[-1]
        allowed = _BEFORE.get(line.first)
        if allowed is None:
            self.inner.append((line.start, self._leave(level)))
        elif level.word not in allowed:
            self.inner.append((line.start, f"{line.indent}{_OPENERS[line.first]}\n{line.indent}    pass\n"))
        level.word = line.first

    def _leave(self, level: _Level) -> str:
        """What the last statement of a level lacks when nothing more of it follows."""
        return f"{level.indent}finally:\n{level.indent}    pass\n" if level.word == "try" else ""


def _deeper(indent: str, than: str) -> bool:
    """Whether white space is deeper than other white space, in the way of Python: it starts with it."""
    return len(indent) > len(than) and indent.startswith(than)
