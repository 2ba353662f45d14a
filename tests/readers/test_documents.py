"""JSON, YAML and TOML: what is valid, what it means, and where each value and key stands."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from eaglelint.errors import DocumentError
from eaglelint.facts import Document
from eaglelint.location import Location, MappedText
from eaglelint.project import Source
from eaglelint.readers.documents import documents, read_json, read_toml, read_yaml, scalar_text, string_text


def of(read: Callable[[MappedText], Any], text: str) -> Any:
    return read(MappedText.whole("f", text))


def yaml_document(text: str) -> Document:
    [document] = read_yaml(MappedText.whole("f", text))
    return document


def at(text: str, place: Location) -> str:
    return text[place.start : place.end]


def failure(read: Callable[[MappedText], Any], text: str) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        of(read, text)
    return caught.value


def every_place_holds_its_value(text: str, document: Document) -> None:
    """In JSON the text at the place of each value is that value, and at the place of each key that key."""
    for pointer, place in document.spans.items():
        assert json.loads(at(text, place)) == document.get(pointer)
    for pointer, place in document.keys.items():
        key = pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        assert json.loads(at(text, place)) == key


class TestJson:
    def test_places_of_values_and_keys(self) -> None:
        text = '{\n  "ids": [1, 29,\n          57],\n  "eagle_config": {"use_aux": true, "x": null}\n}\n'
        document = of(read_json, text)
        every_place_holds_its_value(text, document)
        assert document.spans["/ids"][1:5] == (2, 10, 3, 14)
        assert document.spans["/ids/2"].line == 3
        assert document.where("/eagle_config/use_aux")[1:3] == (4, 20)

    json_values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=25,
    )

    @given(json_values, st.sampled_from([None, 0, 3]), st.booleans())
    def test_any_json(self, value: object, indent: int | None, ascii_only: bool) -> None:
        text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
        document = of(read_json, text)
        assert document.value == value
        every_place_holds_its_value(text, document)
        for pointer, content in document.texts.items():
            assert content.text == document.get(pointer)

    def test_numbers_as_the_engines_read_them(self) -> None:
        value = of(read_json, '{"a": 1e6, "b": NaN, "c": -Infinity, "d": 1.0E+2}').value
        assert value["a"] == 1e6
        assert math.isnan(value["b"])
        assert value["c"] == -math.inf
        assert value["d"] == 100.0

    @pytest.mark.parametrize(
        ("text", "line", "column", "reason"),
        [
            ('{"a": 1,\n "b"; 2}', 2, 5, "delimiter"),
            ('{\n  // ids\n  "a": 1}', 2, 3, "expecting property name"),
            ('{"a": 1} x', 1, 10, "extra data"),
            ("\ufeff{}", 1, 1, "byte order mark"),
            ("", 1, 1, "expecting value"),
            ("{'a': 1}", 1, 2, "double quotes"),
            ('{"a": "x\ny"}', 1, 9, "control character"),
        ],
    )
    def test_what_is_not_json_has_a_place(self, text: str, line: int, column: int, reason: str) -> None:
        error = failure(read_json, text)
        assert error.where[1:3] == (line, column)
        assert reason in error.reason.lower()

    @pytest.mark.parametrize("text", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, "9" * 5000])
    def test_hostile_json_is_an_error_of_the_file(self, text: str) -> None:
        assert failure(read_json, text).reason

    def test_deep_json_has_no_places_below_a_bound(self) -> None:
        document = of(read_json, "[" * 300 + "1" + "]" * 300)
        assert max(pointer.count("/") for pointer in document.spans) == 100

    def test_the_last_of_equal_keys_counts_and_the_others_are_remembered(self) -> None:
        text = '{"a": {"old": 1}, "b": 2, "a": {"new": 3}}'
        document = of(read_json, text)
        assert document.value == {"a": {"new": 3}, "b": 2}
        assert not document.has("/a/old")
        assert document.keys["/a"].start == text.rindex('"a"')
        assert [place.start for place in document.duplicates] == [1]

    def test_no_duplicates_in_an_ordinary_document(self) -> None:
        assert of(read_json, '{"a": [{"x": 1}, {"x": 2}]}').duplicates == ()

    def test_keys_with_slashes(self) -> None:
        document = of(read_json, '{"a/b~c": 1}')
        assert document.get("/a~1b~0c") == 1
        assert document.has("/a~1b~0c")

    def test_a_string_inside_points_into_the_file(self) -> None:
        text = r'{"cmd": "vllm \"x\"\n\ud83d\ude00 \u00e9=1"}'
        content = scalar_text(of(read_json, text), "/cmd")
        assert content is not None
        assert content.text == 'vllm "x"\n😀 é=1'
        assert content.origin[content.text.index("x")] == text.index("x")
        assert content.origin[content.text.index("😀")] == text.index(r"\ud83d")
        assert content.origin[content.text.index("=")] == text.index("=1")
        assert scalar_text(of(read_json, '{"cmd": 3}'), "/cmd") is None

    def test_json_inside_another_text_points_into_the_outer_file(self) -> None:
        outer = "serve '{\"a\":\n [1]}' &"
        inner = MappedText.whole("serve.sh", outer)[7:18]
        document = read_json(inner)
        assert at(outer, document.spans["/a"]) == "[1]"
        assert document.spans["/a"][:3] == ("serve.sh", 2, 2)
        assert string_text(inner, 1, 4).origin[0] == outer.index("a")


class TestYaml:
    TEXT = """\
# comment
services:
  kimi: &base
    image: lmsysorg/sglang:v0.5.9   # pinned
    ports: [30000, "8000:8000"]
    command: >-
      python -m sglang.launch_server
      --model x
  canary:
    <<: *base
    image: "lmsysorg/sglang:v0.5.17"
"""

    def test_values(self) -> None:
        services = yaml_document(self.TEXT).value["services"]
        assert services["canary"] == {
            "image": "lmsysorg/sglang:v0.5.17",
            "ports": [30000, "8000:8000"],
            "command": "python -m sglang.launch_server --model x",
        }
        assert services == yaml.safe_load(self.TEXT)["services"]

    def test_places(self) -> None:
        document = yaml_document(self.TEXT)
        assert at(self.TEXT, document.spans["/services/kimi/image"]) == "lmsysorg/sglang:v0.5.9"
        assert document.keys["/services/kimi/image"][1:3] == (4, 5)
        assert at(self.TEXT, document.spans["/services/canary/image"]) == '"lmsysorg/sglang:v0.5.17"'
        assert at(self.TEXT, document.spans["/services/kimi/ports/1"]) == '"8000:8000"'
        assert document.spans["/services/kimi"].end_line == 8
        assert document.spans["/services"].end_line == 11

    def test_a_merged_value_stands_where_it_is_written(self) -> None:
        document = yaml_document(self.TEXT)
        assert document.spans["/services/canary/ports"] == document.spans["/services/kimi/ports"]

    @pytest.mark.parametrize(
        ("written", "value"),
        [
            ("1e5", 100000.0),
            ("-3E-2", -0.03),
            ("1.5e3", 1500.0),
            ("1.5", 1.5),
            ("010", 8),
            ("0x1F", 31),
            ("1_000", 1000),
            ("yes", True),
            ("Off", False),
            ("~", None),
            ("", None),
            ("null", None),
            ("'1'", "1"),
            ("!!str 1", "1"),
            ("!!int '12'", 12),
            ("2026-01-02", "2026-01-02"),
            ("1.2.3", "1.2.3"),
            ("v0.5.9", "v0.5.9"),
            ("1e5x", "1e5x"),
            ("0b_", "0b_"),
            ("1e9999", "1e9999"),
            ("9" * 5000, "9" * 5000),
            ("!vault secret", "secret"),
            ("!!python/object/apply:os.system [id]", ["id"]),
            ("!!python/name:os.system", ""),
            ("!!binary aGk=", "aGk="),
        ],
    )
    def test_scalars(self, written: str, value: object) -> None:
        found = yaml_document(f"k: {written}\n").value["k"]
        assert found == value
        assert type(found) is type(value)

    def test_keys_are_text_as_written(self) -> None:
        document = yaml_document("on: {1: a, true: b}\n? [x, y]\n: c\n")
        assert document.value == {"on": {"1": "a", "true": "b"}, "[x, y]": "c"}
        assert document.get("/on/1") == "a"

    def test_own_entries_go_before_merged_ones_and_the_first_merged_before_the_next(self) -> None:
        text = "a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\nc: {x: 3, <<: [*a, *b]}\nd: &d {<<: *b, <<: *a, y: 5}\n"
        value = yaml_document(text + "e: {<<: *d, z: 7}\n").value
        assert value["c"] == {"x": 3, "y": 1, "z": 2}
        assert value["d"] == {"x": 2, "y": 5, "z": 2}
        assert value["e"] == {"x": 2, "y": 5, "z": 7}

    def test_equal_keys(self) -> None:
        document = yaml_document("a: 1\nb: 2\na: 3\n")
        assert document.value == {"a": 3, "b": 2}
        assert document.keys["/a"].line == 3
        assert [place.line for place in document.duplicates] == [1]

    def test_tags_and_anchors_are_no_part_of_a_value(self) -> None:
        text = "a: &x !t value\nb: !t &y {k: v}\nc: &z\n  - 1\n"
        document = yaml_document(text)
        assert [at(text, document.spans[p]) for p in ("/a", "/b", "/c")] == ["value", "{k: v}", "- 1"]

    def test_several_documents(self) -> None:
        found = read_yaml(MappedText.whole("f", "a: 1\n---\n- b\n---\n"))
        assert [d.value for d in found] == [{"a": 1}, ["b"], None]
        assert found[1].spans["/0"].line == 3
        assert read_yaml(MappedText.whole("f", "# nothing\n")) == []

    def test_an_anchor_does_not_reach_into_the_next_document(self) -> None:
        assert "names no anchor" in failure(read_yaml, "a: &x 1\n---\nb: *x\n").reason

    @pytest.mark.parametrize(
        ("text", "line", "column"),
        [("a: [1\nb: 2\n", 2, 2), ("a: b\nc: é \x07\n", 2, 6), ("a: *nowhere\n", 1, 4), ("a: 'x\n", 2, 1)],
    )
    def test_what_is_not_yaml_has_a_place(self, text: str, line: int, column: int) -> None:
        error = failure(read_yaml, text)
        assert error.where[1:3] == (line, column)
        assert not error.template

    def test_a_template_is_told_from_a_mistake(self) -> None:
        assert failure(read_yaml, "a:\n{{- if .Values.draft }}\n  b: 1\n{{ end }}\n").template
        assert not failure(read_yaml, "run: [${{ matrix.x }}\nb: 1\n").template

    def test_aliases_are_bounded(self) -> None:
        laughs = "a: &a [x, x, x, x, x, x, x, x, x]\n"
        for name, below in zip("bcdefghij", "abcdefghi", strict=True):
            laughs += f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]\n"
        assert "multiply" in failure(read_yaml, laughs).reason

    def test_merges_are_bounded(self) -> None:
        laughs = "a: &a {x: 1}\n"
        for name, below in zip("bcdefghij", "abcdefghi", strict=True):
            laughs += f"{name}: &{name} {{<<: [{', '.join([f'*{below}'] * 9)}]}}\n"
        assert "multiply" in failure(read_yaml, laughs).reason

    @pytest.mark.parametrize("text", ["&x [*x]", "a: &x {<<: *x}", "&x {k: [1, *x]}"])
    def test_a_value_can_not_hold_itself(self, text: str) -> None:
        assert "inside of what it names" in failure(read_yaml, text).reason

    @pytest.mark.parametrize("text", ["[" * 500, "- " * 500, "[" * 200 + "]" * 200, "[" * 100_000, "\ud800"])
    def test_hostile_yaml_is_an_error_of_the_file(self, text: str) -> None:
        assert failure(read_yaml, text).reason

    def test_nesting_through_aliases_is_bounded(self) -> None:
        text = "a0: &a0 [x]\n"
        for step in range(1, 5):
            text += f"a{step}: &a{step} " + "[" * 60 + f"*a{step - 1}" + "]" * 60 + "\n"
        assert "nested too deeply" in failure(read_yaml, text).reason


class TestYamlScalarTexts:
    """The content of a scalar, with the place of each of its characters in the file."""

    TEXT = r"""
plain: python -m x
  --two lines
single: 'it''s  a
   test'
double: "say \"hi\" \
   é \u00e9\tend
   now"
literal: |
    if x:
      y = "z"

    done
indented: |2-
    two more
  here
folded: >
  python -m x
  --b 'c'

  next
    as is
empty: ""
"""

    @pytest.mark.parametrize("name", ["plain", "single", "double", "literal", "indented", "folded", "empty"])
    @pytest.mark.parametrize("ends", ["\n", "\r\n"])
    def test_words_stand_where_they_are_written(self, name: str, ends: str) -> None:
        text = self.TEXT.replace("\n", ends)
        content = scalar_text(yaml_document(text), f"/{name}")
        assert content is not None
        assert content.text == yaml.safe_load(self.TEXT)[name]
        for index, character in enumerate(content.text):
            origin = content.origin[index]
            if text[origin] not in "\\'" and not character.isspace():
                assert text[origin] == character
        assert list(content.origin) == sorted(content.origin)

    def test_lines_of_a_literal_block(self) -> None:
        content = scalar_text(yaml_document(self.TEXT), "/literal")
        assert content is not None
        start = content.text.index('y = "z"')
        assert content.location(start, start + 7)[1:5] == (11, 7, 11, 14)

    @given(st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), max_size=40))
    def test_any_string_as_pyyaml_writes_it(self, content: str) -> None:
        for style in ("'", '"', "|", ">", None):
            text = yaml.safe_dump({"k": content}, default_style=style, allow_unicode=True, width=20)
            document = yaml_document(text)
            [key] = document.value
            found = scalar_text(document, f"/{key}")
            if found is not None:
                assert found.text == yaml.safe_load(text)["k"]
                assert len(found.origin) == len(found.text) + 1


class TestToml:
    TEXT = """\
[project]
name = 'demo' # a name
dependencies = [
    "sglang[all]==0.5.9",  # pinned
    'torch',
]
[project.optional-dependencies]
"a.b" = ["x"]
[tool.uv]
sources.vllm = { git = "https://x", tag = "v0.9" }
[[package]]
name = "a"
when = 2026-01-02 03:04:05
[[package]]
name = \"\"\"
long\"\"\"
[package.meta]
n = 1_000
"""

    def test_values(self) -> None:
        value = of(read_toml, self.TEXT).value
        assert value["project"]["dependencies"] == ["sglang[all]==0.5.9", "torch"]
        assert value["package"] == [
            {"name": "a", "when": "2026-01-02T03:04:05"},
            {"name": "long", "meta": {"n": 1000}},
        ]

    @pytest.mark.parametrize("ends", ["\n", "\r\n"])
    def test_places(self, ends: str) -> None:
        text = self.TEXT.replace("\n", ends)
        document = of(read_toml, text)
        written = {
            "/project/name": "'demo'",
            "/project/dependencies/0": '"sglang[all]==0.5.9"',
            "/project/dependencies/1": "'torch'",
            "/project/optional-dependencies/a.b/0": '"x"',
            "/tool/uv/sources/vllm/tag": '"v0.9"',
            "/tool/uv/sources/vllm": '{ git = "https://x", tag = "v0.9" }',
            "/package/0/when": "2026-01-02 03:04:05",
            "/package/1/name": f'"""{ends}long"""',
            "/package/1/meta/n": "1_000",
            "/package/1": "[[package]]",
        }
        assert {pointer: at(text, document.spans[pointer]) for pointer in written} == written
        assert document.keys["/tool/uv/sources/vllm/tag"].line == 10
        assert document.spans["/package/1"].line == 14

    def test_every_value_has_a_place(self) -> None:
        document = of(read_toml, self.TEXT)

        def pointers(value: object, pointer: str) -> list[str]:
            below: list[str] = []
            if isinstance(value, dict):
                below = [p for key, entry in value.items() for p in pointers(entry, f"{pointer}/{key}")]
            elif isinstance(value, list):
                below = [p for index, entry in enumerate(value) for p in pointers(entry, f"{pointer}/{index}")]
            return [pointer, *below]

        assert set(pointers(document.value, "")) <= set(document.spans)

    def test_the_text_of_a_requirement(self) -> None:
        content = scalar_text(of(read_toml, self.TEXT), "/project/dependencies/0")
        assert content is not None
        assert content.text == "sglang[all]==0.5.9"
        assert content.location(13, 18)[1:3] == (4, 19)
        escaped = scalar_text(of(read_toml, 'a = "x\\u003d=1"'), "/a")
        assert escaped is not None
        assert escaped.text == "x==1"
        assert escaped.location(0, 4).line == 1

    @pytest.mark.parametrize(
        ("text", "line", "column"),
        [("a = 1\nb = \n", 2, 5), ("a = 1\r\nb = 2\r\nc d\r\n", 3, 3), ("a = [1,", 1, 8), ("a = 1\na = 2\n", 2, 6)],
    )
    def test_what_is_not_toml_has_a_place(self, text: str, line: int, column: int) -> None:
        assert failure(read_toml, text).where[1:3] == (line, column)

    @pytest.mark.parametrize("text", ["a = " + "[" * 50_000, "a = " + "9" * 5000])
    def test_hostile_toml_is_an_error_of_the_file(self, text: str) -> None:
        assert failure(read_toml, text).reason


class TestDocumentsOfASource:
    def test_by_the_kind_of_the_file(self) -> None:
        def read(kind: str, content: bytes) -> list[Any]:
            return [d.value for d in documents(Source("f", kind, Path("f"), content))]

        assert read("json", b"[1]") == [[1]]
        assert read("notebook", b'{"cells": []}') == [{"cells": []}]
        assert read("yaml", b"a: 1\n---\nb: 2\n") == [{"a": 1}, {"b": 2}]
        assert read("toml", b"a = 1") == [{"a": 1}]
        assert read("python", b"a = 1") == []
