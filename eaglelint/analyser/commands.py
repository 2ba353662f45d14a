"""Command lines other than argparse: click, typer, fire, tyro and transformers' HfArgumentParser.

Each gives a function or a record its values from options; here from a command in scope that runs the script, else from
the defaults, which are then assumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eaglelint.analyser.arguments import Option, Parser
from eaglelint.analyser.values import MISSING, ClassV, External, FuncV, ListV, Obj, Special, Unknown, V, with_note

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter

#: click's names for types.
_TYPES = {"click.INT": "builtins.int", "click.FLOAT": "builtins.float"}


class Decorator(Special):
    """What stands behind an @ and is known."""

    def decorate(self, run: Interpreter, value: V) -> V:
        """What it makes of a function."""
        return value


@dataclass(eq=False)
class _ClickOption(Decorator):
    """`@click.option(...)` or `@click.argument(...)`."""

    option: Option

    def decorate(self, run: Interpreter, value: V) -> V:
        """The function, which knows the option once it is a command."""
        if isinstance(value, FuncV | _Command):
            command = value if isinstance(value, _Command) else _Command(value)
            command.options.insert(0, self.option)
            return command
        return value


@dataclass(eq=False)
class _Command(Special):
    """A function that is called with what the command line says."""

    func: FuncV
    options: list[Option] = field(default_factory=list)

    def attribute(self, run: Interpreter, name: str) -> V:
        """`callback` is the function itself."""
        return self.func if name == "callback" else MISSING

    def call(self, run: Interpreter, site: CallSite) -> V:
        """Run it: with the values of its options when it is called without any, else as it is."""
        if site.args or site.kwargs:
            return run.call_function(self.func, site.args, site.kwargs)
        return run.call_function(self.func, [], _values(run, self.func, self.options, site))


class _ClickCommand(Decorator):
    """`@click.command()`."""

    def decorate(self, run: Interpreter, value: V) -> V:
        return _Command(value) if isinstance(value, FuncV) else value


@dataclass(eq=False)
class _App(Special):
    """A `typer.Typer()`, or a group of click: functions that are registered, and run when it is called."""

    commands: list[FuncV | _Command] = field(default_factory=list)

    def call_method(self, run: Interpreter, name: str, site: CallSite) -> V:
        """command() and callback() give decorators; anything else is only called."""
        return _Registered(self) if name in ("command", "callback") else None

    def call(self, run: Interpreter, site: CallSite) -> V:
        """Run what is registered; which one a person chooses is not known, so all of it."""
        for command in self.commands:
            if isinstance(command, _Command):
                command.call(run, site)
            else:
                run.call_function(command, [], _values(run, command, list(_parameters(command, site)), site))
        return None


@dataclass(eq=False)
class _Registered(Decorator):
    """`@app.command()`."""

    app: _App

    def decorate(self, run: Interpreter, value: V) -> V:
        if isinstance(value, FuncV | _Command):
            self.app.commands.append(value)
        return value


class _GroupDecorator(Decorator):
    """`@click.group()`: the function becomes what commands are registered with."""

    def decorate(self, run: Interpreter, value: V) -> V:
        return _App()


class _Records(Special):
    """A transformers.HfArgumentParser of dataclasses."""

    def __init__(self, classes: list[V]) -> None:
        self.classes = classes

    def call_method(self, run: Interpreter, name: str, site: CallSite) -> V:
        """The records, with their defaults."""
        if name.startswith("parse_"):
            return tuple(_record(run, cls, site) for cls in self.classes)
        return Unknown(f"{name}()")


def _values(run: Interpreter, func: FuncV, options: list[Option], site: CallSite) -> dict[str, V]:
    """The values of options, by parameter."""
    parser = Parser(func.scope)
    parser.options = options
    return dict(parser.parse(run, site).attrs)


def _parameters(func: FuncV, site: CallSite) -> Iterator[Option]:
    """An option for each parameter, as typer and fire make them."""
    for param in (*func.node.params.posonly_params, *func.node.params.params, *func.node.params.kwonly_params):
        name = param.name.value
        given: dict[str, V] = {}
        if name in func.defaults:
            given["default"] = func.defaults[name]
        annotation = getattr(getattr(param.annotation, "annotation", None), "value", "")
        if annotation in ("int", "float"):
            given["type"] = External(f"builtins.{annotation}")
        names = (f"--{name.replace('_', '-')}", f"--{name}") if name in func.defaults else (name,)
        yield Option(tuple(dict.fromkeys(names)), name, given, site)


def _click_option(run: Interpreter, site: CallSite) -> V:
    names = [name for name in site.args if isinstance(name, str)]
    flags = [part for name in names if name.startswith("-") for part in name.split("/")[:1]]
    bare = next((name for name in names if not name.startswith("-")), "")
    longest = max(flags, key=len, default=bare)
    given = dict(site.kwargs)
    kind = given.get("type")
    if isinstance(kind, External) and kind.path in _TYPES:
        given["type"] = External(_TYPES[kind.path])
    elif not (isinstance(kind, FuncV) or (isinstance(kind, External) and kind.path.startswith("builtins."))):
        given.pop("type", None)
    if given.get("is_flag") is True or any("/" in name for name in names):
        given["action"] = "store_true"
    if given.get("multiple") is True:
        given["nargs"] = "*"
    if not longest:
        return Unknown("option")
    dest = (bare or longest.lstrip("-")).replace("-", "_").lower()
    return _ClickOption(Option(tuple(flags) or (bare,), dest, given, site))


def _typer_option(run: Interpreter, site: CallSite) -> V:
    """typer.Option(default, "--name"): what the parameter is when nothing is given."""
    default = site.args[0] if site.args else site.kwargs.get("default", MISSING)
    if default is MISSING or default is Ellipsis:
        return Unknown("option", site.frame.scope.spot(site.node))
    name = next((arg for arg in site.args[1:] if isinstance(arg, str) and arg.startswith("-")), "an option")
    return with_note(default, f"default of {name}")


def _run_function(run: Interpreter, site: CallSite) -> V:
    """typer.run(f), fire.Fire(f), tyro.cli(f or Record)."""
    target = site.args[0] if site.args else None
    if isinstance(target, FuncV):
        return run.call_function(target, [], _values(run, target, list(_parameters(target, site)), site))
    if isinstance(target, ClassV):
        return _record(run, target, site)
    return Unknown("command")


def _record(run: Interpreter, cls: V, site: CallSite) -> V:
    """An instance of a class whose fields a command line may give, with its defaults."""
    from eaglelint.analyser.calls import CallSite as Site
    from eaglelint.analyser.calls import fields_of, instantiate

    if not isinstance(cls, ClassV):
        return Unknown("record")
    made = instantiate(run, cls, Site([], {}, site.node, site.frame))
    if isinstance(made, Obj):
        for name in fields_of(cls):
            value = made.attrs.get(name, cls.lookup(name))
            if value is not MISSING:
                made.attrs[name] = with_note(value, f"default of --{name}")
    return made


def _parser_of_records(run: Interpreter, site: CallSite) -> V:
    first = site.args[0] if site.args else site.kwargs.get("dataclass_types")
    if isinstance(first, ListV):
        return _Records(list(first.items))
    return _Records(list(first) if isinstance(first, tuple) else [first])


FUNCTIONS: dict[str, Any] = {
    "click.option": _click_option,
    "click.argument": _click_option,
    "click.command": lambda run, site: _ClickCommand(),
    "click.group": lambda run, site: _GroupDecorator(),
    "typer.Typer": lambda run, site: _App(),
    "typer.Option": _typer_option,
    "typer.Argument": _typer_option,
    "typer.run": _run_function,
    "fire.Fire": _run_function,
    "tyro.cli": _run_function,
    "transformers.HfArgumentParser": _parser_of_records,
    "trl.TrlParser": _parser_of_records,
}
