"""The standard library's functions that capture code uses: environment, arguments, JSON, text, iteration, functions."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eaglelint.analyser import patches, paths, regexes, texts
from eaglelint.analyser.arguments import Parser
from eaglelint.analyser.containers import new_dict, new_list
from eaglelint.analyser.file_values import FileHandle
from eaglelint.analyser.items import MISSING_DEFAULT
from eaglelint.analyser.strings import as_text
from eaglelint.analyser.target_values import Layers
from eaglelint.analyser.values import (
    HOLE,
    DictV,
    External,
    FuncV,
    ListV,
    Obj,
    Partial,
    RankStart,
    SetV,
    Special,
    Unknown,
    V,
    note_of,
)

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter


def _getenv(run: Interpreter, site: CallSite) -> V:
    given = len(site.args) > 1 or "default" in site.kwargs
    default = site.get(1, "default") if given else MISSING_DEFAULT
    return run.world.environment(site.get(0, "key"), default, site.frame, site.node)


def _parser(run: Interpreter, site: CallSite) -> V:
    return Parser(site.frame.scope)


def _loads(run: Interpreter, site: CallSite) -> V:
    return run.world.parse_json(site.get(0, "s"), site.frame)


def _load(run: Interpreter, site: CallSite) -> V:
    handle = site.get(0, "fp")
    if isinstance(handle, FileHandle):
        from eaglelint.analyser import files

        text = patches.read(run, handle.path, site)
        found = run.world.parse_json(text, site.frame)
        return found if not isinstance(found, Unknown) else files.load(run, "json", handle.path, site)
    return Unknown("json")


def _dump(run: Interpreter, site: CallSite) -> V:
    from eaglelint.analyser import files

    files.save(run, site.get(1, "fp"), site.get(0, "obj"), "json", site)
    return None


def _yaml(run: Interpreter, site: CallSite) -> V:
    handle = site.get(0, "stream")
    text = patches.read(run, handle.path, site) if isinstance(handle, FileHandle) else handle
    return run.world.parse_yaml(text, site.frame)


def _islice(run: Interpreter, site: CallSite) -> V:
    value = site.get(0, "iterable")
    bounds = site.args[1:]
    if isinstance(value, Layers) and bounds and all(b is None or isinstance(b, int) for b in bounds):
        start, stop, _ = slice(*bounds).indices(value.high - value.low)
        relative = isinstance(bounds[0], RankStart) and len(bounds) > 1
        return Layers(value.model, value.low + start, value.low + stop, relative)
    from eaglelint.analyser.calls import iterate

    found = iterate(run, value)
    if found is None or not bounds or not all(b is None or isinstance(b, int) for b in bounds):
        return Unknown("islice")
    return ListV(found[slice(*bounds)], bool(getattr(value, "open", False)))


def _chain(run: Interpreter, site: CallSite) -> V:
    from eaglelint.analyser.calls import iterate

    made = ListV([], site.splat)
    for arg in site.args:
        found = iterate(run, arg)
        made.open = made.open or found is None or bool(getattr(arg, "open", False))
        made.items += found or []
    return made


def _count(run: Interpreter, site: CallSite) -> V:
    start = site.get(0, "start", 0)
    return range(start, start + 2000) if isinstance(start, int) else Unknown("count")


def _partial(run: Interpreter, site: CallSite) -> V:
    return Partial(site.args[0], tuple(site.args[1:]), dict(site.kwargs)) if site.args else Unknown("partial")


def _item_getter(run: Interpreter, site: CallSite) -> V:
    """operator.itemgetter(*keys)"""
    return ItemGetter(list(site.args)) if site.args and not site.splat else Unknown("itemgetter")


class ItemGetter(Special):
    """operator.itemgetter: called with a container it gives one item, or a tuple of several."""

    def __init__(self, keys: list[V]) -> None:
        self.keys = keys

    def call(self, run: Interpreter, site: CallSite) -> V:
        """The items of the argument."""
        found = [run.objects.item(site.get(0, "obj"), key, site.frame, site.node) for key in self.keys]
        return found[0] if len(found) == 1 else tuple(found)


def _method_type(run: Interpreter, site: CallSite) -> V:
    func, bound = site.get(0, "function"), site.get(1, "instance")
    return replace(func, bound=bound) if isinstance(func, FuncV) else Unknown("method")


def _same(run: Interpreter, site: CallSite) -> V:
    return site.args[0] if site.args else Unknown("")


def _decorator(run: Interpreter, site: CallSite) -> V:
    """functools.wraps(f), lru_cache(...): gives back what it decorates."""
    return External("eaglelint.identity")


def _namespace(run: Interpreter, site: CallSite) -> V:
    return Obj("namespace", attrs=dict(site.kwargs), outside=False)


def _defaultdict(run: Interpreter, site: CallSite) -> V:
    made = DictV({})
    if len(site.args) > 1 and isinstance(site.args[1], DictV):
        made.items.update(site.args[1].items)
    made.open = True
    return made


def _math(function: Any) -> Any:
    def apply(run: Interpreter, site: CallSite) -> V:
        value = site.get(0, "x")
        try:
            return function(value) if isinstance(value, int | float) else Unknown("math")
        except (ValueError, OverflowError):
            return Unknown("math")

    return apply


def _literal(run: Interpreter, site: CallSite) -> V:
    import ast

    text = site.get(0, "node")
    if isinstance(text, str) and HOLE not in text and len(text) < 10_000:
        try:
            return domain(ast.literal_eval(str(text)), note_of(text))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return Unknown("literal")
    return Unknown("literal")


def domain(value: Any, note: str = "", depth: int = 0) -> V:
    """A plain Python value (from JSON, YAML or a literal) as a value of the domain."""
    if depth > 30:
        return Unknown("nesting")
    if isinstance(value, dict):
        return DictV({k: domain(v, note, depth + 1) for k, v in value.items()}, note=note)
    if isinstance(value, list):
        return ListV([domain(v, note, depth + 1) for v in value], note=note)
    if isinstance(value, set | frozenset):
        return SetV([domain(v, note, depth + 1) for v in sorted(value, key=repr)], note=note)
    if isinstance(value, tuple):
        return tuple(domain(v, note, depth + 1) for v in value)
    return value


def _split_words(run: Interpreter, site: CallSite) -> V:
    import shlex

    text = as_text(site.get(0, "s"))
    try:
        return ListV(list(shlex.split(text.replace(HOLE, "\x01"))))
    except ValueError:
        return Unknown("words")


def _process(run: Interpreter, site: CallSite) -> V:
    run.rec.command(run, site.get(0, "args", site.kwargs.get("command")), site.node, site.frame, site.kwargs.get("env"))
    return Obj("process")


def _dataclass_field(run: Interpreter, site: CallSite) -> V:
    if "default" in site.kwargs:
        return site.kwargs["default"]
    factory = site.kwargs.get("default_factory")
    if factory is not None:
        from eaglelint.analyser.calls import CallSite as Site
        from eaglelint.analyser.calls import invoke

        return invoke(run, factory, Site([], {}, site.node, site.frame))
    return Unknown("field")


def _set_item(run: Interpreter, site: CallSite) -> V:
    """operator.setitem(container, key, value)"""
    if len(site.args) == 3:
        run.objects.set_item(site.args[0], site.args[1], site.args[2], site.frame, site.node)
    return None


FUNCTIONS: dict[str, Any] = {
    **paths.FUNCTIONS,
    **regexes.FUNCTIONS,
    "os.getenv": _getenv,
    "os.environ.get": _getenv,
    "os.environ.setdefault": _getenv,
    "os.environ.pop": _getenv,
    "argparse.ArgumentParser": _parser,
    "json.loads": _loads,
    "json.load": _load,
    "json.dump": _dump,
    "yaml.safe_load": _yaml,
    "yaml.load": _yaml,
    "yaml.full_load": _yaml,
    "json.dumps": lambda run, site: HOLE,
    "re.sub": patches.substitute,
    "re.subn": patches.substitute,
    "textwrap.dedent": texts.dedent,
    "textwrap.indent": texts.indent,
    "inspect.cleandoc": texts.dedent,
    "string.Template": _same,
    "itertools.islice": _islice,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _same,
    "itertools.count": _count,
    "functools.partial": _partial,
    "operator.itemgetter": _item_getter,
    "operator.setitem": _set_item,
    "functools.wraps": _decorator,
    "functools.lru_cache": _decorator,
    "functools.cache": _same,
    "eaglelint.identity": _same,
    "types.MethodType": _method_type,
    "types.SimpleNamespace": _namespace,
    "argparse.Namespace": _namespace,
    "collections.defaultdict": _defaultdict,
    "collections.OrderedDict": new_dict,
    "collections.deque": new_list,
    "torch.nn.ModuleList": new_list,
    "copy.deepcopy": _same,
    "copy.copy": _same,
    "math.floor": _math(math.floor),
    "math.ceil": _math(math.ceil),
    "math.sqrt": _math(math.sqrt),
    "ast.literal_eval": _literal,
    "shlex.split": _split_words,
    "subprocess.run": _process,
    "subprocess.Popen": _process,
    "subprocess.call": _process,
    "subprocess.check_call": _process,
    "subprocess.check_output": _process,
    "os.system": _process,
    "os.execvp": _process,
    "dataclasses.field": _dataclass_field,
    "pydantic.Field": _dataclass_field,
    "builtins.compile": _same,
    "builtins.exec": lambda run, site: None,
    "tqdm.tqdm": _same,
    "tqdm": _same,
    "tqdm.auto.tqdm": _same,
    "torch.no_grad": _decorator,
    "torch.inference_mode": _decorator,
    "typing.cast": lambda run, site: site.get(1, "val"),
}
