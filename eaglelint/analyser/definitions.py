"""Imports, functions and classes: statements that bind names to code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from eaglelint.analyser import patterns
from eaglelint.analyser.calls import defaults
from eaglelint.analyser.commands import Decorator
from eaglelint.analyser.scope import Frame
from eaglelint.analyser.values import ClassV, FuncV, Unknown, V

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter


def import_statement(run: Interpreter, node: cst.Import, frame: Frame) -> None:
    """import a, b.c as d"""
    for alias in node.names:
        dotted = patterns.dotted(alias.name)
        frame.scope.imports.add(dotted.split(".")[0])
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            frame.bind(alias.asname.name.value, run.world.module(run, dotted, frame.scope))
        else:
            root = dotted.split(".")[0]
            run.world.module(run, dotted, frame.scope)
            frame.bind(root, run.world.module(run, root, frame.scope))
    return


def import_from_statement(run: Interpreter, node: cst.ImportFrom, frame: Frame) -> None:
    """from a import b as c, from . import d, from e import *"""
    dotted = patterns.dotted(node.module) if node.module is not None else ""
    if not node.relative:
        frame.scope.imports.add(dotted.split(".")[0])
    level = len(node.relative)
    if isinstance(node.names, cst.ImportStar):
        for name, value in run.world.star(run, dotted, level, frame.scope).items():
            frame.bind(name, value)
        return
    for alias in node.names:
        name = alias.name.value if isinstance(alias.name, cst.Name) else patterns.dotted(alias.name)
        value = run.world.member(run, dotted, name, level, frame.scope)
        bound = alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else name
        frame.bind(bound, value)
    return


def function_statement(run: Interpreter, node: cst.FunctionDef, frame: Frame) -> None:
    """def f(...): decorators in scope are applied."""
    decorators = tuple(patterns.dotted(d.decorator) for d in node.decorators)
    given = defaults(run, node, frame)
    func = FuncV(node, frame, frame.scope, node.name.value, decorators=decorators, defaults=given)
    if not frame.is_class:
        frame.scope.functions.append(func)
    value: V = func
    for decorator in reversed(node.decorators):
        made = run.evaluate(decorator.decorator, frame)
        if isinstance(made, FuncV):
            result = run.call_function(made, [value], {})
            value = result if not isinstance(result, Unknown) else value
        elif isinstance(made, Decorator):
            value = made.decorate(run, value)
    frame.bind(node.name.value, value)
    return


def class_statement(run: Interpreter, node: cst.ClassDef, frame: Frame) -> None:
    """class C(...): its body runs; methods know their class."""
    bases = tuple(run.evaluate(base.value, frame) for base in node.bases)
    body = Frame(frame.scope, frame, frame.function, is_class=True)
    cls = ClassV(node.name.value, node, frame.scope, bases, body.names, frame)
    run.statement(node.body, body)
    for value in body.names.values():
        if isinstance(value, FuncV):
            value.owner = cls
            value.frame = frame
    frame.scope.classes.append(cls)
    frame.bind(node.name.value, cls)
    return
