"""transformers and inference engines: loading targets, running them, their own capture setters and extraction modes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from eaglelint.analyser import models, patterns, submodules
from eaglelint.analyser.file_values import PathV, Saved
from eaglelint.analyser.strings import as_text
from eaglelint.analyser.target_values import ConfigV, ModelV, Module
from eaglelint.analyser.values import (
    HOLE,
    ClassV,
    DictV,
    External,
    FuncV,
    Fused,
    ListV,
    Obj,
    Plain,
    SetV,
    Stacked,
    Tensor,
    Unknown,
    V,
    new_storage,
    note_of,
)
from eaglelint.facts import Value
from eaglelint.location import Location

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter

_SELF = frozenset(
    {"eval", "train", "to", "cuda", "cpu", "half", "float", "bfloat16", "requires_grad_", "float16", "compile", "merge"}
)
_RUNS = frozenset(
    {
        "generate",
        "forward",
        "__call__",
        "chat",
        "encode",
        "async_generate",
        "forward_extend",
        "prefill",
        "generate_async",
        "execute_model",
        "forward_batch_generation",
    }
)
_NOT_MODELS = ("tokenizer", "processor", "featureextractor", "generationconfig", "imageprocessor")


def model_name(value: V, where: Location) -> Value | None:
    """The name or path by which a target is loaded."""
    text = as_text(value) if value is not None else HOLE
    if HOLE in text or not text:
        return None
    return Value(str(text), where, True, note_of(value))


def _from_pretrained(run: Interpreter, site: CallSite) -> V:
    path = _path(site)
    parts = path.split(".")
    owner = parts[-2] if len(parts) > 1 else ""
    where = site.frame.scope.where(site.node)
    name = model_name(site.get(0, "pretrained_model_name_or_path"), where)
    lowered = owner.lower()
    if any(word in lowered for word in _NOT_MODELS):
        return Obj("tokenizer")
    depth, model_type = run.world.target_depth(name.value if name else "")
    stock = path.startswith("transformers.")
    model = ModelV("hf", name, depth, stock=stock)
    model.all_states = site.kwargs.get("output_hidden_states") is True
    model.arguments = {"model_type": model_type}
    if "config" in lowered:
        return ConfigV(model)
    run.world.models.append(model)
    dtype = site.kwargs.get("torch_dtype", site.kwargs.get("dtype"))
    model.arguments["dtype"] = dtype.path.rsplit(".", 1)[-1] if isinstance(dtype, External) else dtype
    return model


def _path(site: CallSite) -> str:
    """The dotted path by which something from outside was called, through the names of this frame."""
    text = patterns.dotted(site.node.func)
    root, _, rest = text.partition(".")
    value = site.frame.lookup(root)
    if isinstance(value, External):
        return f"{value.path}.{rest}" if rest else value.path
    if isinstance(value, ClassV):
        base = next((b.path for b in value.bases if isinstance(b, External)), value.name)
        return f"{base}.{rest}"
    return text


def plain(value: V, depth: int = 0) -> Any:
    """A value of the domain as a JSON-like value; None stands for what is not known."""
    if isinstance(value, DictV) and depth < 10:
        return {str(k): plain(v, depth + 1) for k, v in value.items.items()}
    if isinstance(value, ListV | SetV) and depth < 10:
        return [plain(v, depth + 1) for v in value.items]
    if isinstance(value, tuple) and depth < 10:
        return [plain(v, depth + 1) for v in value]
    if isinstance(value, str):
        return str(value) if HOLE not in value else None
    if isinstance(value, PathV):
        return value.text if HOLE not in value.text else None
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, External):
        return value.path.rsplit(".", 1)[-1]
    return value if isinstance(value, float) else None


def _engine(engine: str) -> Any:
    def start(run: Interpreter, site: CallSite) -> V:
        where = site.frame.scope.where(site.node)
        name = model_name(site.kwargs.get("model", site.kwargs.get("model_path", site.get(0, "model"))), where)
        depth, model_type = run.world.target_depth(name.value if name else "")
        model = ModelV(engine, name, depth, stock=False)
        model.arguments = {**site.kwargs, "%model_type": model_type}
        run.world.models.append(model)
        given = site.kwargs.get("server_args")
        run.rec.launch(run, engine, given.site if isinstance(given, ServerArgsV) and given.site is not None else site)
        spec = site.kwargs.get("speculative_config")
        if isinstance(spec, DictV) and spec.items.get("method") == "extract_hidden_states":
            _extraction(run, model, spec, site)
        extension = site.kwargs.get("worker_extension_cls")
        if isinstance(extension, str) and HOLE not in extension:
            model.attrs["%extension"] = run.world.instance(run, extension, model, site)
        return model

    return start


def _extraction(run: Interpreter, model: ModelV, spec: DictV, site: CallSite) -> None:
    """vLLM's extract_hidden_states, started from Python."""
    draft = spec.items.get("draft_model_config")
    config = draft.items.get("hf_config") if isinstance(draft, DictV) else None
    ids = config.items.get("eagle_aux_hidden_state_layer_ids") if isinstance(config, DictV) else None
    where = site.frame.scope.where(site.node)
    if not isinstance(ids, ListV | tuple):
        return
    values = ids.items if isinstance(ids, ListV) else list(ids)
    if not all(isinstance(v, int) for v in values) or bool(getattr(ids, "open", False)):
        missing = next((v for v in values if isinstance(v, Unknown)), Unknown("layer ids"))
        run.rec.unresolved(run, missing, site.node, site.frame)
        return
    place = run.rec.key_place(site.node, site.frame, "eagle_aux_hidden_state_layer_ids") or where
    parts = extracted(run, model, [int(v) for v in values], place, note_of(ids, *values), site.frame.scope.path)
    if parts:
        run.rec.engine_capture(run, parts, place, site.frame)


def extracted(run: Interpreter, model: ModelV, ids: list[int], place: Location, note: str, script: str) -> list[Tensor]:
    """What extract_hidden_states leaves for these ids: files with the states stacked, un-normed, in ascending order."""
    told = run.world.engine_boundaries("vllm", ids, model, run.depth_of(model), "extraction")
    if told is None:
        return []
    boundaries, rests = told
    said = f"captured by vLLM's extract_hidden_states for ids [{', '.join(str(v) for v in ids)}]"
    last = run.depth_of(model)
    parts = [
        replace(run.objects.state(model, b).step(place, said), note=note or (rests if b == last else ""))
        for b in boundaries
    ]
    value = DictV({"hidden_states": Stacked(tuple(parts)), "token_ids": Plain(new_storage(), "token ids")})
    run.world.saves.append(Saved(f"{HOLE}.safetensors", "safetensors", value, place, script))
    return parts


def extraction_servers(run: Interpreter) -> None:
    """Servers that commands in scope start with extract_hidden_states: what their clients will read."""
    for launch in run.world.facts.launches:
        method = launch.get("speculative_config.method")
        if launch.engine != "vllm" or method is None or method.value.value != "extract_hidden_states":
            continue
        given = launch.get("speculative_config.draft_model_config.hf_config.eagle_aux_hidden_state_layer_ids")
        ids = given.value.value if given is not None and given.value.known else None
        if given is None or not isinstance(ids, list) or not all(isinstance(i, int) for i in ids):
            continue
        name = launch.target if launch.target is not None and launch.target.known else None
        depth, model_type = run.world.target_depth(str(name.value) if name is not None else "")
        model = ModelV("vllm", name, depth, stock=False)
        model.arguments = {"%model_type": model_type}
        extracted(run, model, ids, given.where, given.value.assumed, given.where.path)


def model_method(run: Interpreter, model: ModelV, name: str, site: CallSite) -> V:
    """A method of a target model or engine."""
    if name.startswith("register_forward"):
        return models.register_hook(run, model, name, site)
    if name in _SELF:
        return model
    if name in _RUNS:
        return models.run_model(run, model, site)
    if name == "get_input_embeddings":
        return Module("embed", model)
    if name == "get_output_embeddings":
        return Module("lm_head", model)
    if name in ("get_decoder", "get_model", "get_base_model", "unwrap"):
        return model
    if name in patterns.SETTERS:
        return _setter(run, model, name, site)
    if name == "collective_rpc":
        return _rpc(run, model, site)
    if name == "apply_model":
        return models.call_any(run, site.get(0, "func"), [model])
    if name in ("get_text_config", "get_config"):
        return ConfigV(model, nested=True)
    if name in ("load_state_dict", "save_pretrained", "shutdown", "tie_weights", "get_tokenizer"):
        return Unknown(name)
    if name in submodules.METHODS:
        return submodules.method(run, model, name, site)
    if name in ("parameters", "named_parameters", "children", "state_dict"):
        return Unknown(name)
    return Obj(f"model.{name}()", attrs={"%model": model})


def _setter(run: Interpreter, model: ModelV, name: str, site: CallSite) -> V:
    """An engine's own setter: ids in the engine's convention; the engine captures in ascending layer order."""
    engine = "sglang" if name == "set_eagle3_layers_to_capture" else "vllm"
    if model.framework in ("sglang", "vllm"):
        engine = model.framework
    ids = site.get(0, "layer_ids", site.kwargs.get("layers"))
    where = site.frame.scope.where(site.node)
    values = ids.items if isinstance(ids, ListV) else list(ids) if isinstance(ids, tuple) else None
    if values is not None and not all(isinstance(v, int) for v in values):
        return None
    if ids is not None and values is None:
        run.rec.unresolved(run, ids if isinstance(ids, Unknown) else Unknown("layer ids"), site.node, site.frame)
        return None
    given = [int(v) for v in values] if values is not None else None
    told = run.world.engine_boundaries(engine, given, model, run.depth_of(model))
    if told is None or told[1]:
        return None
    boundaries = told[0]
    shown = "its default ids" if given is None else f"ids [{', '.join(str(v) for v in given)}]"
    parts = tuple(
        run.objects.state(model, b).step(where, f"captured by {engine}'s {name} for {shown}") for b in boundaries
    )
    model.engine_states = Fused(parts, where)
    run.rec.engine_capture(run, list(parts), where, site.frame)
    return None


def _rpc(run: Interpreter, model: ModelV, site: CallSite) -> V:
    """collective_rpc(method, args): calls the worker extension on every worker; one result is kept."""
    extension = model.attrs.get("%extension")
    name = site.get(0, "method")
    given = site.kwargs.get("args", site.args[2] if len(site.args) > 2 else ())
    args = list(given) if isinstance(given, tuple) else given.items if isinstance(given, ListV) else []
    keywords = site.kwargs.get("kwargs")
    kwargs = {str(k): v for k, v in keywords.items.items()} if isinstance(keywords, DictV) else {}
    if isinstance(name, FuncV):
        return ListV([run.call_function(name, [Obj("worker", attrs={"%model": model}), *args], kwargs)])
    if isinstance(extension, Obj) and isinstance(name, str):
        from eaglelint.analyser.calls import call_method

        return ListV([call_method(run, extension, name, args, kwargs)])
    return Unknown("collective_rpc")


def _runner(run: Interpreter, site: CallSite) -> V:
    model = ModelV("sglang", None, 0, stock=False)
    arguments = site.kwargs.get("server_args")
    value = arguments.attrs.get("model_path") if isinstance(arguments, Obj) else None
    where = site.frame.scope.where(site.node)
    model.name = model_name(value, where) if value is not None else None
    model.depth, model.arguments["%model_type"] = run.world.target_depth(model.name.value if model.name else "")
    return model


@dataclass(eq=False, slots=True, repr=False)
class ServerArgsV(Obj):
    """`ServerArgs(...)` of SGLang, and the call that made it: its arguments are those of the server that gets it."""

    site: CallSite | None = None


def _server_args(run: Interpreter, site: CallSite) -> V:
    return ServerArgsV("server_args", attrs=dict(site.kwargs), where=site.frame.scope.spot(site.node), site=site)


def _launch_server(run: Interpreter, site: CallSite) -> V:
    arguments = site.get(0, "server_args")
    if isinstance(arguments, ServerArgsV) and arguments.site is not None:
        run.rec.launch(run, "sglang", arguments.site)
    return None


FUNCTIONS: dict[str, Any] = {
    "vllm.LLM": _engine("vllm"),
    "vllm.AsyncLLMEngine": _engine("vllm"),
    "sglang.Engine": _engine("sglang"),
    "sglang.srt.entrypoints.engine.Engine": _engine("sglang"),
    "vllm.entrypoints.llm.LLM": _engine("vllm"),
    "vllm.EngineArgs": _engine("vllm"),
    "vllm.AsyncEngineArgs": _engine("vllm"),
    "vllm.engine.arg_utils.AsyncEngineArgs": _engine("vllm"),
    "vllm.engine.arg_utils.EngineArgs": _engine("vllm"),
    "sglang.Runtime": _engine("sglang"),
    "sglang.srt.entrypoints.http_server.launch_server": _launch_server,
    "sglang.srt.server.launch_server": _launch_server,
    "sglang.launch_server.run_server": _launch_server,
}
BY_NAME: dict[str, Any] = {
    "from_pretrained": _from_pretrained,
    "ModelRunner": _runner,
    "ServerArgs": _server_args,
}
