"""`eaglelint explain`: what a rule reports, why it matters, how to fix it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from eaglelint.catalog import Rule


@click.command("explain")
@click.argument("rule")
def command(rule: str) -> None:
    """Explain a rule, named by its code or slug."""
    from eaglelint import catalog

    click.echo("\n".join(_lines(catalog.load(catalog.resolve(rule)))))


def _lines(rule: Rule) -> Iterator[str]:
    yield f"{rule.code} {rule.slug}"
    yield f"{rule.severity}, {rule.status}, since {rule.since}" + ("" if rule.enabled else ", off unless selected")
    yield ""
    yield from _paragraph(rule.summary)
    yield from ("", "Why it matters")
    yield from _paragraph(rule.why, "  ")
    yield from ("", "How to fix it")
    yield from _paragraph(rule.fix, "  ")
    for number, wrong in enumerate(rule.examples.wrong, 1):
        yield from ("", _title("Wrong", number, len(rule.examples.wrong)))
        yield from _paragraph(wrong.about, "  ")
        yield from _files(wrong.files)
        yield from _checkpoints(wrong.checkpoints)
        yield ""
        for want in wrong.expect:
            yield f"  {want.file}:{want.line} {want.severity or rule.severity} {want.rule}"
    for number, right in enumerate(rule.examples.right, 1):
        yield from ("", _title("Right", number, len(rule.examples.right)))
        yield from _paragraph(right.about, "  ")
        yield from _files(right.files)
        yield from _checkpoints(right.checkpoints)
    if rule.silences:
        yield from ("", f"Speaks instead of {', '.join(rule.silences)} about the same defect.")
    if rule.references:
        yield from ("", "References", *(f"  {reference}" for reference in rule.references))


def _title(word: str, number: int, count: int) -> str:
    return word if count == 1 else f"{word} ({number} of {count})"


def _paragraph(text: str, indent: str = "") -> Iterator[str]:
    """A text as the file wraps it is of no use to a terminal: each paragraph is one line."""
    for paragraph in text.strip().split("\n\n"):
        if paragraph:
            yield indent + " ".join(paragraph.split())


def _files(files: Mapping[str, str]) -> Iterator[str]:
    for path, text in files.items():
        yield from ("", f"  {path}")
        for line in text.rstrip("\n").split("\n"):
            yield f"    | {line}".rstrip()


def _checkpoints(checkpoints: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Files of weights, as the names, types and shapes of their tensors."""
    for path, tensors in checkpoints.items():
        yield from ("", f"  {path}")
        for name, tensor in tensors.items():
            yield f"    | {name}: {tensor}"
