"""Questions about the syntax of a node that the abstract execution asks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser.target_values import Layer, LayerResult, Layers, Module
from eaglelint.analyser.values import (
    External,
    Index,
    Special,
    Tensor,
    Unknown,
    V,
)

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame

#: Attribute names under which models keep their decoder layers.
LAYER_LISTS = frozenset(
    {"layers", "decoder_layers", "blocks", "h", "block", "transformer_blocks", "decoder_blocks", "layer_list"}
)
#: Names of the number of decoder layers N, on a config or a model.
DEPTH_NAMES = frozenset(
    {"num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_decoder_layers", "n_hidden_layers", "end_layer"}
)
#: Methods by which engines are told the layers to capture.
SETTERS = frozenset(
    {"set_eagle3_layers_to_capture", "set_aux_hidden_state_layers", "set_eagle3_aux_hidden_state_layers"}
)
#: Attributes that start empty and are filled from outside before the forward runs.
CAPTURE_LISTS = re.compile(
    r"layers_to_capture|aux_hidden_state_layers|capture_(layers|ids)|aux_layers?(_ids)?$|eagle3?_layer"
)
NORM_NAMES = frozenset({"norm", "final_norm", "ln_f", "final_layernorm", "final_layer_norm", "norm_f", "model_norm"})
EMBED_NAMES = frozenset(
    {
        "embed_tokens",
        "embed_input_ids",
        "get_input_embeddings",
        "wte",
        "embed",
        "embedding",
        "word_embeddings",
        "embeddings",
        "tok_embeddings",
        "token_embedding",
        "embed_in",
    }
)
HEAD_NAMES = frozenset({"lm_head", "output_layer", "embed_out"})
#: Names of the tensor that runs through a layer loop, when it was bound to nothing known before the loop.
STREAM_NAMES = ("hidden_states", "hidden_state", "hidden", "hs", "x", "h", "stream", "states")


#: Fields of nodes that hold no code of interest: white space, punctuation, annotations.
_IDLE = re.compile(
    r"whitespace|leading_lines|lines_after|lpar|rpar|lbra|rbra|semicolon|comma|header|footer|equal|"
    r"newline|indent|trailing|annotation|returns|asynchronous|type_parameters|encoding"
)


_field_names: dict[type, tuple[str, ...]] = {}


def _fields(kind: type) -> tuple[str, ...]:
    names = _field_names.get(kind)
    if names is None:
        every = getattr(kind, "__dataclass_fields__", ())
        names = _field_names[kind] = tuple(name for name in every if not _IDLE.search(name))
    return names


def kids(node: Any) -> Iterator[Any]:
    """The nodes inside a node, in order. (libcst's own `children` rebuilds every node that it visits.)"""
    for name in _fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield value
        elif isinstance(value, tuple | list):
            yield from (item for item in value if isinstance(item, cst.CSTNode))


def dotted(node: Any) -> str:
    """`a.b.c` of a name or attribute chain (through calls), "" for anything else."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        left = dotted(node.value)
        return f"{left}.{node.attr.value}" if left else ""
    if isinstance(node, cst.Call):
        return dotted(node.func)
    return ""


@lru_cache(maxsize=20_000)
def is_generator(node: cst.FunctionDef) -> bool:
    """Whether the function's own body yields."""
    return _yields(node.body)


def _yields(node: cst.CSTNode) -> bool:
    for child in kids(node):
        if isinstance(child, cst.Yield):
            return True
        if isinstance(child, cst.FunctionDef | cst.Lambda | cst.ClassDef | cst.GeneratorExp):
            continue
        if _yields(child):
            return True
    return False


#: Parts of names of which code that has to do with hidden states uses one.
_INTERESTING = re.compile(
    r"hidden|layers|hook|eagle|aux|capture|logits|lm_head|embed|states|torch_save|verifier|boundar|collective_rpc|"
    r"save|load|safe_open|draft|specul|Engine$|^LLM$|Popen|subprocess|from_pretrained|model|layer|^cat$|concat|stack|"
    r"replace|write",
    re.IGNORECASE,
)


@lru_cache(maxsize=50_000)
def interesting(node: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether a function uses any name, or short string, that speaks of hidden states, layers or drafters."""
    stack: list[Any] = [node.body, node.params]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.Name):
            if _INTERESTING.search(current.value):
                return True
        elif isinstance(current, cst.SimpleString):
            if len(current.value) < 60 and _INTERESTING.search(current.value):
                return True
        else:
            stack.extend(kids(current))
    return False


@lru_cache(maxsize=20_000)
def captures(node: cst.If) -> bool:
    """Whether the body of an `if` appends to a list of captured states."""
    stack: list[Any] = [node.body]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.Call) and isinstance(current.func, cst.Attribute):
            owner = dotted(current.func.value).lower()
            if current.func.attr.value == "append" and any(word in owner for word in ("aux", "captur", "states")):
                return True
        stack.extend(kids(current))
    return False


@lru_cache(maxsize=2_000)
def attributes_read(tree: cst.Module) -> frozenset[str]:
    """The names of all attributes that a module reads: everywhere but as the target of an assignment."""
    found: set[str] = set()
    stack: list[Any] = [tree]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.AssignTarget) and isinstance(current.target, cst.Attribute):
            stack.append(current.target.value)
            continue
        if isinstance(current, cst.AnnAssign) and isinstance(current.target, cst.Attribute):
            stack.extend([current.target.value, *([current.value] if current.value is not None else [])])
            continue
        if isinstance(current, cst.Attribute):
            found.add(current.attr.value)
        stack.extend(kids(current))
    return frozenset(found)


def names_head(node: Any) -> bool:
    """Whether what is called is named as a language-model head."""
    last = dotted(node).rsplit(".", 1)[-1]
    return not isinstance(node, cst.Call) and (last in HEAD_NAMES or last.endswith("lm_head"))


def names_norm(node: Any) -> bool:
    """Whether what is called is named as the final norm of a model."""
    last = dotted(node).rsplit(".", 1)[-1]
    return not isinstance(node, cst.Call) and (last in NORM_NAMES or last.endswith("final_norm"))


@lru_cache(maxsize=50_000)
def mentioned(node: cst.FunctionDef | cst.Lambda) -> frozenset[str]:
    """The plain names that a function's body uses."""
    found: set[str] = set()
    stack: list[Any] = [node.body]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.Name):
            found.add(current.value)
        elif isinstance(current, cst.Attribute):
            stack.append(current.value)
        else:
            stack.extend(kids(current))
    return frozenset(found)


def target_names(node: Any) -> list[str]:
    """The plain names that an assignment target binds, in order; "" for targets that are no names."""
    if isinstance(node, cst.Name):
        return [node.value]
    if isinstance(node, cst.Tuple | cst.List):
        names: list[str] = []
        for element in node.elements:
            inner = element.value
            names += (
                target_names(inner)
                if isinstance(inner, cst.Tuple | cst.List)
                else [inner.value if isinstance(inner, cst.Name) else ""]
            )
        return names
    return [""]


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
            elif isinstance(value, cst.Call) and _is_layer(value.func, handles):
                found.append(child)
        found += _layer_calls(child, handles, loops)
    return found


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


@lru_cache(maxsize=20_000)
def _loop_calls(node: cst.For) -> tuple[cst.Assign, ...]:
    """The assignments in the body of a loop whose value is the call of a layer."""
    return tuple(_layer_calls(node.body, {name for name in target_names(node.target) if name}))


def calls_layers(node: cst.For) -> bool:
    """Whether the body of a loop calls a layer."""
    return bool(_loop_calls(node))


def unseen_stream(run: Interpreter, node: cst.For, iterable: V, frame: Frame) -> tuple[str, str] | None:
    """The stream (and its residual, or "") of a layer loop in a fragment that ends before the layer is called."""
    if not frame.scope.loose or frame.function is not None or _loop_calls(node):
        return None
    over_layers = isinstance(iterable, range) and len(iterable) >= 4 and iterable.stop == run.depth
    if not over_layers and not any(isinstance(item, Layer) for item in first_items(iterable)):
        return None
    return stream_names(node.body)


def stream_names(node: cst.CSTNode) -> tuple[str, str] | None:
    """The names that a piece of code uses for the stream and for its residual ("" for none)."""
    used = _names(node)
    stream = next((name for name in STREAM_NAMES if name in used), None)
    return (stream, next((name for name in used if is_residual(name)), "")) if stream is not None else None


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


def after_model(text: str) -> bool:
    """Whether a fragment belongs to the function that calls the model and hands its result to the head."""
    return "logits_processor(" in text or "self.lm_head" in text


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
    calls = _loop_calls(node)
    if not calls:
        return
    names: list[str] = []
    for assign in calls:
        value = assign.value.value if isinstance(assign.value, cst.Subscript) else assign.value
        given = {dotted(arg.value) for arg in value.args} if isinstance(value, cst.Call) else set()
        for target in assign.targets:
            names += [name for name in target_names(target.target) if name and name in given and name not in names]
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


def is_residual(name: str) -> bool:
    """Whether a name means the residual of a fused-residual loop."""
    return "resid" in name.lower()


def index_only(value: V) -> bool:
    """Whether a value is a loop counter."""
    return isinstance(value, Index)


def is_external(value: V, *suffixes: str) -> bool:
    """Whether a value comes from outside under a dotted path that ends so."""
    return isinstance(value, External) and any(
        value.path == suffix or value.path.endswith("." + suffix) for suffix in suffixes
    )


def is_module(value: V, kind: str) -> bool:
    """Whether a value is the norm, embedding or head of a model."""
    return isinstance(value, Module) and value.kind == kind


def element_reason(iterable: V, node: Any) -> str:
    """What is not known about the elements of an iterable: its own reason, else its name."""
    reason = iterable.reason if isinstance(iterable, Unknown) else getattr(iterable, "name", "")
    return str(reason) if reason and reason != "element" else dotted(node) or "element"


def missing(name: str) -> Unknown:
    """The value of a name or attribute about which nothing is known."""
    return Unknown(name)
