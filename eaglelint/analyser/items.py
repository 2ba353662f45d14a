"""Subscripts: reading and writing items of containers, state tuples, layer lists and tensors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser import depths
from eaglelint.analyser.file_values import Choice, Files, FileText, PathV
from eaglelint.analyser.target_values import HFOutput, HFStates, Layer, LayerResult, Layers
from eaglelint.analyser.values import (
    HOLE,
    AssumedInt,
    DictV,
    External,
    FuncV,
    Fused,
    ListV,
    Obj,
    Plain,
    RankStart,
    SetV,
    SourceStr,
    Special,
    Stacked,
    Tensor,
    Unknown,
    V,
    new_storage,
    note_of,
    with_note,
)

if TYPE_CHECKING:
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame


def item(run: Interpreter, owner: V, key: V, frame: Frame, node: Any) -> V:
    """owner[key]; Unknown when it can not be told."""
    if isinstance(owner, Choice):
        return _choose(run, owner, key, frame, node)
    if isinstance(owner, DictV):
        return _of_dict(run, owner, key, frame, node)
    if isinstance(owner, ListV):
        return _of_list(run, owner, key, frame, node)
    if isinstance(owner, tuple | str | bytes):
        return _of_plain(owner, key)
    if isinstance(owner, HFStates):
        return _of_states(run, owner, key, frame, node)
    if isinstance(owner, Layers):
        return _of_layers(run, owner, key, frame, node)
    if isinstance(owner, LayerResult):
        if key == 0:
            return run.objects.as_branch(owner)
        if key == 1 and owner.model.framework in ("sglang", "vllm"):
            return run.objects.as_residual(owner)
        return Unknown("layer output") if isinstance(key, int) else run.objects.as_stream(owner)
    if isinstance(owner, Tensor | Fused):
        return owner
    if isinstance(owner, Stacked):
        return _of_stacked(run, owner, key, frame, node)
    if isinstance(owner, HFOutput):
        if isinstance(key, str):
            return run.objects.attribute(owner, key, frame, node)
        if key == 0:
            return run.objects.attribute(owner, "last_hidden_state", frame, node)
        return run.objects.attribute(owner, "hidden_states", frame, node) if key in (-1, 1, 2) else Unknown("output")
    if isinstance(owner, Files):
        return PathV(owner.path) if not isinstance(key, slice) else owner
    if isinstance(owner, Obj):
        return _of_object(run, owner, key, frame, node)
    if isinstance(owner, Special):
        return owner.item(run, key)
    if isinstance(owner, External) and owner.path == "os.environ":
        return run.world.environment(key, MISSING_DEFAULT, frame, node)
    if isinstance(owner, External):
        return owner
    if isinstance(owner, FileText):
        return owner
    if isinstance(owner, Plain):
        return owner
    if isinstance(owner, range) and isinstance(key, int | slice):
        try:
            return owner[key]
        except IndexError:
            return Unknown("range")
    if isinstance(key, str) and key.endswith("lm_head.weight") and isinstance(owner, Unknown | Choice | Plain):
        return Plain(new_storage(), "lm_head.weight")
    if isinstance(owner, Unknown) and isinstance(key, str):
        return run.world.sample(str(key), owner)
    return owner if isinstance(owner, Unknown) else Unknown("item")


#: Marks that `os.environ[...]` was asked for without a default.
MISSING_DEFAULT = object()


def _of_plain(owner: tuple[V, ...] | str | bytes, key: V) -> V:
    if isinstance(owner, SourceStr) and isinstance(key, slice):
        from eaglelint.analyser.strings import source_str

        return source_str(owner.mapped[key], owner.note) if key.step in (None, 1) else str(owner)[key]
    if isinstance(owner, str) and HOLE in owner:
        return HOLE
    if isinstance(key, int | slice):
        try:
            return owner[key]
        except (IndexError, TypeError):
            return Unknown("index out of range")
    return Unknown("item")


def _of_dict(run: Interpreter, owner: DictV, key: V, frame: Frame, node: Any) -> V:
    if isinstance(key, str) and HOLE in key:
        return Unknown("key")
    if isinstance(key, str | int | float | bytes | tuple | bool) or key is None:
        try:
            if key in owner.items:
                return with_note(depths.read(owner.items[key], node, frame), owner.note)
        except TypeError:
            return Unknown("key")
        run.rec.outer_config(run, owner, key, node, frame)
        if owner.origin is not None and not owner.open and isinstance(key, str):
            run.rec.missing_key(run, owner, key, node, frame)
            return Unknown(f"key {key}")
        hole = [value for name, value in owner.items.items() if isinstance(name, str) and HOLE in name]
        if len(hole) == 1:
            return hole[0]
        return Unknown(f"key {key!r}")
    return Unknown("key", getattr(key, "where", None))


def _of_list(run: Interpreter, owner: ListV, key: V, frame: Frame, node: Any) -> V:
    if isinstance(key, slice):
        if owner.open and (key.stop is not None and key.stop < 0):
            return ListV(list(owner.items), True, owner.note)
        kept = owner.items[key]
        ids = {id(entry) for entry in kept}
        dropped = tuple(entry for entry in owner.items if id(entry) not in ids)
        sliced = frame.scope.where(node) if any(isinstance(entry, Tensor) for entry in owner.items) else None
        return ListV(kept, owner.open, owner.note, dropped, sliced)
    if isinstance(key, int):
        if -len(owner.items) <= key < len(owner.items) and not (owner.open and key < 0):
            return with_note(owner.items[key], owner.note)
        if owner.open and owner.items:
            return owner.items[-1] if key < 0 else owner.items[0]
    if isinstance(key, Unknown) and owner.items and len(owner.items) == 1:
        return owner.items[0]
    return Unknown("list entry", getattr(key, "where", None))


def _of_states(run: Interpreter, owner: HFStates, key: V, frame: Frame, node: Any) -> V:
    length = run.objects.hf_length(owner)
    if isinstance(key, slice):
        start, stop, step = key.indices(length)
        if step == 1:
            return ListV(
                [run.objects.hf_state(owner, i) for i in range(start, stop)], kind="hf", sliced=frame.scope.where(node)
            )
        return ListV([run.objects.hf_state(owner, i) for i in range(start, stop, step)], kind="hf")
    if isinstance(key, int) and not isinstance(key, bool):
        index = key if key >= 0 else length + key
        if 0 <= index < length:
            made = run.objects.hf_state(owner, index).step(
                frame.scope.where(node), f"hidden_states[{int(key)}] of the target"
            )
            return replace(made, note=note_of(key)) if isinstance(key, AssumedInt) else made
        run.rec.out_of_range(run, key, length - 1, node, frame)
        return Unknown("index out of range")
    if isinstance(key, tuple) and key:
        return _of_states(run, owner, key[0], frame, node)
    reason = key.reason if isinstance(key, Unknown) else "index"
    return Unknown(reason, getattr(key, "where", None), True)


def _of_layers(run: Interpreter, owner: Layers, key: V, frame: Frame, node: Any) -> V:
    if isinstance(key, int) and not isinstance(key, bool):
        index = owner.low + key if key >= 0 else owner.high + key
        if owner.low <= index < owner.high:
            return run.objects.layer(owner.model, type(key)(index) if key >= 0 else index)
        run.rec.out_of_range(run, key, owner.high - owner.low - 1, node, frame)
        return Unknown("layer out of range")
    if isinstance(key, slice):
        start, stop, _ = key.indices(owner.high - owner.low)
        relative = owner.relative or isinstance(key.start, RankStart)
        return Layers(owner.model, owner.low + start, owner.low + stop, relative)
    return Unknown(getattr(key, "reason", "layer"), getattr(key, "where", None), True)


def _of_stacked(run: Interpreter, owner: Stacked, key: V, frame: Frame, node: Any) -> V:
    keys = key if isinstance(key, tuple) else (key,)
    keys = tuple(k for k in keys if not (isinstance(k, Unknown) and k.reason == "..."))
    at = owner.axis if len(keys) > owner.axis else (0 if owner.axis == 0 else None)
    if at is None or at >= len(keys):
        if len(keys) == 1 and isinstance(keys[0], int):
            return replace(owner, axis=max(owner.axis - 1, 0))
        return owner
    chosen = keys[at]
    if isinstance(chosen, int):
        if -len(owner.parts) <= chosen < len(owner.parts):
            return owner.parts[chosen].step(frame.scope.where(node), f"entry {chosen} of the stored states")
        return Unknown("state out of range")
    if isinstance(chosen, slice):
        kept = owner.parts[chosen]
        dropped = tuple(part for part in owner.parts if part not in kept)
        return Stacked(kept, dropped, frame.scope.where(node), owner.axis)
    numbers = chosen.items if isinstance(chosen, ListV) and not chosen.open else ()
    if numbers and all(isinstance(n, int) and -len(owner.parts) <= n < len(owner.parts) for n in numbers):
        return Stacked(tuple(owner.parts[n] for n in numbers), (), frame.scope.where(node), owner.axis)
    return Unknown("states")


def _of_object(run: Interpreter, owner: Obj, key: V, frame: Frame, node: Any) -> V:
    if owner.cls is not None:
        from eaglelint.analyser.calls import call_method

        if owner.cls.lookup("__getitem__") is not None:
            return call_method(run, owner, "__getitem__", [key], {})
    if isinstance(key, str):
        return run.objects.attribute(owner, key, frame, node)
    stored = owner.attrs.get("%items")
    if isinstance(stored, DictV) and isinstance(key, int | str):
        return stored.items.get(key, Unknown("item"))
    return Unknown(owner.name, owner.where)


def _choose(run: Interpreter, owner: Choice, key: V, frame: Frame, node: Any) -> V:
    """Among values read from files the ones that have this key; when none has it, the key is missing."""
    fitting: list[V] = []
    for option in owner.options:
        if isinstance(option, DictV):
            if isinstance(key, str) and (key in option.items or option.open):
                fitting.append(option)
        elif not isinstance(key, str):
            fitting.append(option)
    if len(fitting) == 1 or (fitting and all(f is fitting[0] for f in fitting)):
        return item(run, fitting[0], key, frame, node)
    if not fitting:
        only = [option for option in owner.options if isinstance(option, DictV)]
        if len(only) == 1 and owner.exact and isinstance(key, str):
            return item(run, only[0], key, frame, node)
        return Unknown(f"key {key}" if isinstance(key, str) else "item")
    values = [item(run, option, key, frame, node) for option in fitting]
    from eaglelint.analyser.operations import join

    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    return result


def _overwrite(run: Interpreter, owner: Tensor | Plain, key: V, value: V, frame: Frame, node: Any) -> None:
    """tensor[...] = value: what it holds changes in place; as a whole, when the subscript leaves nothing out."""
    run.rec.mutated(run, owner.storage, node, frame)
    whole = key == slice(None) or (isinstance(key, Unknown) and key.reason == "...")
    name = node.value if isinstance(node, cst.Subscript) else None
    if whole and isinstance(name, cst.Name):
        state = run.objects.as_stream(value) if isinstance(value, LayerResult) else value
        if isinstance(state, Tensor):
            frame.rebind(name.value, replace(state, storage=owner.storage))


def set_item(run: Interpreter, owner: V, key: V, value: V, frame: Frame, node: Any) -> None:
    """owner[key] = value"""
    if isinstance(owner, External) and owner.path == "os.environ":
        if isinstance(key, str) and HOLE not in key:
            run.world.set_here[key] = value if isinstance(value, str) and HOLE not in value else Unknown(f"${key}")
        return
    if isinstance(owner, Tensor | Plain):
        _overwrite(run, owner, key, value, frame, node)
        return
    value = run.rec.stored(run, value, node, frame, owner)
    if isinstance(owner, DictV):
        run.touch(owner)
        if isinstance(key, str | int | float | bytes | tuple) or key is None:
            owner.items[key] = value
        else:
            owner.open = True
            owner.items[run.objects.opaque_key(key)] = value
    elif isinstance(owner, ListV):
        run.touch(owner)
        if isinstance(key, int) and -len(owner.items) <= key < len(owner.items):
            owner.items[key] = value
        else:
            owner.open = True
    elif isinstance(owner, Obj):
        run.touch(owner)
        if isinstance(key, str) and HOLE not in key:
            owner.attrs[key] = value
        else:
            stored = owner.attrs.setdefault("%items", DictV({}))
            if isinstance(stored, DictV) and isinstance(key, int | str):
                stored.items[key] = value
    elif isinstance(owner, Layers) and isinstance(key, int):
        if isinstance(value, Obj) and value.cls is not None:
            from eaglelint.analyser.models import replace_layer

            # The module may hold the layer that stood here before: that one stays what it was.
            around = owner.model.layers[int(key)] = Layer(owner.model, int(key), obj=value)
            forward = value.cls.lookup("forward")
            if isinstance(forward, FuncV):
                replace_layer(run, around, replace(forward, bound=value), node, frame)
    elif isinstance(owner, SetV):
        owner.open = True
    elif isinstance(owner, Special):
        owner.set_item(run, key, value)
