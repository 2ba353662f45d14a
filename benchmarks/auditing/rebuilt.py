"""Classes of an engine, rebuilt from their source without executing a module of it.

What a model is made of is taken from its `__init__` without running it: an attribute exists when something is assigned
to it there, it is an instance when the value is a call of a class that is found in the source, and anything else is a
`Stub`, which is true and has every attribute. Methods are compiled, and find no builtins but those in `BUILTINS`; that
keeps setters from doing anything by accident, it is no prison for code that means harm.
"""

from __future__ import annotations

import ast
import builtins
import copy
import sys
from collections.abc import Iterator
from typing import Any, ClassVar, Protocol

from auditing.stubs import Config, Layer, LayerNames, Stub, note

BUILTINS = """
abs all any bool dict enumerate filter float frozenset getattr hasattr int isinstance issubclass iter len list map max
min next object property range reversed round set setattr sorted staticmethod classmethod str sum super tuple type zip
None True False NotImplemented Exception AssertionError AttributeError IndexError KeyError NotImplementedError
RuntimeError StopIteration TypeError ValueError __build_class__
"""
#: Special methods of a class that are kept.
_KEPT = ("__len__", "__getitem__", "__iter__")
#: What a language model is taken for that a wrapper gets from the registry.
USUAL = "LlamaForCausalLM"


class SourcesLike(Protocol):
    """Where other modules and architectures are found."""

    def module(self, name: str) -> Module | None: ...
    def instance(self, architecture: str, depth: int) -> Any: ...


#: Classes that an `__init__` is handed, by the name of the parameter: the module that names them, and how.
Passed = dict[str, "tuple[Module, ast.expr]"]


class Instance:
    """Base of all rebuilt classes; `_made` says what `__init__` assigns, by attribute, nearest class first."""

    _depth = 0
    _made: ClassVar[dict[str, list[tuple[Module, ast.expr | None, Passed]]]] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        note(name, value)
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name in ("config", "text_config", "hf_config", "hf_text_config"):
            return Config(self._depth)
        if name not in self._made:
            raise AttributeError(f"{type(self).__name__} has no attribute {name}")
        value = self._value(name)
        object.__setattr__(self, name, value)
        return value

    def _value(self, name: str) -> Any:
        for module, node, names in self._made[name]:
            made = module.made(node, names, self) if node is not None else None
            if made is not None:
                return made
        if name == "layers":
            return [Layer() for _ in range(self._depth)]
        if name == "_layer_names":
            return LayerNames({number: f"layers.{number}" for number in range(self._depth)})
        return {"start_layer": 0, "end_layer": self._depth}.get(name, Stub())


class Globals(dict[str, Any]):
    """The globals of a module: what it defines and imports, found when asked for; everything else is a stub.

    Python looks names up through `__missing__` because this is no plain dict.
    """

    def __init__(self, module: Module) -> None:
        super().__init__(__name__=module.name, __builtins__=_builtins())
        self.module = module

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)  # left to the builtins that are allowed
        found = self.module.find(name)
        if found is not None:
            self[name] = found[0].build(found[1])
        elif name in self.module.functions:
            plain = _plain(self.module.functions[name])
            if plain is None:
                return Stub()
            exec(compile(ast.Module([plain], []), self.module.name, "exec"), self)
        else:
            return Stub()
        return self[name]


def _builtins() -> dict[str, Any]:
    allowed = {name: getattr(builtins, name) for name in BUILTINS.split()}
    return {**allowed, "__import__": lambda *_, **__: Stub(), "print": Stub()}


class Module:
    """One file of the archive, parsed."""

    def __init__(self, name: str, tree: ast.Module, sources: SourcesLike, package: bool) -> None:
        self.name, self.tree, self.sources = name, tree, sources
        self.globals = Globals(self)
        self.built: dict[str, type] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.functions: dict[str, ast.FunctionDef] = {}
        self.imported: dict[str, tuple[str, str]] = {}
        self.assigned: dict[str, ast.expr] = {}
        own = name if package else name.rpartition(".")[0]
        inside = (n for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in f.body)
        for node in (*(n for n in inside if isinstance(n, ast.ImportFrom)), *_statements(tree.body)):
            if isinstance(node, ast.ClassDef):
                self.classes[node.name] = node
            elif isinstance(node, ast.FunctionDef):
                self.functions[node.name] = node
            elif isinstance(node, ast.ImportFrom):
                above = own.split(".")[: len(own.split(".")) - node.level + 1] if node.level else []
                base = ".".join([*above, *([node.module] if node.module else [])])
                for alias in node.names:  # of branches for platforms, the last is the usual one
                    self.imported[alias.asname or alias.name] = (base, alias.name)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.assigned[node.targets[0].id] = node.value

    def find(self, name: str, fuel: int = 8) -> tuple[Module, ast.ClassDef] | None:
        """The class of that name, wherever it is defined; None for what is no class of the archive."""
        if name in self.classes:
            return self, self.classes[name]
        value = self.assigned.get(name)
        if isinstance(value, ast.Name) and fuel:
            return self.find(value.id, fuel - 1)
        if name in self.imported and fuel:
            base, original = self.imported[name]
            module = self.sources.module(base)
            return module.find(original, fuel - 1) if module is not None else None
        return None

    def build(self, node: ast.ClassDef) -> type:
        """A class as Python's own, with the methods of the source and without its decorators and annotations."""
        if node.name in self.built:
            return self.built[node.name]
        self.built[node.name] = Instance
        found = [self.find(name) for name in map(dotted, node.bases) if name]
        bases = tuple(dict.fromkeys(f[0].build(f[1]) for f in found if f is not None)) or (Instance,)
        methods = {m.name: m for m in map(_plain, (n for n in node.body if isinstance(n, ast.FunctionDef))) if m}
        body: list[ast.stmt] = [m for m in methods.values() if not m.name.startswith("__") or m.name in _KEPT]
        if node.name == "SupportsMultiModal" and "get_language_model" in methods:  # it looks for modules that exist
            body.append(ast.parse(_LANGUAGE_MODEL).body[0])
        scope: dict[str, Any] = {}
        made = ast.ClassDef(
            node.name, [ast.Starred(ast.Name("__bases__", ast.Load()), ast.Load())], [], body or [ast.Pass()], []
        )
        if sys.version_info >= (3, 12):
            made.type_params = []
        code = compile(ast.fix_missing_locations(ast.Module([made], [])), self.name, "exec")
        for order in (bases, bases[:1]):  # mixins that Python can not put in order are left out
            self.globals["__bases__"] = order
            try:
                exec(code, self.globals, scope)
                break
            except TypeError:
                continue
        cls: type = scope.get(node.name, type(node.name, (Instance,), {}))
        own = _assigned(node)
        inherited = [base._made for base in cls.__mro__[1:] if "_made" in base.__dict__ and base is not Instance]
        passed: Passed = {key: (self, value) for key, value in _passed(node).items()}
        together: dict[str, Any] = {key: [(self, value, passed) for value in values] for key, values in own.items()}
        for other in inherited:
            for key, values in other.items():
                together.setdefault(key, []).extend((m, v, {**names, **passed}) for m, v, names in values)
        cls._made = together  # type: ignore[attr-defined]
        cls._source = {  # type: ignore[attr-defined]
            **{n.targets[0].id: (self, n.value) for n in node.body
               if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)},
            **{m.name: (self, m) for m in node.body if isinstance(m, ast.FunctionDef)},
        }  # fmt: skip
        self.built[node.name] = cls
        return cls

    def made(self, node: ast.expr | None, names: Passed, owner: Instance) -> Any:
        """The instance that an expression of an `__init__` makes; None when it makes none that is known."""
        if isinstance(node, ast.IfExp):
            return self.made(node.body, names, owner) or self.made(node.orelse, names, owner)
        if not isinstance(node, ast.Call):
            return None
        name = dotted(node.func)
        if name in ("init_vllm_registered_model", "initialize_model"):
            return self.sources.instance(_architecture(node) or USUAL, owner._depth)
        if isinstance(node.func, ast.Attribute) and dotted(node.func.value) == "self":
            for cls in type(owner).__mro__:
                method = cls.__dict__.get("_source", {}).get(name)
                if isinstance(method, tuple) and isinstance(method[1], ast.FunctionDef):
                    returned = [n.value for n in ast.walk(method[1]) if isinstance(n, ast.Return)]
                    return next((m for r in returned if (m := method[0].made(r, names, owner)) is not None), None)
                if method is not None:  # a class that is kept as an attribute
                    return method[0].instance(method[1], owner)
            return None
        module, given = names.get(name, (self, node.func))
        return module.instance(given, owner)

    def instance(self, cls: ast.expr, owner: Instance) -> Any:
        """An instance of the class that an expression names, directly or in another module; None for anything else."""
        found = self.find(dotted(cls))
        if isinstance(cls, ast.Attribute) and dotted(cls.value) in self.imported:
            base, original = self.imported[dotted(cls.value)]
            beside = self.sources.module(f"{base}.{original}")
            found = beside.find(cls.attr) if beside is not None else None
        return new(found[0].build(found[1]), owner._depth) if found is not None else None


_LANGUAGE_MODEL = """
def get_language_model(self):
    return getattr(self, 'language_model', self)
"""


def new(cls: type, depth: int) -> Any:
    """An instance of a rebuilt class, for a model of `depth` layers."""
    made = cls.__new__(cls)
    object.__setattr__(made, "_depth", depth)
    return made


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from _statements([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            yield from _statements(node.body)


def dotted(node: ast.AST) -> str:
    """The last name of a dotted name or of a generic class; "" for anything else."""
    if isinstance(node, ast.Subscript):
        return dotted(node.value)
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _plain(node: ast.FunctionDef) -> ast.FunctionDef | None:
    """A function without annotations, foreign decorators and defaults that have to be run; None for an overload."""
    node = copy.deepcopy(node)
    names = [dotted(d) for d in node.decorator_list]
    if "overload" in names:
        return None
    kept = [
        d for d, n in zip(node.decorator_list, names, strict=True) if n in ("property", "staticmethod", "classmethod")
    ]
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    for argument in every:
        if argument is not None:
            argument.annotation = None
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef):
            inner.returns = None
    nothing = ast.Constant(None)
    node.args.defaults = [d if isinstance(d, ast.Constant) else nothing for d in node.args.defaults]
    node.args.kw_defaults = [d if d is None or isinstance(d, ast.Constant) else nothing for d in node.args.kw_defaults]
    node.decorator_list = kept
    return node


def _assigned(node: ast.ClassDef) -> dict[str, list[ast.expr | None]]:
    """What the methods that make an instance assign to attributes of self; None where it is a part of a tuple."""
    found: dict[str, list[ast.expr | None]] = {}
    for method in node.body:
        if not isinstance(method, ast.FunctionDef) or not method.name.startswith(("__init__", "_init", "init")):
            continue
        for statement in ast.walk(method):
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    inner = target.elts if isinstance(target, ast.Tuple) else [target]
                    for one in inner:
                        if isinstance(one, ast.Attribute) and dotted(one.value) == "self":
                            found.setdefault(one.attr, []).append(statement.value if one is target else None)
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Attribute):
                found.setdefault(statement.target.attr, []).append(statement.value)
    return found


def _passed(node: ast.ClassDef) -> dict[str, ast.expr]:
    """Which classes an `__init__` takes by default or hands to the one above, by the name of the parameter."""
    found: dict[str, ast.expr] = {}
    init = next((m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"), None)
    if init is None:
        return found
    positional = init.args.args
    defaults = [(a.arg, d) for a, d in zip(positional[len(positional) - len(init.args.defaults) :], init.args.defaults)]  # noqa: B905
    defaults += [(a.arg, d) for a, d in zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True) if d is not None]
    found.update({name: value for name, value in defaults if isinstance(value, ast.Name)})
    for call in ast.walk(init):
        if isinstance(call, ast.Call) and dotted(call.func) == "__init__":
            found.update({k.arg: k.value for k in call.keywords if k.arg and isinstance(k.value, ast.Name)
                          and k.value.id[:1].isupper()})  # fmt: skip
    return found


def _architecture(node: ast.Call) -> str:
    """The architecture that a wrapper asks the registry for, "" when the config decides."""
    texts = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return next((text for text in texts if text.endswith("ForCausalLM")), "")
