"""The header of a safetensors file: eight bytes of length, then JSON. Nothing else of the file is read.

https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeGuard

from eaglelint.readers.json_parts import ObjectParts
from eaglelint.readers.parts import Broken, Parts, needed
from eaglelint.stored import CheckpointHeader, TensorHeader

#: The largest header that is read, in bytes; 60,000 tensors have one of seven million.
_LARGEST_HEADER = 16 << 20
_MOST_TENSORS = 100_000
#: The largest entry for one tensor, and for the notes of the whole file, in characters.
_LARGEST_ENTRY = 8192
_LARGEST_NOTES = 1 << 18
_TYPES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32", "I32": "int32",
    "U64": "uint64", "I64": "int64", "F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64",
    "C64": "complex64", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F4": "float4_e2m1fn", "F6_E2M3": "float6_e2m3fn", "F6_E3M2": "float6_e3m2fn",
}  # fmt: skip
#: An entry as every writer writes it; others are parsed as JSON.
_PLAIN = re.compile(
    r'\{"dtype":"(\w{1,16})","shape":\[([\d,]{0,200})\],"data_offsets":\[(\d{1,19}),(\d{1,19})\]\}', re.ASCII
)


def read_safetensors(path: str, parts: Parts) -> CheckpointHeader:
    """The header of the file `path`. Raises Broken for anything that the safetensors library would refuse."""
    length = int.from_bytes(parts.head(0, 8), "little")
    if parts.size < 8 or length > parts.size - 8:
        raise Broken(f"it announces a header of {length} bytes and ends after {parts.size} bytes")
    if length > _LARGEST_HEADER:
        raise Broken(f"its header of {length} bytes is larger than the {_LARGEST_HEADER >> 20} MiB that are read")
    try:
        text = parts.at(8, length).decode("utf-8")
    except UnicodeDecodeError:
        raise Broken("its header is not UTF-8") from None
    tensors: dict[str, TensorHeader] = {}
    notes: Mapping[str, str] | None = None
    types: dict[str, str] = {}
    count = 0
    header = ObjectParts(text)
    while (name := header.key()) is not None:
        if name == "__metadata__" and notes is None:
            given = header.value(_LARGEST_NOTES)
            notes = {str(k): str(v) for k, v in given.items()} if isinstance(given, dict) else {}
            continue
        count += 1
        if count > _MOST_TENSORS:
            raise Broken(f"more than {_MOST_TENSORS} tensors")
        kind, shape, begin, end = _entry(name, header)
        dtype = types.setdefault(kind, _TYPES.get(kind, kind.lower()))
        _check(name, dtype, shape, begin, end, parts.size - 8 - length)
        tensors[name] = TensorHeader(name, dtype, shape, 8 + length + begin, end - begin)
    if text[header.at :].strip(" \t\r\n\0"):
        raise Broken("its header goes on after its end")
    return CheckpointHeader(path, "safetensors", tensors, notes or {})


def _entry(name: str, header: ObjectParts) -> tuple[str, tuple[int, ...], int, int]:
    """The type of a tensor as the format calls it, its shape, and where it begins and ends among the tensors."""
    plain = _PLAIN.match(header.text, header.at)
    if plain is None:
        return _parsed(name, header.value(_LARGEST_ENTRY))
    header.at = plain.end()
    try:
        shape = tuple(map(int, plain[2].split(","))) if plain[2] else ()
    except ValueError:
        raise Broken(f"the shape of {_shown(name)} is not a list of numbers") from None
    return plain[1], shape, int(plain[3]), int(plain[4])


def _check(name: str, dtype: str, shape: tuple[int, ...], begin: int, end: int, room: int) -> None:
    """Raise Broken for a tensor that lies not within the `room` of the file or is of another size than its shape."""
    if not 0 <= begin <= end:
        raise Broken(f"the tensor {_shown(name)} ends before it begins")
    if end > room:
        raise Broken(f"it ends before the tensor {_shown(name)} does: of {end} bytes of tensors, {room} are there")
    want = needed(dtype, shape)
    if want is not None and want != end - begin:
        raise Broken(f"the tensor {_shown(name)} of {dtype} {list(shape)} needs {want} bytes and has {end - begin}")


def _parsed(name: str, entry: object) -> tuple[str, tuple[int, ...], int, int]:
    if isinstance(entry, dict):
        kind, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
        if isinstance(kind, str) and _numbers(shape) and _numbers(offsets) and len(offsets) == 2:
            return kind, tuple(shape), offsets[0], offsets[1]
    raise Broken(f"the entry of {_shown(name)} is no tensor")


def _numbers(entry: object) -> TypeGuard[list[int]]:
    if not isinstance(entry, list):
        return False
    return all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 1 << 63 for n in entry)


def _shown(name: str) -> str:
    """A name of a tensor in a message, however long it is."""
    return repr(name if len(name) <= 80 else name[:77] + "...")
