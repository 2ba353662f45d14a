"""String operations on mapped text: the same characters as `str` gives, each still at its own place."""

from __future__ import annotations

import os
import string
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eaglelint import mapped
from eaglelint.location import MappedText

EXAMPLES = int(os.environ.get("EAGLELINT_EXAMPLES", "200"))
quick = settings(max_examples=EXAMPLES, deadline=None)

TEXTS = st.text(alphabet="ab \t\n{}$%", max_size=30)
SHORT = st.text(alphabet="ab \n", max_size=3)


def whole(text: str) -> MappedText:
    return MappedText.whole("capture.py", text)


def check(result: MappedText, expected: str, source: MappedText, inserted: str = "") -> None:
    """The characters are the expected ones, and each that was not inserted is the one that stands at its place."""
    assert result.text == expected
    assert len(result.origin) == len(expected) + 1
    for character, place in zip(result.text, result.origin, strict=False):
        assert character == source.text[place : place + 1] or character in inserted


@quick
@given(TEXTS, SHORT, SHORT, st.integers(-1, 3))
def test_replace(text: str, old: str, new: str, count: int) -> None:
    check(mapped.replace(whole(text), old, new, count), text.replace(old, new, count), whole(text), new)


@quick
@given(TEXTS, SHORT)
def test_replace_by_mapped_text_keeps_the_places_of_its_definition(text: str, old: str) -> None:
    other = MappedText.whole("other.py", "XYZ")
    result = mapped.replace(whole(text), whole(old), other)
    assert result.text == text.replace(old, "XYZ")
    for index, character in enumerate(result.text):
        location = result.location(index, index + 1)
        source = other.text if character in "XYZ" else text
        assert location.path == ("other.py" if character in "XYZ" else "capture.py")
        assert source[location.start] == character


@quick
@given(TEXTS)
def test_dedent(text: str) -> None:
    check(mapped.dedent(whole(text)), textwrap.dedent(text), whole(text))


@quick
@given(TEXTS, SHORT)
def test_indent(text: str, prefix: str) -> None:
    check(mapped.indent(whole(text), prefix), textwrap.indent(text, prefix), whole(text), prefix)


@quick
@given(TEXTS, st.none() | SHORT)
def test_strip(text: str, chars: str | None) -> None:
    check(mapped.strip(whole(text), chars), text.strip(chars), whole(text))
    check(mapped.lstrip(whole(text), chars), text.lstrip(chars), whole(text))
    check(mapped.rstrip(whole(text), chars), text.rstrip(chars), whole(text))


@quick
@given(TEXTS, SHORT)
def test_removing_a_prefix_or_suffix(text: str, affix: str) -> None:
    check(mapped.removeprefix(whole(text), affix), text.removeprefix(affix), whole(text))
    check(mapped.removesuffix(whole(text), affix), text.removesuffix(affix), whole(text))


@quick
@given(st.text(alphabet="ab \r\n\x0b\u2028", max_size=20), st.booleans())
def test_splitlines(text: str, keepends: bool) -> None:
    lines = mapped.splitlines(whole(text), keepends)
    assert [line.text for line in lines] == text.splitlines(keepends)
    for line in lines:
        check(line, line.text, whole(text))


@quick
@given(TEXTS, st.none() | st.text(alphabet="ab \n", min_size=1, max_size=2), st.integers(-1, 3))
def test_split(text: str, separator: str | None, maxsplit: int) -> None:
    pieces = mapped.split(whole(text), separator, maxsplit)
    assert [piece.text for piece in pieces] == text.split(separator, maxsplit)
    for piece in pieces:
        check(piece, piece.text, whole(text))


@quick
@given(SHORT, st.lists(SHORT, max_size=4), st.integers(-1, 3))
def test_join_and_repeat(separator: str, parts: list[str], times: int) -> None:
    joined = mapped.join_with(whole(separator), [whole(part) for part in parts])
    assert joined.text == separator.join(parts)
    assert mapped.concatenate([whole("x"), *parts], whole("y")).text == "x" + "".join(parts)
    assert mapped.repeat(whole(separator), times).text == separator * times


def python_format(text: str) -> str | None:
    try:
        return text.format("zero", "one", a="A", b="B")
    except (ValueError, IndexError, KeyError, AttributeError):
        return None


FIELDS = st.lists(st.sampled_from(["{", "}", "{{", "}}", "{a}", "{b}", "{}", "{0}", "{1!s}", "x ", "\n"]), max_size=8)


@quick
@given(FIELDS.map("".join))
def test_format(text: str) -> None:
    result = mapped.format_fields(whole(text), {"a": "A", "b": "B", "0": "zero", "1": "one"})
    assert (result.text if result is not None else None) == python_format(text)
    if result is not None:
        check(result, result.text, whole(text), "ABzeroone")


def test_a_field_of_a_template_points_to_the_definition_of_its_value() -> None:
    ids = MappedText.whole("ids.py", "AT = '2, 46, 89'")[6:15]
    result = mapped.format_fields(whole("if i in {{{at}}}:\n"), {"at": ids})
    assert result is not None
    assert result.text == "if i in {2, 46, 89}:\n"
    assert result.location(9, 10)[:3] == ("ids.py", 1, 7)
    assert result.location(8, 9)[:3] == ("capture.py", 1, 9)


@pytest.mark.parametrize("text", ["{unknown}", "{a:>10}", "{a!r}", "{a.b}", "{a[0]}"])
def test_a_template_with_a_field_that_is_not_known_is_not_known(text: str) -> None:
    assert mapped.format_fields(whole(text), {"a": "A"}) is None


def test_conversion_and_specification_are_left_to_the_caller() -> None:
    asked: list[tuple[str, str, str]] = []

    def field(name: str, conversion: str, specification: str) -> str:
        asked.append((name, conversion, specification))
        return "!"

    result = mapped.format_with(whole("{n!r:>{width}} {0[x:y]} {a.b:d}"), field)
    assert result is not None
    assert result.text == "! ! !"
    assert asked == [("n", "r", ">{width}"), ("0[x:y]", "", ""), ("a.b", "", "d")]


@quick
@given(st.lists(st.sampled_from(["%s", "%d", "%%", "%r", "%5.2f", "x", "\n", "% d"]), max_size=6).map("".join))
def test_percent(text: str) -> None:
    values = [str(n) for n in range(6)]
    used: list[tuple[int, str]] = []

    def field(name: str, conversion: str, specification: str) -> str:
        used.append((int(name), f"%{specification}{conversion}"))
        return values[int(name)]

    result = mapped.percent_with(whole(text), field)
    fields = "".join(form for _, form in used)
    assert [number for number, _ in used] == list(range(len(used)))
    assert result is not None
    plain = text.replace("%%", "\0")
    for _, form in used:
        plain = plain.replace(form, "%s", 1) if form != "%s" else plain
    assert fields == "".join(form for _, form in used)
    assert result.text == (plain % tuple(values[: len(used)])).replace("\0", "%")


@pytest.mark.parametrize("text", ["%", "%q", "%(a", "%*d"])
def test_a_malformed_percent_template_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="unsupported"):
        mapped.percent_with(whole(text), lambda *_: "x")


def test_percent_with_names() -> None:
    result = mapped.percent_with(whole("layers = %(ids)s"), lambda name, *_: name.upper())
    assert result is not None
    assert result.text == "layers = IDS"


@quick
@given(st.lists(st.sampled_from(["$a", "${b}", "$$", "$", "x", "$unknown", "{", "\n"]), max_size=6).map("".join))
def test_string_template(text: str) -> None:
    values = {"a": "A", "b": "B"}
    safe = mapped.dollar_with(whole(text), values.get, safe=True)
    assert safe is not None
    check(safe, string.Template(text).safe_substitute(values), whole(text), "AB")
    try:
        expected: str | None = string.Template(text).substitute(values)
    except (KeyError, ValueError):
        expected = None
    try:
        strict = mapped.dollar_with(whole(text), values.get)
    except ValueError:
        strict = None
    assert (strict.text if strict is not None else None) == expected


def test_text_does_not_grow_without_end() -> None:
    text = whole("a" * 10_000)
    with pytest.raises(mapped.TooLongError):
        mapped.replace(text, "a", "b" * 1_000)
    with pytest.raises(mapped.TooLongError):
        mapped.repeat(text, 10**12)
