"""argparse: options with their types and defaults, and the values that a command in scope gives them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eaglelint.analyser.values import HOLE, External, ListV, Obj, Special, Unknown, V, with_note

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import ModuleScope


@dataclass
class Option:
    """An option: its spellings, the name that its value gets, and what was said of it."""

    names: tuple[str, ...]
    dest: str
    kwargs: dict[str, V]
    site: Any = field(repr=False, default=None)


class Parser(Special):
    """An argparse parser (groups and sub-parsers add to the same list)."""

    def __init__(self, scope: ModuleScope) -> None:
        self.scope = scope
        self.options: list[Option] = []
        self.defaults: dict[str, V] = {}

    def call_method(self, run: Interpreter, name: str, site: CallSite) -> V:
        """add_argument, parse_args and the methods that give something to add arguments to."""
        if name == "add_argument":
            names = tuple(arg for arg in site.args if isinstance(arg, str) and HOLE not in arg)
            if names:
                self.options.append(Option(names, self._dest(names, site.kwargs), dict(site.kwargs), site))
            return None
        if name in ("parse_args", "parse_known_args"):
            made = self.parse(run, site)
            return made if name == "parse_args" else (made, ListV([], True))
        if name == "set_defaults":
            self.defaults.update(site.kwargs)
            return None
        if name in ("add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser"):
            return self
        return Unknown(name)

    @staticmethod
    def _dest(names: tuple[str, ...], kwargs: dict[str, V]) -> str:
        dest = kwargs.get("dest")
        if isinstance(dest, str):
            return dest
        long = next((n for n in names if n.startswith("--")), names[0])
        return long.lstrip("-").replace("-", "_")

    def parse(self, run: Interpreter, site: CallSite) -> Obj:
        """The namespace: values that a command in scope gives, else defaults (assumed when nothing runs the script)."""
        words = run.world.argv(self.scope.path)
        several = {name for option in self.options if _repeats(option) for name in option.names}
        given = _given(words, several) if words is not None else {}
        result = Obj("args", outside=False, where=site.frame.scope.spot(site.node))
        positional = _positional(words, self.options) if words is not None else []
        for option in self.options:
            found = next((given[name] for name in option.names if name in given), None)
            is_flag = option.names[0].startswith("-")
            if found is None and not is_flag:
                found = [positional.pop(0)] if positional else None
            if found is not None:
                value = self._convert(run, option, found)
            else:
                value = self._fallback(run, option, words is not None, is_flag)
            result.attrs[option.dest] = value
        for name, value in self.defaults.items():
            result.attrs.setdefault(name, value)
        return result

    def _fallback(self, run: Interpreter, option: Option, run_in_scope: bool, is_flag: bool) -> V:
        where = option.site.frame.scope.spot(option.site.node) if option.site is not None else None
        default = option.kwargs.get("default", self.defaults.get(option.dest))
        if option.kwargs.get("action") in ("store_true", "store_false"):
            return option.kwargs["action"] == "store_false" if run_in_scope else Unknown(option.names[0], where)
        if default is None:
            return Unknown(option.names[-1] if is_flag else option.dest, where) if is_flag else HOLE
        if isinstance(default, str) and option.kwargs.get("type") is not None:
            default = self._call_type(run, option, default)
        return default if run_in_scope else with_note(default, f"default of {option.names[-1]}")

    def _convert(self, run: Interpreter, option: Option, words: list[V]) -> V:
        where = option.site.frame.scope.spot(option.site.node) if option.site is not None else None
        if option.kwargs.get("action") == "store_true":
            return True
        values = [
            self._call_type(run, option, word.value) if word.known else Unknown(option.names[0], where)
            for word in words
        ]
        note = next((word.assumed for word in words if word.assumed), "")
        if _repeats(option) or ("nargs" in option.kwargs and option.kwargs["nargs"] != "?"):
            return ListV([with_note(v, note) for v in values], note=note)
        return with_note(values[0], note) if values else True

    def _call_type(self, run: Interpreter, option: Option, text: Any) -> V:
        kind = option.kwargs.get("type")
        if kind is None:
            return text if isinstance(text, str) else str(text)
        if isinstance(kind, External) and kind.path in ("builtins.int", "builtins.float"):
            try:
                return int(str(text)) if kind.path.endswith("int") else float(str(text))
            except ValueError:
                return Unknown("number")
        from eaglelint.analyser.calls import CallSite as Site
        from eaglelint.analyser.calls import invoke

        return invoke(run, kind, Site([str(text)], {}, option.site.node, option.site.frame))


def _repeats(option: Option) -> bool:
    """Whether an option may be given several times, each time with one more value."""
    return option.kwargs.get("action") == "append" or option.kwargs.get("multiple") is True


def _given(words: tuple[Any, ...], several: set[str]) -> dict[str, list[Any]]:
    """The words after each option of a command; those of an option in `several` add up, else the last holds."""
    found: dict[str, list[Any]] = {}
    current: list[Any] | None = None
    for word in words:
        text = word.value if word.known and isinstance(word.value, str) else None
        if text is not None and text.startswith("-") and not _numeric(text):
            name, equals, value = text.partition("=")
            current = found[name] = found.get(name, []) if name in several else []
            if equals:
                current.append(word._replace(value=value))
                current = None
        elif current is not None:
            current.append(word)
    return found


def _positional(words: tuple[Any, ...], options: list[Option]) -> list[Any]:
    """Words that belong to no option: those before the first option, and those after single-valued ones."""
    flags = {n for o in options if o.kwargs.get("action") in ("store_true", "store_false") for n in o.names}
    several = {n for o in options if "nargs" in o.kwargs for n in o.names}
    rest: list[Any] = []
    skip = 0
    for word in words:
        text = word.value if word.known and isinstance(word.value, str) else None
        if text is not None and text.startswith("-") and not _numeric(text):
            skip = 0 if text in flags or "=" in text else (99 if text in several else 1)
        elif skip > 0:
            skip -= 1
        else:
            rest.append(word)
    return rest


def _numeric(text: str) -> bool:
    return text.lstrip("-").replace(".", "", 1).replace(",", "").isdigit()
