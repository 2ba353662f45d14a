"""Questions about the syntax of a node that the abstract execution asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser.values import External, Index, Layer, LayerResult, Layers, Module, Tensor, Unknown, V

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
NORM_NAMES = frozenset({"norm", "final_norm", "ln_f", "final_layernorm", "final_layer_norm", "norm_f", "model_norm"})
EMBED_NAMES = frozenset(
    {"embed_tokens", "embed_input_ids", "get_input_embeddings", "wte", "embed", "embedding", "word_embeddings",
     "embeddings", "tok_embeddings", "token_embedding", "embed_in"}
)
HEAD_NAMES = frozenset({"lm_head", "output_layer", "embed_out"})
#: Names of the tensor that runs through a layer loop, when it was bound to nothing known before the loop.
STREAM_NAMES = ("hidden_states", "hidden_state", "hidden", "hs", "x", "h", "stream", "states")


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


def is_generator(node: cst.FunctionDef) -> bool:
    """Whether the function's own body yields."""
    return _yields(node.body)


def _yields(node: cst.CSTNode) -> bool:
    for child in node.children:
        if isinstance(child, cst.Yield):
            return True
        if isinstance(child, cst.FunctionDef | cst.Lambda | cst.ClassDef | cst.GeneratorExp):
            continue
        if _yields(child):
            return True
    return False


def target_names(node: Any) -> list[str]:
    """The plain names that an assignment target binds, in order; "" for targets that are no names."""
    if isinstance(node, cst.Name):
        return [node.value]
    if isinstance(node, cst.Tuple | cst.List):
        names: list[str] = []
        for element in node.elements:
            inner = element.value
            names += target_names(inner) if isinstance(inner, cst.Tuple | cst.List) else [
                inner.value if isinstance(inner, cst.Name) else ""
            ]
        return names
    return [""]


def _layer_calls(node: cst.CSTNode, handles: set[str]) -> list[cst.Assign]:
    """Assignments inside a loop body whose value is the call of a layer (by the loop's name or `layers[...]`)."""
    found: list[cst.Assign] = []
    for child in node.children:
        if isinstance(child, cst.FunctionDef | cst.ClassDef | cst.Lambda):
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
        found += _layer_calls(child, handles)
    return found


def _is_layer(func: Any, handles: set[str]) -> bool:
    if isinstance(func, cst.Attribute) and func.attr.value in ("forward", "__call__"):
        func = func.value
    if isinstance(func, cst.Name):
        return func.value in handles
    if isinstance(func, cst.Subscript):
        return dotted(func.value).rsplit(".", 1)[-1] in LAYER_LISTS
    return False


def prepare_stream(run: Interpreter, node: cst.For, iterable: V, frame: Frame) -> None:
    """Before a loop over layers: the names that run through it hold the stream in front of its first layer.

    Only names that are bound to nothing known are given a meaning (code fragments, parameters, intermediate tensors).
    """
    handles = {name for name in target_names(node.target) if name}
    calls = _layer_calls(node.body, handles)
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
    if isinstance(value, Tensor | LayerResult):
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


def missing(name: str) -> Unknown:
    """The value of a name or attribute about which nothing is known."""
    return Unknown(name)
