"""Which servers and offline engines are started to extract hidden states, and what says so.

Only evidence of its own makes a launch an extraction: a method or connector for it, a flag that returns hidden states,
a script that starts it and collects, or that it is the only server that a collector can mean. A launch with a draft
model is otherwise serving.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence

from eaglelint.boundary import SAMPLED_DEPTHS, State
from eaglelint.conventions.records import Reading
from eaglelint.conventions.table import engine as known_engine
from eaglelint.facts import Argument, Capture, Facts, Launch, Step
from eaglelint.linking import evidence, paths, releases, targets
from eaglelint.linking.methods import method
from eaglelint.linking.records import Extraction, Release, Target, integers, title
from eaglelint.location import Location
from eaglelint.settings import Settings

#: Engines of which it is known what their caches do to hidden states.
_ENGINES = ("sglang", "vllm")
#: Modules that Python loads by itself at every start.
_LOADED_AT_START = ("sitecustomize.py", "usercustomize.py")


def find(facts: Facts, settings: Settings) -> tuple[Extraction, ...]:
    """Every launch of the project that is there to extract hidden states, in the order of the files."""
    stated = releases.configured(settings.engines, settings.file)
    collectors = _Collectors(facts)
    found = []
    for launch in facts.launches:
        if releases.canonical(launch.engine) not in _ENGINES or managed(launch) is not None:
            continue
        own = _own_evidence(launch)
        evident = own or collectors.of(launch)
        if evident:
            chosen = releases.for_launch(launch, facts.pins, stated)
            target = targets.of_launch(launch, facts.targets)
            found.append(Extraction(launch, chosen, evident, own_means=bool(own), target=target))
    return tuple(found)


def managed(launch: Launch) -> Argument | None:
    """The argument by which a trainer's own capture mode keeps cached tokens apart by itself, None without one."""
    return launch.get("enable_spec_capture")


def _own_evidence(launch: Launch) -> tuple[Step, ...]:
    """The arguments of a launch that ask for hidden states of every token."""
    found: list[Step] = []
    said = launch.get("speculative_config.method")
    if said is not None and said.value.value == "extract_hidden_states":
        found.append(Step(said.where, "the method extract_hidden_states"))
    connector = launch.get("kv_transfer_config.kv_connector")
    if connector is not None and "hiddenstates" in str(connector.value.value).lower().replace("_", ""):
        found.append(Step(connector.where, f"the connector {connector.value.value}"))
    mode = launch.get("return_hidden_states_mode")
    if mode is not None and mode.value.value == "full":
        found.append(Step(mode.where, f"{mode.spelling} full"))
    for name in ("enable_return_aux_hidden_states", "enable_return_hidden_states"):
        flag = launch.get(name)
        if flag is not None and flag.value.value in (True, "true", "True") and not (mode and not found):
            found.append(Step(flag.where, flag.spelling))
    return tuple(found)


class _Collectors:
    """The code of a project that takes hidden states out of an engine, and the launches that it can mean."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._taken: dict[str, Capture | None] = {}
        for capture in facts.captures:
            if capture.framework != "hf":
                self._taken[capture.where.path] = capture
        for defect in facts.defects:
            if defect.kind in ("hook-output-not-stream", "residual-not-added", "rank-relative-layer-index"):
                self._taken.setdefault(defect.where.path, None)
        traces = [fact.trace for fact in facts.assemblies] + [fact.trace for fact in facts.captures]
        traces += [fact.trace for fact in facts.labels]
        steps = [step for trace in traces for step in trace]
        self._dumping = {step.where.path for step in steps if "saved to" in step.what}
        self._dumping |= {label.where.path for label in facts.labels if label.kind == "file"}
        self._loading = {step.where.path: step for step in steps if step.what.startswith("loaded")}

    def of(self, launch: Launch) -> tuple[Step, ...]:
        """What shows that a launch without means of its own is there for a collector; () when nothing does."""
        drafting = launch.draft is not None or method(launch).kind not in ("none", "extraction", "unknown")
        for path in (*self._started_with(launch), *self._loaded_by(launch)):
            if not drafting or path in self._dumping:
                return (self._step(path),)
        if drafting:
            return ()
        only = self._only(launch)
        return (self._step(only),) if only else ()

    def _step(self, path: str) -> Step:
        capture = self._taken.get(path)
        if capture is not None:
            return Step(capture.where, "code captures in it")
        loading = self._loading.get(path)
        return Step(loading.where, "code collects from it") if loading else Step(Location(path), "code captures in it")

    def _started_with(self, launch: Launch) -> Iterator[str]:
        """Files of one script with the launch that capture in the engine or collect what was captured there."""
        own = launch.where.path
        if launch.form == "python":
            if own in self._taken or (own in self._loading and self._taken):
                yield own
            return
        for run in self._facts.runs:
            if run.where.path == own:
                yield from (path for path in self._taken if evidence.runs(run, path))

    def _loaded_by(self, launch: Launch) -> Iterator[str]:
        """Files that the engine loads: the worker extension, and modules that Python loads at every start."""
        extension = launch.get("worker_extension_cls")
        if extension is not None and isinstance(extension.value.value, str):
            module = extension.value.value.rpartition(".")[0].replace(".", "/")
            yield from (path for path in self._taken if module and _is_module(path, module))
        for path in self._taken:
            if posixpath.basename(path) in _LOADED_AT_START and any(
                _names_folder(text, path) for text in self._search_paths(launch)
            ):
                yield path

    def _search_paths(self, launch: Launch) -> Iterator[str]:
        for name, value in launch.environment:
            if name == "PYTHONPATH" and isinstance(value.value, str):
                yield value.value
        for setting in self._facts.environment:
            same = setting.value.where.path == launch.where.path
            if same and setting.name == "PYTHONPATH" and isinstance(setting.value.value, str):
                yield setting.value.value

    def _only(self, launch: Launch) -> str | None:
        """The dump code that can mean no other server than this one: the only launch without a drafter."""
        engine = releases.canonical(launch.engine)
        plain = [
            other
            for other in self._facts.launches
            if other.draft is None and releases.canonical(other.engine) in _ENGINES and not _own_evidence(other)
        ]
        if len(plain) != 1 or plain[0] is not launch:
            return None
        for path, capture in self._taken.items():
            if path not in self._dumping or capture is None:
                continue
            mine = capture.framework == engine or (capture.framework == "own" and _is_patch(path))
            served = targets.of_launch(launch, self._facts.targets)
            if mine and not targets.differ(served, targets.find(capture.target, self._facts.targets)):
                return path
        return None


def _is_module(path: str, module: str) -> bool:
    return paths.parts(path.removesuffix(".py"))[-len(paths.parts(module)) :] == paths.parts(module)


def _is_patch(path: str) -> bool:
    """Whether a file is by its name one that changes an engine's code."""
    return path.endswith((".patch", ".diff")) or "patch" in path.lower() or "overlay" in path.lower()


def _names_folder(search_path: str, path: str) -> bool:
    """Whether an entry of a search path is, or ends like, the folder of a file."""
    folder = paths.parts(posixpath.dirname(path))
    entries = [paths.parts(entry) for entry in search_path.split(":") if entry and "$" not in entry]
    return any(folder and entry[-len(folder) :] == folder for entry in entries)


def captures(facts: Facts, extractions: Sequence[Extraction]) -> tuple[Capture, ...]:
    """The states that extraction commands outside Python take, by the ids in their arguments.

    The analyser reports the engines that Python code starts by itself.
    """
    found: list[Capture] = []
    for extraction in extractions:
        if extraction.launch.form != "python":
            found += _capture(facts, extraction)
    return tuple(found)


def _capture(facts: Facts, extraction: Extraction) -> Iterable[Capture]:
    launch = extraction.launch
    engine = known_engine(launch.engine)
    target = targets.of_launch(launch, facts.targets)
    depth = target.depth if target is not None and target.depth else max(SAMPLED_DEPTHS)
    lists: set[tuple[int, ...]] = set()
    argument: Argument | None = None
    for release in extraction.releases if engine is not None else ():
        for reading in readings(release, target):
            argument = launch.get(*reading.arguments) or argument
            ids = integers(argument.value.value) if argument is not None and _is_list(argument) else None
            taken = reading.captured(ids, depth) if ids else None
            if taken is not None:
                lists.add(taken)
    if argument is None or len(lists) != 1:
        return
    (taken,) = lists
    shown = ", ".join(str(i) for i in argument.value.value)
    step = Step(argument.where, f"{title(launch.engine)} extracts the states of ids [{shown}]")
    yield Capture(
        where=argument.where,
        states=((depth, tuple(State(boundary) for boundary in taken)),),
        chosen=argument.value.where,
        confidence="likely" if argument.value.assumed else "proven",
        framework=releases.canonical(launch.engine),
        trace=(step,),
        assumed=argument.value.assumed,
        target=launch.target,
    )


def _is_list(argument: Argument) -> bool:
    return argument.value.known and isinstance(argument.value.value, (list, tuple)) and bool(argument.value.value)


def readings(release: Release, target: Target | None) -> Sequence[Reading]:
    """The ways in which a release reads the ids of an extraction."""
    engine = known_engine(release.engine)
    if engine is None:
        return ()
    try:
        return engine.readings(release.specifier, target, purpose="extraction")
    except ValueError:
        return engine.readings(None, target, purpose="extraction")
