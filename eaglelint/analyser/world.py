"""What lies around the code of one run: other modules, files, the environment, commands, targets and engines."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eaglelint.analyser import depths, memory, surroundings
from eaglelint.analyser.file_values import Choice, FileText, Saved
from eaglelint.analyser.items import MISSING_DEFAULT
from eaglelint.analyser.relevance import related
from eaglelint.analyser.scope import Frame, ModuleScope
from eaglelint.analyser.sources import Code
from eaglelint.analyser.standard import domain
from eaglelint.analyser.strings import as_text
from eaglelint.analyser.target_values import ConfigV, Layer, ModelV, Module
from eaglelint.analyser.values import (
    HOLE,
    MISSING,
    SAMPLES,
    ClassV,
    Deferred,
    DictV,
    External,
    FuncV,
    Obj,
    SourceStr,
    Tensor,
    Unknown,
    V,
    with_note,
)
from eaglelint.facts import DrafterConfig, Facts, ScriptRun, TargetConfig, Value
from eaglelint.location import MappedText

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter
    from eaglelint.analyser.recorder import Recorder


#: Modules of a run from which on it is worth looking for what it left in memory.
_MANY_SCOPES = 40


class World:
    """The surroundings of one run. `known_saves` are the files that the run before wrote."""

    def __init__(self, code: Code, facts: Facts, known_saves: list[Saved]) -> None:
        self.code = code
        self.facts = facts
        self.known_saves = known_saves
        self.saves: list[Saved] = []
        self.touched: list[FileText] = []
        self.patched: list[FileText] = []
        self.models: list[ModelV] = []
        self.waiting: list[ModelV] = []
        self.outside: dict[str, V] = {}
        self.scopes: dict[str, ModuleScope] = {}
        self.loose: list[ModuleScope] = []
        self.set_here: dict[str, V] = {}
        self.hints: dict[str, dict[str, V]] = {}
        self.asked: set[tuple[str, str]] = set()
        self.loads = False
        self._loading: set[str] = set()

    # ---- calls ---------------------------------------------------------------------------------------------------

    def called(self, run: Interpreter, func: V, site: CallSite) -> V:
        """What a call gives in surroundings that answer it themselves; MISSING when it is executed as usual."""
        return MISSING

    # ---- modules -------------------------------------------------------------------------------------------------

    def load(self, run: Interpreter, path: str) -> ModuleScope | None:
        """The scope of a file of the project, executed; None when it can not be parsed."""
        if path in self.scopes:
            return self.scopes[path]
        if path in self._loading:
            return None
        fragment = self.code.parsed(path)
        if fragment is None:
            return None
        self._loading.add(path)
        dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        scope = self.scopes[path] = self.code.scope(fragment, path, dotted)
        run.run_module(scope)
        self._loading.discard(path)
        return scope

    def module(self, run: Interpreter, dotted: str, importer: ModuleScope) -> V:
        """The value of an imported module."""
        path = self.code.resolve(dotted, importer.path, 0)
        return Deferred(dotted, "", 0, importer) if path not in (None, importer.path) else External(dotted)

    def member(self, run: Interpreter, dotted: str, name: str, level: int, importer: ModuleScope) -> V:
        """The value of `from dotted import name`: read when it is used."""
        path = self.code.resolve(dotted, importer.path, level)
        inner = self.code.resolve(f"{dotted}.{name}" if dotted else name, importer.path, level)
        if {path, inner} - {None, importer.path}:
            return Deferred(dotted, name, level, importer)
        return External(f"{dotted}.{name}" if dotted else name)

    def used(self, run: Interpreter, import_: Deferred) -> V:
        """What an import gives, now that it is used."""
        if import_.name:
            return self.imported(run, import_.dotted, import_.name, import_.level, import_.importer)
        path = self.code.resolve(import_.dotted, import_.importer.path, 0)
        scope = self.load(run, path) if path is not None else None
        return Obj(import_.dotted, attrs=scope.names, outside=False) if scope is not None else External(import_.dotted)

    def imported(self, run: Interpreter, dotted: str, name: str, level: int, importer: ModuleScope) -> V:
        """The value of a name of another module; modules of the project are executed for it."""
        path = self.code.resolve(dotted, importer.path, level)
        if path is not None and path != importer.path:
            scope = self.load(run, path)
            if scope is not None and name in scope.names:
                found = scope.names[name]
                passed_on = isinstance(found, Deferred) and found.importer is not importer
                return self.used(run, found) if passed_on else found
        inner = self.code.resolve(f"{dotted}.{name}" if dotted else name, importer.path, level)
        if inner is not None and inner != importer.path:
            scope = self.load(run, inner)
            if scope is not None:
                return Obj(name, attrs=scope.names, outside=False)
        return External(f"{dotted}.{name}" if dotted else name)

    def star(self, run: Interpreter, dotted: str, level: int, importer: ModuleScope) -> dict[str, V]:
        """The names of `from dotted import *`."""
        path = self.code.resolve(dotted, importer.path, level)
        if path is None:
            importer.star.append(dotted)
            return {}
        scope = self.load(run, path)
        return {k: v for k, v in scope.names.items() if not k.startswith("_")} if scope is not None else {}

    def star_name(self, name: str, importer: ModuleScope) -> V:
        """A name that a star import from outside may have bound."""
        return External(f"{importer.star[0]}.{name}") if len(importer.star) == 1 else MISSING

    def instance(self, run: Interpreter, dotted: str, model: ModelV, site: CallSite) -> V:
        """An instance of the class with this dotted name (`package.module.Class` or `package.module:Class`)."""
        module, _, name = dotted.replace(":", ".").rpartition(".")
        found = self.imported(run, module, name, 0, site.frame.scope)
        if not isinstance(found, ClassV):
            return Unknown(dotted)
        return Obj(found.name, found, attrs={"%model": model, "model_runner": model}, outside=False)

    def by_key(self, key: str, owner: V) -> V:
        """An entry of something unknown: the state that the project saves under this key, when only one is."""
        self.loads = True
        found = [v for saved in self.known_saves for v in [_entry(saved.value, key)] if isinstance(v, Tensor)]
        if found and len({v.state for v in found}) == 1:
            return replace(found[0], by_name=True)
        return owner

    def sample(self, key: str, owner: V) -> V:
        """An entry of something unknown that is asked for by its key: saved, or in what a data set gives."""
        found = self.by_key(key, owner)
        if found is owner:
            self.asked.add((SAMPLES, key))
            known = self.hints.get(SAMPLES, {}).get(key)
            if isinstance(known, Tensor):
                return replace(known, by_name=True)
        return found

    def source_text(self, path: str) -> MappedText | None:
        """The text of a file of the project, by a path whose last parts are known."""
        if HOLE in path.rsplit("/", 1)[-1]:
            return None
        known = path.rsplit(HOLE, 1)[-1].lstrip("/.")
        while known.startswith("../"):
            known = known[3:]
        source = self.code.sources.get(known)
        if source is None and "/" in known:
            fitting = [s for p, s in self.code.sources.items() if p.endswith(f"/{known}")]
            source = fitting[0] if len(fitting) == 1 else None
        try:
            return source.text if source is not None else None
        except Exception:
            return None

    # ---- the environment -----------------------------------------------------------------------------------------

    def environment(self, key: V, default: V, frame: Frame, node: Any) -> V:
        """An environment variable: what a script in scope sets, else the default, marked as assumed."""
        where = frame.scope.spot(node)
        if not isinstance(key, str) or HOLE in key:
            return Unknown("environment variable", where)
        if key in self.set_here:
            return self.set_here[key]
        given = [s.value for s in self.facts.environment if s.name == key]
        for run in self.facts.runs:
            given += [value for name, value in run.environment if name == key]
        values = {str(v.value) for v in given if v.known}
        if len(values) == 1 and all(v.known for v in given):
            note = next((v.assumed for v in given if v.assumed), "")
            return with_note(values.pop(), note)
        if values or default is MISSING_DEFAULT or default is None or default == "":
            return Unknown(f"${key}", where)
        return with_note(default, f"default of ${key}")

    def argv(self, path: str) -> tuple[Value, ...] | None:
        """The argument words of the command in scope that runs this file; None when there is none."""
        run = self._run_of(path)
        return run.words if run is not None else None

    def _run_of(self, path: str) -> ScriptRun | None:
        dotted = path.removesuffix(".py").replace("/", ".")
        last = path.rsplit("/", 1)[-1]
        exact = [r for r in self.facts.runs if _same_script(r.script, path) or r.script == dotted]
        if exact:
            return exact[0]
        same = [r for r in self.facts.runs if r.script.rsplit("/", 1)[-1] == last]
        others = [p for p in self.code.sources if p.rsplit("/", 1)[-1] == last]
        return same[0] if same and len(others) == 1 else None

    # ---- documents and configs -----------------------------------------------------------------------------------

    def parse_json(self, text: V, frame: Frame) -> V:
        """The value of JSON text, also of a file in scope; a choice when only the file's own name is known."""
        path = ""
        if isinstance(text, FileText):
            if text.text is None:
                return self._configs(text.path)
            path, text = text.text.lines.path, text.text.text
        elif isinstance(text, SourceStr):
            path = text.mapped.lines.path
        if not isinstance(text, str) or HOLE in text or len(text) > 2_000_000:
            return Unknown("json")
        try:
            return depths.marked(self.facts, path, domain(json.loads(text)))
        except (ValueError, RecursionError):
            return Unknown("json")

    def _configs(self, path: str) -> V:
        """The drafter and target configs that a path with an unknown folder may mean."""
        folder, _, name = path.rpartition("/")
        if HOLE in name or name != "config.json" or (folder and HOLE not in folder):
            return Unknown("json")
        configs: list[DrafterConfig | TargetConfig] = [*self.facts.drafters, *self.facts.targets]
        found = [config.document for config in configs if config.path.endswith("config.json")]
        return Choice(tuple(domain(d.value) for d in found)) if found else Unknown("json")

    def parse_yaml(self, text: V, frame: Frame) -> V:
        """The value of YAML text, also when it is the text of a file in scope."""
        from eaglelint.errors import DocumentError
        from eaglelint.readers.documents import read_yaml

        source = text.text if isinstance(text, FileText) else None
        if source is None and isinstance(text, str) and HOLE not in text and "\n" in text:
            source = MappedText.whole(frame.scope.path, str(text))
        if source is None:
            return Unknown("yaml")
        try:
            documents = read_yaml(source)
        except DocumentError:
            return Unknown("yaml")
        return domain(documents[0].value) if len(documents) == 1 else Unknown("yaml")

    def config_attribute(
        self, run: Interpreter, owner: ConfigV, name: str, frame: Frame, node: Any, default: V = MISSING
    ) -> V:
        """An attribute of a model's config."""
        return surroundings.config_attribute(run, owner, name, frame, node, default)

    def config_method(self, run: Interpreter, owner: ConfigV, name: str, site: CallSite) -> V:
        """A method of a model's config: get_text_config, get, to_dict."""
        if name == "get_text_config":
            return ConfigV(owner.model, owner.path, True)
        key = site.get(0, "key")
        if name == "get" and isinstance(key, str):
            return self.config_attribute(run, owner, key, site.frame, site.node, site.get(1, "default", MISSING))
        return owner if name in ("to_dict", "copy") else Unknown(name)

    def object_attribute(self, run: Interpreter, obj: Obj, name: str, frame: Frame, node: Any) -> V:
        """An attribute of an object from outside that has a meaning of its own; MISSING when it has none."""
        if name == "kv_transfer_params":
            return Unknown("kv_transfer_params")
        if obj.cls is not None and name in ("model_runner", "driver_worker"):
            return run.objects.model_of(obj)
        if obj.cls is None and obj.name.endswith("()") and name == "hidden_states":
            return Unknown("hidden_states")
        return MISSING

    def target_depth(self, name: str) -> tuple[int, str]:
        """N and the model type of a target by its name or path; 0 and "" when it is not known."""
        return surroundings.target_depth(self.facts, name)

    def engine_boundaries(
        self, engine: str, ids: list[int] | None, model: ModelV, depth: int, purpose: str = "serving"
    ) -> tuple[list[int], str] | None:
        """The boundaries that an engine in its pinned release captures for these ids, and on what that rests."""
        return surroundings.engine_boundaries(self.facts, engine, ids, model, depth, purpose)

    def forget(self) -> None:
        """Let go of the values of all names: the run is over, and what it saw stands in its recorder."""
        for scope in (*self.scopes.values(), *self.loose):
            scope.names.clear()
            scope.functions.clear()
            scope.classes.clear()
        if len(self.scopes) > _MANY_SCOPES:
            memory.settle()  # frames and functions hold each other

    def depth_matters(self, recorder: Recorder) -> bool:
        """Whether anything of interest belongs to a model whose N is not known, so that other depths must be tried."""
        seen = [(joined.scope, joined.parts) for joined in recorder.joined.values()]
        seen += [(store.scope, tuple(store.states)) for store in recorder.stores.values()]
        seen += [(named.scope, (named.state,)) for named in recorder.names.values()]
        return any(
            part.model is None or not part.model.depth for scope, parts in seen if related(scope) for part in parts
        )

    # ---- hooks and patches ---------------------------------------------------------------------------------------

    def hooked(self, run: Interpreter, owner: V) -> None:
        """A model got a hook or another forward; if nothing in scope runs it, its engine does."""
        model = owner.model if isinstance(owner, Layer | Module) else owner
        if isinstance(model, ModelV) and model not in self.waiting:
            self.waiting.append(model)

    def patched_outside(self, run: Interpreter, path: str, value: V, frame: Frame, node: Any) -> None:
        """A class or module from outside gets another attribute (monkeypatch)."""
        self.outside[path] = value

    def hint(self, func: FuncV | None, name: str) -> V:
        """What another function of the same module returns under the name of this parameter."""
        if func is None:
            return MISSING
        self.asked.add((func.scope.path, name))
        return self.hints.get(func.scope.path, {}).get(name, MISSING)

    def learned(self, recorder: Recorder) -> bool:
        """Whether a parameter that was asked for without success would get a value in another run."""
        return any(
            (name in self.hints.get(path, {})) != (name in recorder.returns.get(path, {})) for path, name in self.asked
        )


def _entry(value: V, key: str) -> V:
    return value.items.get(key) if isinstance(value, DictV) else None


def _same_script(script: str, path: str) -> bool:
    wanted = as_text(script).removeprefix("./")
    return wanted == path or (wanted.endswith(f"/{path}") and "/" in path)
