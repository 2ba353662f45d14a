"""EGL201: values that no engine can take, by the JSON Schema of the form that a drafter's config is written in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from eaglelint._resources import data_root
from eaglelint.checks.registry import check
from eaglelint.facts import DrafterConfig
from eaglelint.findings import Finding, Fix
from eaglelint.pipeline import Pipeline

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

#: The schema for a dialect, by the kind of head.
_SCHEMAS = {
    ("flat", "eagle"): "drafter-eagle1",
    ("dflash", "dflash"): "drafter-dflash",
    ("dspark", "dspark"): "drafter-dspark",
}
_TYPES = {
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "string": "a string",
    "array": "a list",
    "object": "an object",
}


@check("EGL201")
def invalid_config_value(pipeline: Pipeline) -> Iterator[Finding]:
    """A field of the wrong type, or of a value that is impossible. One finding a field."""
    drafter = pipeline.drafter
    name = _schema(pipeline, drafter) if drafter is not None else ""
    if drafter is None or not name:
        return
    told: dict[str, Finding] = {}
    for error in _validator(name).iter_errors(drafter.document.value):
        if error.validator != "required":  # what is missing is for the rules that know who needs it
            pointer = _pointer(error)
            told.setdefault(pointer, _finding(pipeline, drafter, pointer, error))
    yield from told.values()


def _schema(pipeline: Pipeline, drafter: DrafterConfig) -> str:
    """The name of the schema for a config; "" for kinds of heads that have none."""
    if drafter.dialect == "speculators":
        return "drafter-speculators"
    if (drafter.dialect, drafter.method) == ("flat", "eagle3"):
        engines = {server.engine for server in pipeline.servers}
        return "drafter-vllm" if engines == {"vllm"} else "drafter-sglang"
    return _SCHEMAS.get((drafter.dialect, drafter.method), "")


@cache
def _validator(name: str) -> Draft202012Validator:
    """A validator for which 1.0 is no integer: engines take such a value for a float and fail on it."""
    from jsonschema import Draft202012Validator, validators

    def is_integer(checker: Any, instance: Any) -> bool:
        return isinstance(instance, int) and not isinstance(instance, bool)

    checker = Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer)
    extend: Any = validators.extend
    validator = extend(Draft202012Validator, type_checker=checker)
    schema = json.loads((data_root("schemas") / f"{name}.schema.json").read_text(encoding="utf-8"))
    made: Draft202012Validator = validator(schema)
    return made


def _pointer(error: ValidationError) -> str:
    """The JSON pointer of the field: an entry of a list stands for the whole list."""
    path = list(error.absolute_path)
    while len(path) > 1 and isinstance(path[-1], int):
        path.pop()
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _finding(pipeline: Pipeline, drafter: DrafterConfig, pointer: str, error: ValidationError) -> Finding:
    wanted = _wanted(error)
    message = f"{pointer or 'the config'} is {_shown(error.instance)}"
    if isinstance(drafter.document.get(pointer), list) and not isinstance(error.instance, list):
        message = f"an entry of {pointer} is {_shown(error.instance)}"
    fix = Fix(f"write {wanted}") if wanted else None
    text = f"{message}, where {wanted} belongs" if wanted else f"{message}: {error.message}"
    where = drafter.document.where(pointer) if pointer else pipeline.where
    return Finding("EGL201", "error", text, where, "proven", (), fix, ("value", pipeline.name, pointer))


def _wanted(error: ValidationError) -> str:
    """What belongs there, in words; "" when the schema does not say it simply."""
    if error.validator == "type":
        said: Any = error.validator_value
        types: list[str] = said if isinstance(said, list) else [said]
        names = [_TYPES[name] for name in types if name != "null"]
        least = error.schema.get("minimum") if isinstance(error.schema, dict) else None
        if least == 1 and names[:1] == ["an integer"]:
            names[0] = "a positive integer"
        return " or ".join(names)
    if error.validator == "minimum":
        return "a positive integer" if error.validator_value == 1 else f"a number of at least {error.validator_value}"
    if error.validator == "exclusiveMinimum":
        return f"a number above {error.validator_value}"
    if error.validator in ("minItems", "minLength"):
        return "at least one entry" if error.validator == "minItems" else "a name"
    return ""


def _shown(value: Any) -> str:
    """A value and, where it is not plain from it, its type: `"9728", a string`."""
    text = json.dumps(value, ensure_ascii=False)
    text = text if len(text) <= 60 else f"{text[:57]}..."
    if isinstance(value, str):
        return f"{text}, a string"
    if isinstance(value, float):
        return f"{text}, a fraction" if not value.is_integer() else f"{text}, a floating-point number"
    return text
