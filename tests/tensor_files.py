"""Writes small files of tensors byte by byte, as the libraries do that eaglelint does not need.

A tensor is given as `("BF16", [48, 96])` or, with its numbers, `("I64", [4], [0, 0, 1, 3])`; without them it is zeros.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Tensor = Sequence[Any]

#: Bytes of an element and the code of `struct` by the names of safetensors.
TYPES = {
    "BOOL": (1, "?"), "U8": (1, "B"), "I8": (1, "b"), "I16": (2, "h"), "I32": (4, "i"), "I64": (8, "q"),
    "F16": (2, "e"), "BF16": (2, "H"), "F32": (4, "f"), "F64": (8, "d"), "F8_E4M3": (1, "B"),
}  # fmt: skip
_NUMPY = {"BOOL": "|b1", "I8": "|i1", "I32": "<i4", "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8", "U8": "|u1"}
_STORAGES = {
    "BOOL": "BoolStorage", "U8": "ByteStorage", "I32": "IntStorage", "I64": "LongStorage", "F16": "HalfStorage",
    "BF16": "BFloat16Storage", "F32": "FloatStorage", "F64": "DoubleStorage",
}  # fmt: skip


def count(shape: Sequence[int]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def data(tensor: Tensor) -> bytes:
    """The bytes of a tensor."""
    dtype, shape, *values = tensor
    width, code = TYPES[dtype]
    if not values:
        return bytes(width * count(shape))
    return struct.pack(f"<{count(shape)}{code}", *values[0])


def safetensors(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    body = b""
    for name, tensor in tensors.items():
        piece = data(tensor)
        header[name] = {
            "dtype": tensor[0],
            "shape": list(tensor[1]),
            "data_offsets": [len(body), len(body) + len(piece)],
        }
        body += piece
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def npy(tensor: Tensor, *, order: str = "False") -> bytes:
    shape = ", ".join(map(str, tensor[1])) + ("," if len(tensor[1]) == 1 else "")
    header = f"{{'descr': '{_NUMPY[tensor[0]]}', 'fortran_order': {order}, 'shape': ({shape}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + data(tensor)


def npz(tensors: Mapping[str, Tensor], *, compressed: bool = False) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, tensor in tensors.items():
            archive.writestr(f"{name}.npy", npy(tensor))
    return buffer.getvalue()


class Name(NamedTuple):
    """A class or function, by the name that a pickle imports it under."""

    module: str
    name: str


class Call(NamedTuple):
    """What a pickle calls, with which arguments."""

    maker: Any
    arguments: tuple[Any, ...]


class Outside(NamedTuple):
    """A persistent id."""

    id: Any


def pickled(value: Any, protocol: int = 2) -> bytes:
    """A pickle of plain values and of the stand-ins above, none of which is made on the way."""
    return b"\x80" + bytes([protocol]) + _emit(value) + b"."


def _emit(value: Any) -> bytes:
    if value is None:
        return b"N"
    if isinstance(value, bool):
        return b"\x88" if value else b"\x89"
    if isinstance(value, int):
        return b"\x8a" + bytes([10]) + value.to_bytes(10, "little", signed=True)
    if isinstance(value, str):
        text = value.encode()
        return b"X" + struct.pack("<I", len(text)) + text
    if isinstance(value, Name):
        return b"c" + f"{value.module}\n{value.name}\n".encode()
    if isinstance(value, Call):
        return _emit(value.maker) + _emit(value.arguments) + b"R"
    if isinstance(value, Outside):
        return _emit(value.id) + b"Q"
    if isinstance(value, tuple):
        return b"(" + b"".join(map(_emit, value)) + b"t"
    if isinstance(value, list):
        return b"](" + b"".join(map(_emit, value)) + b"e"
    if isinstance(value, dict):
        return b"}(" + b"".join(_emit(key) + _emit(entry) for key, entry in value.items()) + b"u"
    raise TypeError(type(value))


def rebuilt(key: str, tensor: Tensor, old: bool = False) -> Call:
    """The call by which torch makes a tensor from a storage."""
    shape = tuple(tensor[1])
    strides = tuple(count(shape[axis + 1 :]) for axis in range(len(shape)))
    said = ("storage", Name("torch", _STORAGES[tensor[0]]), key, "cpu", count(shape), *((None,) if old else ()))
    hooks = Call(Name("collections", "OrderedDict"), ())
    return Call(Name("torch._utils", "_rebuild_tensor_v2"), (Outside(said), 0, shape, strides, False, hooks))


def torch_zip(value: Any, storages: Mapping[str, bytes], *, compressed: bool = False) -> bytes:
    """A file of `torch.save` (1.6 and later) around any pickle."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", value if isinstance(value, bytes) else pickled(value))
        archive.writestr("archive/byteorder", b"little")
        for key, piece in storages.items():
            archive.writestr(f"archive/data/{key}", piece)
        archive.writestr("archive/version", b"3\n")
    return buffer.getvalue()


def torch_file(tensors: Mapping[str, Tensor], *, compressed: bool = False) -> bytes:
    """A state dict saved by `torch.save`."""
    keys = {name: str(number) for number, name in enumerate(tensors)}
    value = {name: rebuilt(keys[name], tensor) for name, tensor in tensors.items()}
    return torch_zip(value, {keys[name]: data(tensor) for name, tensor in tensors.items()}, compressed=compressed)


def torch_stream(tensors: Mapping[str, Tensor]) -> bytes:
    """A state dict in the format before 1.6: pickles after each other, then the storages."""
    keys = {name: str(1000 + number) for number, name in enumerate(tensors)}
    system = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    value = {name: rebuilt(keys[name], tensor, old=True) for name, tensor in tensors.items()}
    parts = [
        pickled(0x1950A86A20F9469CFC6C),
        pickled(1001),
        pickled(system),
        pickled(value),
        pickled(sorted(keys.values())),
    ]
    ordered = sorted(tensors, key=lambda name: keys[name])
    parts += [struct.pack("<q", count(tensors[name][1])) + data(tensors[name]) for name in ordered]
    return b"".join(parts)


def described(path: str, tensors: Mapping[str, str]) -> bytes:
    """A file as the catalogue's examples describe it: `BF16 [48, 96]`, or `I64 [4] = 0 0 1 3` with numbers."""
    read = {name: _described(text) for name, text in tensors.items()}
    if path.endswith(".npy"):
        (only,) = read.values()
        return npy(only)
    return safetensors(read) if path.endswith(".safetensors") else torch_file(read)


def _described(text: str) -> Tensor:
    kind, _, values = text.partition("=")
    dtype, _, shape = kind.strip().partition(" ")
    numbers = [int(number) for number in values.split()]
    return (dtype, json.loads(shape), numbers) if numbers else (dtype, json.loads(shape))


def gguf(metadata: Mapping[str, Any], tensors: Mapping[str, Sequence[int]]) -> bytes:
    """A GGUF file of float32 tensors. Shapes are given rows first, as in the other formats."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value.encode())) + value.encode()

    def entry(value: Any) -> bytes:
        if isinstance(value, str):
            return struct.pack("<I", 8) + text(value)
        if isinstance(value, bool):
            return struct.pack("<I?", 7, value)
        if isinstance(value, int):
            return struct.pack("<II", 4, value)
        if isinstance(value, float):
            return struct.pack("<If", 6, value)
        kind, packed = (
            (8, b"".join(map(text, value)))
            if isinstance(value[0], str)
            else (4, struct.pack(f"<{len(value)}I", *value))
        )
        return struct.pack("<IIQ", 9, kind, len(value)) + packed

    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    head += b"".join(text(key) + entry(value) for key, value in metadata.items())
    at = 0
    for name, shape in tensors.items():
        head += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), 0, at)
        at += -(-count(shape) * 4 // 32) * 32
    head += bytes(-len(head) % 32)
    return head + bytes(at)
