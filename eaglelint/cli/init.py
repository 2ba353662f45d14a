"""`eaglelint init`: a configuration, a pre-commit hook and a workflow for a project, shown before they are written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eaglelint.pipeline import Pipeline


@click.command("init")
@click.argument("folder", default=".", type=click.Path(exists=True, file_okay=False))
@click.option("--yes", is_flag=True, help="Write everything without asking.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.pass_context
def command(ctx: click.Context, folder: str, yes: bool, dry_run: bool) -> None:
    """Set up a project: eaglelint.toml, a pre-commit hook and a GitHub workflow.

    Each file is shown and asked for; one that is there is never written over, only the hook is added to a
    .pre-commit-config.yaml.
    """
    from eaglelint.errors import UsageError
    from eaglelint.fixing.writing import write
    from eaglelint.report.excerpt import visible
    from eaglelint.starting.proposal import proposals

    pipelines = _look(folder)
    for line in _found(pipelines):
        click.echo(visible(line))
    for proposal in proposals(Path(folder), pipelines):
        click.echo()
        if proposal.reason:
            click.echo(f"{proposal.path}: {proposal.reason}")
            click.echo(proposal.added, nl=False)
            continue
        click.secho(f"{proposal.path}{' (at its end)' if proposal.added else ''}:", bold=True)
        for line in (proposal.added or proposal.text).splitlines():
            click.echo(f"  {visible(line)}".rstrip())
        if dry_run or not (yes or click.confirm(f"Write {proposal.path}?", default=True)):
            continue
        file = Path(folder, proposal.path)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write(file, proposal.text.encode())
        except OSError as error:
            raise UsageError(f"can not write {proposal.path}: {(error.strerror or str(error)).lower()}") from error
        click.echo(f"wrote {proposal.path}")


def _look(folder: str) -> Sequence[Pipeline]:
    """The pipelines of the project."""
    from eaglelint.configuration import load
    from eaglelint.guard import Guard
    from eaglelint.pipeline import link
    from eaglelint.project import discover
    from eaglelint.reading import read

    settings = load([folder])
    facts = read(discover([folder], settings=settings), settings, Guard())
    return link(facts, settings)


def _found(pipelines: Sequence[Pipeline]) -> list[str]:
    """What is in the project, in a line each."""
    from eaglelint.linking.records import title

    lines = []
    for pipeline in pipelines:
        if not pipeline.name and not pipeline.servers:
            continue
        engines = sorted({
            f"{title(server.engine)} {server.release.exact or server.release.specifier or 'of any release'}".strip()
            for server in pipeline.servers
        })  # fmt: skip
        trained = "its capture was found" if pipeline.training is not None else "how it was trained is not known"
        served = f"served by {', '.join(engines)}" if engines else "no server was found"
        lines.append(f"drafter {pipeline.name or '(of no name)'}: {trained}, {served}")
    return lines or ["no drafter was found: a configuration can name it"]
