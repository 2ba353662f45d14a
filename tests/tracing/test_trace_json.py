"""The JSON of drawings is what its schema says, and says what the drawing does."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from traced_project import PROJECT, Trace

from eaglelint._resources import data_root
from eaglelint.tracing.run import Traced


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads((data_root("schemas") / "trace.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def report(found: Traced) -> dict[str, Any]:
    text = found.render("json")
    assert text.isascii()
    value: dict[str, Any] = json.loads(text)
    return value


def test_the_example(example: Traced, validator: jsonschema.Draft202012Validator):
    value = report(example)
    validator.validate(value)
    [pipeline] = value["pipelines"]
    [panel] = pipeline["panels"]
    assert (pipeline["name"], pipeline["status"], pipeline["layers"]) == ("drafter", "mismatch", 61)
    rows = [
        (row["trained"]["boundary"]["value"], row["served"]["boundary"]["value"], row["served"]["ids"])
        for row in panel["rows"]
    ]
    assert rows == [(3, 0, ["-1"]), (31, 3, ["2"]), (59, 31, ["30"])]
    first = panel["rows"][0]["trained"]
    assert (first["kept_as"]["text"], first["kept_as"]["kind"]) == ("state_0", "key")
    assert [(name["text"], name["claims"]) for name in first["names"]] == [
        ("embed_out", "the embedding output (boundary 0)")
    ]
    assert first["steps"][0] == {
        "path": "tools/patch_sglang.py",
        "line": 33,
        "column": 17,
        "what": "boundary 3 captured",
    }
    assert panel["right_ids"].startswith("[2, 30, 58]")
    assert panel["served"]["evidence"]


def test_the_place_of_each_id_is_its_own(example: Traced):
    [panel] = report(example)["pipelines"][0]["panels"]
    columns = [row["served"]["steps"][0]["column"] for row in panel["rows"]]
    assert columns == [42, 46, 49]


@pytest.mark.parametrize(
    "missing", [(), ("dump.py",), ("serve.sh", "requirements.txt"), ("target/config.json",), ("drafter/config.json",)]
)
def test_whatever_is_missing_the_schema_holds(
    traced: Trace, validator: jsonschema.Draft202012Validator, missing: tuple[str, ...]
):
    value = report(traced({name: text for name, text in PROJECT.items() if name not in missing}))
    validator.validate(value)
    assert value["pipelines"]
    if missing:
        assert value["pipelines"][0]["status"] != "match"


def test_nothing_to_draw(traced: Trace, validator: jsonschema.Draft202012Validator):
    value = report(traced({"a.py": "x = 1\n"}))
    validator.validate(value)
    assert value["pipelines"] == []


def test_the_schema_is_described_and_has_a_name(validator: jsonschema.Draft202012Validator):
    schema = validator.schema
    assert schema["$id"] == "urn:eaglelint:schema:trace"
    for table in [schema, *schema["$defs"].values()]:
        for key, value in table["properties"].items():
            assert value.get("description") or "$ref" in value, key


@pytest.mark.parametrize("change", [("version", 2), ("pipelines", None), ("tool", {})])
def test_the_schema_refuses_other_things(
    example: Traced, validator: jsonschema.Draft202012Validator, change: tuple[str, Any]
):
    assert not validator.is_valid({**report(example), change[0]: change[1]})
