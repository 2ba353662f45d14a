"""Runs a target class of an engine: makes an instance, calls its setter, runs its decoder, sees what arrives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eaglelint.analyser import undo
from eaglelint.analyser.calls import CallSite
from eaglelint.analyser.interpreter import OutOfFuel
from eaglelint.analyser.patterns import dotted
from eaglelint.analyser.scope import Frame, Spot, module_frame, place
from eaglelint.analyser.sources import Code
from eaglelint.analyser.values import MISSING, ClassV, FuncV, ListV, Obj, Unknown, V
from eaglelint.derivation.callees import callees
from eaglelint.derivation.execution import EngineInterpreter, EngineRecorder
from eaglelint.derivation.objects import linear
from eaglelint.derivation.pretrained import Part
from eaglelint.derivation.surroundings import EngineWorld
from eaglelint.derivation.tensors import (
    EMPTY,
    Content,
    Crash,
    Dense,
    Packed,
    Tokens,
    guessed,
    made_in,
    of_sum,
    plus,
    states_in,
    unscaled,
)
from eaglelint.location import Location

SETTERS = {"sglang": "set_eagle3_layers_to_capture", "vllm": "set_aux_hidden_state_layers"}
#: Methods that give vLLM's default ids, newest name first.
_DEFAULTS = ("get_eagle3_default_aux_hidden_state_layers", "get_eagle3_aux_hidden_state_layers")
#: Attributes that lead from a wrapper to the decoder inside it.
_INNER = (
    "model", "language_model", "llm", "text_model", "thinker", "decoder", "backbone", "transformer", "language", "lm",
)  # fmt: skip
#: Keys of a config, and names that are compared with None.
_KEY = re.compile(r"\bconfig\.([a-z]\w*)")
_ASKED_FOR_NONE = re.compile(r"\b([a-z]\w*) is (?:not )?None\b")
#: Ends of the names of classes that are served.
_SERVED = ("ForCausalLM", "ForConditionalGeneration")
#: Parameters of a decoder that an ordinary forward pass leaves out.
_ABSENT = ("embeds", "pp_proxy", "intermediate_tensors", "deepstack", "per_layer", "mm_input")


class Underivable(Exception):
    """What an engine does can not be told: why, and the place where it was lost, if known."""

    def __init__(self, reason: str, where: Location | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.where = where


@dataclass(frozen=True)
class Seen:
    """What arrived for one list of ids (None: no list given) on a target of `depth` layers.

    `states` are (boundary, part) in the order in which they arrive; a part is "stream", "branch", "residual", "normed"
    or "mean". `asked` is the list that the default method gave. `crash` says why nothing arrives, with its place.
    """

    ids: tuple[int, ...] | None
    depth: int
    states: tuple[tuple[int, str], ...] = ()
    crash: str = ""
    where: Location | None = None


class Source:
    """The source of an engine, ready to be run. Modules are executed once, when they are needed."""

    def __init__(self, code: Code, engine: str) -> None:
        self.engine = engine
        self.code = code
        self.world = EngineWorld(code, callees(engine))
        self.run = EngineInterpreter(self.world, EngineRecorder(), 12)
        #: Files in which the latest model and its decoder stand.
        self.files: set[str] = set()

    def classes(self, path: str) -> list[ClassV]:
        """The classes of a file whose instances have the engine's setter, own or inherited."""
        scope = self.world.load(self.run, path)
        if scope is None:
            return []
        setter = SETTERS[self.engine]
        return [c for c in scope.classes if isinstance(self.run.objects.find(c, setter), FuncV)]

    def targets(self, path: str) -> list[ClassV]:
        """The classes of a file that are served: those that SGLang's EntryClass or vLLM's registry names."""
        found = self.classes(path)
        scope = self.world.scopes.get(path)
        if scope is None or not found:
            return []
        entry = scope.names.get("EntryClass")
        if entry is not None:
            named = (
                [entry]
                if isinstance(entry, ClassV)
                else list(getattr(entry, "items", entry if isinstance(entry, tuple) else ()))
            )
            return [cls for cls in found if cls in named]
        registered = self.world.registry(path)
        own = [cls for cls in found if cls.name in registered] if registered else found
        own = own or [cls for cls in found if cls.name.endswith(_SERVED)]  # reached from a registered one's module
        return [cls for cls in own if not cls.name.endswith(("Base", "Mixin")) and not cls.name.startswith("Supports")]

    def optional_keys(self) -> frozenset[str]:
        """Keys of the config that the latest model reads and asks for None: a target may lack them."""
        text = "\n".join(self.code.sources[file].data.decode("utf-8", "replace") for file in self.files)
        read = set(_KEY.findall(text))
        return frozenset(key for key in _ASKED_FOR_NONE.findall(text) if key in read)

    def likeness(self, cls: ClassV) -> frozenset[tuple[str, int]]:
        """What tells a class from others: its methods and class attributes, own or inherited."""
        found = {name: self.run.objects.find(cls, name) for base in linear(cls) for name in base.attrs}
        return frozenset((name, id(getattr(value, "node", value))) for name, value in found.items())

    def proofs(self, cls: ClassV) -> list[tuple[str, Location]]:
        """Where the setter of a class stands."""
        found = self.run.objects.find(cls, SETTERS[self.engine])
        return [("setter", _place_of(found))] if isinstance(found, FuncV) else []


class Model:
    """An instance of a target class with N layers."""

    def __init__(self, source: Source, cls: ClassV, depth: int) -> None:
        self.source = source
        self.run = source.run
        self.world = source.world
        self.depth = depth
        self.run.depth = depth
        self.run.steps = 0
        self.world.layer_numbers = {}
        self.frame = module_frame(cls.scope)
        source.files = {cls.scope.path}
        self.obj = Obj(cls.name, cls, outside=False)
        self.obj.attrs["%init"] = ([], self._arguments(cls))
        self._guard(lambda: self.world.construct(self.run, self.obj))
        found = self._guard(lambda: self._decoder(self.obj, 4))
        if found is None:
            raise Underivable(f"no list of {depth} decoder layers was found in an instance of {cls.name}")
        self.decoder: Obj = found
        if found.cls is not None:
            source.files.add(found.cls.scope.path)
        self.runner = self._caller(self.obj, found, 4) or found
        self.world.layer_numbers = {
            id(layer): n
            for value in self.decoder.attrs.values()
            if isinstance(value, ListV) and value.kind == "modules" and len(value.items) == depth
            for n, layer in enumerate(value.items)
        }
        self.layers = [layer for layer in self._layers() if isinstance(layer, Obj)]
        for layer in self.layers:
            self._guard(lambda layer=layer: self.world.construct(self.run, layer))

    def _layers(self) -> list[V]:
        for value in self.decoder.attrs.values():
            if isinstance(value, ListV) and value.kind == "modules" and len(value.items) == self.depth:
                return value.items
        return []

    def _guard(self, action: Any) -> Any:
        self.run.stack.clear()
        self.run.journal.clear()
        try:
            return action()
        except Crash as error:
            raise Underivable(f"making the model ends with {error.why}", place(error.where)) from None
        except (OutOfFuel, RecursionError):
            raise Underivable("the code takes more steps than are granted") from None

    def _arguments(self, cls: ClassV) -> dict[str, V]:
        init = self.run.objects.find(cls, "__init__")
        given: dict[str, V] = {}
        if isinstance(init, FuncV):
            for param in (*init.node.params.params[1:], *init.node.params.kwonly_params):
                name = param.name.value
                if (name.endswith("config") and "quant" not in name) or name == "config":
                    given[name] = self.world.config
        return given

    def _decoder(self, obj: Obj, fuel: int) -> Obj | None:
        """The module that keeps the decoder layers, reached through the attributes of a wrapper."""
        self.world.construct(self.run, obj)
        for value in obj.attrs.values():
            if isinstance(value, ListV) and value.kind == "modules" and len(value.items) == self.depth:
                return obj
            if isinstance(value, Part):
                return obj  # it runs a model of the Transformers library
        if not fuel:
            return None
        inner = [obj.attrs.get(name) for name in (*_INNER, "layers")]
        for value in inner:
            if isinstance(value, Obj) and value.cls is not None:
                found = self._decoder(value, fuel - 1)
                if found is not None:
                    return found
        return None

    def _caller(self, obj: Obj, decoder: Obj, fuel: int) -> Obj | None:
        """The model that keeps its decoder as `layers` and does the rest itself: embedding, final norm."""
        if obj.attrs.get("layers") is decoder:
            return obj
        inner = [obj.attrs.get(name) for name in _INNER if fuel]
        found = (self._caller(value, decoder, fuel - 1) for value in inner if isinstance(value, Obj))
        return next((one for one in found if one is not None), None)

    def proofs(self) -> list[tuple[str, Location]]:
        """The lines at which states were captured, and at which layers run."""
        spots = {"capture": self.run.rec.captures, "layer": self.world.calls_of_layers}
        found = []
        for what, places in spots.items():
            for spot in list(places.values())[:3]:
                where = place(spot)
                if where is not None and (what, where) not in found:
                    found.append((what, where))
        return found

    # ---- probing -------------------------------------------------------------------------------------------------

    def probe(self, ids: Sequence[int] | None) -> Seen:
        """Give the setter these ids, run the decoder, and undo everything."""
        run = self.run
        run.depth = self.depth
        run.journal.clear()
        run.stack.clear()
        run.journal.append({})
        run.steps = 0
        given = tuple(ids) if ids is not None else None
        try:
            self._set(given)
            return self._forward(given)
        except Crash as error:
            return Seen(given, self.depth, (), error.why, place(error.where))
        except (OutOfFuel, RecursionError):
            raise Underivable("the code takes more steps than are granted") from None
        finally:
            while run.journal:
                for thing, old in run.journal.pop().values():
                    undo.restore(thing, old)
            run.stack.clear()
            run.layer, run.inside = -1, False

    def _call(self, obj: Obj, name: str, args: list[V]) -> V:
        assert obj.cls is not None
        method = self.run.objects.find(obj.cls, name)
        if not isinstance(method, FuncV):
            return MISSING
        return self.run.call_function(replace(method, bound=obj), args, {})

    def _set(self, ids: tuple[int, ...] | None) -> None:
        setter = SETTERS[self.source.engine]
        value: V = None
        if self.source.engine == "vllm":
            value = ids
            if ids is None:
                for name in _DEFAULTS:
                    value = self._call(self.obj, name, [])
                    if value is not MISSING:
                        break
                if not isinstance(value, tuple) or not all(isinstance(v, int) for v in value):
                    raise Underivable("the default ids are not known")
        elif ids is not None:
            value = ListV(list(ids))
        assert self.obj.cls is not None
        method = self.run.objects.find(self.obj.cls, setter)
        takes = len(method.node.params.params) > 1
        self._call(self.obj, setter, [value] if takes else [])

    def _forward(self, ids: tuple[int, ...] | None) -> Seen:
        self.world.begin()
        self.run.left_out.clear()
        self.run.layer, self.run.inside = -1, False
        assert self.runner.cls is not None
        forward = self.run.objects.find(self.runner.cls, "forward")
        if not isinstance(forward, FuncV):
            raise Underivable(f"{self.runner.name} has no forward in the source")
        given: dict[str, V] = {}
        for param in forward.node.params.params[1:]:
            name = param.name.value
            if any(word in name for word in _ABSENT):
                given[name] = None
            elif name == "forward_batch":
                given[name] = self.world.batch
            elif name in ("input_ids", "positions"):
                given[name] = Tokens()
            elif param.default is None:
                given[name] = Unknown(name)
        result = self.run.call_function(replace(forward, bound=self.runner), [], given)
        return self._judge(ids, result, forward)

    def _judge(self, ids: tuple[int, ...] | None, result: V, forward: FuncV) -> Seen:
        ran = sum(1 for number in self.world.entry_contents if number < self.depth)
        if ran != self.depth:
            raise Underivable(
                f"{ran} of {self.depth} layers were seen to run",
                forward.scope.where(forward.node),
            )
        captured = captured_states(result)
        if not captured and self.run.left_out:
            where = place(self.run.left_out[0])
            raise Underivable("whether states are returned depends on a condition that is not known", where)
        last = [s.content for s in states_in(result)[:1] if not guessed(s.content)]  # a final norm outside the decoder
        boundaries = Boundaries(self.depth, self.world.entry_contents, self.world.finals or last)
        kept = {id(state) for state in captured}
        self.run.rec.captures = {key: spot for key, spot in self.run.rec.captures.items() if key in kept}
        found = []
        for state in captured:
            if not isinstance(state, Dense):
                reason = state.reason if isinstance(state, Unknown) else "something else than a tensor"
                raise Underivable(f"a captured state is not known: {reason}", place(getattr(state, "where", None)))
            known = boundaries.name(state.content)
            if known is None or (known[1] != "stream" and guessed(state.content)):
                raise Underivable("a captured state went through something whose body is not known")
            found.append(known)
        return Seen(ids, self.depth, tuple(found))


def _place_of(func: FuncV) -> Location:
    """The name of a function where it is defined."""
    return func.scope.where(getattr(func.node, "name", func.node))


def captured_states(result: V) -> list[V]:
    """The auxiliary states that a decoder returned beside its output."""
    if not isinstance(result, tuple) or len(result) < 2:
        if isinstance(result, Unknown):
            raise Underivable(f"what the decoder returns is not known: {result.reason}", place(result.where))
        return []
    extra = result[-1]
    if isinstance(extra, Packed):
        return list(extra.parts)
    if isinstance(extra, ListV):
        if extra.open:
            raise Underivable("whether a state is captured depends on a condition that is not known")
        return _flat(extra.items)
    if isinstance(extra, tuple):
        return _flat(extra)
    if isinstance(extra, Unknown):
        raise Underivable(f"the captured states are not known: {extra.reason}", place(extra.where))
    return list(states_in(extra))


def _flat(values: Iterable[V]) -> list[V]:
    """States, with the parts of packed buffers in their place."""
    return [part for value in values for part in (value.parts if isinstance(value, Packed) else (value,))]


class Boundaries:
    """Which boundary a state is, judged by what it is made of."""

    def __init__(self, depth: int, entries: dict[int, tuple[Content, ...]], finals: list[Content]) -> None:
        self.names: dict[Content, tuple[int, str]] = {}
        total = finals[-1] if finals else EMPTY
        sums = [self._below(total, b) for b in range(depth + 1)]
        additive = len(set(sums)) == len(sums) and all(sums)
        for boundary in range(depth + 1):
            parts = entries.get(boundary, ())
            whole = sums[boundary] if additive else self._sum(parts) if boundary < depth else total
            self._add(whole, boundary, "stream")
        for boundary in range(depth + 1):
            parts = entries.get(boundary, ())
            whole = sums[boundary] if additive else self._sum(parts) if boundary < depth else total
            self._add(of_sum("normed", whole, 0), boundary, "normed")
            self._add(of_sum("mean", whole, 0), boundary, "mean")
            if len(parts) > 1 and parts[1]:
                self._add(parts[0], boundary, "branch")
                self._add(parts[1], boundary, "residual")

    def _add(self, content: Content, boundary: int, part: str) -> None:
        if content:
            self.names.setdefault(content, (boundary, part))

    @staticmethod
    def _below(total: Content, boundary: int) -> Content:
        return unscaled(frozenset((t, n) for t, n in total if made_in(t) < boundary), boundary)

    @staticmethod
    def _sum(parts: tuple[Content, ...]) -> Content:
        whole: Content = EMPTY
        for part in parts:
            whole = plus(whole, part)
        return whole

    def name(self, content: Content) -> tuple[int, str] | None:
        """(boundary, part) of a state; None when it is none."""
        return self.names.get(content)


__all__ = ["CallSite", "Frame", "Model", "Seen", "Source", "Spot", "Underivable", "dotted", "linear"]
