"""What a drawing does not know, and the lines of `eaglelint.toml` that would settle it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from eaglelint.checks import wording
from eaglelint.linking.methods import method
from eaglelint.linking.records import title
from eaglelint.pipeline import Pipeline
from eaglelint.tracing.records import Hint, Panel

#: Heads that are fed auxiliary hidden states of several layers.
_FED = ("eagle3", "dflash", "dspark", "unknown")


def hints(pipeline: Pipeline, panels: Sequence[Panel]) -> tuple[Hint, ...]:
    """What is not known of a pipeline, in the order of the data flow."""
    return tuple(_hints(pipeline, panels))


def _hints(pipeline: Pipeline, panels: Sequence[Panel]) -> Iterator[Hint]:
    if not takes_states(pipeline):
        return
    if not pipeline.name:
        paths = [capture.where.path for capture in pipeline.captures]
        paths += [assembly.where.path for assembly in pipeline.assemblies]
        paths += [capture.where.path for capture in pipeline.unresolved]
        lines = (f"capture = {_listed(paths)}",) if paths else ()
        yield Hint("which drafter this code belongs to", _entry("path/to/the/drafter", *lines))
    yield from _captures(pipeline)
    if pipeline.name and not pipeline.unresolved and any(not panel.trained.columns for panel in panels):
        files = _of(pipeline, 'capture = ["path/to/capture.py"]', 'training = ["path/to/training.py"]')
        yield Hint("what the drafter was trained on", files)
    for doubt in pipeline.ambiguities:
        heads = wording.listed(doubt.candidates, "or")
        entry = _entry(doubt.candidates[0], f"capture = {_listed([place.path for place in doubt.places])}")
        yield Hint(f"which drafter the captured states belong to: {heads}", entry)
    if any(not panel.depth for panel in panels):
        yield Hint("the target and its number of layers N", '[target]\nname = "organisation/model"\ndepth = 32')
    if pipeline.name:
        yield from _serving(pipeline)


def takes_states(pipeline: Pipeline) -> bool:
    """Whether the head of a pipeline is of a kind that is fed auxiliary states."""
    return pipeline.method in _FED


def _captures(pipeline: Pipeline) -> Iterator[Hint]:
    """Captures whose layers nothing in the project says: no configuration does either."""
    for capture in pipeline.unresolved:
        at = f", set at {capture.at}" if capture.at is not None and str(capture.at) != str(capture.where) else ""
        yield Hint(f"which layers are captured at {capture.where}: {capture.missing} is not known{at}")


def _serving(pipeline: Pipeline) -> Iterator[Hint]:
    if pipeline.template:
        yield Hint("nothing: this config is the draft of a training run, another one is the checkpoint's")
    elif pipeline.served_elsewhere:
        launch = _of(pipeline, 'launch = ["path/to/serve.sh"]')
        yield Hint("where this drafter is served: the project starts another one", launch)
    elif not pipeline.declared:
        yield Hint(f"which ids {pipeline.name} declares: its config is not in the project")
    elif pipeline.method == "unknown":
        yield Hint("what kind of head this is, and so how an engine reads its ids")
    elif pipeline.method != "eagle3":
        yield Hint("how engines read the ids of this kind of head: only those of EAGLE-3 are drawn")
    elif pipeline.launches and not pipeline.servings and all(method(launch).captures for launch in pipeline.launches):
        engines = wording.listed(title(launch.engine) for launch in pipeline.launches)
        yield Hint(f"how {engines} reads ids: it is not in the tables")
    elif not pipeline.launches and not pipeline.servings:
        yield Hint("which engine and release serve it", _of(pipeline, 'engine = "sglang==0.5.9"'))
    open_ = {serving.engine for serving in pipeline.servings if not serving.release.bounded}
    for engine in sorted(open_):
        yield Hint(f"the release of {title(engine)}", f'[engines]\n{engine} = "{_example(pipeline, engine)}"')


def _example(pipeline: Pipeline, engine: str) -> str:
    """A release to show how it is written: the newest of those that are possible."""
    return [serving.reading.last for serving in pipeline.servings if serving.engine == engine][-1]


def _of(pipeline: Pipeline, *lines: str) -> str:
    return _entry(pipeline.name, *lines) if pipeline.name else ""


def _entry(drafter: str, *lines: str) -> str:
    return "\n".join(("[[pipeline]]", f"drafter = {json.dumps(drafter)}", *lines))


def _listed(paths: Sequence[str]) -> str:
    return json.dumps(list(dict.fromkeys(paths)))
