"""Decoded string literals: the same content as Python gives, and every character at its place in the file."""

from __future__ import annotations

import ast
import os
import warnings

import libcst as cst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eaglelint.analyser.literals import decode_fstring_text, decode_literal
from eaglelint.location import MappedText

#: `EAGLELINT_EXAMPLES=20000 pytest tests/analyser/test_literals.py` for the long run.
EXAMPLES = int(os.environ.get("EAGLELINT_EXAMPLES", "300"))

PREFIXES = ["", "r", "R", "u", "U", "b", "B", "br", "bR", "Rb", "rb"]
QUOTES = ["'", '"', "'''", '"""']
ESCAPES = ["n", "t", "\\", "'", '"', "x41", "xe", "101", "0", "777", "8", "u00e9", "ud83d", "U0001F600", "U00110000"]
NAMED = ["N{BULLET}", "N{no such}", "N", "d", "{", "", "\n", "\r\n", "\r"]
PLAIN = ["'", '"', "{", "}", "\n", "\r\n", "\r", "    ", "\t", "hidden_states", "é", "\U0001f600", "#", "%s"]
PIECES = st.one_of(
    st.sampled_from([*("\\" + escape for escape in ESCAPES + NAMED), *PLAIN]),
    st.characters(codec="utf-8", exclude_characters="\0"),
)


def python_value(token: str) -> str | None:
    """What Python makes of a token, None when it takes it for no literal, or for a literal and more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = ast.literal_eval(token)
        except (SyntaxError, ValueError):
            return None
    node = cst.parse_expression(token)
    if not isinstance(node, cst.SimpleString) or node.value != token:
        return None
    return value.decode("latin-1") if isinstance(value, bytes) else value


def decoded(token: MappedText) -> MappedText | None:
    try:
        return decode_literal(token)
    except ValueError:
        return None


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.sampled_from(PREFIXES), st.sampled_from(QUOTES), st.lists(PIECES, max_size=12).map("".join))
def test_content_is_that_of_python_and_characters_keep_their_places(prefix: str, quote: str, body: str) -> None:
    token = f"{prefix}{quote}{body}{quote}"
    before = "x = f(1,\n    "
    source = MappedText.whole("patch.py", before + token + ")\n")
    ours = decoded(source[len(before) : len(before) + len(token)])
    expected = python_value(token)
    assert (ours.text if ours is not None else None) == expected
    if ours is None:
        return
    origin = list(ours.origin)
    assert origin == sorted(origin)
    assert token[origin[-1] - len(before) :] in QUOTES
    for character, place in zip(ours.text, origin, strict=False):
        written = source.text[place]
        assert written == character or written == "\\" or (character, written) == ("\n", "\r")


@pytest.mark.parametrize("prefix", ["f", "F", "fr", "Rf", "t", "rt"])
def test_doubled_braces_of_an_f_string_become_one(prefix: str) -> None:
    ours = decode_literal(MappedText.whole("a.py", prefix + '"taps = {{}}"'))
    assert ours.text == "taps = {}"
    assert [ours.origin[7], ours.origin[8]] == [len(prefix) + 8, len(prefix) + 10]


def test_an_f_string_with_fields_is_no_single_literal() -> None:
    with pytest.raises(ValueError, match="single"):
        decode_literal(MappedText.whole("a.py", 'f"layers[{i}]"'))


@pytest.mark.parametrize(
    ("written", "raw", "content"),
    [
        ("{{'a': 1}}", False, "{'a': 1}"),
        ("\\n{{", False, "\n{"),
        ("\\n{{", True, "\\n{"),
        ("\\N{BULLET} ", False, "• "),
        ("\\", False, "\\"),  # f"\{x}": the backslash before a field stands for itself
        ("\\{{", False, "\\{"),
    ],
)
def test_text_between_the_fields_of_an_f_string(written: str, raw: bool, content: str) -> None:
    assert decode_fstring_text(MappedText.whole("a.py", written), raw).text == content


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        ("'abc", "not closed"),
        ("'a\nb'", "not closed"),
        ("'a' 'b'", "after the end"),
        ("ur'a'", "not a string"),
        ("name", "not a string"),
        ("", "not a string"),
        ("b'é'", "ASCII"),
        ("'\\xZZ'", "invalid"),
        ("'\\N{no such character}'", "unknown character"),
        ("'\\N{KEYCAP DIGIT ONE}'", "unknown character"),  # a named sequence of two characters
    ],
)
def test_invalid_literals_are_refused(token: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        decode_literal(MappedText.whole("a.py", token))


def test_a_string_in_a_heredoc_in_a_dockerfile_maps_to_the_dockerfile() -> None:
    code = "NEW = '''\\\n    if i in (2, 16):\n        aux.append(\"it\\'s\")\n'''\n"
    dockerfile = MappedText.whole("Dockerfile", f"FROM lmsysorg/sglang:v0.5.9\nRUN python3 - <<'EOF'\n{code}EOF\n")
    start = dockerfile.text.index(code)
    heredoc = dockerfile[start : start + len(code)]
    outer = decode_literal(heredoc[len("NEW = ") : len(code) - 1])
    assert outer.text == "    if i in (2, 16):\n" + """        aux.append("it's")\n"""

    at = outer.text.index('"')
    inner = decode_literal(outer[at : outer.text.rindex('"') + 1])
    assert inner.text == "it's"
    assert str(inner.location(0, 4)) == "Dockerfile:5"
    assert dockerfile.text[inner.origin[0] :].startswith("it\\'s")
    assert dockerfile.text[inner.origin[2] :].startswith("\\'s")
    assert dockerfile.text[inner.origin[3]] == "s"
