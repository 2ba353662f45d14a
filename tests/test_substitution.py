"""`re.sub` on mapped text: the same characters, the places kept, and no pattern that could run for ever."""

from __future__ import annotations

import re
import time

import pytest

from eaglelint.location import MappedText
from eaglelint.substitution import re_sub

LOOP = """\
        for i in range(self.start_layer, self.end_layer):
            layer = self.layers[i]
            hidden_states, residual = layer(positions, hidden_states, forward_batch, residual)
        return hidden_states
"""


@pytest.mark.parametrize(
    ("pattern", "replacement", "flags"),
    [
        (r"( +)layer = self\.layers\[i\]\n", r"\g<0>\1tap(i)\n", 0),
        (r"(?P<indent>\s+)return", r"\g<indent>pass\g<indent>return", 0),
        (r"hidden_states", "x", 0),
        (r"for (\w+) in (.*):", r"for \1, _ in enumerate(\2):", 0),
        (r"^ {8}", "", re.MULTILINE),
        (r"FOR|return", r"\t\\", re.IGNORECASE),
        (r"range\([^)]*\)", "range(9)", 0),
        (r"x*", "-", 0),
        (r"(a)|r", r"[\1]", 0),
        (r"layer\b(?! =)(?=\()", "block", 0),
        (r"i{1,3}n", r"\101\0", 0),
    ],
)
@pytest.mark.parametrize("count", [0, 1, 2])
def test_characters_are_those_of_re_sub(pattern: str, replacement: str, flags: int, count: int) -> None:
    result = re_sub(pattern, replacement, MappedText.whole("a.py", LOOP), count, flags)
    assert result is not None
    assert result.text == re.sub(pattern, replacement, LOOP, count=count, flags=flags)


def test_groups_keep_their_places_and_the_replacement_has_its_own() -> None:
    script = MappedText.whole("patch.py", r"re.sub(A, '\1tap(i)\n', text)")
    source = MappedText.whole("llama.py", LOOP)
    result = re_sub(r"( +)layer = ", script[script.text.index("\\1") : script.text.index("',")], source)
    assert result is not None
    at = result.text.index("tap(i)")
    assert result.text[at - 12 : at] == " " * 12
    assert result.location(at - 12, at)[:3] == ("llama.py", 2, 1)
    assert result.location(at, at + 6) == script.location(script.text.index("tap"), script.text.index("tap") + 6)


@pytest.mark.parametrize(
    "pattern", [r"(a+)+$", r"(a|a)*b", r"(.*)*x", r"(?:\w+\s*)+:", r".*.*.*.*.*x", r"(\w+)\1+$", "a" * 3_000]
)
def test_a_pattern_that_could_run_for_ever_is_not_run(pattern: str) -> None:
    started = time.monotonic()
    assert re_sub(pattern, "", MappedText.whole("a.py", "a" * 5_000 + "!")) is None
    assert time.monotonic() - started < 2


def test_a_repeat_is_bounded_by_the_longest_stretch_that_it_can_match() -> None:
    text = MappedText.whole("a.py", LOOP * 40)
    result = re_sub(r"(\s*)(\w+) = (\w+)\.(\w+)\[(\w+)\]", r"\1\2 = \3", text)
    assert result is not None
    assert result.text.count("layer = self\n") == 40


@pytest.mark.parametrize(
    ("pattern", "replacement"), [("(", ""), ("a", r"\g<no>"), ("a", r"\2"), ("a", r"\q"), ("a", "\\"), ("*", "")]
)
def test_what_is_no_pattern_or_replacement_is_refused(pattern: str, replacement: str) -> None:
    with pytest.raises(ValueError, match=r"pattern|group|escape"):
        re_sub(pattern, replacement, MappedText.whole("a.py", "aaa"))
