"""String operations on mapped text: what `str` and `textwrap` do, with every character still knowing its place.

Inserted text that is itself mapped keeps its own places (those of its definition, which may be in another file);
inserted plain strings stand where they were inserted. Each function gives the same characters as the `str` method or
`textwrap` function of its name. A template with a field whose value is not known gives None: nothing can be said of
such a text.
"""

from __future__ import annotations

import re
import string
import textwrap
from collections.abc import Callable, Iterable, Mapping

from eaglelint.location import MappedText, join

#: Text to insert: mapped, or a plain string that stands where it is inserted.
Insertion = MappedText | str

#: (name, conversion, format specification) -> what a field of a template becomes, None when that is not known. The name
#: is "0", "1", ... for fields that are numbered by their order.
Field = Callable[[str, str, str], Insertion | None]

#: The most characters that a text may grow to by inserting; code that people write into strings is far shorter.
MAX_LENGTH = 2_000_000

_BRACE = re.compile(r"[{}]")
_FIELD = re.compile(r"(?P<name>(?:[^\[:!{}]|\[[^\]]*\])*)(?:!(?P<conversion>.))?(?::(?P<spec>.*))?", re.DOTALL)
_PERCENT = re.compile(
    r"%(?:\((?P<name>[^)]*)\))?(?P<spec>[-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?)[hlL]?(?P<kind>.|$)", re.DOTALL
)


class TooLongError(ValueError):
    """A text would become longer than `MAX_LENGTH` by inserting into it."""


def placed(string: str, text: MappedText, index: int) -> MappedText:
    """A plain string, all of whose characters stand where character `index` of `text` stands."""
    return text.pick(string, [index] * (len(string) + 1))


def concatenate(parts: Iterable[Insertion], at: MappedText) -> MappedText:
    """`"".join(parts)`; plain strings, and a result without parts, stand at the start of `at`."""
    pieces = [part if isinstance(part, MappedText) else placed(part, at, 0) for part in parts]
    return join(pieces) if pieces else placed("", at, 0)


def _bounded(pieces: list[MappedText]) -> MappedText:
    """The concatenation of pieces; raises TooLongError."""
    if sum(map(len, pieces)) > MAX_LENGTH:
        raise TooLongError("the text becomes too long")
    return join(pieces)


def join_with(separator: MappedText, parts: Iterable[MappedText]) -> MappedText:
    """`separator.join(parts)`; raises TooLongError."""
    pieces: list[MappedText] = []
    for part in parts:
        if pieces:
            pieces.append(separator)
        pieces.append(part)
    return _bounded(pieces) if pieces else separator[:0]


def repeat(text: MappedText, times: int) -> MappedText:
    """`text * times`; every copy stands at the same place. Raises TooLongError."""
    if len(text) * times > MAX_LENGTH:
        raise TooLongError("the text becomes too long")
    return join([text] * times) if times > 0 and text.text else text[:0]


def replace(text: MappedText, old: Insertion, new: Insertion, count: int = -1) -> MappedText:
    """`text.replace(old, new, count)`; raises TooLongError."""
    wanted = old.text if isinstance(old, MappedText) else old
    if text.text.count(wanted) * len(new) > MAX_LENGTH:
        raise TooLongError("the text becomes too long")
    pieces: list[MappedText] = []
    start = 0
    for done, index in enumerate(_occurrences(text.text, wanted)):
        if 0 <= count <= done:
            break
        pieces.append(text[start:index])
        pieces.append(new if isinstance(new, MappedText) else placed(new, text, index))
        start = index + len(wanted)
    if not pieces:
        return text
    pieces.append(text[start:])
    return join(pieces)


def _occurrences(text: str, wanted: str) -> Iterable[int]:
    """The places at which `str.replace` replaces; an empty string is found before each character and at the end."""
    if not wanted:
        yield from range(len(text) + 1)
        return
    index = text.find(wanted)
    while index >= 0:
        yield index
        index = text.find(wanted, index + len(wanted))


def lstrip(text: MappedText, chars: str | None = None) -> MappedText:
    """`text.lstrip(chars)`."""
    return text[len(text) - len(text.text.lstrip(chars)) :]


def rstrip(text: MappedText, chars: str | None = None) -> MappedText:
    """`text.rstrip(chars)`."""
    return text[: len(text.text.rstrip(chars))]


def strip(text: MappedText, chars: str | None = None) -> MappedText:
    """`text.strip(chars)`."""
    return lstrip(rstrip(text, chars), chars)


def removeprefix(text: MappedText, prefix: str) -> MappedText:
    """`text.removeprefix(prefix)`."""
    return text[len(prefix) :] if text.text.startswith(prefix) else text


def removesuffix(text: MappedText, suffix: str) -> MappedText:
    """`text.removesuffix(suffix)`."""
    return text[: len(text) - len(suffix)] if suffix and text.text.endswith(suffix) else text


def splitlines(text: MappedText, keepends: bool = False) -> list[MappedText]:
    """`text.splitlines(keepends)`."""
    lines: list[MappedText] = []
    start = 0
    for with_end, without_end in zip(text.text.splitlines(True), text.text.splitlines(), strict=True):
        lines.append(text[start : start + len(with_end if keepends else without_end)])
        start += len(with_end)
    return lines


def split(text: MappedText, separator: str | None = None, maxsplit: int = -1) -> list[MappedText]:
    """`text.split(separator, maxsplit)`; raises ValueError for an empty separator."""
    pieces: list[MappedText] = []
    start = 0
    for piece in text.text.split(separator, maxsplit):
        if separator is None:
            start = text.text.index(piece, start)
        pieces.append(text[start : start + len(piece)])
        start += len(piece) + len(separator or "")
    return pieces


def dedent(text: MappedText) -> MappedText:
    """`textwrap.dedent(text)`."""
    dedented = textwrap.dedent(text.text)
    # Every line of the result is the tail of the line that it was, so the lengths say what was cut off.
    pieces: list[MappedText] = []
    start = 0
    for before, after in zip(text.text.split("\n"), dedented.split("\n"), strict=True):
        end = start + len(before)
        pieces.append(text[end - len(after) : end + 1])
        start = end + 1
    return join(pieces)


def indent(text: MappedText, prefix: Insertion) -> MappedText:
    """`textwrap.indent(text, prefix)`: the prefix before each line that is not blank."""
    pieces: list[MappedText] = []
    for line in splitlines(text, keepends=True):
        if line.text.strip():
            pieces.append(prefix if isinstance(prefix, MappedText) else placed(prefix, line, 0))
        pieces.append(line)
    return join(pieces) if pieces else text


def format_fields(text: MappedText, values: Mapping[str, Insertion]) -> MappedText | None:
    """`text.format(...)` for values that are text; positional ones have the names "0", "1", ...

    None when a name is missing, a field asks for more than the plain value, or the template is malformed.
    """

    def field(name: str, conversion: str, specification: str) -> Insertion | None:
        return values.get(name) if conversion in ("", "s") and not specification else None

    try:
        return format_with(text, field)
    except ValueError:
        return None


def format_with(text: MappedText, field: Field) -> MappedText | None:
    """`text.format(...)`, with `field` giving each value as already converted and formatted text.

    Fields inside a format specification are handed over as written. Raises ValueError for a malformed template.
    """
    pieces: list[MappedText] = []
    start = automatic = 0
    numbered = False
    while True:
        found = _BRACE.search(text.text, start)
        if found is None:
            pieces.append(text[start:])
            return join(pieces)
        at = found.start()
        if text.text.startswith(found[0] * 2, at):
            pieces.append(text[start : at + 1])
            start = at + 2
            continue
        if found[0] == "}":
            raise ValueError("single '}' in a format template")
        pieces.append(text[start:at])
        start = _field_end(text.text, at)
        name, conversion, specification = _parse_field(text.text[at + 1 : start - 1])
        if not re.match(r"[^.\[]", name):
            name = f"{automatic}{name}"
            automatic += 1
        elif name[0].isdigit():
            numbered = True
        if automatic and numbered:
            raise ValueError("fields numbered both by order and by hand")
        value = field(name, conversion, specification)
        if value is None:
            return None
        pieces.append(value if isinstance(value, MappedText) else placed(value, text, at))


def _field_end(text: str, start: int) -> int:
    """The index after the brace that closes the field opened at `start`."""
    depth = 0
    for found in _BRACE.finditer(text, start):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.end()
    raise ValueError("'{' is never closed in a format template")


def _parse_field(field: str) -> tuple[str, str, str]:
    """Name, conversion and specification of a replacement field without its braces."""
    parsed = _FIELD.fullmatch(field)
    if parsed is None:
        raise ValueError(f"malformed replacement field: {field}")
    return parsed["name"], parsed["conversion"] or "", parsed["spec"] or ""


def percent_with(text: MappedText, field: Field) -> MappedText | None:
    """`text % values`, with `field` giving each value as formatted text.

    The name is that in parentheses or "0", "1", ... in order; the conversion is the type letter, the specification the
    flags, width and precision. Raises ValueError for a malformed template.
    """
    pieces: list[MappedText] = []
    start = automatic = 0
    for found in _PERCENT.finditer(text.text):
        pieces.append(text[start : found.start()])
        start = found.end()
        kind = found["kind"]
        if kind == "%":
            pieces.append(placed("%", text, found.start()))
            continue
        if kind not in tuple("diouxXeEfFgGcrsa") or "*" in found["spec"]:
            raise ValueError(f"unsupported conversion: {found[0]}")
        name = found["name"]
        if name is None:
            name = str(automatic)
            automatic += 1
        value = field(name, kind, found["spec"])
        if value is None:
            return None
        pieces.append(value if isinstance(value, MappedText) else placed(value, text, found.start()))
    pieces.append(text[start:])
    return join(pieces)


def dollar_with(text: MappedText, field: Callable[[str], Insertion | None], *, safe: bool = False) -> MappedText | None:
    """`string.Template(text).substitute(...)`, or `.safe_substitute(...)` when `safe`, which leaves unknown names.

    Raises ValueError for a `$` that starts no placeholder, unless `safe`.
    """
    pieces: list[MappedText] = []
    start = 0
    for found in string.Template.pattern.finditer(text.text):
        name = found["named"] or found["braced"]
        if found["escaped"] is not None:
            value: Insertion | None = placed("$", text, found.start())
        elif name is not None:
            value = field(name)
            if value is None and not safe:
                return None
        elif safe:
            value = None
        else:
            raise ValueError("a '$' that starts no placeholder")
        if value is None:
            continue  # safe: the placeholder stays, as part of the next piece
        pieces.append(text[start : found.start()])
        pieces.append(value if isinstance(value, MappedText) else placed(value, text, found.start()))
        start = found.end()
    pieces.append(text[start:])
    return join(pieces)
