"""Notebooks: what their cells give to a shell (`!command`, `%%bash`, `%pip`), and their Python without that.

Every character stands where it stands in the JSON of the file. IPython puts constants of the notebook in the place of
`{name}` and `$name` in a command; what is no constant, or one that changes, is unknown there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from eaglelint.facts import Document, Value
from eaglelint.location import Location, MappedText, join
from eaglelint.project import Source
from eaglelint.readers.documents import documents, scalar_text
from eaglelint.readers.outer import Resolve, replaced, used
from eaglelint.readers.passages import Passage
from eaglelint.readers.words import Word, unknown

#: A line for the shell: `!command`, `name = !command`, `%pip install x`.
_COMMAND = re.compile(
    r"(?m)^([ \t]*)((?:[\w, ]+=[ \t]*)?(?:!!?|%(?=(?:pip|conda|mamba|uv)\b)|%s[xc][ \t]))((?:[^\\\n]|\\.|\\\n)*)"
)
_MAGIC = re.compile(r"(?m)^([ \t]*)(%[a-z]\w*|\?+\w|\w[\w.]*\?+[ \t]*$)([^\n]*)")
_CELL = re.compile(r"\s*%%(\w+|!)[ \t]*([^\n]*)(?:\n|$)")
_ENVIRONMENT = re.compile(r"(?m)^[ \t]*%(?:set_)?env[ \t]+([A-Za-z_]\w*)(?:[ \t]+|=)([^\n]*)$")
_ASSIGNED = re.compile(r"""(?m)^[ \t]*([A-Za-z_]\w*)[ \t]*(?::[^=\n]+)?=(?!=)[ \t]*([^\n]*)""")
_CONSTANT = re.compile(r"""(?:'([^'\\\n]*)'|"([^"\\\n]*)"|(\d+(?:\.\d+)?))[ \t]*(?:#.*)?$""")
_REFERENCE = re.compile(r"\{([A-Za-z_]\w*)\}|\$\{?([A-Za-z_]\w*)\}?")
_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "!"})
#: Magics after which the rest of the cell is the Python that it would be without them.
_STILL_PYTHON = frozenset({"capture", "time", "timeit", "prun", "python", "python3", "debug"})


def passages(source: Source) -> Iterator[Passage]:
    """The scripts in a notebook, in order, and last all of its Python as one text; raises DocumentError."""
    for document in documents(source):
        cells = list(_cells(document))
        if _language(document) in _SHELLS:
            yield from (Passage("shell", cell) for cell in cells)
            continue
        python: list[MappedText] = []
        found: list[MappedText] = []
        for cell in cells:
            name, argument, rest = _cell_magic(cell)
            if name in _SHELLS or (name == "script" and argument.split()[:1] in ([s] for s in _SHELLS)):
                found.append(rest)
            elif name == "writefile" and argument.endswith(".py"):
                yield Passage("python", rest)
            elif name == "writefile" and argument.endswith(".sh"):
                found.append(rest)
            elif not name or name in _STILL_PYTHON:
                found += [cell[slice(*match.span(3))] for match in _commands(rest)]
                python += [_without_magic(rest), rest.pick("\n", (len(rest), len(rest)))]
        known = _constants(python)
        variables = {name: Word.of(value) for name, value in _settings(cells)}
        for text in found:
            script, insertions = replaced(text, _REFERENCE, _resolver(known))
            yield Passage("shell", script, variables, insertions)
        if python:
            yield Passage("python", join(python))


def _cells(document: Document) -> Iterator[MappedText]:
    """The sources of the code cells: a string each, or a list of lines."""
    cells = document.get("/cells")
    for index, cell in enumerate(cells if isinstance(cells, list) else ()):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        pointer, lines = f"/cells/{index}/source", cell.get("source")
        pointers = [f"{pointer}/{number}" for number in range(len(lines))] if isinstance(lines, list) else [pointer]
        texts = [text for text in (scalar_text(document, each) for each in pointers) if text is not None]
        if texts:
            yield join(texts)


def _language(document: Document) -> str:
    for pointer in ("/metadata/language_info/name", "/metadata/kernelspec/language", "/metadata/kernelspec/name"):
        name = document.get(pointer)
        if isinstance(name, str):
            return name.lower()
    return "python"


def _cell_magic(cell: MappedText) -> tuple[str, str, MappedText]:
    """The magic that a cell begins with ("" without one), its argument, and the rest of the cell."""
    found = _CELL.match(cell.text)
    if found is None:
        return "", "", cell
    return found[1], found[2].strip().strip("\"'"), cell[found.end() :]


def _commands(cell: MappedText) -> Iterator[re.Match[str]]:
    return _COMMAND.finditer(cell.text)


def _without_magic(cell: MappedText) -> MappedText:
    """The Python of a cell: each line that is none becomes a `0` of the same length."""
    text = cell.text
    for pattern in (_COMMAND, _MAGIC):
        text = pattern.sub(lambda found: found[1] + "0" + re.sub(r"[^\n]", " ", found[0][len(found[1]) + 1 :]), text)
    return cell.replace_text(text)


def _constants(python: Sequence[MappedText]) -> dict[str, Value | None]:
    """The names that the Python of a notebook assigns: a constant that is assigned once, else None."""
    known: dict[str, Value | None] = {}
    for text in python:
        for found in _ASSIGNED.finditer(text.text):
            constant = _CONSTANT.match(found[2])
            content = next((group for group in constant.groups() if group is not None), None) if constant else None
            where = text.location(*found.span(2))
            known[found[1]] = Value(content, where) if content is not None and found[1] not in known else None
    return known


def _settings(cells: Sequence[MappedText]) -> Iterator[tuple[str, Value]]:
    """What `%env NAME=value` sets for all that the notebook runs."""
    for cell in cells:
        for found in _ENVIRONMENT.finditer(cell.text):
            value = found[2].strip()
            where = cell.location(*found.span(2))
            plain = re.fullmatch(r"[^{}$]*", value) is not None
            yield found[1], Value(value if plain else None, where, known=plain)


def _resolver(known: Mapping[str, Value | None]) -> Resolve:
    def resolve(found: re.Match[str], where: Location) -> Word | MappedText | str | None:
        name = found[1] or found[2]
        if name not in known:
            return None  # the shell's own
        value = known[name]
        return used(value, where) if value is not None else unknown(where)

    return resolve
