"""`eaglelint schema`: the JSON Schemas, for editors and other validators."""

from __future__ import annotations

import click


@click.command("schema")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Print a JSON Schema; without a NAME, list them.

    `settings` is that of eaglelint.toml, `report` that of --format json; those of drafters' configs are per dialect.
    """
    import json
    from difflib import get_close_matches

    from eaglelint._resources import data_root

    suffix = ".schema.json"
    files = {file.name.removesuffix(suffix): file for file in sorted(data_root("schemas").iterdir(), key=str)}
    if name is None:
        width = max(map(len, files))
        for found, file in files.items():
            click.echo(f"{found:{width}}  {json.loads(file.read_text(encoding='utf-8')).get('title', '')}".rstrip())
        return
    if name not in files:
        near = get_close_matches(name, files, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(files)}"
        raise click.UsageError(f"no such schema: {name!r}{hint}")
    click.echo(files[name].read_text(encoding="utf-8"), nl=False)
