"""Methods of values of the domain: text, containers, paths, tensors, layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eaglelint.analyser import containers, depths, engines, models, patches, paths, tensors, texts
from eaglelint.analyser.file_values import Choice, FileHandle, Files, FileText, PathV
from eaglelint.analyser.target_values import ConfigV, HFOutput, HFStates, Layer, LayerResult, Layers, ModelV, Module
from eaglelint.analyser.values import DictV, Fused, ListV, Plain, SetV, Special, Stacked, Tensor, Unknown, V, note_of

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter


def call(run: Interpreter, owner: V, name: str, site: CallSite) -> V:
    """owner.name(...)"""
    if name == "__setitem__" and len(site.args) == 2:
        run.objects.set_item(owner, site.args[0], site.args[1], site.frame, site.node)
        return None
    if name == "__getitem__" and len(site.args) == 1:
        return run.objects.item(owner, site.args[0], site.frame, site.node)
    if isinstance(owner, Tensor | Fused | Stacked | Plain | LayerResult):
        return tensors.method(run, owner, name, site)
    if isinstance(owner, ListV):
        return _list_method(run, owner, name, site)
    if isinstance(owner, DictV):
        return _dict_method(run, owner, name, site)
    if isinstance(owner, str):
        return texts.method(run, owner, name, site)
    if isinstance(owner, SetV):
        return _set_method(run, owner, name, site)
    if isinstance(owner, Choice):
        return _choice_method(run, owner, name, site)
    if isinstance(owner, PathV | Files):
        return paths.method(run, owner, name, site)
    if isinstance(owner, FileHandle):
        return paths.handle_method(run, owner, name, site)
    if isinstance(owner, FileText):
        return patches.method(run, owner, name, site)
    if isinstance(owner, Layer | Module) and name.startswith("register_forward"):
        return models.register_hook(run, owner, name, site)
    if isinstance(owner, Layer) and name in ("forward", "__call__"):
        return models.call_layer(run, owner, site) if name == "__call__" else models.layer_forward(run, owner, site)
    if isinstance(owner, Module) and name in ("forward", "__call__"):
        return models.call_module(run, owner, site)
    if isinstance(owner, ModelV):
        return engines.model_method(run, owner, name, site)
    if isinstance(owner, ConfigV):
        return run.world.config_method(run, owner, name, site)
    if isinstance(owner, Special):
        return owner.call_method(run, name, site)
    if isinstance(owner, HFOutput) and name == "get":
        key = site.get(0, "key")
        return run.objects.attribute(owner, key, site.frame, site.node) if isinstance(key, str) else Unknown("get")
    if isinstance(owner, tuple | range) and name in ("index", "count"):
        return _places(list(owner), name, site)
    if isinstance(owner, Layers | HFStates | tuple | range):
        if name in ("index", "count"):
            return Unknown(name)
        return owner
    if isinstance(owner, Unknown) and name in ("append", "extend", "add"):
        for value in site.args:
            run.rec.stored(run, value, site.node, site.frame, None)
        return None
    return Unknown(f"{name}()")


def _list_method(run: Interpreter, owner: ListV, name: str, site: CallSite) -> V:
    if owner.kind == "array" and name in ("tolist", "astype", "round", "long", "int", "copy", "unique"):
        items = owner.items
        if name == "round" or (name == "astype" and items and all(isinstance(i, float) for i in items)):
            items = [round(i) if name == "round" else int(i) for i in items if isinstance(i, int | float)]
        elif name in ("long", "int"):
            items = [int(i) for i in items]
        return ListV(list(items), owner.open, owner.note, kind="array")
    run.touch(owner)
    if name in ("append", "appendleft"):
        value = site.get(0, "object")
        value = run.rec.stored(run, value, site.node, site.frame, owner)
        owner.items.insert(0, value) if name == "appendleft" else owner.items.append(value)
        owner.note = owner.note or note_of(value)
        if run.choosing and owner.chosen is None and run.choosing[-1].chose(value):
            owner.chosen = run.choosing[-1].written
        return None
    if name == "extend":
        value = site.get(0, "iterable")
        from eaglelint.analyser.calls import iterate

        found = iterate(run, value)
        if found is None:
            owner.open = True
        for item in found or []:
            owner.items.append(run.rec.stored(run, item, site.node, site.frame, owner))
        return None
    if name == "insert":
        index = site.get(0, "index")
        if isinstance(index, int):
            owner.items.insert(index, run.rec.stored(run, site.get(1, "object"), site.node, site.frame, owner))
        else:
            owner.open = True
        return None
    if name in ("pop", "popleft"):
        index = site.get(0, "index", -1) if name == "pop" else 0
        if isinstance(index, int) and -len(owner.items) <= index < len(owner.items):
            return owner.items.pop(index)
        return Unknown("pop")
    if name == "clear":
        owner.items.clear()
        owner.open = False
        return None
    if name == "sort":
        made = containers.in_order(run, _with_self(owner, site))
        owner.items = made.items if isinstance(made, ListV) else owner.items
        return None
    if name == "reverse":
        owner.items.reverse()
        return None
    if name == "copy":
        return ListV(list(owner.items), owner.open, owner.note)
    if name == "remove":
        value = site.get(0, "value")
        if value in owner.items:
            owner.items.remove(value)
        return None
    if name in ("index", "count"):
        return _places(owner.items, name, site) if not owner.open else Unknown(name)
    if name == "tolist":
        return ListV(list(owner.items), owner.open, owner.note)
    return Unknown(f"{name}()")


def _places(items: list[V], name: str, site: CallSite) -> V:
    """The first place of a value among items, or how often it is there."""
    value = site.get(0, "value")
    if not isinstance(value, int | str) or any(isinstance(item, Unknown) for item in items):
        return Unknown(name)
    found = [n for n, item in enumerate(items) if isinstance(item, int | str) and item == value]
    if name == "count":
        return len(found)
    return found[0] if found else Unknown("index")


def _with_self(owner: V, site: CallSite) -> CallSite:
    from eaglelint.analyser.calls import CallSite as Site

    return Site([owner, *site.args], site.kwargs, site.node, site.frame)


def _dict_method(run: Interpreter, owner: DictV, name: str, site: CallSite) -> V:
    if name == "values":
        return ListV(list(owner.items.values()), owner.open, owner.note)
    if name == "keys":
        return ListV(list(owner.items), owner.open, owner.note)
    if name == "items":
        return ListV([(k, v) for k, v in owner.items.items()], owner.open, owner.note)
    if name in ("get", "pop", "setdefault"):
        key = site.get(0, "key")
        default = site.get(1, "default")
        try:
            present = key in owner.items
        except TypeError:
            return Unknown(name)
        if present:
            found = depths.read(owner.items[key], site.node, site.frame)
            if name == "pop":
                owner.items.pop(key)
            return found
        if name == "setdefault" and isinstance(key, str | int | tuple):
            run.touch(owner)
            owner.items[key] = default
            return default
        if not present and name == "get":
            run.rec.outer_config(run, owner, key, site.node, site.frame)
        if owner.open or isinstance(key, Unknown):
            return default if default is not None and len(site.args) > 1 else Unknown(f"key {key}")
        return default
    if name == "update":
        run.touch(owner)
        value = site.get(0, "other")
        if isinstance(value, DictV):
            for key, item in value.items.items():
                owner.items[key] = run.rec.stored(run, item, site.node, site.frame, owner)
            owner.open = owner.open or value.open
        elif value is not None:
            owner.open = True
        owner.items.update(site.kwargs)
        return None
    if name == "clear":
        run.touch(owner)
        owner.items.clear()
        owner.open = False
        return None
    if name == "copy":
        return DictV(dict(owner.items), owner.open, owner.note, owner.origin)
    if name == "files":
        return ListV(list(owner.items), owner.open)
    if name in ("__enter__",):
        return owner
    return Unknown(f"{name}()")


def _set_method(run: Interpreter, owner: SetV, name: str, site: CallSite) -> V:
    if name == "add":
        value = site.get(0, "element")
        if not any(type(value) is type(item) and value == item for item in owner.items):
            owner.items.append(value)
        return None
    if name in ("update", "union", "difference", "intersection"):
        from eaglelint.analyser.operations import binary

        made = containers.new_set(run, site)
        if not isinstance(made, SetV):
            return SetV(list(owner.items), True)
        op = {"difference": "Subtract", "intersection": "BitAnd"}.get(name, "BitOr")
        result = binary(run, op, owner, made)
        if name == "update" and isinstance(result, SetV):
            owner.items, owner.open = result.items, result.open
            return None
        return result
    if name == "copy":
        return SetV(list(owner.items), owner.open, owner.note, owner.where)
    return Unknown(f"{name}()")


def _choice_method(run: Interpreter, owner: Choice, name: str, site: CallSite) -> V:
    if name == "get" and isinstance(site.get(0, "key"), str):
        from eaglelint.analyser.items import item

        found = item(run, owner, site.args[0], site.frame, site.node)
        return found if not isinstance(found, Unknown) else site.get(1, "default", found)
    for option in owner.options:
        found = call(run, option, name, site)
        if not isinstance(found, Unknown):
            return found
    return Unknown(f"{name}()")
