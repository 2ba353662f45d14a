"""The headers of NumPy's `.npy` files, and of those within an `.npz` archive.

The header is a Python dictionary in text; it is matched, not evaluated.
"""

from __future__ import annotations

import re

from eaglelint.readers.parts import Broken, Parts, needed
from eaglelint.readers.zip_members import content, members, start_of
from eaglelint.stored import CheckpointHeader, TensorHeader

_MAGIC = b"\x93NUMPY"
#: The largest header that NumPy itself reads without being asked to.
_LARGEST_HEADER = 10_000
_DESCR = re.compile(r"'descr': *'([<>|=]?)([a-zA-Z])(\d{1,4})'")
_ORDER = re.compile(r"'fortran_order': *(True|False)")
_SHAPE = re.compile(r"'shape': *\(([\d, ]{0,400})\)")
_TYPES = {
    ("b", 1): "bool", ("u", 1): "uint8", ("i", 1): "int8", ("u", 2): "uint16", ("i", 2): "int16", ("u", 4): "uint32",
    ("i", 4): "int32", ("u", 8): "uint64", ("i", 8): "int64", ("f", 2): "float16", ("f", 4): "float32",
    ("f", 8): "float64", ("c", 8): "complex64", ("c", 16): "complex128",
}  # fmt: skip


def read_npy(path: str, parts: Parts) -> CheckpointHeader:
    """The one array of a `.npy` file, under the name "". Raises Broken for anything else."""
    head = parts.head(0, _LARGEST_HEADER)
    array = _array("", head, 0, "")
    if array.start + array.length > parts.size:
        raise Broken(f"its array needs {array.length} bytes, {max(0, parts.size - array.start)} are there")
    return CheckpointHeader(path, "numpy", {"": array})


def read_npz(path: str, parts: Parts) -> CheckpointHeader:
    """The arrays of an `.npz` archive by name. Raises Broken for anything else."""
    found: dict[str, TensorHeader] = {}
    for member in members(parts).values():
        if not member.name.endswith(".npy"):
            continue
        name = member.name.removesuffix(".npy")
        head = content(parts, member, _LARGEST_HEADER, whole=False)
        start = start_of(parts, member) if member.stored else 0
        array = _array(name, head, start, "" if member.stored else member.name)
        if array.start - start + array.length > member.size:
            raise Broken(f"its array {name[:80]!r} is shorter than it says")
        found[name] = array
    return CheckpointHeader(path, "numpy", found)


def _array(name: str, head: bytes, start: int, member: str) -> TensorHeader:
    """An array from the beginning of its file, which stands at the byte `start`."""
    if head[:6] != _MAGIC or len(head) < 12:
        raise Broken("no NumPy array")
    width = 2 if head[6] == 1 else 4
    length = int.from_bytes(head[8 : 8 + width], "little")
    text = head[8 + width : 8 + width + length].decode("latin-1")
    descr, order, shape = _DESCR.search(text), _ORDER.search(text), _SHAPE.search(text)
    if len(text) < length or shape is None or order is None:
        raise Broken("a NumPy array whose header is not whole")
    sizes = tuple(int(size) for size in shape[1].replace(" ", "").split(",") if size)
    dtype, swapped, item = "object", False, 0
    if descr is not None:
        dtype = _TYPES.get((descr[2], int(descr[3])), f"{descr[2]}{descr[3]}")
        swapped, item = descr[1] == ">", int(descr[3])
    total = needed(dtype, sizes)
    count = 1
    for size in sizes:
        count *= size
    strides: tuple[int, ...] = ()
    if order[1] == "True" and len(sizes) > 1:
        steps = [1]
        for size in sizes[:-1]:
            steps.append(steps[-1] * size)
        strides = tuple(steps)
    return TensorHeader(
        name, dtype, sizes, start + 8 + width + length, total if total is not None else count * item, strides, member,
        swapped,
    )  # fmt: skip
