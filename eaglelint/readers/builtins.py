"""Shell builtins that change what a script knows, and the output of commands that only print what they are given."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from eaglelint.location import Location, MappedText
from eaglelint.readers.parameters import Scope
from eaglelint.readers.words import HOLE, Part, Variable, Word, assume, joined, unknown


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Programs that start nothing and set nothing.
SILENT = _words(
    "curl wget grep egrep pgrep pkill kill sleep awk sed head tail tr cut sort wc date nproc nvidia-smi lsof ps which "
    "uname hostname id mkdir rm cp mv ls find touch chmod chown tar jq free df du scontrol squeue seq mktemp"
)
#: Programs whose only effect is what they print.
PRINTERS = _words("echo dirname basename pwd realpath readlink")

_FORMAT = re.compile(r"%(?:(%)|([-0-9.]*)([a-zA-Z]))|\\([nt\\\"'])")
_ARITHMETIC = re.compile(r"([A-Za-z_]\w*)\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))|(?:\+\+|--)\s*([A-Za-z_]\w*)")
_ESCAPES = {"n": "\n", "t": "\t"}


class _Command(Protocol):
    @property
    def words(self) -> tuple[Word, ...]: ...

    @property
    def stdin(self) -> Word | None: ...


def builtin(words: Sequence[Word], stdin: Word | None, scope: Scope) -> bool:
    """Run a builtin on a scope; False when the command is none."""
    name = words[0].content
    arguments = words[1:]
    if name in ("exit", "return"):
        scope.dead = name
    elif name == "set":
        _set(arguments, scope)
    elif name == "shift":
        count = int(arguments[0].content) if arguments and arguments[0].content.isdigit() else 1
        scope.positional = scope.positional[count:] if scope.positional is not None else None
    elif name == "unset":
        for word in arguments:
            if "[" in word.content:
                scope.assign(word.content.split("[")[0], Variable((unknown(word.where, many=True),), array=True))
            elif not word.content.startswith("-"):
                scope.assign(word.content, Variable((Word("", word.where),)))
    elif name in ("read", "mapfile", "readarray", "getopts"):
        _read(name, arguments, stdin, scope)
    elif name == "printf" and len(arguments) > 2 and arguments[0].content == "-v":
        scope.assign(arguments[1].content, Variable((_printf(arguments[2:], words[0].where),)))
    elif name in ("cd", "pushd"):
        if arguments and not arguments[-1].many:
            scope.change_folder(arguments[-1])
    else:
        return name in (":", "source", ".", "shopt", "trap", "wait", "true", "false", "popd")
    return True


def forget_assigned(expression: MappedText, scope: Scope) -> None:
    """`((x += 1))`, `let x++`, `for ((x = 0; ...`: variables that arithmetic sets are not known any more."""
    for found in _ARITHMETIC.finditer(expression.text):
        name = found[1] or found[2]
        scope.assign(name, Variable((unknown(expression.location(*found.span())),)))


def _set(arguments: Sequence[Word], scope: Scope) -> None:
    for index, word in enumerate(arguments):
        if word.content == "--":
            scope.positional = tuple(arguments[index + 1 :])
            return
        if word.content in ("-a", "+a", "allexport"):
            scope.export_all = word.content != "+a" and (index == 0 or arguments[index - 1].content != "+o")


def _read(name: str, arguments: Sequence[Word], stdin: Word | None, scope: Scope) -> None:
    """What is typed or piped in is not known; what a here-document or here-string holds is."""
    array = name != "read" and name != "getopts"
    whole = False
    names: list[Word] = []
    index = 0
    while index < len(arguments):
        word = arguments[index]
        index += 1
        if not word.content.startswith("-"):
            names.append(word)
            continue
        array = array or word.content.endswith("a")
        whole = whole or (word.content.endswith("d") and index < len(arguments) and arguments[index].content == "")
        index += word.content[-1:] in ("d", "p", "n", "N", "t", "u", "i", "O", "s") and word.content != "-s"
    for word in names:
        value = unknown(word.where, outside=True)
        if name == "read" and whole and stdin is not None:
            text = stdin.content.strip()
            start = stdin.content.index(text) if text else 0
            value = stdin.slice(start, start + len(text))
        elif name == "read" and array and stdin is not None and stdin.known:
            scope.assign(word.content, Variable(tuple(stdin.fields()), array=True))
            continue
        scope.assign(word.content, Variable((replace(value, many=array) if array else value,), array=array))


def output_of(commands: Sequence[_Command], scope: Scope, where: Location) -> Word | None:
    """What commands print that ended in a scope, None when that is not known.

    Known is what printf, echo and cat of a here-document print, and what becomes of paths that are known.
    """
    if len(commands) != 1 or not commands[0].words:
        return None
    command = commands[0]
    name, arguments = command.words[0].content, list(command.words[1:])
    if name == "printf" and arguments:
        return _printf(arguments, where)
    if name == "echo":
        while arguments and arguments[0].content in ("-n", "-e", "-ne", "-en"):
            arguments.pop(0)
        return joined(arguments, where) if arguments else Word("", where)
    if name == "cat" and command.stdin is not None and not arguments:
        text = command.stdin.content.rstrip("\n")
        return command.stdin.slice(0, len(text))
    if name == "pwd":
        here = scope.get("PWD", where)
        return here.single if here is not None else None
    operands = [word for word in arguments if not word.content.startswith("-")]
    if len(operands) != 1 or not operands[0].known:
        return None
    content = operands[0].content
    if name == "dirname":
        content = posixpath.dirname(content.rstrip("/")) or "."
    elif name == "basename":
        content = posixpath.basename(content.rstrip("/"))
    elif name not in ("realpath", "readlink"):
        return None
    word = Word(content, where)
    return assume(word, operands[0].assumed) if operands[0].assumed else word


def _printf(words: Sequence[Word], where: Location) -> Word:
    """`printf FORMAT words`, with %s and %d, one pass over the format."""
    pattern, rest = words[0], list(words[1:])
    if not pattern.known or any(word.many for word in rest):
        return unknown(where)
    content = ""
    indices: list[int] = []
    parts: list[Part] = []
    place = 0

    def literal(text: str, index: int, step: int) -> None:
        nonlocal content
        content += text
        indices.extend(index + step * number for number in range(len(text)))

    for match in _FORMAT.finditer(pattern.content):
        literal(pattern.content[place : match.start()], place, 1)
        place = match.end()
        if match[1] or match[4]:
            literal("%" if match[1] else _ESCAPES.get(match[4], match[4]), match.start(), 0)
            continue
        if match[3] not in "sdi" or match[2]:
            return unknown(where)
        value = rest.pop(0) if rest else Word("", where)
        text = value.content
        parts.append(Part(len(content), len(content) + len(text), value.where, value.assumed, value.where))
        literal(text, match.start(), 0)
    literal(pattern.content[place:], place, 1)
    if rest and content:
        return unknown(where)
    mapped = None
    if pattern.written is not None:
        mapped = pattern.written.pick(content, [*indices, len(pattern.content)])
    return Word(content, where, mapped, tuple(parts), outside=HOLE in content and any(w.outside for w in words))
