"""`eaglelint config`: the configuration that holds, and where each value of it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from eaglelint.settings import Settings


@click.command("config")
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATHS]...")
@click.option("--config", metavar="FILE", help="Configuration, instead of the nearest above PATHS.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", help="As TOML or as JSON.")
def command(paths: tuple[str, ...], config: str | None, format_: str) -> None:
    """Show the configuration that `check` would use for PATHS, with the place of each value."""
    from eaglelint.configuration import load

    settings = load(paths or (".",), config)
    if format_ == "json":
        import json

        click.echo(json.dumps({"file": settings.file or None, "settings": _values(settings)}, indent=2))
        return
    for line in _lines(settings):
        click.echo(line)


def _values(settings: Settings) -> dict[str, Any]:
    """The values under their names in a file."""
    from dataclasses import fields

    return {
        field.name.replace("_", "-"): _plain(getattr(settings, field.name)) for field in fields(settings) if field.init
    }


def _plain(value: Any) -> Any:
    """A value with its records as mappings of what is set in them, under the names that a file has."""
    from dataclasses import fields, is_dataclass

    if is_dataclass(value) and not isinstance(value, type):
        entries = ((field.name.replace("_", "-"), _plain(getattr(value, field.name))) for field in fields(value))
        return {name: item for name, item in entries if item not in (None, "", [])}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return value


def _lines(settings: Settings) -> list[str]:
    """One line a setting: its value as in TOML, and in a comment where it stands, or that it is the default."""
    from eaglelint.configuration import places_in

    places = places_in(settings.file) if settings.file else {}
    prefix = "/tool/eaglelint" if settings.file.endswith("pyproject.toml") else ""
    lines = [f"# {settings.file or 'no configuration file: the defaults hold'}"]
    for name, value in _values(settings).items():
        place = places.get(f"{prefix}/{name}")
        if place is not None:
            lines.append(f"{name} = {_toml(value)}  # {settings.file}:{place.line}")
        elif value in (None, "", {}, []):
            lines.append(f"# {name} is not set")
        else:
            lines.append(f"{name} = {_toml(value)}  # default")
    return lines


def _toml(value: Any) -> str:
    """A value as TOML writes it inline."""
    import json

    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(name)} = {_toml(item)}" for name, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    import json

    plain = name.replace("-", "").replace("_", "")
    return name if plain.isascii() and plain.isalnum() else json.dumps(name, ensure_ascii=False)
