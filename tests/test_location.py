"""Places in files and text that remembers where it came from."""

from __future__ import annotations

import pytest

from eaglelint.location import LineMap, MappedText, join


@pytest.fixture
def capture() -> MappedText:
    return MappedText.whole("capture.py", "LAYERS = [2, 16, 29]\nx = 1\n")


@pytest.fixture
def constants() -> MappedText:
    return MappedText.whole("constants.py", "# ids\nAT = '2, 46'\n")


def test_lines_end_at_any_of_the_three_line_ends() -> None:
    lines = LineMap("a", "1\r\n2\r3\n4")
    assert [lines.position(offset) for offset in (0, 3, 5, 7)] == [(1, 1), (2, 1), (3, 1), (4, 1)]
    assert lines.offset(4, 1) == 7
    assert lines.offset(99, 99) == 8


def test_a_slice_of_a_file_costs_no_list(capture: MappedText) -> None:
    part = capture[9:20]
    assert part.text == "[2, 16, 29]"
    assert part.origin == range(9, 21)
    assert str(capture[21:26].location(0, 1)) == "capture.py:2"


def test_neighbouring_slices_join_to_a_slice(capture: MappedText) -> None:
    assert join([capture[:5], capture[5:8], capture[8:]]).origin == range(len(capture) + 1)
    assert not isinstance(join([capture[:5], capture[6:8]]).origin, range)


def test_text_of_two_files_points_into_each(capture: MappedText, constants: MappedText) -> None:
    text = join([capture[:9], constants[12:17], capture[20:]])
    assert text.text == "LAYERS = 2, 46\nx = 1\n"
    assert text.location(0, 6).path == "capture.py"
    assert text.location(9, 10)[:3] == ("constants.py", 2, 7)
    assert text.location(15, 16)[:3] == ("capture.py", 2, 1)


def test_a_stretch_over_two_files_ends_where_the_first_file_ends(capture: MappedText, constants: MappedText) -> None:
    text = join([capture[:9], constants[12:17]])
    assert text.location(0, len(text)) == capture.location(0, 9)


def test_files_are_kept_by_slices_of_joined_text(capture: MappedText, constants: MappedText) -> None:
    text = join([capture[:9], constants[12:17], capture[20:]])[9:16]
    assert text.text == "2, 46\nx"
    assert [text.file_at(index).path for index in (0, 4, 5, 6)] == ["constants.py"] * 2 + ["capture.py"] * 2
    assert join([text, constants[:1]]).location(7, 8)[:3] == ("constants.py", 1, 1)


def test_picking_keeps_the_file_of_each_character(capture: MappedText, constants: MappedText) -> None:
    text = join([capture[:3], constants[:3]])
    picked = text.pick("ba", [4, 0, 6])
    assert picked.location(0, 1)[:3] == ("constants.py", 1, 2)
    assert picked.location(1, 2)[:3] == ("capture.py", 1, 1)


def test_inserted_text_covers_no_character(capture: MappedText) -> None:
    text = join([capture[:9], capture.pick("set", [9] * 4), capture[9:]])
    assert text.location(9, 12) == capture.location(9, 9)
    assert text.location(9, 13) == capture.location(9, 10)
    at_end = join([capture, capture.pick("\n", [len(capture)] * 2)])
    assert at_end.location(0, len(at_end)).end == len(capture)


def test_there_is_a_place_for_each_character_and_the_end(capture: MappedText) -> None:
    with pytest.raises(ValueError, match="one entry for each character"):
        MappedText("abc", [0, 1, 2], capture.lines)
    with pytest.raises(ValueError, match="nothing to join"):
        join([])
    with pytest.raises(ValueError, match="own order"):
        capture[::-1]
