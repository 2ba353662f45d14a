"""Edits of JSON configs: what they give is the document with just that change, written as the rest is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eaglelint.facts import Document
from eaglelint.findings import Edit
from eaglelint.fixing.documents import add_entry, remove_entry, rename_key, replace_value
from eaglelint.fixing.edits import Refused, applied, merged
from eaglelint.fixing.guarding import guard
from eaglelint.location import MappedText
from eaglelint.project import Source
from eaglelint.readers.documents import read_json


def document(text: str) -> Document:
    return read_json(MappedText.whole("config.json", text))


def edited(text: str, edits: tuple[Edit, ...]) -> str:
    new = applied(text, merged(edits))
    guard(Source("config.json", "json", Path("config.json"), text.encode()), new, edits)
    return new


def test_an_entry_goes_below_the_last_one():
    text = '{\n    "a": 1,\n    "b": {"c": 2}\n}\n'
    assert edited(text, add_entry(document(text), "/d", [1, 2])) == text.replace(
        '{"c": 2}', '{"c": 2},\n    "d": [1, 2]'
    )
    assert edited(text, add_entry(document(text), "/b/d", 3)) == text.replace('"c": 2', '"c": 2, "d": 3')


def test_a_missing_object_is_added_with_its_entry():
    text = '{\n  "a": 1\n}\n'
    assert edited(text, add_entry(document(text), "/eagle_config/ids", [2])) == (
        '{\n  "a": 1,\n  "eagle_config": {\n    "ids": [2]\n  }\n}\n'
    )


def test_what_is_there_is_not_added_again():
    text = '{"a": 1}'
    assert add_entry(document(text), "/a", 2) == ()
    assert add_entry(document(text), "/a/b", 2) == ()
    assert rename_key(document('{"a": 1, "b": 2}'), "/a", "b") == ()


_NAMES = st.text(alphabet='ab"\\/~é ', min_size=0, max_size=3)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | _NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(_NAMES, _VALUES, min_size=1, max_size=4), st.sampled_from([None, 1, 4]), st.data())
def test_edits_change_one_entry_and_nothing_else(value: dict[str, Any], indent: int | None, data: st.DataObject):
    text = json.dumps(value, indent=indent)
    here = document(text)
    name = data.draw(st.sampled_from(sorted(value)))
    pointer = "/" + name.replace("~", "~0").replace("/", "~1")
    removed = json.loads(edited(text, remove_entry(here, pointer)))
    assert removed == {key: item for key, item in value.items() if key != name}
    assert json.loads(edited(text, replace_value(here, pointer, [7]))) == {**value, name: [7]}
    assert json.loads(edited(text, add_entry(here, "/new key", {"x": [1]}))) == {**value, "new key": {"x": [1]}}
    moved = json.loads(edited(text, rename_key(here, pointer, "new key")))
    assert moved == {("new key" if key == name else key): item for key, item in value.items()}


@pytest.mark.parametrize("text", ["}", "[", '1, "a": 2', '1}, {"b": 2'])
def test_what_is_no_json_any_more_is_refused(text: str):
    with pytest.raises(Refused):
        edited('{"a": 1, "b": 2}', (Edit("config.json", 6, 7, text),))


def test_edits_of_the_same_place_exclude_each_other():
    with pytest.raises(Refused, match="same place"):
        merged([Edit("a", 0, 5, "x"), Edit("a", 3, 8, "y")])
