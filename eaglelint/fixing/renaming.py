"""Another name for a variable, wherever its scope says it: in Python files, and in code that a string or heredoc holds.

Refused is whatever could mean something else afterwards: parameters (callers name them), attributes, globals that
another module may import, names that are taken, code that looks names up by text (`locals()`, `exec`, f"{name=}"), and
code of which only a part is in the file, when the rest may use the name.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from eaglelint.analyser.fragments import Fragment, FragmentError, parse, parse_module
from eaglelint.errors import UnreadableSource
from eaglelint.findings import Edit
from eaglelint.fixing.edits import Refused
from eaglelint.location import Location, MappedText
from eaglelint.project import Source

if TYPE_CHECKING:
    import libcst as cst
    from libcst.metadata import Scope

#: Functions that look variables up by name.
_BY_NAME = frozenset({"locals", "globals", "vars", "exec", "eval", "dir"})
#: How deep code in strings in code is followed.
_LEVELS = 3


def rename(source: Source, where: Location, names: Sequence[str], sources: Mapping[str, Source]) -> tuple[Edit, ...]:
    """The edits that give the variable at a place the first of some names that is free; raises Refused."""
    try:
        codes = _code_at(source, where)
    except (FragmentError, UnreadableSource) as error:
        raise Refused(error.reason) from None
    for level, fragment in enumerate(codes):
        node = _name_at(fragment, where)
        if node is not None:
            whole = level == 0 and source.kind == "python"
            return _renamed(source, fragment, node, names, sources if whole else None)
    raise Refused("no variable stands there that can be renamed")


def _code_at(source: Source, where: Location) -> Iterator[Fragment]:
    """The code around a place, the outermost first: the file, then the strings and heredocs that hold the place."""
    if source.kind == "python":
        texts = [source.text]
    elif source.kind == "shell":
        from eaglelint.readers.shell import python_heredocs

        texts = [text for text in python_heredocs(source.text) if _holds(text, where)]
    else:
        raise Refused(f"variables in a file of the kind {source.kind} are not renamed")
    for level in range(_LEVELS):
        if not texts:
            return
        text = texts[0]
        fragment = parse_module(text) if level == 0 and source.kind == "python" else parse(text)
        if fragment is None:
            return
        yield fragment
        texts = [inner for inner in _strings(fragment) if _holds(inner, where)]


def _strings(fragment: Fragment) -> Iterator[MappedText]:
    """The contents of the string literals in code."""
    import libcst.matchers as m

    from eaglelint.analyser.literals import decode_literal

    for node in m.findall(fragment.module, m.SimpleString()):
        written = fragment.source(node)
        if written is not None:
            try:
                yield decode_literal(written)
            except ValueError:
                continue


def _holds(text: MappedText, where: Location) -> bool:
    """Whether a place lies in a text."""
    whole = text.location(0, len(text))
    return whole.path == where.path and whole.start <= where.start and where.end <= whole.end


def _name_at(fragment: Fragment, where: Location) -> cst.Name | None:
    """The name that stands at a place, or that is bound by the statement that begins there."""
    import libcst as cst
    import libcst.matchers as m

    for node in m.findall(fragment.module, m.Name()):
        place = fragment.location(node)
        if isinstance(node, cst.Name) and (place.start, place.end) == (where.start, where.end):
            return node
    return None


def _renamed(
    source: Source, fragment: Fragment, node: cst.Name, names: Sequence[str], sources: Mapping[str, Source] | None
) -> tuple[Edit, ...]:
    """The edits; `sources` are the files of the project for code that is a whole module, None for code in a string."""
    from libcst.metadata import GlobalScope, MetadataWrapper, ScopeProvider

    if fragment.how == "trimmed" or not fragment.exact:
        raise Refused("only a part of the code around it could be read")
    scopes: Mapping[cst.CSTNode, Scope | None] = MetadataWrapper(fragment.module, unsafe_skip_copy=True).resolve(
        ScopeProvider
    )
    scope = scopes.get(node)
    old = node.value
    owner = _owner(scope, old)
    same = list(_same_variable(fragment.module, old, owner, scopes))
    if not any(found is node for found in same):
        raise Refused(f"`{old}` is no plain variable")
    if isinstance(owner, GlobalScope) and sources is not None:
        _only_here(source, old, sources)
    if sources is None:
        _only_these(source, fragment, old, same)
    new = next((name for name in names if _is_free(fragment.module, name)), None)
    if new is None:
        raise Refused(f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} taken there")
    edits = []
    for found in same:
        place = fragment.location(found)
        if place.path != source.path or place.end - place.start != len(old):
            raise Refused(f"`{old}` is written with escapes")
        edits.append(Edit(place.path, place.start, place.end, new, old))
    return tuple(edits)


def _owner(scope: Scope | None, name: str) -> Scope:
    """The scope that binds a name: a function or the module."""
    from libcst.metadata import ComprehensionScope, FunctionScope, GlobalScope

    owners = {assignment.scope for assignment in scope[name]} if scope is not None else set()
    if len(owners) != 1:
        raise Refused(f"`{name}` is bound in several scopes")
    owner = owners.pop()
    if not isinstance(owner, FunctionScope | GlobalScope | ComprehensionScope):
        raise Refused(f"`{name}` is an attribute, or built in")
    return owner


def _same_variable(
    module: cst.Module, name: str, owner: Scope, scopes: Mapping[cst.CSTNode, Scope | None]
) -> Iterator[cst.Name]:
    """The names that mean the variable; raises Refused where it is more than a variable."""
    import libcst as cst
    import libcst.matchers as m

    bound_otherwise = (
        m.Param(name=m.Name(name)), m.FunctionDef(name=m.Name(name)), m.ClassDef(name=m.Name(name)),
        m.ImportAlias(asname=m.AsName(name=m.Name(name))), m.ImportAlias(name=m.Name(name)),
        m.NameItem(name=m.Name(name)), m.FormattedStringExpression(expression=m.Name(name), equal=m.AssignEqual()),
    )  # fmt: skip
    if m.findall(module, m.OneOf(*bound_otherwise)):
        raise Refused(f"`{name}` is also a parameter, a function, an import, or shown by its name")
    if m.findall(module, m.Call(func=m.Name(m.MatchIfTrue(lambda value: value in _BY_NAME)))):
        raise Refused("the code looks variables up by name")
    others = {id(node) for parent in m.findall(module, m.Attribute(attr=m.Name(name))) for node in (_attr(parent),)}
    others |= {id(_keyword(parent)) for parent in m.findall(module, m.Arg(keyword=m.Name(name)))}
    for node in m.findall(module, m.Name(name)):
        if not isinstance(node, cst.Name) or id(node) in others:
            continue
        scope = scopes.get(node)
        if scope is None:
            raise Refused(f"`{name}` stands where no scope is known")
        owners = {assignment.scope for assignment in scope[name]}
        if owners == {owner}:
            yield node
        elif owner in owners or not owners:
            raise Refused(f"`{name}` may be several variables")


def _attr(node: object) -> object:
    return getattr(node, "attr", None)


def _keyword(node: object) -> object:
    return getattr(node, "keyword", None)


def _is_free(module: cst.Module, name: str) -> bool:
    """Whether a name can be given: nothing in the code has it, and it hides nothing."""
    import libcst.matchers as m

    if not name.isidentifier() or keyword.iskeyword(name) or hasattr(builtins, name):
        return False
    return not m.findall(module, m.Name(name))


def _only_here(source: Source, name: str, sources: Mapping[str, Source]) -> None:
    """Raises Refused when another file of the project may take a module's variable."""
    word = re.compile(rf"\b{re.escape(name)}\b".encode())
    stem = re.escape(source.path.rpartition("/")[2].removesuffix(".py"))
    module = re.compile(rf"\b{stem}\b".encode())
    for other in sources.values():
        if other.path == source.path or other.kind not in ("python", "notebook", "shell"):
            continue
        try:
            data = other.data
        except UnreadableSource:
            continue
        if word.search(data) and module.search(data):
            raise Refused(f"{other.path} may take `{name}` from here")


def _only_these(source: Source, fragment: Fragment, name: str, same: Sequence[cst.Name]) -> None:
    """Raises Refused when a part of the same patched code elsewhere in the file may use a variable of this part."""
    here = {fragment.location(node).start for node in same}
    text = source.text.text
    for match in re.finditer(rf"(?<![\w.\"'\[])\b{re.escape(name)}\b(?![\"'])", text):
        if match.start() not in here and not _in_comment(text, match.start()):
            line = source.text.location(match.start(), match.end()).line
            raise Refused(f"another part of the code may use it, at {source.path}:{line}")


def _in_comment(text: str, offset: int) -> bool:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return "#" in line
