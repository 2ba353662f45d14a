"""Pickles read without unpickling: a machine for the opcodes that builds plain containers and inert stand-ins only.

Nothing is imported, looked up or called. `pickletools.genops` takes the stream apart (it copies no more than the stream
holds); steps and objects are bounded, so a pickle of a few bytes that would fill the memory does not.
"""

from __future__ import annotations

import io
import pickletools
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from eaglelint.readers.parts import Broken

#: The most opcodes that are followed and containers that are built. A tensor takes about thirty opcodes.
MOST_STEPS = 500_000
MOST_OBJECTS = 150_000


class Global(NamedTuple):
    """The name of a class or function that unpickling would import."""

    module: str
    name: str


class Persistent(NamedTuple):
    """A reference to something outside the pickle, as its writer put it."""

    id: Any


@dataclass(eq=False)
class Opaque:
    """Stands in for an object: what it would be made by and from, its state, and the entries that it would be given."""

    maker: Any
    arguments: Any = ()
    state: Any = None
    items: list[Any] = field(default_factory=list)
    entries: dict[Any, Any] = field(default_factory=dict)


class Machine:
    """Runs pickles of one stream. `called` are the names that unpickling would have called, in order.

    `rebuild` may turn a call of a known name into a value of its own; it gets the name and the arguments and gives None
    for what it does not know.
    """

    def __init__(self, rebuild: Callable[[Global, Any], Any] | None = None) -> None:
        self.called: dict[Global, None] = {}
        self._rebuild = rebuild
        self._steps = 0
        self._objects = 0

    def run(self, stream: io.BytesIO) -> Any:
        """The value of the pickle that begins at the stream's position, which is then after its end.

        Raises Broken for what is no pickle, breaks off, or is larger than any checkpoint's.
        """
        run = _Run(self)
        try:
            for opcode, argument, _ in pickletools.genops(stream):
                self._steps += 1
                if self._steps > MOST_STEPS:
                    raise Broken(f"a pickle of more than {MOST_STEPS} steps")
                run.step(opcode.name, argument)
        except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, struct.error) as error:
            raise Broken(f"no whole pickle ({str(error)[:120] or type(error).__name__})") from None
        return run.result

    def made(self) -> None:
        """Count one container."""
        self._objects += 1
        if self._objects > MOST_OBJECTS:
            raise Broken(f"a pickle of more than {MOST_OBJECTS} objects")

    def call(self, maker: Any, arguments: Any) -> Any:
        """What stands in for the result of a call."""
        if isinstance(maker, Global):
            value = self._rebuild(maker, arguments) if self._rebuild is not None else None
            if value is not None:
                return value
            self.called[maker] = None
        self.made()
        return Opaque(maker, arguments)


def _is_plain(key: Any) -> bool:
    """Whether a key can be hashed at once: tuples of tuples and numbers of a million digits take for ever."""
    return isinstance(key, (str, bytes, float)) or (isinstance(key, int) and -(1 << 63) <= key < 1 << 64)


_MARK = object()
#: Opcodes whose argument is the value that they push.
_VALUES = frozenset(
    (
        *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "STRING", "BINSTRING", "SHORT_BINSTRING"),
        *("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE"),
        *("BINUNICODE8", "FLOAT", "BINFLOAT"),
    )
)
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_IGNORED = frozenset(("PROTO", "FRAME"))
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


class _Run:
    """The stack and memo of one pickle."""

    def __init__(self, machine: Machine) -> None:
        self.result: Any = None
        self._machine = machine
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def step(self, name: str, argument: Any) -> None:
        """Follow one opcode."""
        stack = self._stack
        if name in _VALUES:
            stack.append(argument)
        elif name in ("MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT"):
            self._memo[len(self._memo) if name == "MEMOIZE" else argument] = stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(self._memo[argument])
        elif name == "MARK":
            stack.append(_MARK)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name in _TUPLES:
            self._machine.made()
            count = _TUPLES[name]
            items = tuple(stack[-count:])
            if len(items) < count or _MARK in items:
                raise ValueError("a tuple of nothing")
            stack[-count:] = [items]
        elif name not in _IGNORED:
            getattr(self, f"_{name.lower()}")(argument)

    def _marked(self) -> list[Any]:
        """What was pushed since the last mark, which is taken off with it."""
        stack = self._stack
        for at in range(len(stack) - 1, -1, -1):
            if stack[at] is _MARK:
                items = stack[at + 1 :]
                del stack[at:]
                return items
        raise ValueError("no mark")

    def _pop_value(self) -> Any:
        value = self._stack.pop()
        if value is _MARK:
            raise ValueError("a mark where a value belongs")
        return value

    def _push(self, container: Any) -> None:
        self._machine.made()
        self._stack.append(container)

    def _stop(self, argument: Any) -> None:
        self.result = self._pop_value()

    def _pop(self, argument: Any) -> None:
        self._stack.pop()

    def _pop_mark(self, argument: Any) -> None:
        self._marked()

    def _dup(self, argument: Any) -> None:
        self._stack.append(self._stack[-1])

    def _empty_tuple(self, argument: Any) -> None:
        self._stack.append(())

    def _tuple(self, argument: Any) -> None:
        self._push(tuple(self._marked()))

    def _empty_list(self, argument: Any) -> None:
        self._push([])

    def _list(self, argument: Any) -> None:
        self._push(self._marked())

    def _empty_dict(self, argument: Any) -> None:
        self._push({})

    def _dict(self, argument: Any) -> None:
        items = self._marked()
        self._push({})
        self._set(items)

    # A set is a list here: nothing is hashed but plain keys.
    _empty_set = _empty_list
    _frozenset = _list

    def _append(self, argument: Any) -> None:
        self._extend([self._pop_value()])

    def _appends(self, argument: Any) -> None:
        self._extend(self._marked())

    _additems = _appends

    def _extend(self, items: list[Any]) -> None:
        top = self._stack[-1]
        if isinstance(top, Opaque):
            top.items.extend(items)
        elif isinstance(top, list):
            top.extend(items)
        else:
            raise TypeError("entries for what takes none")

    def _setitem(self, argument: Any) -> None:
        value, key = self._pop_value(), self._pop_value()
        self._set([key, value])

    def _setitems(self, argument: Any) -> None:
        self._set(self._marked())

    def _set(self, items: list[Any]) -> None:
        top = self._stack[-1]
        target = top.entries if isinstance(top, Opaque) else top
        if not isinstance(target, dict) or len(items) % 2:
            raise TypeError("entries for what takes none")
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[key if _is_plain(key) else f"<{type(key).__name__} {id(key)}>"] = value

    def _global(self, argument: Any) -> None:
        module, _, name = str(argument).partition(" ")
        self._push(Global(module, name))

    def _stack_global(self, argument: Any) -> None:
        name, module = self._pop_value(), self._pop_value()
        if not isinstance(name, str) or not isinstance(module, str):
            raise TypeError("a name that is no text")
        self._push(Global(module, name))

    def _reduce(self, argument: Any) -> None:
        arguments, maker = self._pop_value(), self._pop_value()
        self._stack.append(self._machine.call(maker, arguments))

    _newobj = _reduce

    def _newobj_ex(self, argument: Any) -> None:
        keywords, arguments, maker = self._pop_value(), self._pop_value(), self._pop_value()
        self._stack.append(self._machine.call(maker, (arguments, keywords)))

    def _inst(self, argument: Any) -> None:
        module, _, name = str(argument).partition(" ")
        self._stack.append(self._machine.call(Global(module, name), tuple(self._marked())))

    def _obj(self, argument: Any) -> None:
        maker, *arguments = self._marked()
        self._stack.append(self._machine.call(maker, tuple(arguments)))

    def _build(self, argument: Any) -> None:
        state = self._pop_value()
        top = self._stack[-1]
        if isinstance(top, Opaque):
            top.state = state

    def _persid(self, argument: Any) -> None:
        self._push(Persistent(argument))

    def _binpersid(self, argument: Any) -> None:
        self._push(Persistent(self._pop_value()))

    def _ext1(self, argument: Any) -> None:
        self._push(Opaque(Global("copyreg", f"extension {argument}")))

    _ext2 = _ext4 = _ext1

    def _next_buffer(self, argument: Any) -> None:
        self._push(Opaque(Global("", "buffer")))

    def _readonly_buffer(self, argument: Any) -> None:
        """The buffer on the stack stays as it is."""
