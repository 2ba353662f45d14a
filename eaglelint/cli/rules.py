"""`eaglelint rules`: the catalogue."""

from __future__ import annotations

import click


@click.command("rules")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", help="As a table or as JSON.")
def command(format_: str) -> None:
    """List all rules."""
    from eaglelint import catalog

    rules = [catalog.load(code) for code in catalog.names()]
    if format_ == "json":
        import json

        keys = ("code", "slug", "severity", "since", "status", "enabled", "summary", "silences")
        click.echo(json.dumps([{key: getattr(rule, key) for key in keys} for rule in rules], indent=2))
        return
    width = max((len(rule.slug) for rule in rules), default=0)
    for rule in rules:
        off = "" if rule.enabled else " (off unless selected)"
        click.echo(f"{rule.code}  {rule.slug:{width}}  {rule.severity:7}  {' '.join(rule.summary.split())}{off}")
