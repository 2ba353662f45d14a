"""Loops over decoder layers as they are written: the calls of layers in them, the stream that runs through them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser.memory import remembered
from eaglelint.analyser.patterns import LAYER_LISTS, STREAM_NAMES, dotted, is_residual, kids, target_names
from eaglelint.analyser.target_values import Layer, LayerResult, Layers
from eaglelint.analyser.values import Special, Tensor, V

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame, ModuleScope
    from eaglelint.location import Location


def _layer_calls(node: cst.CSTNode, handles: set[str], loops: bool = True) -> list[cst.Assign]:
    """Assignments inside a loop body whose value is the call of a layer (by the loop's name or `layers[...]`)."""
    found: list[cst.Assign] = []
    for child in kids(node):
        if isinstance(child, cst.FunctionDef | cst.ClassDef | cst.Lambda):
            continue
        if not loops and isinstance(child, cst.For | cst.While | cst.CompFor):
            continue
        if isinstance(child, cst.Assign):
            value = child.value
            if isinstance(value, cst.Await):
                value = value.expression
            if isinstance(value, cst.Subscript) and not isinstance(value.value, cst.Name):
                value = value.value
            if isinstance(value, cst.Subscript) and _is_layer(value, handles) and len(child.targets) == 1:
                handles.update(target_names(child.targets[0].target))
            elif isinstance(value, cst.Call) and _calls_layer(value, handles):
                found.append(child)
        found += _layer_calls(child, handles, loops)
    return found


def _calls_layer(call: cst.Call, handles: set[str]) -> bool:
    """Whether a layer is called, by itself or through a function that checkpoints it."""
    if _is_layer(call.func, handles):
        return True
    through = "checkpoint" in dotted(call.func).rsplit(".", 1)[-1]
    return through and bool(call.args) and _is_layer(call.args[0].value, handles)


def _is_layer(func: Any, handles: set[str]) -> bool:
    if isinstance(func, cst.Attribute) and func.attr.value in ("forward", "__call__"):
        func = func.value
    if isinstance(func, cst.Name):
        return func.value in handles
    if isinstance(func, cst.Subscript):
        return dotted(func.value).rsplit(".", 1)[-1] in LAYER_LISTS
    return False


def loose_loop(tree: cst.Module) -> tuple[str, list[str]] | None:
    """The body of a layer loop without its header, as patches insert it: (name of the counter, streams it assigns).

    None when the code calls no layer outside of a loop. The counter is the index of `layers[...]`, "" when there is
    none.
    """
    handles = {"layer", "decoder_layer", "block"}
    calls = _layer_calls(tree, handles, loops=False)
    if not calls:
        return None
    names: list[str] = []
    for assign in calls:
        value = assign.value.value if isinstance(assign.value, cst.Subscript) else assign.value
        if not isinstance(value, cst.Call):
            continue
        given = {dotted(arg.value) for arg in value.args}
        for target in assign.targets:
            names += [n for n in target_names(target.target) if n and n in given and n not in names]
    counter = takes_layer(tree)
    return counter, names


@remembered
def _loop_calls(node: cst.For) -> tuple[cst.Assign, ...]:
    """The assignments in the body of a loop whose value is the call of a layer."""
    return tuple(_layer_calls(node.body, {name for name in target_names(node.target) if name}))


@remembered
def _grown(node: cst.For) -> tuple[str, ...]:
    """The names that a loop changes by what a layer gives for them: `h += layer(h)`, `h.add_(layer(h))`, `h[:] = ...`.

    What `_loop_calls` finds is left out: there a layer's result is bound as it is.
    """
    handles = {name for name in target_names(node.target) if name}
    found: list[str] = []
    stack: list[Any] = [node.body]
    while stack:
        current = stack.pop()
        changed, values = _change(current)
        if changed and any(_gives(value, handles, changed) for value in values):
            found.append(changed)
        if not isinstance(current, cst.FunctionDef | cst.ClassDef | cst.Lambda):
            stack.extend(kids(current))
    return tuple(found)


def _change(node: Any) -> tuple[str, list[Any]]:
    """The name whose value a node changes, and by what; "" when it changes none."""
    if isinstance(node, cst.AugAssign):
        return dotted(node.target), [node.value]
    if isinstance(node, cst.Assign):
        target = node.targets[0].target
        return dotted(target.value if isinstance(target, cst.Subscript) else target), [node.value]
    args = node.args if isinstance(node, cst.Call) else ()
    given = [arg.value for arg in args if arg.keyword is not None and arg.keyword.value == "out"]
    if given:
        return dotted(given[0]), [arg.value for arg in args]
    method = node.func if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) else None
    if method is not None and method.attr.value in ("add_", "copy_"):
        return dotted(method.value), [arg.value for arg in node.args]
    return "", []


def _gives(value: Any, handles: set[str], name: str) -> bool:
    """Whether an expression holds the call of a layer that is given this name."""
    stack = [value]
    while stack:
        current = stack.pop()
        called = isinstance(current, cst.Call) and _calls_layer(current, handles)
        if called and any(dotted(arg.value) == name for arg in current.args):
            return True
        stack.extend(kids(current))
    return False


@remembered
def whole(code: cst.CSTNode, stream: str = "", residual: str = "") -> bool:
    """Whether code that unpacks a layer's result into these names takes the first for the complete stream.

    It does when a norm is given the stream alone, and nowhere a sum or a norm brings stream and residual together.
    """
    if not stream or not is_residual(residual) or is_residual(stream):
        return False
    alone = False
    stack: list[Any] = [code]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.BinaryOperation) and {dotted(current.left), dotted(current.right)} == {
            stream,
            residual,
        }:
            return False
        if isinstance(current, cst.Call) and "norm" in dotted(current.func).rsplit(".", 1)[-1].lower():
            given = [dotted(arg.value) for arg in current.args]
            if residual in given:
                return False
            alone = alone or given == [stream]
        stack.extend(kids(current))
    return alone


def calls_layers(node: cst.For) -> bool:
    """Whether the body of a loop calls a layer."""
    return bool(_loop_calls(node)) or bool(_grown(node))


def unseen_stream(run: Interpreter, node: cst.For, iterable: V, frame: Frame) -> tuple[str, str] | None:
    """The stream (and its residual, or "") of a layer loop in a fragment that ends before the layer is called."""
    if not frame.scope.loose or frame.function is not None or _loop_calls(node):
        return None
    over_layers = isinstance(iterable, range) and len(iterable) >= 4 and iterable.stop == run.depth
    if not over_layers and not any(isinstance(item, Layer) for item in first_items(iterable)):
        return None
    return stream_names(node.body, frame.scope)


def stream_names(node: cst.CSTNode, scope: ModuleScope) -> tuple[str, str] | None:
    """The names that a piece of code uses for the stream and for its residual ("" for none).

    A residual that another piece of the same file starts with (`residual = None`) belongs to its layer loop as well.
    """
    used = _names(node)
    stream = next((name for name in STREAM_NAMES if name in used), None)
    started = [name for name, value in scope.names.items() if value is None and is_residual(name)]
    residual = next((name for name in (*used, *started) if is_residual(name)), "")
    return (stream, residual) if stream is not None else None


def bind_entering(run: Interpreter, names: tuple[str, str], number: int, frame: Frame) -> None:
    """Bind the names to what enters layer `number`: the stream, or branch and residual of a fused-residual loop."""
    stream, residual = names
    entering = run.objects.state(run.objects.anonymous(frame), number)
    if residual and number > 0:
        frame.bind(stream, run.objects.part(entering, "branch"))
        frame.bind(residual, run.objects.part(entering, "residual"))
    else:
        frame.bind(stream, entering)
        if residual:
            frame.bind(residual, None)


def _names(node: cst.CSTNode) -> list[str]:
    found = [node.value] if isinstance(node, cst.Name) else []
    for child in kids(node):
        found += _names(child)
    return found


def takes_layer(tree: cst.Module) -> str:
    """The counter of a `layers[i]` that a fragment takes outside of a loop, "" when it takes none."""
    for subscript in _subscripts(tree):
        if dotted(subscript.value).rsplit(".", 1)[-1] in LAYER_LISTS and len(subscript.slice) == 1:
            index = subscript.slice[0].slice
            if isinstance(index, cst.Index) and isinstance(index.value, cst.Name):
                return index.value.value
    return ""


def _subscripts(node: cst.CSTNode) -> list[cst.Subscript]:
    """Subscripts outside of loops and functions."""
    if isinstance(node, cst.For | cst.While | cst.FunctionDef):
        return []
    found = [node] if isinstance(node, cst.Subscript) else []
    for child in kids(node):
        found += _subscripts(child)
    return found


def prepare_stream(run: Interpreter, node: cst.For, iterable: V, frame: Frame) -> None:
    """Before a loop over layers: the names that run through it hold the stream in front of its first layer.

    Only names that are bound to nothing known are given a meaning (code fragments, parameters, intermediate tensors).
    """
    names: list[str] = []
    for assign in _loop_calls(node):
        value = assign.value.value if isinstance(assign.value, cst.Subscript) else assign.value
        given = {dotted(arg.value) for arg in value.args} if isinstance(value, cst.Call) else set()
        for target in assign.targets:
            names += [name for name in target_names(target.target) if name and name in given and name not in names]
    names += [name for name in _grown(node) if name not in names]
    stream = next((name for name in names if not is_residual(name)), None)
    if stream is None:
        return
    value = frame.lookup(stream)
    if isinstance(value, Tensor | LayerResult | Special):
        return
    first = next((item for item in first_items(iterable) if isinstance(item, Layer)), None)
    model = first.model if first is not None else run.objects.anonymous(frame)
    start = iterable.low if isinstance(iterable, Layers) else 0
    frame.bind(stream, run.objects.state(model, start))


def first_items(iterable: V) -> list[V]:
    """The first element of an iterable, flattened: for (index, layer) pairs and zips."""
    if isinstance(iterable, Layers):
        return [Layer(iterable.model, iterable.low)]
    items = getattr(iterable, "items", None)
    if isinstance(items, list) and items:
        return list(items[0]) if isinstance(items[0], tuple) else [items[0]]
    return []


def number_of(item: V) -> int | None:
    """The number of the layer that one step of a layer loop is about."""
    for part in item if isinstance(item, tuple) else (item,):
        if isinstance(part, Layer):
            return part.index
        if isinstance(part, int) and not isinstance(part, bool):
            return int(part)
    return None


def enclosing_loop(frame: Frame, node: Any) -> Location | None:
    """The line of the layer loop around a test in the same function."""
    body = frame.function.node.body if frame.function is not None else frame.scope.tree
    best: Location | None = None
    wanted = frame.scope.where(node)
    stack: list[Any] = [body]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.For):
            place = frame.scope.where(current)
            if place.start <= wanted.start <= place.end and (best is None or place.start >= best.start):
                best = frame.scope.where(current.iter)._replace(line=place.line, column=place.column)
        stack.extend(kids(current))
    return best
