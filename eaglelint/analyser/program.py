"""Runs a whole project: modules, functions that nothing in scope calls, patches, hooks; until files settle."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eaglelint import watch
from eaglelint.analyser import engines, layer_loops, models, patterns
from eaglelint.analyser.file_values import FileText, Saved
from eaglelint.analyser.files import shape
from eaglelint.analyser.interpreter import Interpreter, OutOfFuel
from eaglelint.analyser.operations import with_state
from eaglelint.analyser.recorder import Recorder
from eaglelint.analyser.scope import ModuleScope, module_frame
from eaglelint.analyser.sources import Code
from eaglelint.analyser.target_values import ModelV, holds_states
from eaglelint.analyser.values import ClassV, Deferred, FuncV, Index, Obj, SourceStr, Tensor, V
from eaglelint.analyser.world import World
from eaglelint.facts import Facts
from eaglelint.location import MappedText

if TYPE_CHECKING:
    from eaglelint.analyser.fragments import Fragment

_PASSES = 4
#: Names that a loop over layers gives its counter, for bodies that come without the loop's header.
_COUNTERS = ("i", "idx", "layer_idx", "layer_id", "layer_index", "index")


def run_project(code: Code, facts: Facts, embedded: list[list[MappedText]], depth: int) -> tuple[Recorder, World]:
    """Execute everything for a target of `depth` layers; files written in one pass are read in the next.

    `embedded` are groups of code pieces from shell scripts and patches; the pieces of one group share their names.
    """
    saves: list[Saved] = []
    hints: dict[str, dict[str, V]] = {}
    for _ in range(_PASSES):
        world = World(code, facts, saves)
        world.hints = hints
        recorder = Recorder()
        run = Interpreter(world, recorder, depth)
        _execute(run, world, embedded)
        settled = not world.learned(recorder) and (not world.loads or _signature(world.saves) == _signature(saves))
        saves, hints = world.saves, recorder.returns
        if settled:
            break
        world.forget()
    recorder.code = code
    recorder.scopes = {scope.path: scope for scope in (*world.loose, *world.scopes.values())}
    return recorder, world


def _signature(saves: list[Saved]) -> list[tuple[Any, ...]]:
    """What readers of hidden states would see of the files; others may change without end."""
    return [(s.path, s.format, s.script, shape(s.value)) for s in saves if holds_states(s.value) or s.format == "json"]


def _execute(run: Interpreter, world: World, embedded: list[list[MappedText]]) -> None:
    engines.extraction_servers(run)
    for source in watch.each("running modules", tuple(world.code.relevant())):
        world.load(run, source.path)
    for group in embedded:
        _run_pieces(run, world, group, "")
    _run_uncalled(run, world)
    _run_patches(run, world)
    _run_uncalled(run, world)
    _run_waiting(run, world)


# ---- code that nothing in scope calls ------------------------------------------------------------------------------


def _run_uncalled(run: Interpreter, world: World) -> None:
    """Functions and methods that no code in scope enters: something outside calls them.

    Those that nothing even mentions come first: they call the others with the arguments that the others are meant for.
    """
    scopes = [*world.scopes.values(), *world.loose]
    elsewhere = {id(value.node) for value in world.outside.values() if isinstance(value, FuncV)}
    mentioned: dict[str, set[int]] = {}
    for scope in scopes:
        for func in scope.functions:
            for name in patterns.mentioned(func.node):
                mentioned.setdefault(name, set()).add(id(func.node))
    for first in (True, False):
        for scope in watch.each("running functions", scopes):
            for func in list(scope.functions):
                known = id(func.node) in run.entered or id(func.node) in elsewhere
                if func.frame.function is not None or known or not _worth(scope, func):
                    continue
                if not first or not mentioned.get(func.name, set()) - {id(func.node)}:
                    _try(run, scope, func, [])
            for cls in list(scope.classes):
                own = {id(method.node) for method in cls.attrs.values() if isinstance(method, FuncV)}
                if not first or not mentioned.get(cls.name, set()) - own:
                    _run_class(run, scope, cls)


def _worth(scope: ModuleScope, func: FuncV) -> bool:
    """Whether running a function may show anything: it speaks of states, or it uses code of the project."""
    if patterns.interesting(func.node):
        return True
    used = (scope.names.get(name) for name in patterns.mentioned(func.node))
    return any(isinstance(value, FuncV | ClassV | Deferred) for value in used)


def _try(run: Interpreter, scope: ModuleScope, func: FuncV, args: list[V]) -> V:
    depth_of_stack = len(run.stack)
    run.steps = 0
    try:
        return run.call_function(func, args, {})
    except (OutOfFuel, RecursionError):
        del run.stack[depth_of_stack:]
        run.journal.clear()
        run.doubt.clear()
        run.steps = 0
        run.rec.gave_up(scope)
        return None


def _run_class(run: Interpreter, scope: ModuleScope, cls: ClassV) -> None:
    methods = [m for m in cls.attrs.values() if isinstance(m, FuncV) and id(m.node) not in run.entered]
    if not any(patterns.interesting(method.node) for method in methods):
        return
    obj = Obj(cls.name, cls, where=scope.spot(cls.node), outside=False)
    init = cls.lookup("__init__")
    if isinstance(init, FuncV):
        _try(run, scope, replace(init, bound=obj), [])
    for name in sorted(patterns.SETTERS):
        setter = cls.lookup(name)
        if isinstance(setter, FuncV) and id(setter.node) not in run.entered:
            _try(run, scope, replace(setter, bound=obj), [])
    for method in methods:
        if id(method.node) in run.entered or method.name == "__init__" or not patterns.interesting(method.node):
            continue
        static = "staticmethod" in method.decorators
        _try(run, scope, method if static else replace(method, bound=obj), [])


def _run_waiting(run: Interpreter, world: World) -> None:
    """Models with hooks or another forward that nothing in scope ran: their engine runs them."""
    for path, value in list(world.outside.items()):
        owner, _, name = path.rpartition(".")
        if not isinstance(value, FuncV) or owner.split(".")[0] not in ("sglang", "vllm", "transformers"):
            continue
        model = ModelV(owner.split(".")[0].replace("transformers", "hf"), stock=False)
        if name == "__init__" or id(value.node) not in run.entered or name == "forward":
            _try(run, value.scope, value, [model])
    for model in list(world.waiting):
        forward = model.attrs.get("forward")
        if isinstance(forward, FuncV) and id(forward.node) not in run.entered:
            _try(run, forward.scope, forward, [])
        if not model.ran:
            try:
                models.fire_hooks(run, model, None)
            except (OutOfFuel, RecursionError):
                run.steps = 0
    for obj_scope in list(world.scopes.values()):
        for func in obj_scope.functions:
            inner = func.frame.function is not None and id(func.node) not in run.entered
            if inner and patterns.interesting(func.node):
                _try(run, obj_scope, func, [])


# ---- patches -------------------------------------------------------------------------------------------------------


def _run_patches(run: Interpreter, world: World) -> None:
    """Code that scripts write into other files: all pieces written into one file share their names."""
    groups: dict[str, list[FileText]] = {}
    for text in world.patched or world.touched[-1:]:
        groups.setdefault(text.path, []).append(text)
    for path, texts in groups.items():
        longest = max(texts, key=lambda t: len(t.edits))
        pieces: list[MappedText] = []
        note = longest.note
        for _, _, new in longest.edits:
            if isinstance(new, SourceStr) and new.strip():
                pieces.append(new.mapped)
                note = note or new.note
        pieces.sort(key=lambda piece: piece.text[:1].isspace())  # module-level code comes before what uses it
        if pieces:
            _run_pieces(run, world, pieces, path, note)


def _run_pieces(run: Interpreter, world: World, pieces: list[MappedText], path: str, note: str = "") -> None:
    names: dict[str, V] = {}
    for text in pieces:
        fragment: Fragment | None = world.code.fragment(text)
        if fragment is None:
            continue
        scope = world.code.scope(fragment, text.lines.path, path, loose=True)
        scope.names = names if not patterns.after_model(text.text) else _after_model(run, scope)
        scope.note = note
        scope.imports |= _engine_words(path, text)
        run.rec.guard_note = note
        world.loose.append(scope)
        body = layer_loops.loose_loop(scope.tree)
        counter = layer_loops.takes_layer(scope.tree)
        if body is not None:
            _run_body(run, scope, *body)
        elif counter:
            _run_start(run, scope, counter)
        else:
            run.run_module(scope)
    run.rec.guard_note = ""


def _after_model(run: Interpreter, scope: ModuleScope) -> dict[str, V]:
    """The names of a piece of the function around the model, where the stream is what the model returned: normed."""
    model = run.objects.anonymous(module_frame(scope))
    normed = with_state(run.objects.state(model, run.depth_of(model)), normed=True)
    return {"hidden_states": normed}


def _run_start(run: Interpreter, scope: ModuleScope, counter: str) -> None:
    """The start of the body of a layer loop, up to where the layer is taken: run it for what enters each layer."""
    frame = module_frame(scope)
    names = layer_loops.stream_names(scope.tree, scope)
    for number in range(run.depth_of(run.objects.anonymous(frame))):
        scope.names[counter] = Index(number)
        if names is not None:
            layer_loops.bind_entering(run, names, number, frame)
        run.run_module(scope)


def _run_body(run: Interpreter, scope: ModuleScope, counter: str, streams: list[str]) -> None:
    """The body of a layer loop without its header: run it once for each layer."""
    frame = module_frame(scope)
    model = run.objects.anonymous(frame)
    hidden = next((name for name in streams if not patterns.is_residual(name)), None)
    if hidden is not None and not isinstance(frame.lookup(hidden), Tensor):
        frame.bind(hidden, run.objects.state(model, 0))
    counters = [counter] if counter else []
    counters += [name for name in _COUNTERS if name not in scope.names and name != counter]
    for number in range(run.depth_of(model)):
        for name in counters:
            scope.names[name] = Index(number)
        scope.names["layer"] = run.objects.layer(model, number)
        run.run_module(scope)


def _engine_words(path: str, text: MappedText) -> set[str]:
    """The engine that a patched file belongs to, by its path."""
    parts = path.replace("\x00", "/").split("/")
    found: set[str] = {engine for engine in ("sglang", "vllm") if engine in parts}
    if not found and "forward_batch" in text.text:
        found = {"sglang"}
    return found
