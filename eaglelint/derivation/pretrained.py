"""A model of the Transformers library that an engine wraps: what its code finds there, and what a call gives.

The library is not in the source. Of its model only this is known: N decoder layers in a list of modules, and recorders
in `_can_record_outputs`, each for the module of one name: the model returns what came out of it, when the keyword
`output_` + key asks for it, in the order of the recorders (transformers 5, `utils/output_capturing.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from eaglelint.analyser.calls import CallSite
from eaglelint.analyser.values import MISSING, DictV, ListV, Obj, Special, Unknown, V
from eaglelint.derivation.tensors import EMBEDDING, Content, Dense, plus

if TYPE_CHECKING:
    from eaglelint.derivation.execution import EngineInterpreter

#: The number of a layer in the name of its module.
_NUMBER = re.compile(r"(?:^|\.)layers\.(\d+)$")


class Part(Special):
    """A module of the library's model: the model itself ("model"), its list of layers ("layers"), a layer ("layer")."""

    def __init__(self, what: str, depth: int) -> None:
        self.what = what
        self.depth = depth
        self.attrs: dict[str, V] = {"_can_record_outputs": None} if what == "model" else {}

    def attribute(self, run: Any, name: str) -> V:
        """What the engine has set; everything else is a method, or not known."""
        return self.attrs.get(name, MISSING)

    def children(self) -> list[tuple[str, V]]:
        """The modules inside by name, as far as they matter."""
        if self.what == "model":
            return [("layers", Part("layers", self.depth))]
        return [(str(n), Part("layer", self.depth)) for n in range(self.depth if self.what == "layers" else 0)]

    def call_method(self, run: Any, name: str, site: CallSite) -> V:
        """The methods by which modules are walked."""
        if name == "named_children":
            return ListV(list(self.children()))
        if name in ("children", "modules", "named_modules", "parameters", "named_parameters"):
            return ListV([child for _, child in self.children()] if name == "children" else [])
        return self if name == "get_decoder" else Unknown(f"{name}()")

    def call(self, run: EngineInterpreter, site: CallSite) -> V:
        """Run the layers: (final state, what each recorder that is asked for has seen)."""
        if self.what != "model":
            return Unknown(self.what)
        stream: Content = EMBEDDING
        after: list[Content] = []
        for number in range(self.depth):
            run.layer, run.updates = number, 0
            run.world.entry_contents[number] = (stream,)
            stream = plus(stream, run.update())
            after.append(stream)
        run.layer = self.depth
        run.world.finals.append(stream)
        return (Dense(stream), *((Dense(after[n]),) for n in self._recorded(site)))

    def _recorded(self, site: CallSite) -> list[int]:
        """The layers whose recorders the call asks for."""
        recorders = self.attrs["_can_record_outputs"]
        found = []
        for key, recorder in recorders.items.items() if isinstance(recorders, DictV) else ():
            name = recorder.attrs.get("layer_name") if isinstance(recorder, Obj) else None
            number = _NUMBER.search(name) if isinstance(name, str) else None
            if number is not None and site.kwargs.get(f"output_{key}") is True:
                found.append(int(number[1]))
        return found


class Fusions(Special):
    """What an engine finds to fuse in the modules of a model: nothing; fused or not, a layer gives the same state."""

    def item(self, run: Any, key: V) -> V:
        """The fusions of one module: none, in whatever form."""
        return None


def play(run: EngineInterpreter, role: str, site: CallSite) -> V:
    """A model of the library ("pretrained"), fusions of its modules, or a recorder for the outputs of one module."""
    if role == "fusions":
        return Fusions()
    if role == "pretrained":
        return Part("model", run.depth)
    return Obj("recorder", attrs={"layer_name": site.get(1, "layer_name")})
