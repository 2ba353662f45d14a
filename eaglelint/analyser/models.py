"""Target models, their layers, norms, embeddings and hooks: what calling them does to hidden states."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eaglelint.analyser import inside
from eaglelint.analyser.operations import with_state
from eaglelint.analyser.target_values import HFOutput, Layer, LayerResult, ModelV, Module
from eaglelint.analyser.values import (
    External,
    FuncV,
    Fused,
    Obj,
    Partial,
    Plain,
    RankIndex,
    Tensor,
    Unknown,
    V,
    new_storage,
)

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame

_ENGINES = ("sglang", "vllm")


def stream_argument(values: list[V]) -> Tensor | None:
    """The hidden state among the arguments of a layer: the stream or the branch, not the residual."""
    found = None
    for value in values:
        if isinstance(value, Tensor) and value.state.part != "residual":
            return value
        if isinstance(value, Tensor):
            found = value
    return found


def call_layer(run: Interpreter, layer: Layer, site: CallSite) -> V:
    """Decoder layer i: takes boundary i to i + 1. Its own body runs for what it captures inside."""
    given = stream_argument([*site.args, *site.kwargs.values()])
    entering = given.state.boundary if given is not None else layer.index
    _fire(run, layer.model, "pre", layer.index, site, entering)
    patched = layer.attrs.get("forward")
    if isinstance(patched, FuncV):
        run.call_function(patched, site.args, site.kwargs)
    elif layer.obj is not None and layer.obj.cls is not None:
        forward = layer.obj.cls.lookup("forward")
        if isinstance(forward, FuncV) and run.wrapped_calls < 4:
            run.wrapped_calls += 1
            outer, run.rec.inside = run.rec.inside, []
            try:
                result = run.call_function(replace(forward, bound=layer.obj), site.args, site.kwargs)
                inside.settle(run, run.rec.inside, result, layer.model, entering + 1)
            finally:
                run.wrapped_calls -= 1
                run.rec.inside = outer
    _fire(run, layer.model, "post", layer.index, site, entering + 1)
    return LayerResult(layer.model, entering + 1)


def layer_forward(run: Interpreter, layer: Layer, site: CallSite) -> V:
    """The forward that a layer had from the start: no hooks, and nothing that was put in its place later."""
    given = stream_argument([*site.args, *site.kwargs.values()])
    return LayerResult(layer.model, (given.state.boundary if given is not None else layer.index) + 1)


def replace_layer(run: Interpreter, layer: Layer, forward: V, node: Any, frame: Frame) -> None:
    """A layer of a model gets another forward, or another module is put around it: it runs when the model runs."""
    if isinstance(forward, FuncV):
        layer.model.hooks.append(("forward", int(layer.index), forward, node, frame))
        layer.model.ran = False
        run.world.hooked(run, layer)


def call_module(run: Interpreter, module: Module, site: CallSite) -> V:
    """The embedding, the final norm or the head of a model."""
    if module.kind == "embed":
        return run.objects.state(module.model, 0)
    values = [*site.args, *site.kwargs.values()]
    state = stream_argument([run.objects.as_stream(v) if isinstance(v, LayerResult) else v for v in values])
    if module.kind == "lm_head":
        if state is not None:
            run.rec.to_head(run, state, site.node, site.frame)
        return Plain(new_storage(), "logits")
    depth = run.depth_of(module.model)
    if state is None:
        unknown = all(isinstance(v, Unknown) for v in values) if values else True
        if not unknown or not site.frame.scope.loose:
            return Plain(new_storage(), "normed")
        state = run.objects.state(module.model, depth)
    depth = state.depth or depth
    second = any(isinstance(v, Tensor) and v.state.part == "residual" for v in values) or (
        len(values) >= 2 and any(v is not state for v in values[1:2])
    )
    if state.state.normed and state.state.boundary == depth:
        run.rec.normed_again(run, state, site.node, site.frame)
    total = with_state(state, part="stream")
    inner = state.state.boundary != depth
    normed = Plain(new_storage(), "normed") if inner else with_state(total, normed=True)
    return (normed, total) if second else normed


def model_of_arguments(run: Interpreter, func: V, site: CallSite) -> ModelV:
    """The model whose norm or head is called: that of the state it is given, else that of the object it belongs to."""
    state = stream_argument([*site.args, *site.kwargs.values()])
    if state is not None and state.model is not None:
        return state.model
    return run.objects.model_of(func) if isinstance(func, Obj) else run.objects.anonymous(site.frame)


def run_model(run: Interpreter, model: ModelV, site: CallSite) -> V:
    """Running a whole model: patched forwards and hooks happen, then it gives its output."""
    model.ran = True
    forward = model.attrs.get("forward")
    if isinstance(forward, FuncV | Partial) and not any(f.node is getattr(forward, "node", None) for f in run.stack):
        from eaglelint.analyser.calls import invoke

        return invoke(run, forward, site)
    fire_hooks(run, model, site)
    if model.engine_states is not None:
        return Obj("output", attrs={"hidden_states": model.engine_states})
    wants = site.kwargs.get("output_hidden_states", model.all_states)
    if model.framework in _ENGINES:
        return Obj("output", where=site.frame.scope.spot(site.node))
    return HFOutput(model, wants is not False and wants is not None, site.frame.scope.spot(site.node))


def fire_hooks(run: Interpreter, model: ModelV, site: CallSite | None) -> None:
    """Call the hooks of a model as one forward pass would: embedding, each layer in order, final norm, the model."""
    model.ran = True
    if not model.hooks:
        return
    depth = run.depth_of(model)
    _fire(run, model, "post", "embed", site, 0)
    for index in range(depth):
        _fire(run, model, "pre", index, site, index)
        _fire(run, model, "forward", index, site, index)
        _fire(run, model, "post", index, site, index + 1)
    _fire(run, model, "pre", "norm", site, depth)
    _fire(run, model, "post", "norm", site, depth)
    _fire(run, model, "post", "model", site, depth)


def _fire(run: Interpreter, model: ModelV, kind: str, place: int | str, site: CallSite | None, boundary: int) -> None:
    for hook_kind, where, func, node, frame in list(model.hooks):
        if hook_kind != kind or where != place:
            continue
        module: V = Layer(model, place) if isinstance(place, int) else Module(str(place), model)
        if isinstance(place, int):
            module = run.objects.layer(model, place)
        args = _entering(run, model, boundary if kind != "post" else max(boundary - 1, 0), _style(model, func))
        given: list[V] = [module, args] if kind != "forward" else [*args]
        if kind == "post":
            given.append(_output(run, model, place, boundary))
        previous, run.rec.hook = run.rec.hook, (node, frame, model)
        try:
            call_any(run, func, given)
        finally:
            run.rec.hook = previous


def call_any(run: Interpreter, func: V, args: list[V]) -> V:
    """Call a callback with positional arguments, as many as it takes."""
    if isinstance(func, Partial):
        if isinstance(func.func, FuncV):
            return run.call_function(func.func, [*func.args, *args], dict(func.kwargs))
        return Unknown("callback")
    if isinstance(func, FuncV):
        return run.call_function(func, args, {})
    if isinstance(func, Obj) and func.cls is not None:
        method = func.cls.lookup("__call__")
        if isinstance(method, FuncV):
            return run.call_function(replace(method, bound=func), args, {})
    return Unknown("callback")


def _style(model: ModelV, func: V) -> str:
    """Whose calling convention a hook expects: an engine's when it speaks of a residual."""
    if model.framework in _ENGINES:
        return model.framework
    inner = func.func if isinstance(func, Partial) else func
    if isinstance(inner, FuncV):
        start, end = inner.scope.locate(inner.node)
        text = inner.scope.text.text[start:end]
        if "residual" in text:
            return "sglang" if "forward_batch" in text else "vllm"
    return model.framework


def _entering(run: Interpreter, model: ModelV, boundary: int, style: str) -> tuple[V, ...]:
    """The positional arguments that a layer gets: engines pass positions first and the residual apart."""
    stream = run.objects.state(model, boundary)
    if style not in _ENGINES:
        return (stream,)
    if boundary == 0:
        parts: tuple[V, V] = (stream, None)
    else:
        parts = (with_state(stream, part="branch"), with_state(stream, part="residual"))
    if style == "sglang":
        return (Unknown("positions"), parts[0], Unknown("forward_batch"), parts[1])
    return (Unknown("positions"), parts[0], parts[1])


def _output(run: Interpreter, model: ModelV, place: int | str, boundary: int) -> V:
    if place == "embed":
        return run.objects.state(model, 0)
    if place == "norm":
        normed = with_state(run.objects.state(model, boundary), normed=True)
        if model.framework in _ENGINES:
            return (normed, with_state(run.objects.state(model, boundary), part="stream"))
        return normed
    if place == "model":
        if model.framework in _ENGINES:
            return with_state(run.objects.state(model, boundary), normed=True)
        return HFOutput(model, model.all_states, run.rec.nowhere)
    return LayerResult(model, boundary)


def register_hook(run: Interpreter, owner: V, name: str, site: CallSite) -> V:
    """`register_forward_hook` / `register_forward_pre_hook` on a layer, the norm, the embedding or a model."""
    kind = "pre" if "pre" in name else "post"
    func = site.get(0, "hook")
    if isinstance(owner, Layer):
        if isinstance(owner.index, RankIndex):
            run.rec.rank_relative(run, site.node, site.frame)
        owner.model.hooks.append((kind, int(owner.index), func, site.node, site.frame))
        owner.model.ran = False
        run.rec.registered(run, int(owner.index) + (kind == "post"), site.node, site.frame)
    elif isinstance(owner, Module):
        owner.model.hooks.append((kind, owner.kind, func, site.node, site.frame))
        owner.model.ran = False
    elif isinstance(owner, ModelV):
        owner.hooks.append((kind, "model", func, site.node, site.frame))
        owner.ran = False
    run.world.hooked(run, owner)
    return Obj("handle")


def unknown_call(run: Interpreter, func: V, site: CallSite) -> V:
    """A call of something that is not known at all: callbacks in its arguments may run, states are lost."""
    reason = func.reason if isinstance(func, Unknown) else ""
    where = func.where if isinstance(func, Unknown) else None
    return Unknown(f"{reason}()" if reason else "call", where)


def call_opaque(run: Interpreter, obj: Obj, site: CallSite) -> V:
    """A call of an object that is known only by name: names tell norms, embeddings, heads and models."""
    name = obj.name.rsplit(".", 1)[-1]
    if "norm" in name.lower() or name in ("ln_f",):
        return call_module(run, Module("norm", run.objects.model_of(obj)), site)
    if any(isinstance(v, Tensor | Fused) for v in site.args):
        if "lm_head" in name:
            state = stream_argument(site.args)
            if state is not None:
                run.rec.to_head(run, state, site.node, site.frame)
            return Plain(new_storage(), "logits")
        return Plain(new_storage(), name)
    return run.objects.result_of(obj, site)


def external_instance(run: Interpreter, path: str, site: CallSite) -> V:
    """An instance of a class from outside, known by the class's name."""
    name = path.rsplit(".", 1)[-1]
    return Obj(name, where=site.frame.scope.spot(site.node), path=path)


def is_engine_class(value: Any) -> bool:
    """Whether something from outside belongs to SGLang or vLLM."""
    return isinstance(value, External) and value.path.split(".")[0] in _ENGINES
