"""Comments and docstrings beside code that takes hidden states, and the cache namespaces that code gives to requests.

Code inside a string of a patch script or a hunk of a diff has comments as well, so that lines are looked at rather than
the tokens of the outer file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from eaglelint.facts import CacheSalt, Comment, Facts
from eaglelint.location import Location
from eaglelint.project import Source

#: Only comments that speak of layers or states by number, or of the embedding, are worth reading.
_SPEAKS = re.compile(r"(?i)\b(?:layers?|boundar(?:y|ies)|blocks?)\b.*\d|\bembedding\b")
#: A line that holds a comment alone: in a file, a diff, or a line of a string.
_OWN_LINE = re.compile(r"""^[ \t]*(?:\+[ \t]*)?(?:[rbfuRBFU]{0,2}["'][ \t]*)?#(?!!)[ \t]*(.*?)(?:\\n)?["']?[,)]?\s*$""")
#: A comment behind code; quotes before it must be balanced.
_TRAILING = re.compile(r"^(.*?\S)\s+#[ \t]*(.*)$")
_ASSIGNED = re.compile(r"^[\s+]*(?:self\.)?([A-Za-z_]\w*)\s*(?::[^=]+)?=(?!=)")
_FUNCTION = re.compile(r"^([\s+]*)(?:async\s+)?def\s+\w+")
_DOCSTRING = re.compile(r'("""|\'\'\')(.*?)\1', re.DOTALL)
#: How many lines above a place still belong to it.
_REACH = 8
_SALT = re.compile(r"""["']?\b(cache_salt|extra_key)\b["']?\]?\s*[:=](?!=)""")


class _Words(NamedTuple):
    """A comment or docstring: its text, its first and last line (from 0) and offsets, whether code precedes it."""

    text: str
    first: int
    last: int
    start: int
    end: int
    kind: str
    behind: bool


def read_comments(source: Source, facts: Facts) -> Iterator[Comment]:
    """The comments of a file that speak of layers beside its captures, concatenations and named states."""
    places = _places(source.path, facts)
    if not places or source.kind == "binary":
        return
    mapped = source.text
    lines = mapped.text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for words in (*_comments(lines, starts), *_docstrings(mapped.text, lines, starts)):
        if _SPEAKS.search(words.text):
            beside = _beside(words, lines, places)
            if beside is not None:
                yield Comment(words.text, mapped.location(words.start, words.end), words.kind, beside)


def _places(path: str, facts: Facts) -> list[Location]:
    """Where this file stores, concatenates or names states, in the order of the lines."""
    found = [fact.where for fact in facts.captures] + [fact.where for fact in facts.assemblies]
    found += [fact.chosen for fact in facts.captures if fact.chosen is not None]
    found += [fact.where for fact in facts.labels]
    return sorted({place for place in found if place.path == path}, key=lambda place: (place.start, place.end))


def _comments(lines: Sequence[str], starts: Sequence[int]) -> Iterator[_Words]:
    """Comments, lines of their own joined where they follow one another."""
    block: list[tuple[int, str, int]] = []
    for number, line in enumerate(lines):
        text = line.rstrip("\r\n")
        own = _OWN_LINE.match(text) if "#" in text else None
        if own is not None:
            block.append((number, own[1], text.index("#")))
            continue
        if block:
            yield _joined(block, lines, starts)
            block = []
        behind = _TRAILING.match(text) if "#" in text else None
        if behind is not None and _balanced(behind[1]):
            start = starts[number] + behind.start(2)
            yield _Words(behind[2], number, number, start, starts[number] + len(text), "comment", True)
    if block:
        yield _joined(block, lines, starts)


def _joined(block: Sequence[tuple[int, str, int]], lines: Sequence[str], starts: Sequence[int]) -> _Words:
    first, last = block[0][0], block[-1][0]
    end = starts[last] + len(lines[last].rstrip("\r\n"))
    text = " ".join(words for _, words, _ in block)
    return _Words(text, first, last, starts[first] + block[0][2], end, "comment", False)


def _balanced(code: str) -> bool:
    bare = re.sub(r"\\.", "", code)
    return bare.count('"') % 2 == 0 and bare.count("'") % 2 == 0


def _docstrings(text: str, lines: Sequence[str], starts: Sequence[int]) -> Iterator[_Words]:
    """Docstrings of functions."""
    for found in _DOCSTRING.finditer(text):
        first = text.count("\n", 0, found.start())
        above = lines[first - 1] if first else ""
        if not above.rstrip().endswith(":") or text[starts[first] : found.start()].strip() not in ("", "r", "+"):
            continue
        last = text.count("\n", 0, found.end())
        yield _Words(" ".join(found[2].split()), first, last, found.start(), found.end(), "docstring", False)


def _beside(words: _Words, lines: Sequence[str], places: Sequence[Location]) -> Location | None:
    """The place that a comment stands next to, None when it stands next to none."""
    if words.kind == "docstring":
        return _in_function(words, lines, places)
    line = words.first if words.behind else _below(words.last, lines)
    if line is None:
        return None
    for place in places:
        if place.line - 1 == line or (place.line - 1 <= line <= place.end_line - 1):
            return place
    assigned = _ASSIGNED.match(lines[line])
    if assigned is not None and re.search(r"\d", lines[line]):
        return _driven(assigned[1], lines, places)
    return None


def _below(last: int, lines: Sequence[str]) -> int | None:
    """The first line of code below a comment, None when an empty line comes between."""
    following = last + 1
    return following if following < len(lines) and lines[following].strip(" +\r\n") else None


def _driven(name: str, lines: Sequence[str], places: Sequence[Location]) -> Location | None:
    """The first place whose line, or one of the lines just above it, uses a name."""
    used = re.compile(rf"\b{re.escape(name)}\b")
    for place in places:
        if any(used.search(lines[n]) for n in range(place.line - 1, min(place.end_line, len(lines)))):
            return place
    for place in places:
        for number in range(place.line - 2, max(-1, place.line - 2 - _REACH), -1):
            if used.search(lines[number]) and not _ASSIGNED.match(lines[number]):
                return place
            if _FUNCTION.match(lines[number]):
                break
    return None


def _in_function(words: _Words, lines: Sequence[str], places: Sequence[Location]) -> Location | None:
    """The only place inside the function whose docstring this is; several make the docstring unclear."""
    header = words.first - 1
    while header >= 0 and not _FUNCTION.match(lines[header]):
        header -= 1
        if words.first - header > _REACH:
            return None
    if header < 0:
        return None
    indent = len(lines[header]) - len(lines[header].lstrip(" +\t"))
    end = words.last + 1
    while end < len(lines):
        stripped = lines[end].strip(" +\r\n\t")
        if stripped and len(lines[end]) - len(lines[end].lstrip(" +\t")) <= indent:
            break
        end += 1
    inside = [place for place in places if words.last < place.line - 1 < end]
    return inside[0] if inside else None


def read_salts(source: Source) -> Iterator[CacheSalt]:
    """Where a Python file gives requests a cache namespace of their own (`cache_salt`, `extra_key`)."""
    if source.kind != "python" or not any(word in source.data for word in (b"cache_salt", b"extra_key")):
        return
    mapped = source.text
    for found in _SALT.finditer(mapped.text):
        line = mapped.text.rfind("\n", 0, found.start()) + 1
        if "#" not in mapped.text[line : found.start()]:
            yield CacheSalt(found[1], mapped.location(found.start(), found.end()))
