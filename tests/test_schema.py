"""The schemas in `schemas/` are valid, described, and what the records say."""

from __future__ import annotations

import json

import jsonschema
import pytest

from eaglelint._resources import data_root
from eaglelint.schema import generated

NAMES = ("baseline", "report", "rule", "settings")


def schema(name: str) -> dict[str, object]:
    value: dict[str, object] = json.loads((data_root("schemas") / f"{name}.schema.json").read_text(encoding="utf-8"))
    return value


@pytest.mark.parametrize("name", sorted(generated()))
def test_a_generated_schema_is_current(name: str):
    written = (data_root("schemas") / name).read_text(encoding="utf-8")
    assert written == generated()[name], "run `python -m eaglelint.schema`"


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one_and_has_a_name(name: str):
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$id"] == f"urn:eaglelint:schema:{name}"


@pytest.mark.parametrize("name", ["rule", "settings"])
def test_every_key_is_described(name: str):
    tables = [schema(name), *schema(name)["$defs"].values()]  # type: ignore[attr-defined]
    for table in tables:
        for key, value in table["properties"].items():
            assert value.get("description"), key


def test_the_schema_of_settings_accepts_and_refuses():
    validator = jsonschema.Draft202012Validator(schema("settings"))
    good = {"fail-on": "error", "engines": {"sglang": "0.5.9"}, "pipeline": [{"drafter": "d", "capture": ["a"]}]}
    assert validator.is_valid(good)
    for bad in ({"fail_on": "error"}, {"fail-on": "fatal"}, {"pipeline": [{}]}, {"folder": "x"}, {"select": "EGL001"}):
        assert not validator.is_valid(bad)


def test_the_schema_of_baselines_describes_what_is_written():
    from eaglelint.baseline import Baseline, text

    validator = jsonschema.Draft202012Validator(schema("baseline"))
    written = json.loads(text(Baseline("b.json", {("a", "EGL401"): 2, ("b/c", "EGL203"): 1})))
    assert validator.is_valid(written)
    assert validator.is_valid(json.loads(text(Baseline("b.json"))))
    for bad in ({"version": 2}, {"findings": {"a": {"EGL401": 0}}}, {"findings": {"a": 1}}, {"more": 1}):
        assert not validator.is_valid(written | bad)
