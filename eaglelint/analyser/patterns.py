"""Questions about the syntax of a node that the abstract execution asks."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from eaglelint.analyser.memory import remembered
from eaglelint.analyser.values import Unknown, V

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
_DRAFTER = re.compile(r"^fc$|draft|eagle|speculator|^head$|_head$(?<!lm_head)", re.IGNORECASE)
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


#: For each class of nodes the fields that hold nodes, and for each class of values whether it is one of nodes.
_field_names: dict[type, tuple[str, ...]] = {}
_node_kinds: dict[type, bool] = {}


def _fields(kind: type) -> tuple[str, ...]:
    names = _field_names.get(kind)
    if names is None:
        every = getattr(kind, "__dataclass_fields__", ())
        names = _field_names[kind] = tuple(name for name in every if not _IDLE.search(name))
    return names


def _is_node(value: Any) -> bool:
    """Whether a value is a node: isinstance takes ten times as long with libcst's abstract classes."""
    kind = type(value)
    known = _node_kinds.get(kind)
    if known is None:
        known = _node_kinds[kind] = issubclass(kind, cst.CSTNode)
    return known


def kids(node: Any) -> list[Any]:
    """The nodes inside a node, in order. (libcst's own `children` rebuilds every node that it visits.)"""
    found: list[Any] = []
    for name in _fields(type(node)):
        value = getattr(node, name)
        if value is None:
            continue
        if _is_node(value):
            found.append(value)
        elif type(value) is tuple or type(value) is list:
            found += [item for item in value if _is_node(item)]
    return found


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


@remembered
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
    r"save|load|safe_open|draft|specul|Engine(Args)?$|^LLM$|Popen|subprocess|from_pretrained|model|layer|^cat$|concat|stack|"
    r"replace|write|head|matmul|linear|softmax",
    re.IGNORECASE,
)


@remembered
def interesting(node: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether a function uses any name, or short string, that speaks of hidden states, layers or drafters."""
    stack: list[Any] = [node.body, node.params, *([node.name] if isinstance(node, cst.FunctionDef) else [])]
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


@remembered
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


@remembered
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


def names_drafter(node: cst.Call) -> bool:
    """Whether what is called is named as a drafter, or as the projection in front of it."""
    return any(_DRAFTER.search(part) for part in dotted(node.func).split("."))


def names_norm(node: Any) -> bool:
    """Whether what is called is named as the final norm of a model."""
    last = dotted(node).rsplit(".", 1)[-1]
    return not isinstance(node, cst.Call) and (last in NORM_NAMES or last.endswith("final_norm"))


@remembered
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


def after_model(text: str) -> bool:
    """Whether a fragment belongs to the function that calls the model and hands its result to the head."""
    return "logits_processor(" in text or "self.lm_head" in text


def is_residual(name: str) -> bool:
    """Whether a name means the residual of a fused-residual loop."""
    return "resid" in name.lower()


def element_reason(iterable: V, node: Any) -> str:
    """What is not known about the elements of an iterable: its own reason, else its name."""
    reason = iterable.reason if isinstance(iterable, Unknown) else getattr(iterable, "name", "")
    return str(reason) if reason and reason != "element" else dotted(node) or "element"
