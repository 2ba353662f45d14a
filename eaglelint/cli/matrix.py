"""`eaglelint matrix`: which trainer's drafters the newest release of each engine serves right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from eaglelint.reference.matrix import Matrix


@click.command("matrix")
@click.option("--target", metavar="NAME", help="For this target model, by its Hub id (a Llama of 32 layers).")
@click.option(
    "--format",
    "format_",
    type=click.Choice(("text", "json", "markdown")),
    default="text",
    help="As text, as JSON or as a Markdown table.",
)
def command(target: str | None, format_: str) -> None:
    """Show for every trainer and engine which default layers line up, and which ids have to be written.

    Engines are taken in the newest release that was verified, trainers as they are now.
    """
    from eaglelint.errors import UsageError
    from eaglelint.reference.asking import subject
    from eaglelint.reference.markdown import markdown
    from eaglelint.reference.matrix import USUAL, matrix

    about = subject(target, None) if target else USUAL
    if not about.depth:
        raise UsageError(f"the number of layers of {target} is not known")
    found = matrix(about)
    if format_ == "json":
        import json

        click.echo(json.dumps(_json(found), indent=2))
    else:
        click.echo("\n".join(markdown(found) if format_ == "markdown" else _lines(found)))


def _lines(found: Matrix) -> Iterator[str]:
    from eaglelint.boundary import show, show_ids
    from eaglelint.reference.matrix import needed_words
    from eaglelint.reference.words import key_words

    yield f"for {found.about.name or 'a Llama target'}, {found.about.depth} layers"
    for drafter in found.drafters:
        declared = f"declares {show_ids(drafter.ids)} in {key_words(drafter.key)}" if drafter.ids else "declares no ids"
        yield from ("", f"{drafter.name}: trained on {show(drafter.trained)}, {declared}")
        groups: dict[tuple[str, str], list[str]] = {}
        for column in found.columns:
            cell = found.cells[drafter, column]
            sure = f" ({column.reading.certainty})" if column.reading.certainty in ("reported", "suspected") else ""
            groups.setdefault((cell.words, needed_words(cell)), []).append(column.name + sure)
        for (words, needed), names in groups.items():
            yield f"  {words}: {', '.join(names)}"
            if needed:
                yield f"    {needed}"


def _json(found: Matrix) -> dict[str, object]:
    return {
        "target": found.about.name or None,
        "depth": found.about.depth,
        "drafters": [
            {
                "trainers": [{"trainer": name, "paths": list(paths)} for name, paths in drafter.trainers],
                "default_layers": drafter.default,
                "trained": list(drafter.trained),
                "ids": list(drafter.ids) if drafter.ids is not None else None,
                "key": drafter.key or None,
                "engines": [
                    {
                        "engine": column.engine,
                        "release": column.release or None,
                        "runner": column.reading.runner or None,
                        "certainty": column.reading.certainty,
                        "outcome": found.cells[drafter, column].outcome,
                        "captured": list(found.cells[drafter, column].captured),
                        "right_ids": _right(found.cells[drafter, column].ids),
                        "place": found.cells[drafter, column].place or None,
                    }
                    for column in found.columns
                ],
            }
            for drafter in found.drafters
        ],
    }


def _right(ids: tuple[int, ...] | None) -> list[int] | None:
    return list(ids) if ids is not None else None
