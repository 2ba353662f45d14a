"""Shell variables and parameters: what a script knows of them at one point of its run."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from eaglelint.location import Location, MappedText
from eaglelint.readers.words import Script, Variable, Word, assume, joined, missing, unknown, with_gap

_PARAMETER = re.compile(r"(?P<sign>[#!]?)(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(?:\[(?P<index>[^\]]*)\])?")
_TOKEN = re.compile(r"\s*(?:(\d+)|\$?\{?([A-Za-z_]\w*)\}?|(//|[-+*/%()]))")


@dataclass
class Scope:
    """What a script knows at one point of its run.

    `positional` are the parameters (None: not known), `script` the path of the script's file, "" when it is not a file,
    and `folder` the folder on disk that it is relative to, "" when the files beside it are not to be looked at.
    `substitute` gives the output of a command. `dead` is "exit" or "return" on a path that has ended there,
    `local_names` the variables of the function that is being run.
    """

    variables: dict[str, Variable] = field(default_factory=dict)
    positional: tuple[Word, ...] | None = None
    functions: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    substitute: Callable[[Script, Scope, Location], Word] | None = None
    script: str = ""
    folder: str = ""
    dead: str = ""
    export_all: bool = False
    local_names: set[str] | None = None

    def copy(self) -> Scope:
        """A scope that can go its own way."""
        return replace(
            self,
            variables=dict(self.variables),
            functions=dict(self.functions),
            exported=set(self.exported),
            local_names=None if self.local_names is None else set(self.local_names),
        )

    def child(self, positional: tuple[Word, ...] | None) -> Scope:
        """What a script sees that this one starts: only what is exported."""
        seen = {name: value for name, value in self.variables.items() if name in self.exported}
        return Scope(seen, positional, {}, set(self.exported), self.substitute, self.script, self.folder)

    def environment(self) -> tuple[tuple[str, Word], ...]:
        """The exported variables that this file sets, by name."""
        found = ((name, self.variables.get(name)) for name in sorted(self.exported))
        return tuple((name, value.words[0]) for name, value in found if value is not None and value.words)

    def assign(self, name: str, variable: Variable) -> None:
        """Set a variable."""
        self.variables[name] = variable
        if self.export_all:
            self.exported.add(name)

    def get(self, name: str, where: Location) -> Variable | None:
        """The value of a variable or parameter; None when nothing in the file sets it."""
        if name.isdigit() and name != "0":
            if self.positional is None:
                return None
            index = int(name) - 1
            if any(word.many for word in self.positional[: index + 1]):
                return None
            return Variable(self.positional[index : index + 1])
        if name in ("@", "*"):
            return None if self.positional is None else Variable(self.positional, array=True)
        if name in ("0", "BASH_SOURCE") and self.script:
            return Variable((Word(self.script, where),))
        if name == "PWD" and name not in self.variables:
            return Variable((Word(".", where),))
        return self.variables.get(name)

    def change_folder(self, word: Word) -> None:
        """`cd`: where the script goes on; unknown ways lead to an unknown place."""
        here = self.get("PWD", word.where)
        before = here.single if here is not None else None
        if not word.known or before is None or not before.known:
            self.variables["PWD"] = Variable((unknown(word.where),))
            return
        path = posixpath.normpath(posixpath.join(before.content, word.content))
        moved = Word(path, word.where)
        self.variables["PWD"] = Variable((assume(moved, word.assumed) if word.assumed else moved,))

    def arithmetic(self, expression: str, where: Location) -> Word:
        """The value of `$((expression))` when it is made of known integers."""
        assumed: list[str] = []
        code = ""
        position = 0
        while position < len(expression.rstrip()):
            token = _TOKEN.match(expression, position)
            if token is None:
                return unknown(where)
            position = token.end()
            if token[2]:
                variable = self.get(token[2], where)
                word = None if variable is None else variable.single
                if word is None or not re.fullmatch(r"\d{1,9}", word.content):
                    return unknown(where, outside=word is None or word.outside)
                assumed.extend([word.assumed] if word.assumed else [])
                code += word.content
            else:
                code += {"/": "//"}.get(token[0].strip(), token[0].strip())
        result = _calculate(code)
        if result is None:
            return unknown(where)
        word = Word(str(result), where)
        return assume(word, ", ".join(assumed)) if assumed else word


def parameter(
    text: MappedText,
    first: int,
    last: int,
    scope: Scope,
    quoted: bool,
    default: Callable[[int, int], list[Word]],
    where: Location,
) -> tuple[list[Word], bool]:
    """The words of the expansion with the inside `text[first:last]` (`X`, `X:-d`, `A[@]`); whether they are elements.

    `default` decodes a stretch of the inside as words of its own.
    """
    match = _PARAMETER.match(text.text, first, last)
    if match is None:
        return [unknown(where, many=not quoted)], False
    name, index, sign = match["name"], match["index"], match["sign"]
    operator = text.text[match.end() : last]
    variable = scope.get(name, where)
    if sign:
        return [unknown(where, many=not quoted)], False
    elements = index in ("@", "*") or name in ("@", "*")
    if variable is not None and index is not None and not elements:
        if variable.entries is not None:
            variable = Variable((_entry(variable, _key(index, scope, where), where),))
        else:
            variable = _element(variable, index, where)
    colon = operator.startswith(":")
    action = operator[1:2] if colon else operator[:1]
    at = match.end() + (2 if colon else 1)
    if action in ("-", "=") and action:
        empty = variable is not None and not variable.array and all(w.content == "" for w in variable.words)
        if empty and variable is not None and variable.words and not colon and not variable.words[0].many:
            return list(variable.words), elements
        return _with_default(name, variable, scope, action, default(at, last), elements, quoted, where)
    if action == "+":
        return _alternative(variable, default(at, last), quoted, where)
    if variable is None:
        return [unknown(where, many=elements or not quoted, outside=True)], False
    if elements:
        if operator and action != "?":
            return [unknown(where, many=True)], False
        words = list(variable.words) + ([missing(where)] if variable.optional else [])
        starred = (index or name) == "*"
        return ([joined(words, where)] if words else [Word("", where)], False) if starred and quoted else (words, True)
    word = variable.single
    if word is None:
        return [Word("", where)], False
    if variable.optional and quoted:
        return [unknown(where) if variable.array else with_gap(word, where)], False
    if operator and action != "?":
        word = _modified(word, operator, where)
    return [word, *([missing(where)] if variable.optional else [])], False


def _with_default(
    name: str,
    variable: Variable | None,
    scope: Scope,
    action: str,
    words: list[Word],
    elements: bool,
    quoted: bool,
    where: Location,
) -> tuple[list[Word], bool]:
    """`${X:-d}` and `${X:=d}`: d, assumed, when only the outside may have set X."""
    if variable is not None and variable.words and not all(word.outside for word in variable.words):
        if any(word.content or word.many for word in variable.words):
            return list(variable.words), elements
        return words, False
    if variable is not None and not variable.words and not elements and not name.isdigit():
        return words, False
    if not any(word.content for word in words):
        return [unknown(where, many=not quoted or elements, outside=True)], False
    shown = f"${name}" if not name.isdigit() else f"parameter {name}"
    words = [assume(word, f"default of {shown}") if word.known else word for word in words]
    if action == "=":
        scope.assign(name, Variable((joined(words, where),)))
    return words, False


def _alternative(
    variable: Variable | None, words: list[Word], quoted: bool, where: Location
) -> tuple[list[Word], bool]:
    """`${X:+alternative}`: nothing is known of it when nothing is known of X."""
    if variable is not None and variable.words and all(word.known for word in variable.words):
        return (words, len(words) > 1 or variable.array) if any(w.content for w in variable.words) else ([], True)
    if variable is not None and not variable.words:
        return [], True
    if variable is not None and variable.array:
        return words, True
    return [unknown(where, many=not quoted, outside=True)], False


def _element(variable: Variable, index: str, where: Location) -> Variable:
    """One element of an array."""
    if index.isdigit() and variable.array and not any(word.many for word in variable.words[: int(index) + 1]):
        return Variable(variable.words[int(index) : int(index) + 1])
    if index == "0" and not variable.array:
        return variable
    return Variable((unknown(where),))


def _key(index: str, scope: Scope, where: Location) -> str:
    """The key that an index of an associative array is; "" when it is not known."""
    plain = index[1:-1] if len(index) > 1 and index[0] == index[-1] and index[0] in "'\"" else index
    name = re.fullmatch(r"\$\{?(\w+)\}?", plain)
    if name is None:
        return "" if "$" in plain or "`" in plain else plain
    variable = scope.get(name[1], where)
    word = variable.single if variable is not None else None
    return word.content if word is not None and word.known and not word.assumed else ""


def _entry(variable: Variable, key: str, where: Location) -> Word:
    """What an associative array holds under a key."""
    found = dict(variable.entries or ()).get(key) if key and not variable.optional else None
    return found if found is not None else unknown(where)


def _modified(word: Word, operator: str, where: Location) -> Word:
    """A value after `#`, `##`, `%`, `%%`, `^^`, `,,` or `/`; unknown after anything else."""
    content: str | None = None
    if word.known:
        if operator in ("^^", ",,"):
            content = word.content.upper() if operator == "^^" else word.content.lower()
        elif trim := re.fullmatch(r"(##?|%%?)([^$`'\"\\]+)", operator):
            content = _trimmed(word.content, trim[1], trim[2])
        elif swap := re.fullmatch(r"(//?)([^$`'\"\\/*?\[]+)/?([^$`'\"\\/]*)", operator):
            content = word.content.replace(swap[2], swap[3], 1 if swap[1] == "/" else -1)
    if content is None:
        return unknown(where, outside=word.outside)
    changed = Word(content, where)
    return assume(changed, word.assumed) if word.assumed else changed


def _trimmed(content: str, operator: str, pattern: str) -> str:
    """`content` without the shortest or longest beginning or end that matches a glob pattern."""
    cuts = range(len(content) + 1) if operator in ("#", "%%") else range(len(content), -1, -1)
    for cut in cuts:
        if operator[0] == "#" and fnmatchcase(content[:cut], pattern):
            return content[cut:]
        if operator[0] == "%" and fnmatchcase(content[cut:], pattern):
            return content[:cut]
    return content


def _calculate(code: str) -> int | None:
    """The value of an expression of integers with + - * // % and parentheses; None when it is not one."""
    tokens = re.findall(r"\d+|//|[-+*%()]", code)
    position = 0

    def take() -> str:
        nonlocal position
        position += 1
        return tokens[position - 1] if position <= len(tokens) else ""

    def peek() -> str:
        return tokens[position] if position < len(tokens) else ""

    def atom() -> int:
        token = take()
        if token == "(":
            value = total()
            if take() != ")":
                raise ValueError(code)
            return value
        return -atom() if token == "-" else int(token)

    def product() -> int:
        value = atom()
        while (sign := peek()) in ("*", "//", "%"):
            take()
            right = atom()
            value = value * right if sign == "*" else value // right if sign == "//" else value % right
        return value

    def total() -> int:
        value = product()
        while (sign := peek()) in ("+", "-"):
            take()
            value = value + product() if sign == "+" else value - product()
        return value

    try:
        result = total()
    except (ValueError, ZeroDivisionError, RecursionError):
        return None
    return result if position == len(tokens) else None
