"""What a comment or docstring says about the layers that are taken.

Only plain statements are read: numbers after `layer`, `boundary` and the like, or the embedding output. Whatever speaks
of other releases, defaults, ranges, counts or examples is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_LIST = r"[\[({]?\s*(\d+(?:\s*(?:,\s*and|,|/|and|&|\+|or)\s*\d+)*)\s*[\])}]?"
_LAYERS = r"(?:(?:decoder|target|model|aux(?:iliary)?|the|hidden)\s+)*(?:layers?|blocks?)(?:\s+(?:ids?|numbers?|idx))?"
#: What follows a number that counts something else, or is the start of a range.
_OTHERWISE = re.compile(r"\s*(?:-|–|\.\.|:|to\b|through\b|%|x\d|x\b|st\b|nd\b|rd\b|th\b|layers?\b|\*|//|\.\d)")
#: Words with which a comment speaks of something else than what the code beside it takes.
_ELSEWHERE = re.compile(
    r"(?i)\b(?:default\w*|instead|not|no|never|without|except|unlike|was|were|used to|old(?:er)?|previous\w*|formerly|"
    r"e\.g\.?|example|like|such as|versus|vs\.?|would|could|should|if|unless|when|whereas|because|TODO|FIXME|XXX|"
    r"sglang|vllm|config|upstream|paper|convention\w*|same as|means?|i\.e\.?|aka|depth|num_hidden_layers|total)\b"
    r"|n't\b|->|=>|→|==|\bN\b|//"
)
_PATTERNS = (
    ("output", re.compile(rf"(?i)\b(?:outputs?\s+of|after|behind|leav(?:es|ing))\s+{_LAYERS}\s*:?\s*{_LIST}")),
    ("output", re.compile(rf"(?i)\b{_LAYERS}\s*{_LIST}\s*(?:'s\s+)?outputs?\b")),
    (
        "input",
        re.compile(rf"(?i)\b(?:inputs?\s+(?:of|to)|before|in front of|enter(?:s|ing))\s+{_LAYERS}\s*:?\s*{_LIST}"),
    ),
    ("input", re.compile(rf"(?i)\b{_LAYERS}\s*{_LIST}\s*(?:'s\s+)?inputs?\b")),
    ("boundary", re.compile(rf"(?i)\bboundar(?:y|ies)\s*:?\s*{_LIST}")),
    ("either", re.compile(rf"(?i)\b{_LAYERS}\s*:?\s*{_LIST}")),
)
_EMBEDDING = re.compile(
    r"(?i)\b(?:the\s+)?(?:token\s+)?embedding(?:s)?\s+(?:layer\s+)?outputs?\b|\boutput of the embedding"
)


class Claim(NamedTuple):
    """What is said: the words, and the lists of boundaries of which one must be among those that are taken."""

    words: str
    readings: tuple[tuple[int, ...], ...]


def claims(text: str) -> list[Claim]:
    """The claims of a comment; none when it may speak of something else than the code beside it."""
    if _ELSEWHERE.search(text):
        return []
    found = list(_numbered(text))
    embedding = _EMBEDDING.search(text)
    if embedding is not None:
        found.append(Claim(embedding[0], ((0,),)))
    return found


def _numbered(text: str) -> Iterator[Claim]:
    covered: list[tuple[int, int]] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in covered):
                continue
            covered.append(match.span())
            if _OTHERWISE.match(text, match.end(1)) and not text[match.end(1) :].lstrip().startswith("layers "):
                continue
            numbers = tuple(int(number) for number in re.findall(r"\d+", match[1]))
            after = tuple(number + 1 for number in numbers)
            readings = {"output": (after,), "input": (numbers,), "boundary": (numbers,), "either": (numbers, after)}
            yield Claim(" ".join(match[0].split()), readings[kind])
