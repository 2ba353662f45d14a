"""An inspection as text: the head first, then each engine, one line a thing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eaglelint.boundary import show, show_ids
from eaglelint.inspecting.records import Head, Inspection, Map, Problem, View, WeightFile
from eaglelint.report.excerpt import at_line_start, visible

_WIDTH = 12
_METHODS = {"eagle3": "EAGLE-3", "eagle": "EAGLE-1", "dflash": "DFlash", "dspark": "DSpark", "mtp": "MTP"}
_UNITS = ("B", "KB", "MB", "GB", "TB")


def render(inspection: Inspection) -> str:
    """The whole inspection, ending in a line break."""
    lines = [inspection.head.path, *_head(inspection.head)]
    for view in inspection.views:
        lines += ["", " ".join(part for part in (view.engine, view.release) if part) + _runner(view), *_view(view)]
    return "".join(f"{at_line_start(visible(line))}\n" for line in lines)


def _line(name: str, text: str) -> str:
    return f"  {name:{_WIDTH}}{text}".rstrip()


def _head(head: Head) -> Iterator[str]:
    kind = _METHODS.get(head.method, head.method)
    names = f", {', '.join(head.architectures)}" if head.architectures else ""
    yield _line("form", f"{head.form}{names}" + (f" ({kind})" if head.form != "no drafter" else ""))
    for ids in head.ids:
        yield _line("ids", f"{show_ids(ids.ids)} under {ids.key} (line {ids.line})")
    if not head.ids and head.method == "eagle3":
        yield _line("ids", "none are declared")
    if head.form != "no drafter":
        yield _line("target", head.target or "not known; say it with --target or --depth")
    if head.sizes:
        yield _line("sizes", ", ".join(f"{key} {value}" for key, value in head.sizes.items()))
    if head.flags:
        yield _line("flags", ", ".join(f"{key} {str(value).lower()}" for key, value in head.flags.items()))
    for file in head.files:
        yield _line("weights", _file(file))
    if not head.files:
        yield _line("weights", "none in this folder")
    if head.fc is not None:
        states = f", {head.states} states" if head.states else ""
        yield _line("fc", f"{list(head.fc)}{states}")
    if head.norms:
        yield _line("norms", ", ".join(head.norms))
    for found in head.maps:
        yield _line("map", _map(found))
    yield from _problems(head.problems)


def _file(file: WeightFile) -> str:
    if file.problem:
        return f"{file.path}: {file.problem}"
    calls = f"; unpickling it would call {', '.join(file.calls)}" if file.calls else ""
    types = f" of {', '.join(file.dtypes)}" if file.dtypes else ""
    return f"{file.path}: {file.format}, {file.tensors} tensors{types}, {_bytes(file.bytes)}{calls}"


def _bytes(count: int) -> str:
    size, unit = float(count), 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{count} {_UNITS[0]}" if unit == 0 else f"{size:.1f} {_UNITS[unit]}"


def _map(found: Map) -> str:
    if found.tokens is None:
        return f"{found.kind} of {found.length} entries in {found.path}"
    verb = "leads to" if found.kind == "d2t" else "marks"
    last = f", up to {found.last}" if found.last is not None else ""
    return f"{found.kind} of {found.length} entries {verb} {found.tokens} tokens{last} ({found.path})"


def _runner(view: View) -> str:
    return f", model runner {view.runner}" if view.runner else ""


def _view(view: View) -> Iterator[str]:
    if view.loads:
        yield _line("class", view.loads)
    if view.reads:
        yield _line("ids", view.reads)
    if view.boundaries is not None:
        formulas = f" ({', '.join(view.formulas)})" if view.formulas else ""
        yield _line("boundaries", f"{show(view.boundaries)}{formulas}")
    elif view.formulas:
        yield _line("boundaries", ", ".join(view.formulas))
    elif view.reads:
        yield _line("boundaries", "not known without the depth of the target")
    if view.built_for is not None:
        yield _line("fc", f"built for {view.built_for} states")
    for name, text in (("lm_head", view.lm_head), ("embedding", view.embedding)):
        if text:
            yield _line(name, text)
    for name, texts in (("ignored", view.ignored), ("dropped", view.dropped)):
        for text in texts:
            yield _line(name, text)
    yield from _problems(view.problems)


def _problems(problems: Sequence[Problem]) -> Iterator[str]:
    for problem in problems:
        yield _line(problem.severity, f"{problem.rule} {problem.path}:{problem.line}: {problem.message}")
