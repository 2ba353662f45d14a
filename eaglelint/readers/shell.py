"""Bash scripts: the simple commands that they run, as words, in the order in which they run.

tree-sitter gives the control structure of masked text (see `quoting`); words are decoded by `expansion`. Variables are
followed in file order through functions, branches and loops; what only the outside of the file knows is unknown or,
where the file has a default for it, assumed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from eaglelint.location import Location, MappedText
from eaglelint.project import Source
from eaglelint.readers.commands import Command, Setting
from eaglelint.readers.interpreter import Interpreter
from eaglelint.readers.parameters import Scope
from eaglelint.readers.words import HOLE, Script, Variable, Word
from eaglelint.readers.wrappers import program

__all__ = ["Command", "Script", "Setting", "Word", "python_heredocs", "read_commands", "run_words"]

_PYTHON = re.compile(r"python(?:\d[\d.]*)?|pypy3?")


def read_commands(
    text: MappedText,
    variables: Mapping[str, Word] | None = None,
    insertions: Mapping[str, Word] | None = None,
    script: str = "",
    folder: str = "",
) -> list[Command | Setting]:
    """The commands that a shell text runs and the environment variables that it sets, in order.

    Commands that start and set nothing (`builtins.SILENT`, `builtins.PRINTERS`) are left out.
    `variables` are set and exported before it starts. `insertions` maps single characters of the text to words that an
    outer language puts there. `script` is the path of the file when the text is a script of its own, which `$0` names;
    `folder` is the one on disk that it is relative to, when files that it sources are to be read (`folder_of`).
    Text that can not be parsed is passed over; commands around it are read.
    """
    if not variables and not insertions:
        return list(_read_alone(text, script, folder))
    return Interpreter().read(Script(without_returns(text), insertions or {}), _scope(variables, script))


@lru_cache(maxsize=16)
def _read_alone(text: MappedText, script: str, folder: str) -> tuple[Command | Setting, ...]:
    """A script is read for several questions, one after the other; the last few are kept."""
    return tuple(Interpreter().read(Script(without_returns(text)), _scope(None, script, folder)))


def folder_of(source: Source) -> str:
    """The folder on disk that the path of a file is relative to, "" for one that is not on disk."""
    file = source.file.as_posix()
    return (file[: -len(source.path)] or ".") if source.content is None and file.endswith(source.path) else ""


def _scope(variables: Mapping[str, Word] | None, script: str = "", folder: str = "") -> Scope:
    """A scope in which variables are set and exported."""
    scope = Scope(script=script, folder=folder)
    for name, word in (variables or {}).items():
        scope.variables[name] = Variable((word,))
        scope.exported.add(name)
    return scope


def run_words(
    words: Sequence[Word], where: Location, variables: Mapping[str, Word] | None = None
) -> list[Command | Setting]:
    """The commands that a list of words (an exec form) runs: the one that they are, or the script that they hold."""
    return Interpreter().read_words(Command(tuple(words), where), _scope(variables))


def without_returns(text: MappedText) -> MappedText:
    """The text with the line ends of Unix, as the person who wrote it on Windows meant it."""
    if "\r" not in text.text:
        return text
    kept = [i for i, char in enumerate(text.text) if char != "\r" or text.text[i + 1 : i + 2] not in ("\n", "")]
    return text.pick("".join(text.text[i] for i in kept), [*kept, len(text.text)])


def python_heredocs(text: MappedText, script: str = "", folder: str = "") -> list[MappedText]:
    """The Python code that a shell text holds.

    It is what `python - <<EOF` and `cat <<EOF | python` read, what `python -c` runs and what `cat > x.py <<EOF` writes.
    In a here-document with an unquoted delimiter, known variables are replaced by their values; an unknown one stays
    as `$NAME` in a string and becomes the bare name elsewhere, which Python code does not define either.
    """
    return list(python_of(read_commands(text, script=script, folder=folder)))


def python_of(items: list[Command | Setting]) -> Iterator[MappedText]:
    """The Python code in commands that were read."""
    for item in items:
        if not isinstance(item, Command):
            continue
        name = program(item.words[0]) if item.words else ""
        arguments = [word.content for word in item.words[1:]]
        code: Word | None = None
        if _PYTHON.fullmatch(name):
            if "-c" in arguments[:4]:
                at = arguments.index("-c") + 2
                code = item.words[at] if at < len(item.words) else None
            elif item.stdin is not None and (not arguments or all(a.startswith("-") for a in arguments[:1])):
                code = item.stdin
        elif item.stdin is not None and item.output is not None and item.output.content.endswith(".py"):
            code = item.stdin
        if code is not None and code.mapped is not None and code.written is not None:
            yield _as_python(code.mapped if code is item.stdin else code.written)


def _as_python(text: MappedText) -> MappedText:
    """Python code with something in the place of what is not known."""
    if HOLE not in text.text:
        return text
    content: list[str] = []
    indices: list[int] = []
    for index, char in enumerate(text.text):
        piece = char
        if char == HOLE:
            line = "".join(content).rsplit("\n", 1)[-1]
            quoted = line.count('"') % 2 == 1 or line.count("'") % 2 == 1
            piece = "$UNKNOWN" if quoted else "UNKNOWN"
        content.append(piece)
        indices.extend([index] * len(piece))
    return text.pick("".join(content), [*indices, len(text.text)])
