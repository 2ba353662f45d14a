"""`eaglelint engines`: what engines and trainers do with layer ids, since when, and how that is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from eaglelint.reference.asking import Subject
    from eaglelint.reference.engines import Page, Row, Summary


@click.command("engines")
@click.argument("name", required=False, metavar="[NAME[@RELEASE]]")
@click.option("--target", metavar="NAME", help="Only what concerns this target model, by its Hub id.")
@click.option("--depth", type=click.IntRange(min=1), help="Its number of decoder layers, where --target does not say.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", help="As text or as JSON.")
def command(name: str | None, target: str | None, depth: int | None, format_: str) -> None:
    """Show what an engine or a trainer does with layer ids.

    Without a NAME, all of them are listed with the releases that were read and the day on which that was verified. A
    release narrows (`sglang@0.5.10`, `vllm>=0.30`), and so does a target.
    """
    import json

    from eaglelint.reference import engines, trainers
    from eaglelint.reference.asking import ask, subject

    about = subject(target, depth)
    if name is not None:
        asked = ask(name)
        page = engines.page(asked, about) if asked.engine is not None else trainers.page(asked, about)
        click.echo(json.dumps(_page_json(page), indent=2) if format_ == "json" else "\n".join(_page(page)))
    elif about.name:
        rows = list(_for_target(about))
        click.echo(json.dumps(rows, indent=2) if format_ == "json" else "\n".join(_target_lines(rows, about)))
    else:
        every = [*engines.summaries(), *trainers.summaries()]
        click.echo(
            json.dumps([s._asdict() for s in every], indent=2) if format_ == "json" else "\n".join(_table(every))
        )


# ---- text ------------------------------------------------------------------------------------------------------------


def _table(every: Sequence[Summary]) -> Iterator[str]:
    width = max(len(summary.name) for summary in every)
    for kind, title in (("engine", "Engines"), ("trainer", "Trainers"), ("library", "Libraries")):
        mine = [summary for summary in every if summary.kind == kind]
        if mine:
            yield from ("", title) if kind != "engine" else (title,)
        for summary in mine:
            yield f"  {summary.name:{width}}  {summary.verified}  {summary.certainty:9}  {summary.releases}"


def _page(page: Page) -> Iterator[str]:
    yield page.title
    yield from page.head
    for section in page.sections:
        yield from ("", section.title)
        for row in section.rows:
            yield from _row(row)


def _row(row: Row) -> Iterator[str]:
    yield f"  {row.range}: {row.words}" if row.range else f"  {row.words}"
    for detail in row.details:
        yield f"    {detail}"
    for line in row.evidence:
        yield f"    [{line}]"


def _for_target(about: Subject) -> Iterator[dict[str, object]]:
    """How the newest release of each engine serves a target."""
    from eaglelint.conventions.rules import MEANING
    from eaglelint.reference.engines import for_target

    for name, readings in for_target(about):
        for reading in readings:
            default = reading.defaults(about.depth) if reading.status == "ok" else None
            yield {
                "engine": name,
                "release": reading.last,
                "runner": reading.runner or None,
                "status": reading.status,
                "rule": MEANING.get(reading.rule, reading.rule),
                "default": list(default) if default is not None else None,
                "certainty": reading.certainty,
            }


def _target_lines(rows: Sequence[dict[str, object]], about: Subject) -> Iterator[str]:
    from eaglelint.boundary import show

    yield f"for {about.words}"
    for row in rows:
        runner = f" ({row['runner']})" if row["runner"] else ""
        name = f"{row['engine']} {row['release']}".rstrip() + runner
        default = row["default"]
        words = f"; default {show(default)}" if isinstance(default, list) else ""
        served = f"{row['rule']}{words}" if row["status"] == "ok" else f"can not serve it ({row['status']})"
        yield f"  {name}: {served}"


# ---- JSON ------------------------------------------------------------------------------------------------------------


def _page_json(page: Page) -> dict[str, object]:
    return {
        "name": page.name,
        "title": page.title,
        "head": list(page.head),
        "sections": [
            {"title": section.title, "rows": [row._asdict() for row in section.rows]} for section in page.sections
        ],
    }
