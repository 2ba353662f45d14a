"""`re.sub` on mapped text, for patterns that other people wrote.

Python's matcher backtracks and can not be interrupted, so a pattern is run only when a bound on its steps, worked out
from its structure and from the text, is small. For anything else the answer is None: the result is not known.
"""

from __future__ import annotations

import importlib
import math
import re
import sys
import warnings
from typing import Any

from eaglelint.location import MappedText, join
from eaglelint.mapped import Insertion, placed

#: Steps of the matcher that are affordable; about a second.
MAX_STEPS = 30_000_000

#: The most characters that a pattern, and the text that it is run on, may have.
MAX_PATTERN = 2_000
MAX_TEXT = 200_000

_REFERENCE = re.compile(
    r"\\(?:g<(?P<name>[^>]*)>|(?P<octal>0[0-7]{0,2}|[0-3][0-7][0-7])|(?P<number>[1-9][0-9]?)|(?P<other>.|$))",
    re.DOTALL,
)
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}


def re_sub(pattern: str, replacement: Insertion, text: MappedText, count: int = 0, flags: int = 0) -> MappedText | None:
    """`re.sub(pattern, replacement, text, count, flags)`; None when it could take long.

    Text of groups keeps its place; text of the replacement stands where it is written when that is mapped, else where
    the match begins. Raises ValueError when the pattern or the replacement is no valid one.
    """
    if len(pattern) > MAX_PATTERN or len(text) > MAX_TEXT:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = re.compile(pattern, flags)
            if _steps(compiled, text.text) > MAX_STEPS:
                return None
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"invalid pattern: {error}") from error
    pieces: list[MappedText] = []
    start = 0
    for done, match in enumerate(compiled.finditer(text.text)):
        if 0 < count <= done:
            break
        pieces.append(text[start : match.start()])
        pieces += _expand(replacement, match, text)
        start = match.end()
    pieces.append(text[start:])
    return join(pieces)


def _expand(replacement: Insertion, match: re.Match[str], text: MappedText) -> list[MappedText]:
    """The replacement with its references to groups filled in."""
    template = replacement if isinstance(replacement, MappedText) else placed(replacement, text, match.start())
    pieces: list[MappedText] = []
    start = 0
    for found in _REFERENCE.finditer(template.text):
        pieces.append(template[start : found.start()])
        start = found.end()
        name = found["name"] or found["number"]
        if name is not None:
            pieces.append(_group(name, match, text))
        elif found["octal"]:
            pieces.append(placed(chr(int(found["octal"], 8)), template, found.start()))
        elif found["other"] in _ESCAPES:
            pieces.append(placed(_ESCAPES[found["other"]], template, found.start()))
        elif not found["other"] or (found["other"].isascii() and found["other"].isalnum()):
            raise ValueError(f"bad escape in a replacement: {found[0]}")
        else:
            pieces.append(template[found.start() : found.end()])
    pieces.append(template[start:])
    return pieces


def _group(name: str, match: re.Match[str], text: MappedText) -> MappedText:
    try:
        start, end = match.span(int(name) if name.isdigit() else name)
    except IndexError as error:
        raise ValueError(f"no such group: {name}") from error
    return text[start:end] if start >= 0 else text[:0]


def _steps(pattern: re.Pattern[str], text: str) -> float:
    """An upper bound on the steps of all matches of a pattern in a text; infinite when there is no useful one.

    Each way of matching a part multiplies. A repeat of one character class has as many ways as the longest stretch of
    that class in the text, but only one when what follows can not match a character of the class; an alternation has
    its branches. Repeats inside repeats have no bound.
    """
    parser: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
    bound = _Bound(text, pattern.flags)
    ways = bound.ways(list(parser.parse(pattern.pattern, pattern.flags)), last=True)
    return (len(text) + 1) * ways * (1 + bound.longest)


class _Bound:
    """Counts the ways in which parts of a parsed pattern can match at one place of a text.

    `longest` adds up how many characters all repeats together can match at once.
    """

    def __init__(self, text: str, flags: int) -> None:
        self.text = text
        self.flags = flags
        self.characters = sorted(set(text))
        self.longest = 0

    def ways(self, items: list[Any], *, last: bool = False, repeated: bool = False) -> float:
        """In how many ways a sequence of items can match; `last` when nothing follows it, `repeated` in a repeat."""
        flat = _flat(items)
        result = 1.0
        for index, (kind, argument) in enumerate(flat):
            name = str(kind)
            if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
                low, high, body = argument
                follows = flat[index + 1] if index + 1 < len(flat) else None
                certain = self._exclusive(_flat(body), follows) if follows is not None else last
                result *= self._repeat(int(low), int(high), _flat(body), certain, repeated)
            elif name == "BRANCH":
                result *= 1 + sum(self.ways(list(branch), repeated=repeated) for branch in argument[1])
            elif name in ("ASSERT", "ASSERT_NOT"):
                result *= self.ways(list(argument[1]), repeated=repeated)
            elif name == "ATOMIC_GROUP":
                result *= self.ways(list(argument), repeated=repeated)
            elif name not in ("LITERAL", "NOT_LITERAL", "IN", "ANY", "AT"):
                return math.inf  # back references compare whole groups; conditionals are not met in practice
        return result

    def _repeat(self, low: int, high: int, body: list[Any], certain: bool, repeated: bool) -> float:
        inner = self.ways(body, repeated=True)
        if low == high and inner == 1:
            return 1
        if high == 1:
            return 1 + self.ways(body, repeated=repeated)
        if repeated or inner > 1:
            return math.inf
        longest = min(high, self._longest(body[0]) if len(body) == 1 else len(self.text))
        self.longest += longest
        return 1 if certain else min(high - low, longest) + 1

    def _exclusive(self, body: list[Any], follows: Any) -> bool:
        """Whether a repeat of `body` can end at one place only, because `follows` matches none of its characters."""
        first = follows
        while str(first[0]) in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and int(first[1][0]) > 0:
            inner = _flat(first[1][2])
            if not inner:
                return False
            first = inner[0]
        single = ("LITERAL", "NOT_LITERAL", "IN", "ANY")
        if len(body) != 1 or str(body[0][0]) not in single or str(first[0]) not in single:
            return False
        return not any(self._matches(body[0], char) and self._matches(first, char) for char in self.characters)

    def _longest(self, item: Any) -> int:
        """The length of the longest stretch of the text whose characters all match one item."""
        matching = {character for character in self.characters if self._matches(item, character)}
        longest = run = 0
        for character in self.text:
            run = run + 1 if character in matching else 0
            longest = max(longest, run)
        return longest

    def _matches(self, item: Any, character: str) -> bool:
        """Whether a character may match an item (True where that is not sure)."""
        kind, argument = str(item[0]), item[1]
        if kind == "ANY":
            return character != "\n" or bool(self.flags & re.DOTALL)
        if self.flags & re.IGNORECASE:
            return True
        if kind == "LITERAL":
            return bool(ord(character) == argument)
        if kind == "NOT_LITERAL":
            return bool(ord(character) != argument)
        if kind == "RANGE":
            return bool(argument[0] <= ord(character) <= argument[1])
        if kind == "CATEGORY":
            category = _CATEGORIES.get(str(argument))
            return category is None or re.match(category, character) is not None
        if kind == "IN":
            negated = str(argument[0][0]) == "NEGATE"
            return any(self._matches(part, character) for part in argument[negated:]) != negated
        return True


def _flat(items: Any) -> list[Any]:
    """A sequence of parsed items with its groups replaced by what is in them."""
    flat: list[Any] = []
    for kind, argument in items:
        flat += _flat(argument[3]) if str(kind) == "SUBPATTERN" else [(kind, argument)]
    return flat
