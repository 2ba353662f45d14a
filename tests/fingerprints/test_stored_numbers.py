"""Bytes to numbers, and elements of tensors that stand anywhere in a file."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import pytest
import tensor_files

from eaglelint.errors import UnreadableError
from eaglelint.fingerprints.decoding import floats, integers
from eaglelint.fingerprints.reading import Run, Values, whole
from eaglelint.project import Source
from eaglelint.readers.parts import Broken


def opened(path: Path, content: bytes) -> Values:
    path.write_bytes(content)
    return Values(Source(path.name, "binary", path))


@pytest.mark.parametrize(
    ("dtype", "data", "numbers"),
    [
        ("bfloat16", struct.pack("<4H", 0x3F80, 0xC000, 0x7F80, 0x0001), [1.0, -2.0, math.inf, 2.0**-133]),
        ("float16", struct.pack("<3e", 1.5, -65504.0, 2.0**-24), [1.5, -65504.0, 2.0**-24]),
        ("float32", struct.pack("<2f", 0.1, -3.0), [struct.unpack("<f", struct.pack("<f", 0.1))[0], -3.0]),
        ("float64", struct.pack("<d", 0.1), [0.1]),
        ("float8_e4m3fn", bytes([0x38, 0xB8, 0x7E, 0x01, 0x80]), [1.0, -1.0, 448.0, 2.0**-9, -0.0]),
        ("float8_e4m3fnuz", bytes([0x40, 0x7F, 0x01]), [1.0, 240.0, 2.0**-10]),
        ("float8_e5m2", bytes([0x3C, 0x7B, 0x7C, 0xFC, 0x01]), [1.0, 57344.0, math.inf, -math.inf, 2.0**-16]),
        ("float8_e5m2fnuz", bytes([0x40, 0x7F, 0x01]), [1.0, 57344.0, 2.0**-17]),
        ("float8_e8m0fnu", bytes([127, 130, 0]), [1.0, 8.0, 2.0**-127]),
    ],
)
def test_every_type_of_float_is_read_exactly(dtype: str, data: bytes, numbers: list[float]):
    assert floats(data, dtype) == numbers


@pytest.mark.parametrize(
    ("dtype", "byte"),
    [("float8_e4m3fn", 0x7F), ("float8_e4m3fn", 0xFF), ("float8_e4m3fnuz", 0x80), ("float8_e5m2", 0x7D)],
)
def test_what_is_no_number_is_none(dtype: str, byte: int):
    assert math.isnan(floats(bytes([byte]), dtype)[0])


def test_big_endian_numbers_are_turned():
    assert floats(struct.pack(">2f", 1.5, -2.0), "float32", swapped=True) == [1.5, -2.0]
    assert floats(struct.pack(">2e", 1.5, -2.0), "float16", swapped=True) == [1.5, -2.0]
    assert floats(b"\x3f\x80\xc0\x00", "bfloat16", swapped=True) == [1.0, -2.0]
    assert integers(struct.pack(">2q", 7, -1), "int64", swapped=True) == [7, -1]


def test_types_whose_elements_share_bytes_are_not_guessed_at(tmp_path: Path):
    with pytest.raises(Broken):
        floats(b"\0", "float4_e2m1fn")
    with pytest.raises(Broken):
        integers(b"\0\0\0\0", "float32")


def test_a_view_is_read_by_its_strides(tmp_path: Path):
    """The transpose of [[0, 1, 2], [3, 4, 5]], from its second row on."""
    storage = ("storage", tensor_files.Name("torch", "FloatStorage"), "0", "cpu", 6)
    hooks = tensor_files.Call(tensor_files.Name("collections", "OrderedDict"), ())
    view = tensor_files.Call(
        tensor_files.Name("torch._utils", "_rebuild_tensor_v2"),
        (tensor_files.Outside(storage), 1, (2, 2), (1, 3), False, hooks),
    )
    content = tensor_files.torch_zip({"view": view}, {"0": struct.pack("<6f", *range(6))})
    with opened(tmp_path / "s.pt", content) as values:
        tensor = values.header.tensors["view"]
        assert [number for run in whole(tensor) for number in values.floats(tensor, run)] == [1.0, 4.0, 2.0, 5.0]


@pytest.mark.parametrize("compressed", [False, True])
def test_members_of_an_archive_are_read_where_they_stand(tmp_path: Path, compressed: bool):
    content = tensor_files.npz({"a": ("F32", [2, 3], range(6)), "b": ("I64", [2], [7, 8])}, compressed=compressed)
    with opened(tmp_path / "s.npz", content) as values:
        tensors = values.header.tensors
        assert values.floats(tensors["a"], Run(3, 3)) == [3.0, 4.0, 5.0]
        assert values.integers(tensors["b"], Run(0, 2)) == [7, 8]


def test_an_array_in_columns_is_read_in_rows(tmp_path: Path):
    with opened(tmp_path / "s.npy", tensor_files.npy(("F32", [2, 3], [0, 3, 1, 4, 2, 5]), order="True")) as values:
        tensor = values.header.tensors[""]
        assert [values.floats(tensor, run) for run in whole(tensor)] == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_only_what_is_asked_for_is_read(tmp_path: Path):
    """A file of two terabytes that is a hole but for one row."""
    rows, width = 1 << 27, 8192
    header = f'{{"h":{{"dtype":"BF16","shape":[{rows},{width}],"data_offsets":[0,{rows * width * 2}]}}}}'.encode()
    path = tmp_path / "s.safetensors"
    with path.open("wb") as stream:
        stream.write(struct.pack("<Q", len(header)) + header)
        stream.truncate(8 + len(header) + rows * width * 2)
        stream.seek(8 + len(header) + (rows - 1) * width * 2)
        stream.write(b"\x80\x3f" * width)
    with Values(Source("s.safetensors", "binary", path)) as values:
        tensor = values.header.tensors["h"]
        assert values.floats(tensor, Run((rows - 1) * width, width)) == [1.0] * width


def test_what_is_no_file_of_tensors_is_refused(tmp_path: Path):
    with pytest.raises(UnreadableError):
        opened(tmp_path / "s.pt", b"not a pickle")


def test_token_ids_that_are_a_list_are_kept(tmp_path: Path):
    content = tensor_files.torch_zip({"input_ids": [5, 6, 7], "meta": {"ids": [[1, 2]]}, "text": ["a"]}, {})
    with opened(tmp_path / "s.pt", content) as values:
        assert values.header.lists == {"input_ids": (5, 6, 7), "meta.ids.0": (1, 2)}
