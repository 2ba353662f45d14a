"""What one run sees: states stored, named, saved, concatenated and used; later turned into facts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from eaglelint.analyser.choices import containers
from eaglelint.analyser.drafters import of_drafter, own_name
from eaglelint.analyser.inside import Kept
from eaglelint.analyser.layer_loops import enclosing_loop
from eaglelint.analyser.observations import Flag, Flaw, Hooks, Joined, Named, Store, Test
from eaglelint.analyser.patterns import SETTERS, STREAM_NAMES, captures, dotted, kids
from eaglelint.analyser.scope import place
from eaglelint.analyser.target_values import LayerResult, ModelV
from eaglelint.analyser.values import (
    HOLE,
    SAMPLES,
    DictV,
    Fused,
    ListV,
    Obj,
    Plain,
    RankIndex,
    SetV,
    Stacked,
    Tensor,
    Unknown,
    V,
    note_of,
    written_at,
)
from eaglelint.facts import Step
from eaglelint.location import Location

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.filters import LeftOut
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.scope import Frame, ModuleScope
    from eaglelint.analyser.sources import Code
    from eaglelint.analyser.values import FuncV

#: Configs of language models inside those of multimodal targets.
_NESTED_CONFIGS = frozenset({"text_config", "llm_config", "language_config", "thinker_config"})
#: Names that may claim a certain hidden state; others are not worth recording.
_TELLING = re.compile(
    r"embed|layer|hidden|low|mid|high|final|last|first|norm|^h_?\d|^l_?\d|^hs_?\d|state|verifier|target|teacher|aux|"
    r"boundary|input|output|early|late|block|\d",
    re.IGNORECASE,
)


class Recorder:
    """The observations of one run, keyed by place."""

    def __init__(self) -> None:
        self.nowhere = Location("")
        self.stores: dict[Location, Store] = {}
        self.joined: dict[tuple[Location, tuple[tuple[int, bool], ...]], Joined] = {}
        self.cached: dict[Location, tuple[Joined, Location]] = {}
        self.names: dict[tuple[Location, str], Named] = {}
        self.flaws: dict[tuple[str, Location], Flaw] = {}
        self.tests: dict[Location, Test] = {}
        self.hooks: dict[Location, Hooks] = {}
        self.given_back: set[tuple[str, int]] = set()
        self.not_hooked: dict[Location, tuple[LeftOut, ModuleScope]] = {}
        self.unknown: dict[Location, tuple[Unknown, ModuleScope]] = {}
        self.heads: dict[tuple[Location, bool], tuple[Tensor, ModuleScope]] = {}
        self.again: dict[Location, tuple[Tensor, ModuleScope]] = {}
        self.launches: list[tuple[str, CallSite, Location]] = []
        self.commands: list[tuple[V, Location, V]] = []
        self.returns: dict[str, dict[str, V]] = {}
        self.casts: dict[Location, tuple[Tensor, str, ModuleScope]] = {}
        self.exhausted: list[str] = []
        self.scopes: dict[str, ModuleScope] = {}
        self.code: Code | None = None
        self.hook: tuple[cst.CSTNode, Frame, ModelV] | None = None
        self.guard_note = ""
        self.inside: list[Kept] | None = None
        self.count = 0
        self.matched: tuple[Test, int] | None = None
        self.skipped: dict[Location, tuple[str, ModuleScope]] = {}
        self.written: dict[str, list[tuple[Location, V, ModuleScope]]] = {}
        self.flags: dict[Location, Flag] = {}
        self._storages: dict[int, tuple[Store, Tensor]] = {}

    # ---- names ---------------------------------------------------------------------------------------------------

    def labelled(self, run: Interpreter, value: V, name: V, kind: str, node: Any, frame: Frame) -> V:
        """A state gets a name: remember it, and let the state remember where it was named."""
        if isinstance(value, LayerResult):
            if kind != "variable":
                return value
            return replace(value, trace=(*value.trace[-8:], Step(frame.scope.where(node), f"named {name}")))
        if not isinstance(value, Tensor) or of_drafter(value):
            return value
        if not isinstance(name, str) or HOLE in name or not _TELLING.search(name):
            return value
        if kind in ("argument", "variable") and own_name(name, frame):
            return value
        where = frame.scope.where(node)
        function = frame.function.name if frame.function is not None else ""
        key = (where, f"{kind}:{name}")
        known = self.names.get(key)
        if known is None:
            self.names[key] = Named(str(name), kind, where, value, frame.scope, function)
        elif known.state.state != value.state:
            known.state = replace(known.state, note="%several")
        if kind == "argument" or not value.trace:
            return value
        return value.step(where, f"named {name}")

    # ---- storing -------------------------------------------------------------------------------------------------

    def stored(self, run: Interpreter, value: V, node: Any, frame: Frame, owner: V) -> V:
        """A value goes into a container, an attribute or a file. Gives back the value to store."""
        if isinstance(value, LayerResult):
            value = run.objects.as_stream(value)
        if isinstance(value, Unknown) and frame.scope.loose and value.reason.split(".")[0] in STREAM_NAMES:
            # A piece of a patch without the layer loop around it, as `diff -U0` leaves it.
            self.unresolved(run, Unknown("the layer loop around this", value.where), node, frame)
        if isinstance(value, Plain) and self.inside is not None:
            self.inside.append(Kept(value, owner, node, frame, tuple(run.doubt)))
        if not isinstance(value, Tensor) or of_drafter(value):
            return value
        where = frame.scope.where(node)
        if not value.trace:
            value = value.step(where, f"boundary {value.state.boundary} captured")
        if self.guard_note and not value.note:
            value = replace(value, note=self.guard_note)
        store = self.stores.get(where)
        if store is None:
            store = self.stores[where] = Store(where, frame.scope, "hook" if self.hook else "store")
        self.count += 1
        if self.matched is not None:
            self.matched[0].offsets.setdefault(value.state.boundary - self.matched[1], where)
            if isinstance(owner, ListV) and owner.chosen is None:
                owner.chosen = written_at(self.matched[0].container)
        if len(store.states) < 2000:
            store.states.append(value)
        if run.doubt:
            store.doubt = run.doubt[-1]
            if isinstance(owner, ListV | DictV):
                owner.open = True
        self._storages.setdefault(value.storage, (store, value))
        if value.state.part == "branch":
            kind = "hook-output-not-stream" if self.hook is not None else "residual-not-added"
            self.flaw(kind, where, frame, {"boundary": value.state.boundary}, value.trace)
        if run.doubt:  # which layer's state it is that ends up here can not be told
            return Unknown(run.doubt[-1].reason, run.doubt[-1].where, True)
        return value

    def saved(self, run: Interpreter, value: V, node: Any, frame: Frame) -> None:
        """A value is written to a file; states inside containers count as stored there already."""

    def mutated(self, run: Interpreter, storage: int, node: Any, frame: Frame) -> None:
        """Memory changes in place: what was stored from it before now holds something else."""
        entry = self._storages.get(storage)
        if entry is None:
            return
        store, tensor = entry
        where = frame.scope.where(node)
        self.flaw(
            "captured-tensor-aliased",
            store.where,
            frame,
            {"boundary": tensor.state.boundary},
            (Step(where, "changed in place here"),),
            store.scope,
        )

    def return_value(self, run: Interpreter, value: V, node: Any, frame: Frame) -> None:
        """A function returns something: states before the final norm are not lost, whoever takes them."""
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, LayerResult):
                self.given_back.add((frame.scope.path, item.boundary))
            elif isinstance(item, Tensor) and not item.state.normed:
                self.given_back.add((frame.scope.path, item.state.boundary))

    def returned(self, func: FuncV, frame: Frame, result: V) -> None:
        """A call of a function ended: what it returned under which local name may feed a namesake parameter."""
        for name, value in frame.names.items():
            if value is result and isinstance(result, DictV | ListV | Tensor | Fused | Stacked):
                self.returns.setdefault(frame.scope.path, {})[name] = value
        if isinstance(result, DictV):
            samples = self.returns.setdefault(SAMPLES, {})
            for key, value in result.items.items():
                if isinstance(key, str) and isinstance(value, Tensor):
                    known = samples.setdefault(key, value)
                    if isinstance(known, Tensor) and known.state != value.state:
                        samples[key] = None

    def engine_capture(self, run: Interpreter, parts: list[Tensor], where: Location, frame: Frame) -> None:
        """An engine's own setter or extraction mode captures these states; the last layer's is the verifier's own."""
        store = self.stores[where] = Store(where, frame.scope, "engine")
        aux = [part for part in parts if part.state.boundary != part.depth]
        store.states = aux if len(aux) > 1 else list(parts)

    # ---- concatenation and use -----------------------------------------------------------------------------------

    def fused(
        self,
        run: Interpreter,
        parts: list[Tensor],
        node: Any,
        frame: Frame,
        dropped: Any = (),
        sliced: Any = None,
        given: V = None,
        grown: Fused | None = None,
    ) -> None:
        """States are put side by side along the feature dimension; `grown` is what was put together before."""
        if any(of_drafter(part) for part in parts):
            return
        where = frame.scope.where(node)
        key = (where, tuple((p.state.boundary, p.state.normed) for p in parts))
        if grown is not None and grown.where == where:  # put together one by one in a loop: only the whole counts
            self.joined.pop((where, tuple((p.state.boundary, p.state.normed) for p in grown.parts)), None)
        function = frame.function.name if frame.function is not None else ""
        note = note_of(*parts) or note_of(given)
        if key not in self.joined:
            made = Joined(where, frame.scope, tuple(parts), tuple(dropped), sliced, function, note)
            made.chosen = place(getattr(given, "chosen", None))
            self.joined[key] = made

    def fed(self, given: Fused, node: Any, frame: Frame) -> None:
        """States that another script put together go into a drafter."""
        where = frame.scope.where(node)
        known = [joined for joined, _ in self.cached.values() if joined.scope.path == frame.scope.path]
        if all([p.state for p in joined.parts] != [p.state for p in given.parts] for joined in known):
            function = frame.function.name if frame.function is not None else ""
            joined = Joined(where, frame.scope, given.parts, (), None, function, note_of(*given.parts))
            self.cached.setdefault(where, (joined, given.where))

    def whole_tuple(self, run: Interpreter, pieces: list[V], node: Any, frame: Frame) -> None:
        """All hidden states of a stock model are concatenated."""
        tensors = [p for p in pieces if isinstance(p, Tensor)]
        if tensors and tensors[0].model is not None and tensors[0].model.stock:
            self.flaw("all-layers-concatenated", frame.scope.where(node), frame, {"states": len(tensors)}, ())

    def to_head(self, run: Interpreter, state: Tensor, node: Any, frame: Frame) -> None:
        """A state is multiplied by an lm_head."""
        if of_drafter(state):
            return
        self.heads.setdefault((frame.scope.where(node), state.state.normed), (state, frame.scope))

    def cast(self, run: Interpreter, state: Tensor, dtype: str, node: Any, frame: Frame) -> None:
        """A state is cast to another type."""
        self.casts.setdefault(frame.scope.where(node), (state, dtype, frame.scope))

    # ---- tests ---------------------------------------------------------------------------------------------------

    def compared(self, run: Interpreter, node: Any, target: Any, left: V, right: V, verdict: V, frame: Frame) -> None:
        """A counter is tested against ids."""
        if not isinstance(left, int) or isinstance(left, bool):
            return
        if isinstance(left, RankIndex):
            self.rank_relative(run, node, frame)
        ids: tuple[int, ...] | None = None
        if isinstance(right, ListV | SetV):
            ids = tuple(int(i) for i in right.items if isinstance(i, int)) if not right.open else None
        elif isinstance(right, tuple):
            ids = tuple(int(i) for i in right if isinstance(i, int))
        elif isinstance(right, DictV) and not right.open:
            ids = tuple(int(i) for i in right.items if isinstance(i, int))
        note = note_of(right)
        self.guard_note = note if verdict is True and note else frame.scope.note
        self.matched = None
        if ids is None or not ids:
            return
        where = frame.scope.where(node)
        test = self.tests.get(where)
        if test is None or test.ids != ids:
            origin = place(getattr(right, "where", None))
            test = self.tests[where] = Test(where, frame.scope, ids, note, origin, container=right)
            test.containers = containers(run, target.comparator, frame)
        test.seen.add(int(left))
        if verdict is True:
            test.hit.add(int(left))
            self.matched = (test, int(left))

    def registered(self, run: Interpreter, boundary: int, node: Any, frame: Frame) -> None:
        """A hook is registered that gives this boundary; in a branch that may not be taken it proves nothing."""
        turn = run.choosing[-1] if run.choosing else None
        if turn is None or turn.current is None or run.journal:
            return
        where = frame.scope.where(node)
        known = self.hooks.setdefault(where, Hooks(where, frame.scope, turn.containers))
        known.pairs[turn.current] = boundary

    def unhooked(self, left: LeftOut, frame: Frame) -> None:
        """No hook is registered for an id that a condition left out; its `value` is the boundary."""
        self.not_hooked.setdefault(frame.scope.where(left.where.node), (left, frame.scope))

    def wrote(self, run: Interpreter, owner: V, name: str, value: V, node: Any, frame: Frame) -> None:
        """An attribute is assigned; those that setters write are held against what the forward reads."""
        if frame.function is not None and frame.function.name in SETTERS:
            self.written.setdefault(name, []).append((frame.scope.where(node), value, frame.scope))
            if value is True and isinstance(owner, Obj) and owner.cls is not None:
                flag = Flag(name, frame.scope.where(node), frame.scope, owner.cls)
                self.flags.setdefault(flag.where, flag)

    def passed_over(self, node: cst.If, frame: Frame) -> None:
        """The body of an `if` does not run: when it captures, the test is remembered."""
        if captures(node):
            name = dotted(node.test).rsplit(".", 1)[-1]
            if name:
                self.skipped.setdefault(frame.scope.where(node.test), (name, frame.scope))

    def rank_relative(self, run: Interpreter, node: Any, frame: Frame) -> None:
        """A counter that restarts on every pipeline rank is compared with ids."""
        loop = enclosing_loop(frame, node)
        self.flaw("rank-relative-layer-index", loop or frame.scope.where(node), frame, {}, ())

    def out_of_range(self, run: Interpreter, key: int, highest: int, node: Any, frame: Frame) -> None:
        """An index beyond the layers or states that there are."""
        where = frame.scope.where(node)
        self.flaw("index-out-of-range", where, frame, {"id": int(key), "highest": highest}, ())

    def outer_config(self, run: Interpreter, owner: DictV, key: V, node: Any, frame: Frame) -> None:
        """A target config is asked for a value that stands in the config nested inside it."""
        if key not in ("num_hidden_layers", "hidden_size") or owner.open:
            return
        for name, inner in owner.items.items():
            if name in _NESTED_CONFIGS and isinstance(inner, DictV) and key in inner.items:
                details = {"key": key, "nested": name, "value": inner.items[key]}
                self.flaw("nested-target-config", frame.scope.where(node), frame, details, ())
                return

    def missing_key(self, run: Interpreter, owner: DictV, key: str, node: Any, frame: Frame) -> None:
        """A reader asks for a key that the writer does not write."""
        where = frame.scope.where(node)
        saved = owner.origin
        if saved is None:
            return
        keys = [k for k in owner.items if isinstance(k, str)]
        self.flaw(
            "dump-layout-mismatch",
            where,
            frame,
            {"wanted": key, "written": keys, "path": saved.path},
            (Step(place(saved.where) or self.nowhere, f"written here with the keys {', '.join(keys)}"),),
        )

    def normed_again(self, run: Interpreter, state: Tensor, node: Any, frame: Frame) -> None:
        """The final norm is applied to a state that has been through it."""
        if of_drafter(state):
            return
        self.again.setdefault(frame.scope.where(node), (state, frame.scope))

    def unresolved(self, run: Interpreter, unknown: Unknown, node: Any, frame: Frame) -> None:
        """States are taken by something that is not known."""
        self.unknown.setdefault(frame.scope.where(node), (unknown, frame.scope))

    def flaw(
        self,
        kind: str,
        where: Location,
        frame: Frame,
        details: dict[str, Any],
        related: tuple[Step, ...],
        scope: ModuleScope | None = None,
    ) -> None:
        """A defect that data flow proves."""
        self.flaws.setdefault((kind, where), Flaw(kind, where, details, tuple(related), scope or frame.scope))

    # ---- launches ------------------------------------------------------------------------------------------------

    def launch(self, run: Interpreter, engine: str, site: CallSite) -> None:
        """An engine is started from Python."""
        self.launches.append((engine, site, site.frame.scope.where(site.node)))

    def command(self, run: Interpreter, words: V, node: Any, frame: Frame, env: V) -> None:
        """A command is started from Python."""
        self.commands.append((words, frame.scope.where(node), env))

    def elsewhere(self, name: str) -> bool:
        """Whether a file that was not run names this attribute, or one that is no module."""
        return self.code is not None and self.code.names(name, self.scopes)

    def gave_up(self, scope: ModuleScope) -> None:
        """A file asked for more steps than are granted."""
        self.exhausted.append(scope.path)

    @staticmethod
    def key_place(node: Any, frame: Frame, key: str) -> Location | None:
        """The place of a dict entry with this key inside a call."""
        stack: list[Any] = [node]
        while stack:
            current = stack.pop()
            written = current.key if isinstance(current, cst.DictElement) else None
            if isinstance(written, cst.SimpleString) and key in written.value:
                return frame.scope.where(written)
            stack.extend(kids(current))
        return None
