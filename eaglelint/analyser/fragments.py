"""Python code, whole files or pieces cut out of them, parsed with the place of every node in the file that holds it.

libcst is the parser: it keeps every byte and reads newer syntax than the Python that runs it. It is imported when the
first text is parsed.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from eaglelint import mapped
from eaglelint.analyser.ladder import completions
from eaglelint.analyser.scanner import scan
from eaglelint.location import LineMap, Location, MappedText

if TYPE_CHECKING:
    import libcst as cst

    from eaglelint.analyser.positions import Positions

_T = TypeVar("_T")

#: The most characters that are parsed; the largest source file of the engines has 300,000.
MAX_LENGTH = 2_000_000

#: Python frames that walking over the deepest code takes that the scanner admits.
RECURSION_LIMIT = 10_000

#: How many characters in all are parsed to find the part of a fragment that is code.
TRIMMING_BUDGET = 300_000

#: How many lines are cut off at either end of a fragment when it is not code as it is; tried by their sum.
_CUTS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 26, 32, 48, 64, 96, 128, 192, 256, 384)


class FragmentError(Exception):
    """A text is no Python that can be read: `where` is the place, `reason` says why."""

    def __init__(self, where: Location, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason


class SyntaxProblem(NamedTuple):
    """Why a text does not parse; line and column are 1-based."""

    line: int
    column: int
    message: str


@dataclass(frozen=True)
class Fragment:
    """Parsed code.

    `text` is the text that was parsed. `how` says what it took: "as is", "dedented", "completed" (code was added: the
    stretches `inserted` of the text) or "trimmed" (lines were left out at its ends as well).
    """

    module: cst.Module
    text: MappedText
    how: str = "as is"
    inserted: tuple[tuple[int, int], ...] = ()

    @cached_property
    def exact(self) -> bool:
        """Whether the tree gives back the text, so that it may be edited; else some columns may be a little off."""
        return _attempt(lambda: self.module.code) == self.text.text

    @cached_property
    def _lines(self) -> LineMap:
        return LineMap("", self.text.text)

    @cached_property
    def positions(self) -> Positions | None:
        """Where each node stands in `text`; None when the code nests too deeply to work it out."""
        from eaglelint.analyser.positions import positions

        try:
            with deep_recursion():
                return positions(self.module)
        except RecursionError:
            return None

    def offset(self, line: int, column: int) -> int:
        """The offset in `text` of a position of libcst: a 1-based line and a 0-based column."""
        return self._lines.offset(line, column + 1)

    def span(self, node: cst.CSTNode) -> tuple[int, int] | None:
        """Where a node stands in `text`, None when that is not known."""
        place = self.positions.get(node) if self.positions is not None else None
        if place is None:
            return None
        return self.offset(place.start.line, place.start.column), self.offset(place.end.line, place.end.column)

    def source(self, node: cst.CSTNode) -> MappedText | None:
        """The code of a node as it is written."""
        span = self.span(node)
        return self.text[span[0] : span[1]] if span is not None else None

    def location(self, node: cst.CSTNode) -> Location:
        """Where a node stands in the file; the start of the text when that is not known."""
        span = self.span(node)
        return self.text.location(*span) if span is not None else self.text.location(0, 0)

    def was_inserted(self, offset: int) -> bool:
        """Whether the character at an offset of `text` was added to complete the code."""
        return any(start <= offset < end for start, end in self.inserted)


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Let Python recurse deeply enough for a walk over any tree that is parsed here.

    A patch that is written as one concatenation of some hundred string literals is as many levels deep.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def parse_module(text: MappedText) -> Fragment:
    """The code of a whole file; raises FragmentError with the place and the reason."""
    text = _normalised(text)
    if len(text) > MAX_LENGTH:
        raise FragmentError(text.location(0, 0), f"more than {MAX_LENGTH:,} characters")
    found = scan(text.text)
    if found.too_deep is not None:
        raise FragmentError(text.location(found.too_deep, found.too_deep + 1), "the code nests too deeply")
    result = _read(text)
    if isinstance(result, Fragment):
        return result
    problem = syntax_error(text.text)
    if problem is None:
        raise FragmentError(text.location(0, 0), result)
    offset = LineMap("", text.text).offset(problem.line, problem.column)
    raise FragmentError(text.location(offset, offset + 1), problem.message)


def parse(text: MappedText, keep: tuple[int, int] | None = None) -> Fragment | None:
    """Code that may be cut out of a file: indented, without the blocks around it, or cut through a statement.

    Where it must be, code is added around it, then lines are left out at its ends: at most half of them, or any but
    those of the stretch `keep` (offsets in `text`). None when no code is found so.
    """
    if keep is not None:
        keep = (len(_normalised(text[: keep[0]])), len(_normalised(text[: keep[1]])))
    text = _normalised(text)
    if len(text) > MAX_LENGTH or not text.text.strip() or scan(text.text).too_deep is not None:
        return None
    for how, made in (("as is", text), ("dedented", mapped.dedent(text))):
        result = _read(made, how)
        if isinstance(result, Fragment):
            return result
    return _completed(text, "completed") or _trimmed(text, keep)


def block_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The innermost function or class around a stretch, by indentation alone; else the stretch's own lines.

    Its lines run from the `def` or `class` with less indentation above to the line before the next with no more.
    """
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    first = max(0, next((n for n, begin in enumerate(starts) if begin > start), len(lines)) - 1)
    last = max(first, next((n for n, begin in enumerate(starts) if begin >= end), len(lines)) - 1)
    indents = [len(line) - len(line.lstrip()) if line.strip() else None for line in lines]
    inner = min((indent for indent in indents[first : last + 1] if indent is not None), default=0)
    for number in range(first, -1, -1):
        indent = indents[number]
        if indent is None or (indent >= inner and number != first):
            continue
        if re.match(r"(async\s+def|def|class)\b", lines[number].lstrip()):
            after = (n for n in range(number + 1, len(lines)) if _ends(indents[n], indent, lines[n]) and n > last)
            return starts[number], starts[next(after, len(lines))]
        if not lines[number].lstrip().startswith((")", "]", "}")):  # these end a header that is further up
            inner = min(inner, indent)
    return starts[first], starts[last + 1] if lines else 0


def _ends(indent: int | None, block: int, line: str) -> bool:
    """Whether a line stands outside of a block: no deeper, and not the end of the header's own brackets."""
    return indent is not None and indent <= block and not line.lstrip().startswith((")", "]", "}", "#"))


def syntax_error(text: str) -> SyntaxProblem | None:
    """The place and the reason for which a text does not parse, None when it does.

    libcst's own line numbers are wrong in several ways; its message holds the end of the offending token. Python's own
    parser says it better, but stumbles earlier over syntax that is newer than itself.
    """
    from eaglelint.analyser import parsing

    reason = _attempt(lambda: parsing.parse_module(text))
    if not isinstance(reason, str):
        return None
    ours = re.search(r"error at (\d+):(\d+)", reason)
    theirs = _python_error(text)
    if theirs is not None:
        # Nothing that the two disagree about is an open bracket or string: every Python sees these alike.
        sure = ours is None or "never closed" in theirs.message or "unterminated" in theirs.message
        if sure or (ours is not None and 0 <= int(ours[1]) - theirs.line <= 1):
            return theirs
    if ours is None:
        return SyntaxProblem(1, 1, reason.split("error: ", 1)[-1])
    return SyntaxProblem(int(ours[1]), max(1, int(ours[2])), "invalid syntax")


def _python_error(text: str) -> SyntaxProblem | None:
    """What the running Python's own parser says of a text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return SyntaxProblem(error.lineno or 1, max(1, error.offset or 1), error.msg)
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxProblem(1, 1, str(error) or "the code nests too deeply")
    return None


def _normalised(text: MappedText) -> MappedText:
    """The text without what libcst does not give back: a byte order mark, form feeds, lone carriage returns."""
    text = mapped.removeprefix(text, "\ufeff")
    if "\f" in text.text:
        text = mapped.replace(text, "\f", "")
    if "\r" in text.text:
        text = text.replace_text(re.sub(r"\r(?!\n)", "\n", text.text))
    return text


def _read(text: MappedText, how: str = "as is", inserted: tuple[tuple[int, int], ...] = ()) -> Fragment | str:
    """The parsed text, or the reason why it does not parse."""
    from eaglelint.analyser import parsing

    module = _attempt(lambda: parsing.parse_module(text.text))
    if isinstance(module, str):
        return module
    return Fragment(module, text, how, inserted)


def _attempt(action: Callable[[], _T]) -> _T | str:
    """The result of a parser's action, or the reason why there is none."""
    import libcst as cst

    try:
        with deep_recursion():
            return action()
    except cst.ParserSyntaxError as error:
        return error.message
    except cst.CSTValidationError:  # code that is valid, but not for libcst: `for x in*y,:`
        return "the parser gave up"
    except RecursionError:
        return "the code nests too deeply"
    except UnicodeError:
        return "characters that are no Unicode text"
    except BaseException as error:
        # A panic of the native parser is none of the ordinary exceptions; its class can not be imported.
        if type(error).__name__ != "PanicException":
            raise
        return "the parser gave up"


def _completed(text: MappedText, how: str) -> Fragment | None:
    """The text with what was cut off added, if it then parses."""
    for made in completions(text):
        result = _read(made.text, how, made.inserted)
        if isinstance(result, Fragment):
            return result
    return None


def _trimmed(text: MappedText, keep: tuple[int, int] | None) -> Fragment | None:
    """The largest part of the text that parses after completion, by lines left out at its ends."""
    starts = [0]
    for line in text.text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    budget = TRIMMING_BUDGET
    for first, last in _windows(starts, keep):
        part = text[starts[first] : starts[last]]
        budget -= len(part)
        if budget < 0:
            break
        result = _completed(part, "trimmed") if part.text.strip() else None
        if result is not None:
            return result
    if keep is None:
        return None
    around = block_around(text.text, *keep)
    return _completed(text[around[0] : around[1]], "trimmed") or _completed(text[keep[0] : keep[1]], "trimmed")


def _windows(starts: list[int], keep: tuple[int, int] | None) -> Iterator[tuple[int, int]]:
    """Ranges of lines to try, the largest first."""
    count = len(starts) - 1
    if keep is None:
        head = tail = count // 2
    else:
        head = sum(1 for start in starts[1:] if start <= keep[0])
        tail = sum(1 for start in starts[:-1] if start >= max(keep[1], keep[0] + 1))
    cuts = sorted((h + t, h, t) for h in _CUTS for t in _CUTS if h <= head and t <= tail)
    for total, h, t in cuts:
        if total and (keep is not None or total <= count // 2):
            yield h, count - t
