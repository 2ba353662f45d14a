"""torch and numpy on hidden states: what keeps a state, what concatenates, what saves."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser import files
from eaglelint.analyser.file_values import Choice
from eaglelint.analyser.patterns import dotted
from eaglelint.analyser.target_values import HFStates, LayerResult
from eaglelint.analyser.values import (
    External,
    Fused,
    ListV,
    Plain,
    Stacked,
    Tensor,
    Unknown,
    V,
    new_storage,
)

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame

#: Methods that give the same values in the same memory.
_VIEWS = frozenset(
    {
        "detach",
        "squeeze",
        "unsqueeze",
        "view",
        "reshape",
        "transpose",
        "permute",
        "expand",
        "narrow",
        "numpy",
        "requires_grad_",
        "contiguous",
        "pin_memory",
        "flatten",
        "t",
        "movedim",
        "swapaxes",
        "select",
        "ravel",
        "view_as",
    }
)
#: Methods that give the same values in other memory.
_COPIES = frozenset(
    {
        "clone",
        "copy",
        "cpu",
        "cuda",
        "to",
        "float",
        "half",
        "bfloat16",
        "double",
        "type",
        "type_as",
        "repeat",
        "astype",
        "index_select",
        "masked_select",
        "repeat_interleave",
        "__deepcopy__",
        "tensor",
        "gather",
    }
)
#: Methods whose names end as those that change a tensor in place, which leave its values as they are.
_HARMLESS = frozenset(
    {"requires_grad_", "share_memory_", "squeeze_", "unsqueeze_", "transpose_", "t_", "swapaxes_", "detach_", "rename_"}
)
#: How the matrix of a language-model head is called.
_HEAD = re.compile(
    r"(?:lm|target|teacher|verifier|output|vocab)_?head|unembed|embed_out|output_layer|(?:^|[. ])head(?:[. ]|$)"
)
_CASTS = {"float": "float32", "half": "float16", "bfloat16": "bfloat16", "double": "float64"}
_NARROW = ("float16", "half", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float32", "float64", "int8")


def _stream(run: Interpreter, value: V) -> V:
    return run.objects.as_stream(value) if isinstance(value, LayerResult) else value


def method(run: Interpreter, owner: V, name: str, site: CallSite) -> V:
    """A method of a hidden state, of fused or stacked states, or of another tensor."""
    owner = _stream(run, owner)
    if name.endswith("_") and name not in _HARMLESS and not name.endswith("__"):
        storage = getattr(owner, "storage", None)
        if storage is not None:
            run.rec.mutated(run, storage, site.node, site.frame)
        result = owner if isinstance(owner, Plain) else _after_in_place(run, owner, name, site)
        changed = site.node.func.value if isinstance(site.node.func, cst.Attribute) else None
        if isinstance(changed, cst.Name) and result is not owner:
            site.frame.rebind(changed.value, result)
        return result
    if name == "register_hook":
        return None
    if isinstance(owner, Stacked):
        return _stacked_method(run, owner, name, site)
    if name in ("chunk", "split", "tensor_split", "unbind") and isinstance(owner, Fused):
        return tuple(owner.parts) if name != "unbind" else owner
    if isinstance(owner, Plain):
        kept = name in _VIEWS or name in _COPIES
        return Plain(new_storage(), owner.what if kept else name, owner.origin if kept else 0)
    if name in _VIEWS:
        return owner
    if name in _COPIES:
        return _cast(run, owner, name, site)
    if name in ("tolist", "item", "numel", "dim", "size", "nbytes", "element_size"):
        return Unknown(name)
    if name in ("add", "__add__"):
        from eaglelint.analyser.operations import binary

        return binary(run, "Add", owner, site.get(0, "other"))
    return Plain(new_storage(), name)


def _after_in_place(run: Interpreter, owner: V, name: str, site: CallSite) -> V:
    """What a tensor holds after a method changed it: a sum, a copy, or for anything else what nobody knows."""
    other = site.get(0, "other", site.kwargs.get("src"))
    if isinstance(owner, Tensor) and name == "add_":
        from eaglelint.analyser.operations import binary

        result = binary(run, "Add", owner, other)
    elif isinstance(owner, Tensor) and name == "copy_":
        result = _stream(run, other)
    else:
        return owner
    if isinstance(result, Plain):
        return Plain(owner.storage, result.what, result.source)
    return replace(result, storage=owner.storage) if isinstance(result, Tensor) else result


def _cast(run: Interpreter, owner: V, name: str, site: CallSite) -> V:
    dtype = _CASTS.get(name, "")
    if name in ("to", "type", "astype"):
        for value in [*site.args, *site.kwargs.values()]:
            text = value.path if isinstance(value, External) else value if isinstance(value, str) else ""
            last = text.rsplit(".", 1)[-1]
            if last in _NARROW:
                dtype = last
    if isinstance(owner, Tensor):
        made = owner.copied()
        if dtype:
            run.rec.cast(run, owner, dtype, site.node, site.frame)
            made = replace(made, state=made.state._replace(dtype=dtype))
        return made
    if isinstance(owner, Fused) and dtype:
        for part in owner.parts[:1]:
            run.rec.cast(run, part, dtype, site.node, site.frame)
        parts = tuple(replace(part, state=part.state._replace(dtype=dtype)) for part in owner.parts)
        return replace(owner, parts=parts)
    return owner


def _stacked_method(run: Interpreter, owner: Stacked, name: str, site: CallSite) -> V:
    if name in ("flatten", "reshape", "view"):
        run.rec.fused(run, list(owner.parts), site.node, site.frame, owner.dropped, owner.sliced)
        return Fused(owner.parts, site.frame.scope.where(site.node))
    if name == "unbind":
        return tuple(owner.parts)
    if name == "index_select":
        return run.objects.item(owner, site.get(1, "index"), site.frame, site.node)
    if name in ("transpose", "permute"):
        return replace(owner, axis=1 - owner.axis if owner.axis in (0, 1) else owner.axis)
    return owner if name in _VIEWS or name in _COPIES else Plain(new_storage(), name)


# ---- functions -----------------------------------------------------------------------------------------------------


def _pieces(run: Interpreter, value: V) -> list[V] | None:
    if isinstance(value, ListV):
        return [_stream(run, item) for item in value.items]
    if isinstance(value, tuple):
        return [_stream(run, item) for item in value]
    if isinstance(value, HFStates):
        return [run.objects.hf_state(value, i) for i in range(run.objects.hf_length(value))]
    if isinstance(value, Choice):
        for option in value.options:
            found = _pieces(run, option)
            if found is not None:
                return found
    return None


def _cat(run: Interpreter, site: CallSite) -> V:
    """torch.cat and its relatives: along the feature dimension states become fused, along others they stay."""
    given = site.get(0, "tensors")
    dim = site.kwargs.get("dim", site.kwargs.get("axis", site.args[1] if len(site.args) > 1 else 0))
    pieces = _pieces(run, given)
    if pieces is None:
        return Plain(new_storage(), "cat") if not isinstance(given, Unknown) else Unknown(given.reason, given.where)
    if isinstance(given, HFStates) or (isinstance(given, ListV) and given.kind == "hf" and _whole(run, given)):
        run.rec.whole_tuple(run, pieces, site.node, site.frame)
    parts: list[Tensor] = []
    for piece in pieces:
        if isinstance(piece, Tensor):
            parts.append(piece)
        elif isinstance(piece, Fused):
            parts += piece.parts
        elif isinstance(piece, Choice):
            unknown = Unknown("which of the files", site.frame.scope.spot(site.node))
            run.rec.unresolved(run, unknown, site.node, site.frame)
            return unknown
        elif isinstance(piece, Stacked) and len(pieces) == 1:
            return piece
        elif isinstance(piece, Unknown):
            if piece.index or any(isinstance(p, Tensor) for p in pieces):
                run.rec.unresolved(run, piece, site.node, site.frame)
            return Unknown(piece.reason, piece.where)
        else:
            return Plain(new_storage(), "cat")
    if not parts:
        return Plain(new_storage(), "cat")
    if len(pieces) == 1 or (len({p.state.boundary for p in parts}) == 1 and dim != -1):
        return pieces[0]
    if dim == 0:
        return Stacked(tuple(parts), getattr(given, "dropped", ()), getattr(given, "sliced", None), 0)
    if bool(getattr(given, "open", False)):
        return Plain(new_storage(), "cat")  # it holds more, or less, than is known
    dropped = getattr(given, "dropped", ())
    grown = next((piece for piece in pieces if isinstance(piece, Fused)), None)
    run.rec.fused(run, parts, site.node, site.frame, dropped, getattr(given, "sliced", None), given, grown)
    return Fused(tuple(parts), site.frame.scope.where(site.node))


def _whole(run: Interpreter, given: ListV) -> bool:
    return len(given.items) > 8


def _stack(run: Interpreter, site: CallSite) -> V:
    pieces = _pieces(run, site.get(0, "tensors"))
    dim = site.kwargs.get("dim", site.kwargs.get("axis", site.args[1] if len(site.args) > 1 else 0))
    given = site.get(0, "tensors")
    if pieces and all(isinstance(piece, Tensor) for piece in pieces):
        axis = dim if isinstance(dim, int) and dim >= 0 else 1
        return Stacked(tuple(pieces), getattr(given, "dropped", ()), getattr(given, "sliced", None), axis)
    return Plain(new_storage(), "stack")


def _linear(run: Interpreter, site: CallSite) -> V:
    """F.linear(x, lm_head.weight), torch.matmul(x, lm_head.weight.T): the verifier's head applied by hand."""
    weight = site.get(1, "weight", site.kwargs.get("other", site.kwargs.get("mat2")))
    node = site.node.args[1].value if len(site.node.args) > 1 else None
    return multiplied(run, site.get(0, "input"), weight, node, site.node, site.frame)


def multiplied(run: Interpreter, value: V, weight: V, written: Any, node: Any, frame: Frame) -> Plain:
    """A state times a matrix (`written` is its node): logits, when the matrix is that of the head."""
    value = _stream(run, value)
    said = f"{dotted(written)} {getattr(weight, 'what', '')} {getattr(weight, 'reason', '')}".lower()
    if isinstance(value, Tensor) and _HEAD.search(said):
        run.rec.to_head(run, value, node, frame)
    return Plain(new_storage(), "linear")


def _keep_first(run: Interpreter, site: CallSite) -> V:
    value = _stream(run, site.get(0, "input"))
    return value if isinstance(value, Tensor | Fused | Stacked) else Plain(new_storage(), "tensor")


def _add(run: Interpreter, site: CallSite) -> V:
    from eaglelint.analyser.operations import binary

    result = binary(run, "Add", site.get(0, "input"), site.get(1, "other"))
    out = site.kwargs.get("out")
    if isinstance(out, Tensor | Plain):
        run.rec.mutated(run, out.storage, site.node, site.frame)
        result = replace(result, storage=out.storage)
        name = next(arg.value for arg in site.node.args if arg.keyword is not None and arg.keyword.value == "out")
        if isinstance(name, cst.Name):
            site.frame.rebind(name.value, result)
    return result


def unknown_function(run: Interpreter, name: str, site: CallSite) -> V:
    """A function from outside that takes hidden states: only well-known names keep them."""
    if name in ("pad", "contiguous", "clone", "detach", "to_cpu", "squeeze", "unsqueeze", "as_tensor", "from_numpy"):
        return _keep_first(run, site)
    if name.startswith("tensor_model_parallel_all_") or name in ("all_gather", "all_reduce"):
        return _keep_first(run, site)
    return Plain(new_storage(), name)


def _checkpoint(run: Interpreter, site: CallSite) -> V:
    """torch.utils.checkpoint.checkpoint(function, *args): the call of the function."""
    from eaglelint.analyser.calls import invoke

    if not site.args:
        return Unknown("checkpoint")
    return invoke(run, site.args[0], replace(site, args=site.args[1:], kwargs={}))


def _is_tensor(run: Interpreter, site: CallSite) -> V:
    value = site.get(0, "obj")
    if isinstance(value, LayerResult):
        return False if value.model.framework in ("sglang", "vllm") else Unknown("is_tensor")
    return (
        isinstance(value, Tensor | Fused | Stacked | Plain) if not isinstance(value, Unknown) else Unknown("is_tensor")
    )


def _linspace(run: Interpreter, site: CallSite) -> V:
    """numpy.linspace / torch.linspace over known ends: a list of floats."""
    start, stop = site.get(0, "start"), site.get(1, "stop", site.kwargs.get("end"))
    number = site.get(2, "num", site.kwargs.get("steps", 50))
    if (
        not all(isinstance(v, int | float) for v in (start, stop))
        or not isinstance(number, int)
        or not 0 < number < 500
    ):
        return Unknown("linspace")
    step = (stop - start) / (number - 1) if number > 1 else 0.0
    values: list[V] = [start + step * n for n in range(number)]
    dtype = site.kwargs.get("dtype")
    if dtype is not None and ("int" in as_name(dtype) or "long" in as_name(dtype)):
        values = [int(v) for v in values]
    return ListV(values, kind="array")


def as_name(value: V) -> str:
    """The last part of the name of something from outside."""
    return value.path.rsplit(".", 1)[-1] if isinstance(value, External) else str(value)


def _tensor_of(run: Interpreter, site: CallSite) -> V:
    value = site.get(0, "data")
    if isinstance(value, Tensor | Fused | Stacked):
        return value
    if isinstance(value, ListV) and value.items and all(isinstance(i, int | float) for i in value.items):
        return ListV(list(value.items), value.open, value.note, kind="array")
    return Plain(new_storage(), "tensor")


_TORCH: dict[str, Callable[[Any, Any], V]] = {
    "cat": _cat,
    "concat": _cat,
    "concatenate": _cat,
    "stack": _stack,
    "add": _add,
    "matmul": _linear,
    "mm": _linear,
    "is_tensor": _is_tensor,
    "clone": _keep_first,
    "squeeze": _keep_first,
    "unsqueeze": _keep_first,
    "detach": _keep_first,
    "from_numpy": _keep_first,
    "as_tensor": _tensor_of,
    "tensor": _tensor_of,
    "linspace": _linspace,
    "reshape": _keep_first,
    "flatten": _keep_first,
}
FUNCTIONS: dict[str, Any] = {
    **{f"torch.{name}": function for name, function in _TORCH.items()},
    "numpy.concatenate": _cat,
    "numpy.hstack": _cat,
    "numpy.stack": _stack,
    "numpy.linspace": _linspace,
    "numpy.array": _tensor_of,
    "numpy.asarray": _tensor_of,
    "numpy.ascontiguousarray": _keep_first,
    "torch.hstack": _cat,
    "torch.nn.functional.linear": _linear,
    "torch.nn.functional.pad": _keep_first,
    "torch.save": files.torch_save,
    "torch.load": files.loader("torch"),
    "numpy.savez": files.save_arrays,
    "numpy.savez_compressed": files.save_arrays,
    "numpy.save": files.save_array,
    "numpy.load": files.loader("numpy"),
    "pickle.dump": files.dump("pickle"),
    "pickle.load": files.load_handle("pickle"),
    "joblib.dump": files.torch_save,
    "joblib.load": files.loader("torch"),
}
BY_NAME: dict[str, Any] = {
    "save_file": files.save_tensors,
    "load_file": files.loader("safetensors"),
    "safe_open": files.safe_open,
    "checkpoint": _checkpoint,
}
