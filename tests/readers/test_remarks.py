"""Comments beside captures, and cache namespaces of requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from eaglelint.boundary import State
from eaglelint.facts import Assembly, Capture, Comment, Facts, Label
from eaglelint.location import Location
from eaglelint.project import Source
from eaglelint.readers.remarks import read_comments, read_salts

STATES = ((36, (State(2), State(18), State(33))),)


def source(tmp_path: Path, text: str, kind: str = "python", name: str = "dump.py") -> Source:
    """A file with this text."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return Source(name, kind, path)


def at(line: int, path: str = "dump.py") -> Location:
    """The place of a whole line."""
    return Location(path, line, 1, line, 99)


def beside(tmp_path: Path, text: str, *lines: int, kind: str = "python") -> list[tuple[str, int, int]]:
    """The comments as text, line, and line of the place that they stand beside, for concatenations on these lines."""
    facts = Facts(assemblies=tuple(Assembly(at(line), STATES, "proven", "training", ()) for line in lines))
    found = read_comments(source(tmp_path, text, kind), facts)
    return [(comment.text, comment.where.line, comment.beside.line) for comment in found]


def test_a_comment_behind_the_code(tmp_path: Path):
    assert beside(tmp_path, "x = cat(a)  # layers 2 and 18\n", 1) == [("layers 2 and 18", 1, 1)]


def test_a_comment_above_the_code(tmp_path: Path):
    assert beside(tmp_path, "# layers 2 and 18\nx = cat(a)\n", 2) == [("layers 2 and 18", 1, 2)]


def test_lines_of_comments_are_one(tmp_path: Path):
    text = "# what is taken:\n# layers 2 and 18\nx = cat(a)\n"
    assert beside(tmp_path, text, 3) == [("what is taken: layers 2 and 18", 1, 3)]


def test_an_empty_line_ends_it(tmp_path: Path):
    assert not beside(tmp_path, "# layers 2 and 18\n\nx = cat(a)\n", 3)


def test_a_comment_above_the_list_that_drives_the_code(tmp_path: Path):
    text = "# layers 2 and 18\nTAPS = [2, 18]\n\n\ndef f(hs):\n    return cat([hs[t] for t in TAPS])\n"
    assert beside(tmp_path, text, 6) == [("layers 2 and 18", 1, 6)]


def test_a_list_that_a_loop_above_the_code_walks(tmp_path: Path):
    text = "TAPS = [2, 18]  # layers 2 and 18\n\ndef f(hs):\n    for t in TAPS:\n        keep(hs[t])\n"
    assert beside(tmp_path, text, 5) == [("layers 2 and 18", 1, 5)]


def test_a_list_that_nothing_uses(tmp_path: Path):
    assert not beside(tmp_path, "# layers 2 and 18\nOTHER = [2, 18]\nx = cat(a)\n", 3)


def test_a_comment_on_other_code(tmp_path: Path):
    assert not beside(tmp_path, "# layers 2 and 18 of the vision tower\nfreeze(model)\nx = cat(a)\n", 3)


def test_a_comment_that_speaks_of_no_layer(tmp_path: Path):
    assert not beside(tmp_path, "x = cat(a)  # 3 states\n", 1)


def test_a_number_sign_inside_a_string_is_no_comment(tmp_path: Path):
    assert not beside(tmp_path, 'x = cat(a, " # layers 2 and 18")\n', 1)


def test_the_docstring_of_the_function_around(tmp_path: Path):
    text = 'def f(hs):\n    """Take layers 2 and 18."""\n    return cat(hs)\n\n\ndef g(hs):\n    """Layer 7."""\n'
    assert beside(tmp_path, text, 3) == [("Take layers 2 and 18.", 2, 3)]


def test_code_inside_a_string_of_a_patch(tmp_path: Path):
    text = 'NEW = """\n    # layers 2 and 18\n    aux.append(h)\n"""\n'
    assert beside(tmp_path, text, 3) == [("layers 2 and 18", 2, 3)]


def test_lines_of_strings(tmp_path: Path):
    text = 'NEW = (\n    "    # layers 2 and 18\\n"\n    "    aux.append(h)\\n"\n)\n'
    assert beside(tmp_path, text, 3) == [("layers 2 and 18", 2, 3)]


def test_added_lines_of_a_diff(tmp_path: Path):
    text = "@@ -1,1 +1,3 @@\n+    # layers 2 and 18\n+    aux.append(h)\n"
    assert beside(tmp_path, text, 3, kind="patch") == [("layers 2 and 18", 2, 3)]


def test_names_and_captures_are_places_too(tmp_path: Path):
    text = "# layer 2\nh = a\nkeep(b)  # layer 18\n"
    facts = Facts(
        captures=(Capture(at(3), STATES, None, "proven", "hf"),),
        labels=(Label("h", "variable", at(2), STATES, ()),),
    )
    found = list(read_comments(source(tmp_path, text), facts))
    assert [comment.beside.line for comment in found] == [2, 3]
    assert all(isinstance(comment, Comment) for comment in found)


def test_a_file_without_captures_has_none(tmp_path: Path):
    assert not beside(tmp_path, "x = cat(a)  # layers 2 and 18\n")


@pytest.mark.parametrize(
    "line",
    ['send({"prompt": p, "cache_salt": uuid4().hex})', "send(ids, extra_key=str(n))", "request['cache_salt'] = n"],
)
def test_a_cache_of_its_own(tmp_path: Path, line: str):
    (found,) = read_salts(source(tmp_path, f"import x\n{line}\n"))
    assert found.where.line == 2


@pytest.mark.parametrize("line", ["# cache_salt: not used", "print('no cache_salt here')", "if r.cache_salt == other:"])
def test_no_cache_of_its_own(tmp_path: Path, line: str):
    assert not list(read_salts(source(tmp_path, f"{line}\n")))
