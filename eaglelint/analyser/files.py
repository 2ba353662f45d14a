"""Files that the code writes and reads back: values travel through them, by the patterns of their names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from eaglelint.analyser.file_values import Choice, FileHandle, Files, PathV, Saved
from eaglelint.analyser.strings import as_text
from eaglelint.analyser.target_values import LayerResult, holds_states
from eaglelint.analyser.values import (
    HOLE,
    DictV,
    Fused,
    ListV,
    Plain,
    Special,
    Stacked,
    Tensor,
    Unknown,
    V,
    new_storage,
)

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter


def path_of(value: V) -> str:
    """The path that a value names, with holes; HOLE when nothing is known."""
    if isinstance(value, FileHandle):
        return path_of(value.path)
    return as_text(value) if not isinstance(value, Unknown) else HOLE


def snapshot(run: Interpreter, value: V, where: Any, said: str, depth: int = 0) -> V:
    """A copy of a value as it is now, its states marked as saved here."""
    if depth > 12:
        return Unknown("nesting")
    if isinstance(value, LayerResult):
        value = run.objects.as_stream(value)
    if isinstance(value, Tensor):
        return value.copied().step(where, said)
    if isinstance(value, Fused):
        return replace(value, parts=tuple(part.step(where, said) for part in value.parts))
    if isinstance(value, Stacked):
        return replace(value, parts=tuple(part.step(where, said) for part in value.parts))
    if isinstance(value, ListV):
        return ListV([snapshot(run, item, where, said, depth + 1) for item in value.items], value.open, value.note)
    if isinstance(value, tuple):
        return tuple(snapshot(run, item, where, said, depth + 1) for item in value)
    if isinstance(value, DictV):
        copies = {k: snapshot(run, v, where, said, depth + 1) for k, v in value.items.items()}
        return DictV(copies, value.open, value.note)
    return value


def shape(value: V, depth: int = 0) -> Any:
    """What of a saved value matters to its readers: what it is made of and the states in it."""
    if depth > 6:
        return "..."
    items = getattr(value, "items", None)
    if isinstance(items, dict):
        return tuple((str(k), shape(v, depth + 1)) for k, v in items.items())
    if isinstance(items, list) or isinstance(value, tuple):
        return tuple(shape(v, depth + 1) for v in (items if isinstance(items, list) else value))
    parts = getattr(value, "parts", None)
    if parts is not None:
        return tuple(part.state for part in parts)
    return getattr(value, "state", type(value).__name__)


def save(run: Interpreter, path: V, value: V, format: str, site: CallSite) -> None:
    """Remember that a value was written to a file."""
    scope = site.frame.scope
    where = scope.where(site.node) if holds_states(value) else scope.spot(site.node)
    text = path_of(path)
    if isinstance(value, LayerResult):
        value = run.objects.as_stream(value)
    if isinstance(value, Tensor):
        if not value.trace:
            value = value.step(scope.where(site.node), f"boundary {value.state.boundary} captured")
        name = _stem(text)
        if name and HOLE not in name:
            node = site.node.args[1].value if len(site.node.args) > 1 else site.node
            value = run.rec.labelled(run, value, name, "file", node, site.frame)
    value = run.rec.stored(run, value, site.node, site.frame, None)
    run.rec.saved(run, value, site.node, site.frame)
    copy = snapshot(run, value, where, f"saved to {shown(text)}")
    run.world.saves.append(Saved(text, format, copy, where, scope.path))


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def torch_save(run: Interpreter, site: CallSite) -> V:
    """torch.save(value, path)"""
    save(run, site.get(1, "f"), site.get(0, "obj"), "torch", site)
    return None


def dump(format: str) -> Callable[[Interpreter, CallSite], V]:
    """pickle.dump(value, handle)"""

    def write(run: Interpreter, site: CallSite) -> V:
        save(run, site.get(1, "file"), site.get(0, "obj"), format, site)
        return None

    return write


def save_arrays(run: Interpreter, site: CallSite) -> V:
    """np.savez(path, name=array, ...)"""
    names: dict[V, V] = {f"arr_{n}": value for n, value in enumerate(site.args[1:])}
    names.update({k: v for k, v in labelled_keywords(run, site).items() if k != "file"})
    save(run, site.get(0, "file"), DictV(names, site.splat), "numpy", site)
    return None


def labelled_keywords(run: Interpreter, site: CallSite) -> dict[str, V]:
    """The keyword arguments of a call that makes entries of them: each name is a label of its state."""
    values = dict(site.kwargs)
    for arg in site.node.args:
        value = values.get(arg.keyword.value) if arg.keyword is not None else None
        if arg.keyword is not None and isinstance(value, Tensor | LayerResult):
            name = arg.keyword.value
            values[name] = run.rec.labelled(run, value, name, "key", arg.keyword, site.frame)
    return values


def save_array(run: Interpreter, site: CallSite) -> V:
    """np.save(path, array)"""
    save(run, site.get(0, "file"), site.get(1, "arr"), "numpy", site)
    return None


def save_tensors(run: Interpreter, site: CallSite) -> V:
    """safetensors.torch.save_file(tensors, path): tensors of one type are laid out in the order of their names."""
    tensors = site.get(0, "tensors")
    if isinstance(tensors, DictV) and all(isinstance(key, str) and HOLE not in key for key in tensors.items):
        ordered = dict(sorted(tensors.items.items(), key=lambda pair: str(pair[0])))
        tensors = replace(tensors, items=ordered)
    save(run, site.get(1, "filename"), tensors, "safetensors", site)
    return None


def loader(format: str) -> Callable[[Interpreter, CallSite], V]:
    """torch.load(path), np.load(path), load_file(path)"""

    def read(run: Interpreter, site: CallSite) -> V:
        return load(run, format, site.get(0, "f", next(iter(site.kwargs.values()), None)), site)

    return read


def load_handle(format: str) -> Callable[[Interpreter, CallSite], V]:
    """pickle.load(handle)"""
    return loader(format)


def load(run: Interpreter, format: str, path: V, site: CallSite) -> V:
    """What a file holds, by what the project's code writes to files whose names fit."""
    run.world.loads = True
    text = path_of(path)
    found = [s for s in run.world.known_saves if s.format == format and fits(text, s.path)]
    exact = [s for s in found if _literal(text) and _literal(s.path)]
    same = [s for s in found if _base(s.path) == _base(text) and _literal(text)]
    linked = same or exact or found
    with_states = [s for s in linked if holds_states(s.value)]
    linked = with_states or linked
    if not linked:
        return Unknown("file", site.frame.scope.spot(site.node))
    where = site.frame.scope.where(site.node) if with_states else None
    return _read_back(linked, where, exact=bool(same or exact))


def safe_open(run: Interpreter, site: CallSite) -> V:
    """safetensors.safe_open(path)"""
    value = load(run, "safetensors", site.get(0, "filename"), site)
    return SafeFile(value)


class SafeFile(Special):
    """An open safetensors file."""

    def __init__(self, value: V) -> None:
        self.value = value

    def call_method(self, run: Interpreter, name: str, site: CallSite) -> V:
        """get_tensor(name), keys()"""
        if name in ("get_tensor", "get_slice"):
            return run.objects.item(self.value, site.get(0, "name"), site.frame, site.node)
        if name == "keys" and isinstance(self.value, DictV):
            return ListV(list(self.value.items), self.value.open)
        return Unknown(f"{name}()")


def listed(run: Interpreter, files: Files) -> ListV | None:
    """The files of a listing in the order of their names, when all that the code writes there have known names.

    None when a name is not known, as that of a file for each sample, or when there is only one.
    """
    run.world.loads = True
    paths: list[str] = []
    for saved in run.world.known_saves:
        if fits(files.path, saved.path) and holds_states(saved.value):
            if HOLE in saved.path:
                return None
            paths.append(saved.path)
    names = sorted({_base(path) if files.bare else path for path in paths})
    if len(names) < 2:
        return None
    return ListV([name if files.bare else PathV(name) for name in names])


def _read_back(saves: list[Saved], where: Any, exact: bool) -> V:
    values: list[V] = []
    last = {(saved.path, shape(saved.value)): saved for saved in saves}
    for saved in last.values():
        value = _loaded(saved.value, where, f"loaded from {shown(saved.path)}")
        if isinstance(value, DictV) and exact and saved.format != "json":
            value.origin = saved  # a key that it lacks is missing for certain
        values.append(value)
    if len(values) == 1:
        return values[0]
    return Choice(tuple(values), exact)


def _loaded(value: V, where: Any, said: str) -> V:
    if isinstance(value, Tensor):
        return value.copied().step(where, said)
    if isinstance(value, Fused | Stacked):
        return replace(value, parts=tuple(part.step(where, said) for part in value.parts))
    if isinstance(value, ListV):
        return ListV([_loaded(item, where, said) for item in value.items], value.open, value.note)
    if isinstance(value, tuple):
        return tuple(_loaded(item, where, said) for item in value)
    if isinstance(value, DictV):
        return DictV({k: _loaded(v, where, said) for k, v in value.items.items()}, value.open, value.note)
    if isinstance(value, Plain):
        return Plain(new_storage(), value.what)
    return value


def shown(path: str) -> str:
    """The last part of a path as it stands in a message: `data_*.pt`; "a file" when nothing of it is known."""
    name = re.sub(f"{HOLE}+", "*", _base(path))
    return name if any(c.isalnum() for c in name) else "a file"


def _base(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _literal(path: str) -> bool:
    """Whether the last part of a path holds at least a letter of a name besides its ending."""
    stem = _base(path).rsplit(".", 1)[0]
    return any(c.isalnum() for c in stem)


@lru_cache(maxsize=100_000)
def fits(wanted: str, written: str) -> bool:
    """Whether two paths with holes can be the same file: by their last parts, then by folders where both are known."""
    if not _overlap(_base(wanted), _base(written)):
        return False
    left, right = wanted.rsplit("/", 1)[0] if "/" in wanted else "", written.rsplit("/", 1)[0] if "/" in written else ""
    if not left or not right or HOLE in left or HOLE in right or "*" in left:
        return True
    return left.split("/")[-1] == right.split("/")[-1] or not (_literal(left) and _literal(right))


def _overlap(left: str, right: str) -> bool:
    """Whether two patterns (holes and * match anything) have a name in common, approximately: one matches the other."""
    return bool(_regex(left).fullmatch(_sample(right)) or _regex(right).fullmatch(_sample(left)))


def _regex(pattern: str) -> re.Pattern[str]:
    parts = re.split(f"[{HOLE}*?]+", pattern[:300])
    return re.compile(".*".join(re.escape(part) for part in parts), re.DOTALL)


def _sample(pattern: str) -> str:
    return re.sub(f"[{HOLE}*?]+", "0", pattern[:300])
