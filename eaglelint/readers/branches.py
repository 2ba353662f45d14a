"""What a script knows where its branches meet again."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from eaglelint.location import Location
from eaglelint.readers.parameters import Scope
from eaglelint.readers.words import Variable, Word, assume, unknown

#: More than this many ways through a script are not told apart.
_MOST_PATHS = 4
#: Tests for being set: `-z "$X"`, `-v X`, `[[ $X ]]`, `"$X" = ""`.
_SET = re.compile(
    r'-[zn]\s+"?\$\{?([A-Za-z_]\w*)|-v\s+([A-Za-z_]\w*)|\[\s+(?:!\s+)?"?\$\{?([A-Za-z_]\w*)[^\s\]]*\s+\]'
    r"""|\$\{?([A-Za-z_]\w*)[^\s\]]*\s+[!=]?=\s+(?:""|'')(?:\s|$)"""
)


def settled(paths: Sequence[Scope]) -> Set[str]:
    """The variables whose value is known before branches: what the outside may put in its place leaves it a default."""
    return {
        name
        for name, variable in (paths[0].variables.items() if paths else ())
        if len(variable.words) == 1
        and variable.words[0].known
        and all((other := path.variables.get(name)) and other.contents == variable.contents for path in paths[1:])
    }


def merge(outcomes: Sequence[Scope], defaults: Set[str] = frozenset()) -> list[Scope]:
    """The paths that go on after branches ended as `outcomes`.

    A scalar that differs is unknown, unless it is one of the `defaults`: known before, or only tested for being set.
    Then what is known of it is a default. Options to which a branch added some stay, and so does an array that one
    branch made longer, with a note that words may be missing; arrays that differ otherwise keep the paths apart.
    """
    live = [scope for scope in outcomes if not scope.dead]
    if not live:
        return list(outcomes[:1])
    if len(live) == 1:
        return live
    first = live[0].copy()
    split: list[str] = []
    for name in dict.fromkeys(name for scope in live for name in scope.variables):
        values = [scope.variables.get(name) for scope in live]
        merged = _merge_variable(name, values, name in defaults)
        if merged is None:
            split.append(name)
        else:
            first.variables[name] = merged
    for scope in live[1:]:
        first.exported |= scope.exported
        first.functions = {**scope.functions, **first.functions}
        if scope.positional != first.positional:
            first.positional = None
    return _apart(first, live, split) if split else [first]


def _apart(first: Scope, live: Sequence[Scope], names: Sequence[str]) -> list[Scope]:
    """One path for each combination of the arrays that can not be merged."""
    kinds: dict[object, Scope] = {}
    for scope in live:
        values = {name: scope.variables.get(name, Variable((), array=True)) for name in names}
        kind = tuple(value.contents for value in values.values())
        if kind not in kinds:
            kinds[kind] = first.copy()
            kinds[kind].variables.update(values)
    if len(kinds) <= _MOST_PATHS:
        return list(kinds.values())
    for name in names:
        variants = [scope.variables[name] for scope in kinds.values()]
        shared = _shared(variants)
        rest = next(variant.words[len(shared)] for variant in variants if len(variant.words) > len(shared))
        first.variables[name] = Variable((*shared, unknown(rest.where, many=True)), array=True)
    return [first]


def _shared(variants: Sequence[Variable]) -> tuple[Word, ...]:
    """The elements with which all arrays begin."""
    count = 0
    shortest = min(len(variant.words) for variant in variants)
    while count < shortest and len({variant.contents[count] for variant in variants}) == 1:
        count += 1
    return variants[0].words[:count]


def _merge_variable(name: str, values: Sequence[Variable | None], default: bool) -> Variable | None:
    """One value for all branches; None for arrays that must be kept apart."""
    present = [value for value in values if value is not None]
    if all(value is values[0] for value in values):
        return values[0]
    if len(present) == len(values) and len({(value.contents, value.optional) for value in present}) == 1:
        return present[0]
    if any(value.array for value in present):
        arrays = [Variable((), array=True) if value is None else value for value in values]
        longest = max(arrays, key=lambda value: len(value.words))
        begins = all(longest.contents[: len(value.words)] == value.contents for value in arrays)
        return longest._replace(optional=True) if begins else None
    words = [value.single for value in present]
    where = next((word.where for word in words if word is not None), Location(""))
    texts = [word for word in words if word is not None and not word.many]
    if len(texts) == len(values):
        longest_word = max(texts, key=lambda word: len(word.content))
        if "--" in longest_word.content and all(longest_word.content.startswith(word.content) for word in texts):
            return Variable((longest_word,), optional=True)
    known = [word for word in words if word is not None and word.known]
    contents = {word.content for word in known}
    own = [word for word in words if word is None or word.known or not word.outside]
    if len(contents) == 1 and len(own) == len(known) and (len(known) == len(values) or default):
        word = next((word for word in known if word.assumed), known[0])
        if word.assumed or (len(known) == len(values)):
            return Variable((word,))
        return Variable((assume(word, f"default of ${name}"),))
    outside = any(value is None for value in values) or any(word is not None and word.outside for word in words)
    return Variable((unknown(where, outside=outside),))


def tested(source: str) -> Set[str]:
    """The variables of which a test asks whether they are set."""
    return {name for found in _SET.finditer(source) for name in found.groups() if name}
