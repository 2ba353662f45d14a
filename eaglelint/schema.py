"""The JSON Schemas that are generated from records: `settings` and `rule`. `python -m eaglelint.schema` writes them.

`schemas/report.schema.json` is the contract with other programs and is written by hand.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from eaglelint._resources import data_root

#: A name for each schema that needs no network and no host.
BASE = "urn:eaglelint:schema:"


def generated() -> dict[str, str]:
    """The text of each generated schema, by the name of its file."""
    from pydantic import TypeAdapter

    from eaglelint.catalog import Rule
    from eaglelint.settings import Settings

    settings = TypeAdapter(Settings).json_schema()
    for field in fields(Settings):
        if not field.init:  # where the settings came from; not for a file to say
            del settings["properties"][field.name]
    rule = TypeAdapter(Rule).json_schema()
    rule["properties"]["code"]["pattern"] = r"^EGL\d{3}$"
    rule["properties"]["slug"]["pattern"] = r"^[a-z0-9]+(-[a-z0-9]+)*$"
    for name in ("wrong", "right"):
        rule["$defs"]["Examples"]["properties"][name]["minItems"] = 1
    return {
        "settings.schema.json": _text("settings.schema.json", "Settings of eaglelint", settings),
        "rule.schema.json": _text("rule.schema.json", "A rule of eaglelint", rule),
    }


def _text(name: str, title: str, schema: dict[str, Any]) -> str:
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": BASE + name.split(".")[0]}
    return json.dumps({**head, **_untitled(schema), "title": title}, indent=2) + "\n"


def _untitled(value: Any) -> Any:
    """A schema without the titles that only repeat the names of keys."""
    if isinstance(value, list):
        return [_untitled(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    return {key: _untitled(entry) for key, entry in value.items() if not (key == "title" and isinstance(entry, str))}


def main() -> None:
    """Write the generated schemas into `schemas/`."""
    for name, text in generated().items():
        (data_root("schemas") / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
