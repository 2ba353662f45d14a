"""What an engine's model finds around it: one device, one rank, one batch; torch; configs; parts that are not executed.

Modules of a layer (attention, MLP, mixture of experts) are not executed: each gives a new contribution. Norms and
embeddings are known by the names of their classes. What helpers outside the source do is data
(`rules/conventions/callees/`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import libcst as cst
import libcst.matchers as m

from eaglelint.analyser import calls
from eaglelint.analyser.calls import CallSite
from eaglelint.analyser.scope import ModuleScope, Spot
from eaglelint.analyser.sources import Code
from eaglelint.analyser.values import (
    MISSING,
    ClassV,
    DictV,
    External,
    FuncV,
    ListV,
    Method,
    Obj,
    Partial,
    Special,
    Unknown,
    V,
)
from eaglelint.analyser.world import World
from eaglelint.derivation import pretrained, registry, stages
from eaglelint.derivation.builtin import FUNCTIONS, Config
from eaglelint.derivation.callees import Callees
from eaglelint.derivation.objects import ListOf, Super, bases_outside, is_module
from eaglelint.derivation.tensors import (
    EMBEDDING,
    Content,
    Dense,
    Packed,
    first_state,
    fresh,
    of_sum,
    plus,
    states_in,
)
from eaglelint.facts import Facts

if TYPE_CHECKING:
    from eaglelint.derivation.execution import EngineInterpreter


class EngineWorld(World):
    """The surroundings of one engine's source. What a run of a model shows is kept here: entries, finals, layers."""

    def __init__(self, code: Code, callees: Callees) -> None:
        super().__init__(code, Facts(), [])
        self.callees = callees
        self.config = Config()
        self.layer_numbers: dict[int, int] = {}
        self.entry_contents: dict[int, tuple[Content, ...]] = {}
        self.finals: list[Content] = []
        self.batch = Obj("forward_batch")
        self.in_layer = False
        self._registered: dict[str, str] | None = None
        self.held: list[list[V]] = []
        self.calls_of_layers: dict[int, Spot] = {}

    def begin(self) -> None:
        """Forget what the run before has shown."""
        self.entry_contents.clear()
        self.finals.clear()
        self.batch.attrs.clear()

    def surrounding(self, name: str) -> V:
        """The value of an attribute of something outside, where the surroundings decide it; MISSING otherwise."""
        return self.callees.attributes.get(name, MISSING)

    def load(self, run: Any, path: str) -> ModuleScope | None:
        """The scope of a file; None for modules that stay outside."""
        stem = path.rsplit("/", 1)[-1].removesuffix(".py")
        if any(f"/{m}" in path if "/" in m else m == stem for m in self.callees.modules):
            return None
        return super().load(run, path)

    def registry(self, path: str) -> dict[str, str]:
        """Class -> module of vLLM's registry of models; {} for engines without one."""
        if self._registered is None:
            self._registered = registry.read(self.code)
        return self._registered

    # ---- instances -----------------------------------------------------------------------------------------------

    def construct(self, run: Any, obj: Obj) -> None:
        """Run the `__init__` of a module whose construction was put off; what a layer is made of stays as it is."""
        if "%init" not in obj.attrs:
            return
        run.touch(obj)
        pending = obj.attrs.pop("%init")
        init = run.objects.find(obj.cls, "__init__")
        if isinstance(init, FuncV):
            state = run.layer, run.inside, self.in_layer
            self.in_layer = self.in_layer or id(obj) in self.layer_numbers
            run.call_function(replace(init, bound=obj), *pending)
            run.layer, run.inside, self.in_layer = state

    def instance_of(self, run: EngineInterpreter, cls: ClassV, site: CallSite) -> V:
        """A new instance of a class; the `__init__` of a module is put off until something asks for an attribute."""
        outside = bases_outside(cls)
        if any("Enum" in base for base in outside):
            return Unknown(cls.name)
        if "list" in outside:
            made = ListOf([], cls=cls)
            made.items = list(calls.iterate(run, site.args[0]) or []) if site.args else []
            return made
        obj = Obj(cls.name, cls, where=site.frame.scope.spot(site.node), outside=False)
        if is_module(cls):
            obj.attrs["%init"] = (list(site.args), dict(site.kwargs))
            if self.in_layer:
                obj.attrs["%part"] = True
            return obj
        init = run.objects.find(cls, "__init__")
        if isinstance(init, FuncV):
            run.call_function(replace(init, bound=obj), site.args, site.kwargs)
            return obj
        obj.attrs.update(zip(calls.fields_of(cls), site.args, strict=False))
        obj.attrs.update(site.kwargs)
        after = run.objects.find(cls, "__post_init__")
        if isinstance(after, FuncV):
            run.call_function(replace(after, bound=obj), [], {})
        return obj

    # ---- calls ---------------------------------------------------------------------------------------------------

    def called(self, run: Any, func: V, site: CallSite) -> V:
        """What a call gives; MISSING when the interpreter executes it itself."""
        name = _name(func)
        if name in self.callees.results and not isinstance(func, ClassV):
            return self.callees.results[name]
        for key in (_qualified(func, name), name):
            role = self.callees.roles.get(key)
            if role is not None and (not isinstance(func, FuncV) or key in self.callees.always):
                return self._play(run, role, func, site)
        if isinstance(func, Method) and isinstance(func.owner, Super):
            return None
        if isinstance(func, Config):
            return func
        if isinstance(func, FuncV | Special):
            return MISSING
        if isinstance(func, ClassV):
            return self.instance_of(run, func, site)
        if isinstance(func, Partial):
            return MISSING
        if isinstance(func, External):
            return self._outside(run, func.path, site)
        if isinstance(func, Obj):
            return self._module(run, func, site)
        if isinstance(func, Unknown):
            return self._something(run, site, name or "call")
        return MISSING

    def _play(self, run: EngineInterpreter, role: str, func: V, site: CallSite) -> V:
        """What a callee does that is known by its role."""
        values = [*site.args, *site.kwargs.values()]
        if role == "outside":
            return Obj(_name(func))
        if role == "first":
            return values[0] if values else Unknown("argument")
        if role == "two":
            return tuple(values[:2])
        if role == "list":
            return ListV(calls.iterate(run, values[0]) or [])
        if role == "norm":
            return self.norm(run, values)
        if role == "read_pair":
            return stages.read_pair(run, site)
        if role == "pair":
            states = [v for v in values if isinstance(v, Dense) or v is None][:2]
            return tuple(states) if len(states) == 2 else Unknown("pair")
        if role == "embed_norm":
            return (Dense(EMBEDDING), Dense(of_sum("normed", EMBEDDING, run.layer)))
        if role == "range":
            return (0, values[0])
        if role == "language_model":
            return self._language_model(run, getattr(func, "bound", None))
        if role in ("pretrained", "fusions", "recorder"):
            return pretrained.play(run, role, site)
        if role == "registered":
            return registry.model(run, self, site)
        if role in ("layers", "layers_first", "layers_only"):
            return self._layers(run, role, site)
        return stages.play(run, self, role, func, site)

    def _language_model(self, run: EngineInterpreter, obj: V) -> V:
        """The decoder that a multimodal model keeps under one of the usual names."""
        if isinstance(obj, Obj) and obj.cls is not None:
            for name in ("language_model", "llm", "thinker", "model"):
                found = run.objects.member(obj, name, None)
                if isinstance(found, Obj):
                    return found
        return Unknown("language model")

    def _layers(self, run: EngineInterpreter, role: str, site: CallSite) -> V:
        number = site.get(0, "num_hidden_layers")
        builder = site.get(1, "layer_fn")
        if not isinstance(number, int) or not isinstance(builder, FuncV | Partial | ClassV):
            return Unknown("layers")
        taken = _parameters(builder)
        made = []
        for index in range(number):
            given: dict[str, V] = {"prefix": f"layers.{index}"} if not taken or "prefix" in taken else {}
            if "idx" in taken:
                given["idx"] = index
            made.append(calls.invoke(run, builder, CallSite([], given, site.node, site.frame)))
        modules = self._modules(run, made)
        if role == "layers_first":
            return (0, number, modules)
        piped = role == "layers" and "pp_rank" in site.kwargs
        return (modules, 0, number) if piped or _name_of(site) == "make_pp_layers" else modules

    def _modules(self, run: EngineInterpreter, made: list[V], is_open: bool = False) -> ListV:
        """A list of modules; one as long as the target is deep holds its layers."""
        if len(made) == run.depth and not is_open:
            self.layer_numbers.update({id(layer): number for number, layer in enumerate(made)})
            self.held.append(made)
        return ListV(made, is_open, kind="modules")

    def norm(self, run: EngineInterpreter, values: list[V]) -> V:
        """A norm of a state, or of the sum of a state and its residual, which it gives as well."""
        states = [v for v in values if isinstance(v, Dense)]
        if not states:
            return Unknown("norm")
        total = states[0].content
        for other in states[1:]:
            total = plus(total, other.content)
        if not run.inside:
            self.finals.append(total)
            self.entry_contents[run.depth] = tuple(s.content for s in states[:2])
        normed = of_sum("normed", total, run.layer)
        if len(states) == 1:
            return Dense(normed)
        return (Dense(normed), Dense(total))

    def _outside(self, run: EngineInterpreter, path: str, site: CallSite) -> V:
        name = path.rsplit(".", 1)[-1]
        if path.startswith("builtins."):
            handler = FUNCTIONS.get(name)
            return handler(run, site) if handler is not None else MISSING
        values = [*site.args, *site.kwargs.values()]
        if name in ("ModuleList", "ModuleDict"):
            given = site.get(0, "modules")
            if isinstance(given, DictV):
                return given
            return self._modules(run, calls.iterate(run, given) or [], bool(getattr(given, "open", False)))
        state = first_state(values)
        if name in ("cat", "concat", "stack") and states_in(site.get(0, "tensors")):
            return ListV(list(states_in(site.get(0, "tensors"))), kind="joined")
        if name in ("add", "empty_like", "zeros_like", "new_empty"):
            if name == "add" and isinstance(site.get(0, "input"), Dense):
                return site.args[0].operate(run, "Add", site.get(1, "other"), False)
            if run.inside and state is not None:
                return Dense(run.update())  # a part of the layer writes its result into it
            return Packed(state) if state is not None else Unknown(name)
        if state is not None:
            return Dense(fresh("guess", run.layer)) if not _keeps_name(name) else state
        if name[:1].isupper():
            return Obj(name, where=site.frame.scope.spot(site.node), path=path)
        return MISSING

    def _something(self, run: EngineInterpreter, site: CallSite, name: str) -> V:
        """A call of something that is not known: with a state, another state that is not known."""
        if any(isinstance(v, Dense) for v in [*site.args, *site.kwargs.values()]):
            return Dense(fresh("guess", run.layer))
        return Unknown(f"{name}()")

    def _module(self, run: EngineInterpreter, obj: Obj, site: CallSite) -> V:
        """A call of an instance: a layer, a norm, an embedding, a model, or a part that is not executed."""
        values = [*site.args, *site.kwargs.values()]
        lowered = obj.name.rsplit(".", 1)[-1].lower()
        names = {lowered, *(base.lower() for base in (bases_outside(obj.cls) if obj.cls else ()))}
        if id(obj) in self.layer_numbers:
            return self._layer(run, obj, self.layer_numbers[id(obj)], site)
        if any(n.endswith("norm") or "layernorm" in n for n in names):
            if obj.cls is not None and _passes_on(run.objects.find(obj.cls, "forward")):
                return (self.norm(run, values[:1]), values[1] if len(values) > 1 else None)
            return self.norm(run, values)
        if any("embed" in n for n in names) and first_state(values) is None and not run.inside and run.layer < 0:
            return Dense(EMBEDDING)
        if obj.cls is not None and not is_module(obj.cls):
            method = run.objects.find(obj.cls, "__call__")
            if isinstance(method, FuncV):
                return run.call_function(replace(method, bound=obj), site.args, site.kwargs)
            return Unknown(obj.name)
        if obj.cls is not None and not run.inside and "rotary" not in lowered:
            forward = run.objects.find(obj.cls, "forward")
            if isinstance(forward, FuncV) and _loops(run, obj):
                return run.call_function(replace(forward, bound=obj), site.args, site.kwargs)
        state = first_state(values)
        if obj.cls is None and "." in obj.name:
            if state is None:
                return Unknown(f"{obj.name}()")
            return state if _keeps_name(lowered) else Dense(fresh("guess", run.layer))
        if state is None and not run.inside:
            return Unknown(f"{obj.name}()")
        return Dense(run.update())

    def _layer(self, run: EngineInterpreter, obj: Obj, number: int, site: CallSite) -> V:
        forward = run.objects.find(obj.cls, "forward") if obj.cls is not None else MISSING
        if not isinstance(forward, FuncV):
            return Dense(fresh("guess", number))
        if run.inside:
            return run.call_function(replace(forward, bound=obj), site.args, site.kwargs)
        given = _named(forward, site)
        stream = [v for n, v in given.items() if isinstance(v, Dense) and ("hidden" in n or "resid" in n or n == "x")]
        stream = stream or [v for v in given.values() if isinstance(v, Dense)][:1]
        self.calls_of_layers = {0: site.frame.scope.spot(site.node)}
        self.entry_contents[number] = tuple(s.content for s in stream)
        run.layer, run.inside, run.updates = number, True, 0
        try:
            return run.call_function(replace(forward, bound=obj), site.args, site.kwargs)
        finally:
            run.inside = False


def _parameters(func: V) -> set[str]:
    node = func.func.node if isinstance(func, Partial) and isinstance(func.func, FuncV) else getattr(func, "node", None)
    params = getattr(node, "params", None)
    return {p.name.value for p in (*params.params, *params.kwonly_params)} if params is not None else set()


def _named(func: FuncV, site: CallSite) -> dict[str, V]:
    """The arguments of a method call by the names of its parameters."""
    params = [p.name.value for p in (*func.node.params.posonly_params, *func.node.params.params)][1:]
    return {**dict(zip(params, site.args, strict=False)), **site.kwargs}


def _passes_on(forward: V) -> bool:
    """Whether the forward of a norm gives its second argument back as it was, added to nothing."""
    if not isinstance(forward, FuncV):
        return False
    params = [p.name.value for p in forward.node.params.params]
    last = forward.node.body.body[-1] if isinstance(forward.node.body, cst.IndentedBlock) else None
    returned = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else None
    pair = returned.value if isinstance(returned, cst.Return) else None
    if len(params) != 3 or not isinstance(pair, cst.Tuple) or len(pair.elements) != 2:
        return False
    second = pair.elements[1].value
    uses = len(m.findall(forward.node.body, m.Name(params[2])))
    return isinstance(second, cst.Name) and second.value == params[2] and uses == 1


def _loops(run: EngineInterpreter, obj: Obj) -> bool:
    """Whether a module is a decoder: it keeps a list of modules as long as the target is deep."""
    run.world.construct(run, obj)
    return any(isinstance(v, ListV) and v.kind == "modules" and len(v.items) == run.depth for v in obj.attrs.values())


def _name(func: V) -> str:
    if isinstance(func, FuncV | ClassV):
        return func.name
    if isinstance(func, External):
        return func.path.rsplit(".", 1)[-1]
    if isinstance(func, Method):
        return func.name
    if isinstance(func, Unknown):
        return func.reason.rsplit(".", 1)[-1]
    if isinstance(func, Obj):
        return func.name.rsplit(".", 1)[-1] if func.cls is None else ""
    return ""


def _qualified(func: V, name: str) -> str:
    """`module.function`, `Stage.method`, or `Class.forward` for an instance that is called."""
    if isinstance(func, FuncV):
        return f"{func.scope.path.rsplit('/', 1)[-1].removesuffix('.py')}.{name}"
    if isinstance(func, External):
        return ".".join(func.path.split(".")[-2:])
    if isinstance(func, Method):
        return f"{type(func.owner).__name__}.{name}"
    if isinstance(func, Obj) and func.cls is not None:
        return f"{func.cls.name}.forward"
    return name


def _name_of(site: CallSite) -> str:
    from eaglelint.analyser.patterns import dotted

    return dotted(site.node.func).rsplit(".", 1)[-1]


def _keeps_name(name: str) -> bool:
    return name in ("contiguous", "detach", "squeeze", "unsqueeze", "to", "view", "reshape") or name.startswith(
        ("tensor_model_parallel_all_", "all_reduce", "all_gather", "reduce_scatter", "get_local_")
    )
