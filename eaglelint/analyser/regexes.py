"""Regular expressions of the code that is read, on short known texts: only patterns that can not take long."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from eaglelint.analyser.values import HOLE, ListV, Special, Unknown, V

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter

_MAX_PATTERN, _MAX_TEXT = 120, 300
_REPEAT = re.compile(r"(?<!\\)(?:[*+]|\{\d*,\d*\})")
_REPEATED_GROUP = re.compile(r"\)(?:[*+?]|\{)|\\[1-9]|\(\?P=")


def compiled(pattern: V) -> re.Pattern[str] | None:
    """A known pattern of at most two open repetitions and none inside a group that repeats; else None.

    Such a pattern takes at most some millions of steps on the texts that it is tried on.
    """
    if isinstance(pattern, Regex):
        return pattern.pattern
    if not isinstance(pattern, str) or HOLE in pattern or len(pattern) > _MAX_PATTERN:
        return None
    if len(_REPEAT.findall(pattern)) > 2 or _REPEATED_GROUP.search(pattern):
        return None
    try:
        return re.compile(str(pattern))
    except (re.error, RecursionError, OverflowError):
        return None


class Regex(Special):
    """re.compile(...)"""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern

    def call_method(self, run: Interpreter, name: str, site: CallSite) -> V:
        """pattern.match(text) and its relatives."""
        return _apply(self.pattern, name, site.get(0, "string"))


class Match(Special):
    """What a pattern found."""

    def __init__(self, found: re.Match[str]) -> None:
        self.found = found

    def call_method(self, run: Interpreter, name: str, site: CallSite) -> V:
        """group(...), groups(), start(), end()"""
        if name in ("group", "start", "end", "span") and all(isinstance(a, int | str) for a in site.args):
            try:
                return getattr(self.found, name)(*(int(a) if isinstance(a, int) else str(a) for a in site.args))
            except (IndexError, TypeError):
                return Unknown(name)
        return self.found.groups() if name == "groups" else Unknown(name)

    def item(self, run: Any, key: V) -> V:
        """match[1]"""
        try:
            return self.found[key] if isinstance(key, int | str) else Unknown("group")
        except IndexError:
            return Unknown("group")


def _apply(pattern: re.Pattern[str], name: str, text: V) -> V:
    if not isinstance(text, str) or HOLE in text or len(text) > _MAX_TEXT:
        return Unknown(f"re.{name}")
    if name in ("match", "fullmatch", "search"):
        found = getattr(pattern, name)(str(text))
        return Match(found) if found is not None else None
    if name in ("findall", "split"):
        return ListV(list(getattr(pattern, name)(str(text))))
    return Unknown(f"re.{name}")


def _function(name: str) -> Any:
    def apply(run: Interpreter, site: CallSite) -> V:
        pattern = compiled(site.get(0, "pattern"))
        if pattern is None or len(site.args) > 2 or "flags" in site.kwargs:
            return Unknown(f"re.{name}")
        return _apply(pattern, name, site.get(1, "string"))

    return apply


def _compile(run: Interpreter, site: CallSite) -> V:
    pattern = compiled(site.get(0, "pattern")) if len(site.args) == 1 and not site.kwargs else None
    return Regex(pattern) if pattern is not None else Unknown("re.compile")


FUNCTIONS: dict[str, Any] = {
    **{f"re.{name}": _function(name) for name in ("match", "fullmatch", "search", "findall", "split")},
    "re.compile": _compile,
}
