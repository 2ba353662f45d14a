"""What comes from outside, by its dotted path: builtins, the standard library, torch, transformers, engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from eaglelint.analyser import builtin, commands, engines, methods, models, standard, tensors
from eaglelint.analyser.target_values import LayerResult
from eaglelint.analyser.values import External, FuncV, Fused, Method, Plain, Stacked, Tensor, Unknown, V, new_storage

if TYPE_CHECKING:
    from eaglelint.analyser.calls import CallSite
    from eaglelint.analyser.interpreter import Interpreter

Handler = Callable[["Interpreter", "CallSite"], V]

_EXACT: dict[str, Handler] = {
    **builtin.FUNCTIONS, **standard.FUNCTIONS, **commands.FUNCTIONS, **tensors.FUNCTIONS, **engines.FUNCTIONS,
}  # fmt: skip
#: Calls that are known by the last part of their path alone, whatever module they were imported from.
_BY_NAME: dict[str, Handler] = {**tensors.BY_NAME, **engines.BY_NAME}


def call_external(run: Interpreter, path: str, site: CallSite) -> V:
    """The result of calling something from outside."""
    handler = _EXACT.get(path) or _BY_NAME.get(path.rsplit(".", 1)[-1])
    if handler is not None:
        return handler(run, site)
    replaced = run.world.outside.get(path)
    if isinstance(replaced, FuncV):
        return run.call_function(replaced, site.args, site.kwargs)
    name = path.rsplit(".", 1)[-1]
    if any(isinstance(v, Tensor | Fused | Stacked | LayerResult) for v in site.args):
        return tensors.unknown_function(run, name, site)
    if path.startswith(("torch.", "numpy.", "np.")) and name[:1].islower():
        return Plain(new_storage(), name)
    if name[:1].isupper():
        return models.external_instance(run, path, site)
    if path.startswith("builtins."):
        return Unknown(name)
    return Unknown(f"{name}()", site.frame.scope.spot(site.node))


def call_method(run: Interpreter, method: Method, site: CallSite) -> V:
    """The result of calling a method of a domain value."""
    owner, name = method.owner, method.name
    if isinstance(owner, External):
        return call_external(run, f"{owner.path}.{name}", site)
    return methods.call(run, owner, name, site)


def known(path: str) -> Any:
    """Whether a dotted path is modelled."""
    return path in _EXACT
