"""What `torch.save` writes: a zip archive with a pickle and the storages, or (before 1.6) one stream of pickles.

The pickle is followed by `pickle_machine`, which builds nothing but stand-ins. Values are not read: each tensor carries
the place of its first element in the file.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from eaglelint.readers.parts import BITS, Broken, Parts, elements
from eaglelint.readers.pickle_machine import Global, Machine, Opaque, Persistent
from eaglelint.readers.zip_members import Member, content, members, start_of
from eaglelint.stored import CheckpointHeader, TensorHeader

#: The largest pickle that is followed, in bytes.
_LARGEST_PICKLE = 16 << 20
_MAGIC = 0x1950A86A20F9469CFC6C
_MOST_TENSORS = 50_000
_DEEPEST = 64
#: Lists of more numbers are no token ids, and lists of more entries no batch of samples.
_MOST_NUMBERS = 1 << 18
_MOST_NESTED = 256
#: What torch's storage classes hold.
_STORAGES = {
    "DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool", "UntypedStorage": "uint8",
    "ComplexFloatStorage": "complex64", "ComplexDoubleStorage": "complex128",
    "Float8_e4m3fnStorage": "float8_e4m3fn", "Float8_e5m2Storage": "float8_e5m2",
    "Float8_e4m3fnuzStorage": "float8_e4m3fnuz", "Float8_e5m2fnuzStorage": "float8_e5m2fnuz",
}  # fmt: skip
#: Where modules keep their tensors: no part of the names under which these are known.
_UNNAMED = frozenset(("_parameters", "_buffers", "_modules"))


class _Storage(NamedTuple):
    """A storage: `length` counts elements, `offset` the bytes at which a view of it begins."""

    dtype: str
    key: str
    length: int
    offset: int = 0


class _Tensor(NamedTuple):
    """A tensor of the pickle. `offset` and `strides` count elements."""

    storage: _Storage
    dtype: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def read_torch(path: str, parts: Parts) -> CheckpointHeader:
    """The tensors of a file that `torch.save` or `pickle.dump` wrote. Raises Broken for anything else."""
    if parts.head(0, 4) == b"PK\3\4":
        return _read_zip(path, parts)
    return _read_stream(path, parts)


def _read_zip(path: str, parts: Parts) -> CheckpointHeader:
    every = members(parts)
    name = next((name for name in every if name.endswith("/data.pkl") or name == "data.pkl"), None)
    if name is None:
        raise Broken("a zip archive without a pickle, so not written by torch.save")
    folder = name[: -len("data.pkl")]
    machine = Machine(_rebuild)
    value = machine.run(io.BytesIO(content(parts, every[name], _LARGEST_PICKLE)))
    order = every.get(f"{folder}byteorder")
    swapped = order is not None and content(parts, order, 16) == b"big"
    places: dict[str, tuple[int, str]] = {}

    def place(storage: _Storage) -> tuple[int, str]:
        if storage.key not in places:
            member = every.get(f"{folder}data/{storage.key}")
            if member is None:
                raise Broken(f"the archive has no storage {storage.key[:40]!r}, which one of its tensors needs")
            _check_room(member, storage)
            places[storage.key] = (start_of(parts, member), "") if member.stored else (0, member.name)
        return places[storage.key]

    tensors = {
        name: _header(name, tensor, *place(tensor.storage), swapped) for name, tensor in _named(value, _MOST_TENSORS)
    }
    return CheckpointHeader(path, "torch", tensors, calls=_calls(machine), lists=dict(_lists(value)))


def _check_room(member: Member, storage: _Storage) -> None:
    if member.size < storage.length * BITS.get(storage.dtype, 8) // 8:
        raise Broken(f"its storage {storage.key[:40]!r} is shorter than it should be")


def _read_stream(path: str, parts: Parts) -> CheckpointHeader:
    """The format before 1.6, or a plain pickle: then it has no tensors but those of the pickle's own text."""
    data = parts.head(0, _LARGEST_PICKLE)
    stream = io.BytesIO(data)
    machine = Machine(_rebuild)
    first = machine.run(stream)
    if first != _MAGIC:
        tensors = {name: _header(name, tensor, -1, "", False) for name, tensor in _named(first, _MOST_TENSORS)}
        return CheckpointHeader(path, "torch", tensors, calls=_calls(machine), lists=dict(_lists(first)))
    machine.run(stream)
    system = machine.run(stream)
    value = machine.run(stream)
    keys = machine.run(stream)
    swapped = isinstance(system, dict) and system.get("little_endian") is False
    found = list(_named(value, _MOST_TENSORS))
    widths = {tensor.storage.key: BITS.get(tensor.storage.dtype, 8) // 8 for _, tensor in found}
    places = _places(parts, stream.tell(), keys, widths)
    tensors = {}
    for name, tensor in found:
        if tensor.storage.key not in places:
            raise Broken(f"it has no storage {tensor.storage.key[:40]!r}, which one of its tensors needs")
        tensors[name] = _header(name, tensor, places[tensor.storage.key], "", swapped)
    return CheckpointHeader(path, "torch", tensors, calls=_calls(machine), lists=dict(_lists(value)))


def _places(parts: Parts, at: int, keys: Any, widths: Mapping[str, int]) -> dict[str, int]:
    """Where each storage of the old format begins. Each is its number of elements (8 bytes), then these."""
    if not isinstance(keys, list):
        raise Broken("it has no list of storages")
    places: dict[str, int] = {}
    for key in keys:
        width = widths.get(str(key))
        if width is None:
            break  # of a type that is not known, so that what follows can not be found
        count = int.from_bytes(parts.at(at, 8), "little")
        places[str(key)] = at + 8
        at += 8 + count * width
        if at > parts.size:
            raise Broken("it ends in the middle of its tensors")
    return places


def _header(name: str, tensor: _Tensor, start: int, member: str, swapped: bool) -> TensorHeader:
    width = BITS.get(tensor.dtype, 8) // 8
    if start >= 0:
        start += tensor.storage.offset + tensor.offset * width
    strides = () if tensor.strides == _dense(tensor.shape) else tensor.strides
    length = elements(tensor.shape) * width
    return TensorHeader(name, tensor.dtype, tensor.shape, start, length, strides, member, swapped)


def _dense(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a tensor whose rows follow each other."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * max(1, shape[axis + 1])
    return tuple(strides)


def _calls(machine: Machine) -> tuple[str, ...]:
    return tuple(f"{name.module}.{name.name}" for name in machine.called)


def _rebuild(maker: Global, arguments: Any) -> Any:
    """The value of a call by which torch puts tensors together; None for any other."""
    given = arguments if isinstance(arguments, tuple) else ()
    if maker.module == "collections" and maker.name == "OrderedDict":
        return _ordered(given)
    if maker.module == "torch" and maker.name == "Size" and given and isinstance(given[0], (tuple, list)):
        return tuple(given[0])
    if maker.module == "torch.storage" and maker.name in ("_load_from_bytes", "TypedStorage"):
        return None
    if maker.module in ("torch._utils", "torch._tensor"):
        if maker.name in ("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3"):
            return _tensor(given, given[6] if maker.name.endswith("v3") and len(given) > 6 else None)
        if maker.name in ("_rebuild_parameter", "_rebuild_parameter_with_state") and given:
            return given[0] if isinstance(given[0], _Tensor) else None
        if maker.name == "_rebuild_from_type_v2" and len(given) > 2 and isinstance(given[0], Global):
            return _rebuild(given[0], given[2]) if given[0] != maker else None
    return None


def _ordered(given: tuple[Any, ...]) -> dict[Any, Any]:
    pairs = given[0] if given and isinstance(given[0], list) else []
    whole = [pair for pair in pairs if isinstance(pair, (list, tuple)) and len(pair) == 2]
    return {key: value for key, value in whole if isinstance(key, str)}


def _tensor(given: tuple[Any, ...], dtype: Any) -> _Tensor | None:
    if len(given) < 4 or not isinstance(given[0], Persistent):
        return None
    storage = _storage(given[0].id)
    shape, strides = given[2], given[3]
    if storage is None or not _sizes(shape) or not _sizes(strides) or len(shape) != len(strides):
        raise Broken("a tensor in a form that torch does not write")
    offset = given[1]
    if not isinstance(offset, int) or isinstance(offset, bool) or not 0 <= offset < 1 << 62:
        raise Broken("a tensor in a form that torch does not write")
    kind = dtype.name if isinstance(dtype, Global) and dtype.module == "torch" else storage.dtype
    if BITS.get(kind) == BITS.get(storage.dtype):
        last = offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        if elements(tuple(shape)) and last >= storage.length:
            raise Broken("a tensor that is larger than its storage")
    return _Tensor(storage, kind, offset, tuple(shape), tuple(strides))


def _storage(said: Any) -> _Storage | None:
    """A storage from its persistent id: ("storage", class, key, place, number of elements[, view])."""
    if not isinstance(said, tuple) or len(said) < 5 or said[0] not in ("storage", b"storage"):
        return None
    kind, key, count = said[1], said[2], said[4]
    if not isinstance(kind, Global) or not isinstance(count, int) or not 0 <= count < 1 << 62:
        return None
    view = said[5] if len(said) > 5 else None
    dtype = _STORAGES.get(kind.name, kind.name.removesuffix("Storage").lower())
    key = key if isinstance(key, str) else str(key)[:80]
    if isinstance(view, tuple) and len(view) == 3 and isinstance(view[1], int):
        return _Storage(dtype, str(view[0])[:80], count, max(0, view[1]) * BITS.get(dtype, 8) // 8)
    return _Storage(dtype, key, count)


def _sizes(given: Any) -> bool:
    if not isinstance(given, (tuple, list)) or len(given) > 64:
        return False
    return all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 1 << 62 for n in given)


def _named(value: Any, most: int) -> Iterator[tuple[str, _Tensor]]:
    """Every tensor within a value, with the keys and positions that lead to it; each container is entered once."""
    entered: set[int] = set()
    names: set[str] = set()
    way: list[str] = []
    levels: list[Iterator[tuple[str, Any]]] = [iter((("", value),))]
    while levels:
        step = next(levels[-1], None)
        if step is None:
            levels.pop()
            if way:
                way.pop()
            continue
        key, node = step
        if isinstance(node, _Tensor):
            name = ".".join(part for part in (*way, key) if part)
            if name not in names:
                names.add(name)
                yield name, node
            if len(names) >= most:
                raise Broken(f"more than {most} tensors")
        elif isinstance(node, (dict, list, tuple, Opaque)) and id(node) not in entered and len(levels) < _DEEPEST:
            entered.add(id(node))
            levels.append(_children(node))
            way.append("" if key in _UNNAMED else key)


def _lists(
    value: Any, way: tuple[str, ...] = (), entered: set[int] | None = None
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Lists of whole numbers within a value, as deep as samples are nested; each container is entered once."""
    entered = set() if entered is None else entered
    if len(way) > 3 or id(value) in entered or not isinstance(value, (dict, list)):
        return
    entered.add(id(value))
    if isinstance(value, list) and way and 0 < len(value) <= _MOST_NUMBERS and all(type(n) is int for n in value):
        yield ".".join(way), tuple(value)
    elif isinstance(value, dict) or len(value) <= _MOST_NESTED:
        for key, child in _children(value):
            yield from _lists(child, (*way, key), entered)


def _children(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        yield from ((str(key)[:200], child) for key, child in node.items())
    elif isinstance(node, (list, tuple)):
        if not isinstance(node, (Global, Persistent, _Storage)):
            yield from ((str(index), child) for index, child in enumerate(node))
    else:
        state = node.state
        if isinstance(state, dict):
            yield from _children(state)
        yield from _children(node.entries)
        yield from _children(node.items)
        if isinstance(state, tuple):
            yield from _children(state)
        if isinstance(node.arguments, (tuple, list)):
            yield from _children(node.arguments)
