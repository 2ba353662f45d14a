"""A rule as Markdown and as plain text, for programs that show it beside a finding. It comes from the catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eaglelint.catalog import Rule

_LANGUAGES = {
    "json": "json", "py": "python", "sh": "sh", "yaml": "yaml", "yml": "yaml", "toml": "toml", "patch": "diff",
    "diff": "diff", "md": "markdown",
}  # fmt: skip


def plain(rule: Rule) -> str:
    """What a rule reports, why it matters and how to fix it."""
    return "\n\n".join((flat(rule.summary), flat(rule.why), f"How to fix it: {flat(rule.fix)}"))


def markdown(rule: Rule) -> str:
    """The same with the first wrong and the first right example, and where to read more."""
    return "\n".join(_lines(rule)) + "\n"


def flat(text: str) -> str:
    """A text as one line for each paragraph."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))


def _lines(rule: Rule) -> Iterator[str]:
    yield from (f"# {rule.code} {rule.slug}", "", flat(rule.summary), "")
    yield from ("## Why it matters", "", flat(rule.why), "")
    yield from ("## How to fix it", "", flat(rule.fix), "")
    wrong, right = rule.examples.wrong[0], rule.examples.right[0]
    yield from ("## Wrong", "", *_about(wrong.about), *_files(wrong.files))
    yield from ("## Right", "", *_about(right.about), *_files(right.files))
    if rule.references:
        yield from ("## References", "", *(f"- {reference}" for reference in rule.references))


def _about(text: str) -> Iterator[str]:
    if text:
        yield from (flat(text), "")


def _files(files: Mapping[str, str]) -> Iterator[str]:
    """Each file as a block of code, in a fence that is longer than any in it."""
    for path, text in files.items():
        longest = max(map(len, re.findall(r"`+", text)), default=0)
        fence = "`" * max(3, longest + 1)
        language = _LANGUAGES.get(path.rpartition(".")[2], "text")
        yield from (f"`{path}`", "", f"{fence}{language}", text.rstrip("\n"), fence, "")
