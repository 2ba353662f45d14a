"""Captures that wait for a list or flag which starts empty and which nothing ever fills: EGL105.

The capture stands behind `if i in self.taps` or `if self.tapped`, the class starts with `self.taps = ()`, and no code
in scope gives it anything else. When a setter writes another attribute that nobody reads, that is the defect's place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import libcst as cst

from eaglelint.analyser.layer_loops import calls_layers
from eaglelint.analyser.patterns import captures, dotted, kids
from eaglelint.analyser.relevance import related
from eaglelint.facts import Defect, Step

if TYPE_CHECKING:
    from eaglelint.analyser.recorder import Recorder
    from eaglelint.analyser.scope import ModuleScope

#: Calls that only look at what they are given.
_LOOKS = frozenset(
    {"len", "set", "frozenset", "list", "tuple", "sorted", "max", "min", "any", "all", "bool", "enumerate"}
)
_ASKS = frozenset({"getattr", "hasattr"})
_FILLS = frozenset({"append", "extend", "add", "update", "insert", "setdefault", "appendleft", "union_update"})
_EMPTY_CALLS = frozenset({"set", "frozenset", "list", "tuple", "dict"})
#: Attributes of one file about which it is asked whether anybody reads them: each question goes through all code.
_MAX_ASKED = 50
#: Bases that set nothing on the classes that have them.
_PLAIN = frozenset({"Module", "object", "ABC"})


class Waiting(NamedTuple):
    """A capture behind `test`, in the class `owner`, that waits for the attribute `name` of self."""

    name: str
    test: cst.BaseExpression
    owner: cst.ClassDef
    scope: ModuleScope


class _Place(NamedTuple):
    """An attribute is used: `how` is "empty", "write", "fill" or "look"."""

    how: str
    node: cst.CSTNode
    function: str
    scope: ModuleScope


def unfilled(recorder: Recorder) -> Iterator[Defect]:
    """One defect for each attribute that captures wait for in vain."""
    scopes = [scope for scope in recorder.scopes.values() if not scope.loose]
    classes = {node.name.value: node for scope in scopes for node in _all(scope.tree, cst.ClassDef)}
    found = {wait.name: wait for scope in scopes if related(scope) for wait in _waiting(scope)}
    if not found or any(_by_name(scope) for scope in scopes):
        return
    for wait in found.values():
        uses = list(_uses(scopes, wait.name))
        if any(use.how in ("write", "fill") for use in uses) or recorder.elsewhere(wait.name):
            continue
        if not _closed(wait.owner, classes):
            continue
        place = wait.scope.where(wait.test)
        setter = _setter(wait, scopes)
        if setter is not None:
            details = {"written": setter[0], "read": wait.name}
            step = Step(place, f"the capture waits for {wait.name}")
            yield Defect("inert-capture", setter[1].scope.where(setter[1].node), details, (step,))
        elif any(use.how == "empty" for use in uses) and _made(wait.owner, scopes, classes):
            yield Defect("inert-capture", place, {"read": wait.name}, ())


def _waiting(scope: ModuleScope) -> Iterator[Waiting]:
    for owner in _all(scope.tree, cst.ClassDef):
        loops = [loop for loop in _all(owner.body, cst.For) if calls_layers(loop)]
        over_layers = {id(node) for loop in loops for node in _all(loop.body, cst.If)}
        for node in _all(owner.body, cst.If):
            if captures(node) or (id(node) in over_layers and _members(node.test) and _stores(node)):
                for name in _tested(node.test):
                    yield Waiting(name, node.test, owner, scope)


def _members(test: cst.BaseExpression) -> bool:
    """Whether a condition asks whether something is in a container."""
    return any(isinstance(t.operator, cst.In) for c in _all(test, cst.Comparison) for t in c.comparisons)


def _stores(node: cst.If) -> bool:
    """Whether the body of an `if` puts something into a container."""
    appends = any(dotted(call.func).endswith(".append") for call in _all(node.body, cst.Call))
    return appends or any(isinstance(target.target, cst.Subscript) for target in _all(node.body, cst.AssignTarget))


def _tested(test: cst.BaseExpression) -> list[str]:
    """The attributes of self without which a condition can not hold."""
    if isinstance(test, cst.BooleanOperation):
        return _tested(test.left) + _tested(test.right) if isinstance(test.operator, cst.And) else []
    if isinstance(test, cst.Comparison):
        names = [_attribute(t.comparator) for t in test.comparisons if isinstance(t.operator, cst.In)]
    else:
        names = [_attribute(test)]
    return [name for name in names if name]


def _attribute(node: Any) -> str:
    """The name of `self.name` or `getattr(self, "name", ...)`, also inside of `set(...)`; "" for anything else."""
    if isinstance(node, cst.Attribute):
        return node.attr.value if dotted(node.value) == "self" else ""
    if not isinstance(node, cst.Call) or not node.args:
        return ""
    if dotted(node.func) in _LOOKS and len(node.args) == 1:
        return _attribute(node.args[0].value)
    named = node.args[1].value if dotted(node.func) == "getattr" and len(node.args) == 3 else None
    own = isinstance(named, cst.SimpleString) and dotted(node.args[0].value) == "self"
    return named.raw_value if own and isinstance(named, cst.SimpleString) else ""


def _all(tree: cst.CSTNode, *kinds: type) -> Iterator[Any]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, kinds):
            yield node
        stack.extend(kids(node))


# ---- what happens to an attribute ----------------------------------------------------------------------------------


def _uses(scopes: list[ModuleScope], name: str) -> Iterator[_Place]:
    """Every use of the attributes of this name, and of the name itself as text or as a keyword."""
    for scope in scopes:
        if name not in scope.text.text:
            continue
        stack: list[tuple[Any, tuple[Any, ...]]] = [(scope.tree, ())]
        while stack:
            node, above = stack.pop()
            how = _use(node, name, above)
            if how:
                functions = [a.name.value for a in above if isinstance(a, cst.FunctionDef)]
                yield _Place(how, node, functions[-1] if functions else "", scope)
            stack += [(kid, (*above, node)) for kid in kids(node)]


def _use(node: Any, name: str, above: tuple[Any, ...]) -> str:
    """How a node uses the name; "" when it does not."""
    parent = above[-1] if above else None
    if isinstance(node, cst.Arg) and node.keyword is not None and node.keyword.value == name:
        return "write"
    if isinstance(node, cst.SimpleString) and node.raw_value == name:
        call = above[-2] if len(above) > 1 else None
        return "look" if isinstance(call, cst.Call) and dotted(call.func) in _ASKS else "write"
    field = isinstance(node, cst.Name) and node.value == name and isinstance(parent, cst.AnnAssign | cst.AssignTarget)
    if not field and not (isinstance(node, cst.Attribute) and node.attr.value == name):
        return ""
    if isinstance(parent, cst.AssignTarget):
        return _assigned(above[-2].value, above)
    if isinstance(parent, cst.AnnAssign) and parent.target is node:
        return _assigned(parent.value, above) if parent.value is not None else "look"
    if field:
        return ""
    if isinstance(parent, cst.AugAssign) and parent.target is node:
        return "fill"
    if isinstance(parent, cst.Attribute):
        return "fill" if parent.attr.value in _FILLS else "look"
    if isinstance(parent, cst.Subscript):
        return "fill" if isinstance(above[-2], cst.AssignTarget) else "look"
    if isinstance(parent, cst.Arg):
        call = above[-2]
        return "look" if isinstance(call, cst.Call) and dotted(call.func) in _LOOKS | _ASKS else "fill"
    return "look"


def _assigned(value: Any, above: tuple[Any, ...]) -> str:
    """An assignment: "empty" when it is where an instance starts, with nothing in it."""
    functions = [a.name.value for a in above if isinstance(a, cst.FunctionDef)]
    starts = not functions or functions[-1] in ("__init__", "__post_init__", "setup")
    nothing = isinstance(value, cst.Name) and value.value in ("None", "False")
    nothing = nothing or (isinstance(value, cst.Tuple | cst.List | cst.Set) and not value.elements)
    nothing = nothing or (isinstance(value, cst.Dict) and not value.elements)
    if isinstance(value, cst.Call):
        nothing = dotted(value.func) in _EMPTY_CALLS and not value.args
    return "empty" if starts and nothing else "write"


def _by_name(scope: ModuleScope) -> bool:
    """Whether code sets attributes whose names only the run tells."""
    if "__dict__" in scope.text.text:
        return True
    calls = _all(scope.tree, cst.Call) if "setattr" in scope.text.text else ()
    sets = [call for call in calls if dotted(call.func) == "setattr" and len(call.args) == 3]
    return any(not isinstance(call.args[1].value, cst.SimpleString) for call in sets)


# ---- who else could fill it ----------------------------------------------------------------------------------------


def _closed(owner: cst.ClassDef, classes: dict[str, cst.ClassDef]) -> bool:
    """Whether all bases of a class are in scope, or set nothing."""
    waiting, seen = [owner], set()
    while waiting:
        for base in waiting.pop().bases:
            name = dotted(base.value).rsplit(".", 1)[-1]
            if name in _PLAIN or name in seen:
                continue
            known = classes.get(name)
            if known is None:
                return False
            seen.add(name)
            waiting.append(known)
    return True


def _made(owner: cst.ClassDef, scopes: list[ModuleScope], classes: dict[str, cst.ClassDef]) -> bool:
    """Whether code in scope makes instances of the class, in classes (or functions) that leave nothing to others.

    A class that nothing here uses may be filled by whoever does; one that an engine's mix-in owns, by the mix-in.
    """
    name = owner.name.value
    made = False
    for scope in scopes:
        for maker in _all(scope.tree, cst.ClassDef):
            if maker is not owner and any(dotted(call.func) == name for call in _all(maker.body, cst.Call)):
                made = True
                bases = [dotted(base.value).rsplit(".", 1)[-1] for base in maker.bases]
                if any("eagle" in base.lower() or "specul" in base.lower() for base in bases):
                    return False
        made = made or any(dotted(call.func) == name for call in _all(scope.tree, cst.Call))
    return made


def _setter(wait: Waiting, scopes: list[ModuleScope]) -> tuple[str, _Place] | None:
    """An attribute that a method of the same file writes from what it is given, and that nobody reads."""
    asked: set[str] = set()
    for function in _all(wait.scope.tree, cst.FunctionDef):
        params = {param.name.value for param in (*function.params.params, *function.params.kwonly_params)} - {"self"}
        if function.name.value == "__init__":
            continue
        for assign in _all(function.body, cst.Assign):
            target = assign.targets[0].target
            if not isinstance(target, cst.Attribute) or target.attr.value == wait.name:
                continue
            given = {name.value for name in _all(assign.value, cst.Name)} & params
            name = target.attr.value
            if not given or name in asked or len(asked) >= _MAX_ASKED:
                continue
            asked.add(name)
            if all(use.how in ("write", "empty") for use in _uses(scopes, name)):
                return name, _Place("write", target, function.name.value, wait.scope)
    return None
