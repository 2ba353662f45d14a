"""Calls: arguments, functions in scope, classes, and the hand-over to the models of what comes from outside."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser import library, models, patterns
from eaglelint.analyser.operations import elements
from eaglelint.analyser.target_values import Layer, ModelV, Module
from eaglelint.analyser.values import (
    MISSING,
    ClassV,
    DictV,
    External,
    FuncV,
    Fused,
    Index,
    ListV,
    Method,
    Obj,
    Partial,
    Plain,
    Special,
    Tensor,
    Unknown,
    V,
    new_storage,
    with_note,
)

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame, Spot


@dataclass(slots=True)
class CallSite:
    """One call: evaluated arguments and where it stands. `splat` when `*x` or `**x` of something unknown was given."""

    args: list[V]
    kwargs: dict[str, V]
    node: cst.Call
    frame: Frame
    splat: bool = False
    places: dict[str, tuple[Spot, Spot]] = field(default_factory=dict)

    def get(self, position: int, name: str, default: V = None) -> V:
        """An argument by position or keyword."""
        if name in self.kwargs:
            return self.kwargs[name]
        return self.args[position] if 0 <= position < len(self.args) else default


def call(run: Interpreter, node: cst.Call, frame: Frame) -> V:
    """The value of a call."""
    func = run.evaluate(node.func, frame)
    args: list[V] = []
    kwargs: dict[str, V] = {}
    places: dict[str, tuple[Spot, Spot]] = {}
    splat = False
    for arg in node.args:
        value = run.evaluate(arg.value, frame)
        if arg.star == "*":
            inner = iterate(run, value)
            if inner is None:
                splat = True
            else:
                args += inner
        elif arg.star == "**":
            if isinstance(value, DictV):
                kwargs.update({key: item for key, item in value.items.items() if isinstance(key, str)})
                places.update({key: spots for key, spots in value.places.items() if isinstance(key, str)})
                splat = splat or value.open
            else:
                splat = True
        elif arg.keyword is not None:
            kwargs[arg.keyword.value] = value
            places[arg.keyword.value] = frame.scope.spot(arg.keyword), frame.scope.spot(arg.value)
        else:
            args.append(value)
    return invoke(run, func, CallSite(args, kwargs, node, frame, splat, places))


def invoke(run: Interpreter, func: V, site: CallSite) -> V:
    """Call a value of any kind. What is not known of a call that is given a layer counter depends on the counter."""
    result = _invoke(run, func, site)
    if isinstance(result, Unknown) and not result.index and any(map(_counts, [*site.args, *site.kwargs.values()])):
        return replace(result, index=True)
    return result


def _counts(value: V) -> bool:
    return isinstance(value, Index) or (isinstance(value, Unknown) and value.index)


def _invoke(run: Interpreter, func: V, site: CallSite) -> V:
    run.tick()
    answered = run.world.called(run, func, site)
    if answered is not MISSING:
        return answered
    if not isinstance(func, FuncV | ClassV | External) and patterns.names_head(site.node.func):
        state = models.stream_argument([*site.args, *site.kwargs.values()])
        if state is not None:
            run.rec.to_head(run, state, site.node, site.frame)
            return Plain(new_storage(), "logits")
    if isinstance(func, Unknown | Obj) and getattr(func, "cls", None) is None and patterns.names_norm(site.node.func):
        return models.call_module(run, Module("norm", models.model_of_arguments(run, func, site)), site)
    _feeds(run, site)
    if isinstance(func, FuncV):
        return run.call_function(func, site.args, site.kwargs)
    if isinstance(func, External):
        return library.call_external(run, func.path, site)
    if isinstance(func, Method):
        return library.call_method(run, func, site)
    if isinstance(func, ClassV):
        return instantiate(run, func, site)
    if isinstance(func, Partial):
        merged = CallSite([*func.args, *site.args], {**func.kwargs, **site.kwargs}, site.node, site.frame, site.splat)
        return invoke(run, func.func, merged)
    if isinstance(func, ModelV):
        return models.run_model(run, func, site)
    if isinstance(func, Layer):
        return models.call_layer(run, func, site)
    if isinstance(func, Module):
        return models.call_module(run, func, site)
    if isinstance(func, Obj):
        return _call_object(run, func, site)
    if isinstance(func, Special):
        return func.call(run, site)
    return models.unknown_call(run, func, site)


def _feeds(run: Interpreter, site: CallSite) -> None:
    """States that another script put together go into a drafter here: this script decides what it is fed."""
    for value in (*site.args, *site.kwargs.values()):
        if isinstance(value, Fused) and value.where.path != site.frame.scope.path and patterns.names_drafter(site.node):
            run.rec.fed(value, site.node, site.frame)


def _call_object(run: Interpreter, obj: Obj, site: CallSite) -> V:
    if obj.cls is not None:
        for name in ("__call__", "forward"):
            method = run.objects.attribute(obj, name, site.frame, site.node)
            if isinstance(method, FuncV):
                return run.call_function(method, site.args, site.kwargs)
    return models.call_opaque(run, obj, site)


def instantiate(run: Interpreter, cls: ClassV, site: CallSite) -> V:
    """A new instance of a class in scope: its `__init__` runs; dataclass fields become attributes."""
    obj = Obj(cls.name, cls, where=site.frame.scope.spot(site.node), outside=False)
    init = cls.lookup("__init__")
    if isinstance(init, FuncV):
        bound = replace(init, bound=obj)
        run.call_function(bound, site.args, site.kwargs)
        return obj
    fields = fields_of(cls)
    for name, value in zip(fields, site.args, strict=False):
        obj.attrs[name] = value
    for name, value in site.kwargs.items():
        obj.attrs[name] = value
    return obj


def fields_of(cls: ClassV) -> list[str]:
    """The annotated names of a class and its bases, in the order of a dataclass's fields."""
    names: dict[str, None] = {}
    for owner in reversed(list(cls.lineage())):
        for statement in owner.node.body.body if isinstance(owner, ClassV) else ():
            if isinstance(statement, cst.SimpleStatementLine):
                for small in statement.body:
                    if isinstance(small, cst.AnnAssign) and isinstance(small.target, cst.Name):
                        names.setdefault(small.target.value)
    return list(names)


def call_method(run: Interpreter, obj: Obj, name: str, args: list[V], kwargs: dict[str, V]) -> V:
    """Call a method of an instance of a class in scope; Unknown when it has none of that name."""
    method = obj.cls.lookup(name) if obj.cls is not None else MISSING
    if not isinstance(method, FuncV):
        return Unknown(name)
    return run.call_function(replace(method, bound=obj), args, kwargs)


def bind_arguments(run: Interpreter, func: FuncV, frame: Frame, args: list[V], kwargs: dict[str, V]) -> None:
    """Bind parameters; what is not given takes its default, else it is an unknown that carries the parameter's name."""
    params = func.node.params
    names = [*params.posonly_params, *params.params]
    rest = list(args)
    given = dict(kwargs)
    for param in names:
        name = param.name.value
        if rest:
            value = rest.pop(0)
        elif name in given:
            value = given.pop(name)
        else:
            value = _default(run, func, param, frame)
        _bind(run, frame, param, value)
    if isinstance(params.star_arg, cst.Param):
        frame.names[params.star_arg.name.value] = tuple(rest)
    for param in params.kwonly_params:
        name = param.name.value
        value = given.pop(name) if name in given else _default(run, func, param, frame)
        _bind(run, frame, param, value)
    if params.star_kwarg is not None:
        frame.names[params.star_kwarg.name.value] = DictV(dict(given), open=not kwargs)


def _bind(run: Interpreter, frame: Frame, param: cst.Param, value: V) -> None:
    if isinstance(value, Tensor):
        value = run.rec.labelled(run, value, param.name.value, "argument", param.name, frame)
    frame.names[param.name.value] = value


def defaults(run: Interpreter, node: cst.FunctionDef | cst.Lambda, frame: Frame) -> dict[str, V]:
    """The defaults of a function's parameters, evaluated where it is defined."""
    params = (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params)
    return {p.name.value: run.evaluate(p.default, frame) for p in params if p.default is not None}


def _default(run: Interpreter, func: FuncV, param: cst.Param, frame: Frame) -> V:
    if param.name.value in func.defaults:
        return func.defaults[param.name.value]
    return run.objects.parameter(param.name.value, param, frame)


def iterate(run: Interpreter, value: V) -> list[V] | None:
    """The elements of a value, through iterators of classes in scope; None when not known."""
    if isinstance(value, Obj) and value.cls is not None:
        method = value.cls.lookup("__iter__")
        if isinstance(method, FuncV):
            return elements(run, run.call_function(replace(method, bound=value), [], {}))
        return None
    return elements(run, value)


def marked_text(text: str, note: str) -> str:
    """Text that rests on an assumption."""
    marked = with_note(text, note)
    return marked if isinstance(marked, str) else text


def in_place(value: Tensor, storage: int) -> Tensor:
    """The result of an in-place operation: the new state in the old memory."""
    return replace(value, storage=storage)


def exits(node: Any) -> bool:
    """Whether an expression statement ends the program (`sys.exit(...)`)."""
    return isinstance(node, cst.Call) and patterns.dotted(node.func) in (
        "sys.exit",
        "exit",
        "quit",
        "os._exit",
        "os.abort",
    )


def as_list(value: V) -> list[V] | None:
    """The items of a list or tuple."""
    if isinstance(value, ListV):
        return value.items
    return list(value) if isinstance(value, tuple) else None
