"""Files of tensors: names, types, shapes and places, without weights; whatever is wrong with one is said."""

from __future__ import annotations

import contextlib
import struct
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
import tensor_files as files
from tensor_files import Call, Name

from eaglelint.errors import UnreadableError
from eaglelint.project import Source
from eaglelint.readers.checkpoint import read_checkpoint, read_index
from eaglelint.stored import CheckpointHeader, VocabularyMap

HEAD = {"fc.weight": ("BF16", [4, 12]), "norm.weight": ("F32", [4]), "d2t": ("I64", [3], [0, 0, 5])}


def source(name: str, content: bytes, kind: str = "binary") -> Source:
    return Source(f"head/{name}", kind, Path(name), content)


def header(name: str, content: bytes) -> CheckpointHeader:
    found = next(iter(read_checkpoint(source(name, content))))
    assert isinstance(found, CheckpointHeader)
    return found


def maps(name: str, content: bytes) -> list[VocabularyMap]:
    return [fact for fact in read_checkpoint(source(name, content)) if isinstance(fact, VocabularyMap)]


def refusal(name: str, content: bytes) -> str:
    with pytest.raises(UnreadableError) as caught:
        list(read_checkpoint(source(name, content)))
    assert caught.value.where.path == f"head/{name}"
    return caught.value.reason


class TestEveryFormat:
    @pytest.mark.parametrize(
        ("name", "content", "kind"),
        [
            ("model.safetensors", files.safetensors(HEAD), "safetensors"),
            ("pytorch_model.bin", files.torch_file(HEAD), "torch"),
            ("pytorch_model.bin", files.torch_file(HEAD, compressed=True), "torch"),
            ("model.pt", files.torch_stream(HEAD), "torch"),
        ],
    )
    def test_tensors_have_names_types_and_shapes(self, name: str, content: bytes, kind: str):
        found = header(name, content)
        assert found.format == kind
        assert {name: (t.dtype, t.shape) for name, t in found.tensors.items()} == {
            "fc.weight": ("bfloat16", (4, 12)),
            "norm.weight": ("float32", (4,)),
            "d2t": ("int64", (3,)),
        }
        assert found.calls == ()

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("model.safetensors", files.safetensors(HEAD)),
            ("pytorch_model.bin", files.torch_file(HEAD)),
            ("pytorch_model.bin", files.torch_file(HEAD, compressed=True)),
            ("model.pt", files.torch_stream(HEAD)),
            ("maps.npz", files.npz({"d2t": HEAD["d2t"]})),
            ("maps.npz", files.npz({"d2t": HEAD["d2t"]}, compressed=True)),
            ("d2t.npy", files.npy(HEAD["d2t"])),
        ],
    )
    def test_the_numbers_of_a_map_are_read(self, name: str, content: bytes):
        (found,) = maps(name, content)
        assert (found.kind, found.length, found.values) == ("d2t", 3, (0, 0, 5))

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("m.safetensors", files.safetensors(HEAD)),
            ("m.pt", files.torch_file(HEAD)),
            ("m.pt", files.torch_stream(HEAD)),
        ],
    )
    def test_the_place_of_a_tensor_is_that_of_its_first_element(self, name: str, content: bytes):
        tensor = header(name, content).tensors["d2t"]
        assert content[tensor.start : tensor.start + tensor.length] == struct.pack("<3q", 0, 0, 5)

    def test_marks_of_the_target_s_tokens_are_numbers_too(self):
        (found,) = maps("m.safetensors", files.safetensors({"t2d": ("BOOL", [4], [True, False, False, True])}))
        assert (found.kind, found.values) == ("t2d", (1, 0, 0, 1))

    def test_gguf_has_metadata_and_tensors(self):
        content = files.gguf(
            {"general.architecture": "eagle3", "eagle3.layers": [2, 18, 33], "tokens": ["a"] * 100},
            {"fc.weight": [4, 12], "norm.weight": [4]},
        )
        found = header("head.gguf", content)
        assert found.metadata["general.architecture"] == "eagle3"
        assert found.metadata["eagle3.layers"] == "[2, 18, 33]"
        assert found.metadata["tokens"] == "100 entries"
        assert found.tensors["fc.weight"].shape == (4, 12)
        assert found.tensors["norm.weight"].start % 32 == 0
        assert found.tensors["norm.weight"].start + 16 <= len(content)

    def test_a_pointer_of_git_lfs_says_nothing_of_tensors(self):
        text = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 104857600\n"
        assert header("model.safetensors", text).format == "pointer"

    def test_only_the_header_of_a_large_file_is_read(self, tmp_path: Path):
        size = 40 << 30
        text = b'{"w":{"dtype":"U8","shape":[%d],"data_offsets":[0,%d]}}' % (size, size)
        file = tmp_path / "model.safetensors"
        file.write_bytes(struct.pack("<Q", len(text)) + text)
        with file.open("r+b") as stream:
            stream.truncate(8 + len(text) + size)
        (found,) = read_checkpoint(Source("model.safetensors", "binary", file))
        assert isinstance(found, CheckpointHeader)
        assert found.tensors["w"].length == size


class TestBrokenSafetensors:
    WHOLE = files.safetensors(HEAD)

    def entry(self, text: str, room: int = 64) -> str:
        body = text.encode()
        return refusal("m.safetensors", struct.pack("<Q", len(body)) + body + bytes(room))

    @pytest.mark.parametrize("size", [1, 7, 8, 9, 100, len(WHOLE) - 1])
    def test_a_file_that_breaks_off(self, size: int):
        reason = refusal("m.safetensors", self.WHOLE[:size])
        assert "ends" in reason

    def test_an_empty_file(self):
        assert "empty" in refusal("m.safetensors", b"")

    def test_a_page_of_html_that_was_saved_instead(self):
        assert "header" in refusal("m.safetensors", b"<!DOCTYPE html><html>Not found</html>" * 10)

    def test_a_header_that_is_larger_than_any_model_s(self, tmp_path: Path):
        file = tmp_path / "m.safetensors"
        file.write_bytes(struct.pack("<Q", 1 << 30))
        with file.open("r+b") as stream:
            stream.truncate(1 << 31)
        with pytest.raises(UnreadableError, match="larger than the 16 MiB"):
            list(read_checkpoint(Source("m.safetensors", "binary", file)))

    def test_a_shape_that_does_not_fit_its_bytes(self):
        assert "needs 8 bytes" in self.entry('{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}')

    def test_offsets_beyond_the_file(self):
        assert "ends before" in self.entry('{"a":{"dtype":"F32","shape":[100],"data_offsets":[0,400]}}')

    def test_offsets_backwards(self):
        assert "before it begins" in self.entry('{"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}}')

    @pytest.mark.parametrize(
        "text",
        [
            "[]",
            "{",
            '{"a"}',
            '{"a":1}',
            '{"a":{}}',
            '{"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}}',
            '{"a":{"dtype":"F32","shape":[true],"data_offsets":[0,4]}}',
            '{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}',
            '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}}',
            '{"a":{"dtype":4,"shape":[1],"data_offsets":[0,4]}}',
            '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]} "b"',
            '{"a":' + "[" * 5000,
            '{"a":' + "[" * 4000 + "]" * 4000 + "}",
            '{"a":{"dtype":"F32","shape":[9223372036854775807,9223372036854775807],"data_offsets":[0,4]}}',
        ],
    )
    def test_json_that_is_no_header(self, text: str):
        assert self.entry(text)

    def test_bytes_that_are_no_text(self):
        assert "UTF-8" in refusal("m.safetensors", struct.pack("<Q", 4) + b"{\xff\xff}" + bytes(16))

    def test_spaces_and_another_order_of_keys_are_fine(self):
        text = b'{ "a" : { "shape" : [ 1 ], "data_offsets" : [ 0, 4 ], "dtype" : "F32" } }   '
        found = header("m.safetensors", struct.pack("<Q", len(text)) + text + bytes(4))
        assert found.tensors["a"].shape == (1,)

    def test_braces_in_names_and_notes_are_fine(self):
        content = files.safetensors({'a"}{': ("F32", [1])}, {"note": 'a "quoted" } brace \\'})
        found = header("m.safetensors", content)
        assert list(found.tensors) == ['a"}{']
        assert found.metadata["note"] == 'a "quoted" } brace \\'


class TestPickles:
    def test_what_would_run_is_named_and_does_not_run(self, tmp_path: Path):
        marker = tmp_path / "ran"
        evil = {"fc.weight": files.rebuilt("0", ("F32", [2])), "x": Call(Name("os", "system"), (f"touch {marker}",))}
        found = header("m.bin", files.torch_zip(evil, {"0": bytes(8)}))
        assert found.calls == ("os.system",)
        assert list(found.tensors) == ["fc.weight"]
        assert not marker.exists()

    def test_modules_and_wrappers_are_looked_through(self):
        layer = Call(Name("torch.nn.modules.linear", "Linear"), ())
        weight = Call(
            Name("torch._utils", "_rebuild_parameter"),
            (files.rebuilt("0", ("F32", [2])), True, Call(Name("a", "b"), ())),
        )
        state = {"_parameters": {"weight": weight}, "_buffers": {}, "training": True}
        module = files._emit(layer) + files._emit(state) + b"b"
        content = files.torch_zip(b"\x80\x02}X\x02\x00\x00\x00fc" + module + b"s.", {"0": bytes(8)})
        assert list(header("m.pt", content).tensors) == ["fc.weight"]

    def test_views_keep_their_offset_and_strides(self):
        said = ("storage", Name("torch", "FloatStorage"), "0", "cpu", 12)
        view = Call(Name("torch._utils", "_rebuild_tensor_v2"), (files.Outside(said), 2, (2, 3), (1, 4), False, {}))
        content = files.torch_zip({"t": view}, {"0": bytes(range(48))})
        tensor = header("m.pt", content).tensors["t"]
        assert tensor.strides == (1, 4)
        assert content[tensor.start] == 8

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b".",
            b"\x80\x02",
            b"\x80\x02}.",
            b"\x80\x02](.",
            b"\x80\x02K\x01r\xff\xff\xff\x07.",  # LONG_BINPUT 2**27
            b"\x80\x05\x96\x00\x00\x00\x00\x00\x00\x00\x40.",  # BYTEARRAY8 of 2**62 bytes
            b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f.",  # BINUNICODE8 of 2**63 - 1 bytes
            b"\x80\x02" + b"]" * 700_000 + b".",
            b"\x80\x02" + b"]q\x00" + b"h\x00h\x00\x86q\x00" * 60 + b"]sK\x01s.",
            b"\x80\x02cos\nsystem\n(S'false'\ntR.",
            b"(S'x'\nios\nsystem\n.",
            b"\x80\x02a" * 1000,
        ],
    )
    def test_no_bytes_do_more_than_be_refused_or_hold_no_tensor(self, data: bytes):
        for name, content in (("m.pkl", data), ("m.bin", files.torch_zip(data, {}))):
            with contextlib.suppress(UnreadableError):
                assert not header(name, content).tensors

    def test_keys_that_take_for_ever_to_hash_are_not_hashed(self):
        doubled = b"(t" + b"q\x00h\x00\x86" * 200  # a tuple of a tuple twice, two hundred deep
        header("m.pkl", b"\x80\x02}" + doubled + b"K\x01s.")

    def test_lists_that_hold_themselves_are_entered_once(self):
        assert not header("m.pkl", b"\x80\x02]q\x00(" + b"h\x00" * 50_000 + b"e.").tensors

    def test_a_tensor_larger_than_its_storage(self):
        said = ("storage", Name("torch", "FloatStorage"), "0", "cpu", 4)
        big = Call(Name("torch._utils", "_rebuild_tensor_v2"), (files.Outside(said), 0, (4, 4), (4, 1), False, {}))
        assert "larger than its storage" in refusal("m.pt", files.torch_zip({"t": big}, {"0": bytes(16)}))

    def test_a_storage_that_is_not_there(self):
        assert "no storage" in refusal("m.pt", files.torch_zip({"t": files.rebuilt("0", ("F32", [2]))}, {}))

    def test_a_storage_that_is_too_short(self):
        value = {"t": files.rebuilt("0", ("F32", [2]))}
        assert "shorter" in refusal("m.pt", files.torch_zip(value, {"0": bytes(4)}))

    @pytest.mark.parametrize("size", [1, 10, 60, 200])
    def test_files_that_break_off(self, size: int):
        assert refusal("m.pt", files.torch_file(HEAD)[:-size])
        assert refusal("m.pt", files.torch_stream(HEAD)[: -min(size, 140)])

    def test_an_archive_without_a_pickle(self):
        buffer = BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("readme", "x")
        assert "not written by torch.save" in refusal("m.pt", buffer.getvalue())

    def test_a_pickle_that_unpacks_to_more_than_any_is_refused(self):
        bomb = files.torch_zip(b"\x80\x02" + b" " * (40 << 20), {}, compressed=True)
        assert len(bomb) < 1 << 20
        assert "larger than" in refusal("m.pt", bomb)


class TestNumpy:
    def test_rows_of_a_fortran_array_do_not_follow_each_other(self):
        tensor = header("a.npy", files.npy(("F32", [2, 3]), order="True")).tensors[""]
        assert tensor.strides == (1, 2)

    def test_a_name_tells_what_the_only_array_is(self):
        assert [found.kind for found in maps("qwen_t2d.npy", files.npy(("BOOL", [2], [True, False])))] == ["t2d"]
        assert not maps("states.npy", files.npy(("I64", [2], [1, 2])))

    def test_big_endian_numbers_are_turned(self):
        content = files.npy(("I64", [1], [0])).replace(b"<i8", b">i8")[:-8] + struct.pack(">q", 7)
        assert maps("d2t.npy", content)[0].values == (7,)

    @pytest.mark.parametrize("content", [b"\x93NUMPY", b"\x93NUMPY\1\0\xff\xff{", files.npy(("I64", [4]))[:-1]])
    def test_files_that_break_off(self, content: bytes):
        assert refusal("d2t.npy", content)

    def test_a_header_that_is_code_is_not_run(self):
        text = b"{'descr': '<i8', 'fortran_order': False, 'shape': (__import__('os').getpid(),)}"
        assert "header" in refusal("d2t.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text)


class TestGguf:
    WHOLE = files.gguf({"a": "b", "tokens": ["x", "y"]}, {"fc.weight": [2, 2]})

    @pytest.mark.parametrize("size", [4, 10, 24, 60, 90])
    def test_files_that_break_off(self, size: int):
        assert refusal("m.gguf", self.WHOLE[:size])

    def test_counts_that_no_model_has(self):
        assert "more than any model" in refusal("m.gguf", b"GGUF" + struct.pack("<IQQ", 3, 1, 1 << 60))
        array = struct.pack("<Q", 1) + b"a" + struct.pack("<IIQ", 9, 8, 1 << 60)
        assert refusal("m.gguf", b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + array + bytes(1000))


class TestIndex:
    def test_files_are_named_by_their_path(self):
        text = (
            b'{"metadata": {"total_size": 1}, "weight_map": {"fc.weight": "model-1.safetensors", "d2t": "sub/b.bin"}}'
        )
        found = read_index(source("model.safetensors.index.json", text, "json"))
        assert found.files == {"fc.weight": "head/model-1.safetensors", "d2t": "head/sub/b.bin"}

    @pytest.mark.parametrize(
        "text", [b"", b"[]", b"{}", b'{"weight_map": 3}', b'{"weight_map": {"a": 3}}', b"\xff\xff"]
    )
    def test_what_is_no_index_is_said(self, text: bytes):
        with pytest.raises(UnreadableError):
            read_index(source("model.safetensors.index.json", text, "json"))
