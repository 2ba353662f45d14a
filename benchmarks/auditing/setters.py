"""Runs an engine's own EAGLE-3 setters, with stubs in place of everything else, and says which numbers they leave.

`python -I setters.py ENGINE ARCHIVE` reads questions from standard input, `[[36, null], [36, [1, 17, 32]], ...]` (depth
and ids), and prints, for each architecture that the release can load, what the setter of its class stored for each. It
is run in a process of its own, with a time limit, by `audit.py`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # python -I leaves it out

from auditing.rebuilt import new
from auditing.sources import Sources
from auditing.stubs import JOURNAL

SETTERS = {"sglang": "set_eagle3_layers_to_capture", "vllm": "set_aux_hidden_state_layers"}
#: Methods that give vLLM's default, newest name first.
DEFAULTS = ("get_eagle3_default_aux_hidden_state_layers", "get_eagle3_aux_hidden_state_layers")
#: Attributes in which the numbers end up.
STORED = ("layers_to_capture", "aux_hidden_state_layers")


def stored(engine: str, cls: type, depth: int, ids: list[int] | None) -> dict[str, Any]:
    """What the setter of a class leaves for these ids (None: its default): `numbers`, and the `error` that ended it."""
    JOURNAL.clear()
    model: Any = new(cls, depth)
    try:
        if engine == "vllm":
            given = tuple(ids) if ids is not None else next(
                (getattr(model, name)() for name in DEFAULTS if hasattr(cls, name)), None
            )  # fmt: skip
            if given is None:
                return {"error": "no default method"}
            model.set_aux_hidden_state_layers(given)
        else:
            setter = model.set_eagle3_layers_to_capture
            takes = setter.__func__.__code__.co_argcount > 1
            setter(*([list(ids) if ids is not None else None] if takes else []))
    except Exception as error:  # whatever the engine would die of
        numbers = _last()
        return {"error": f"{type(error).__name__}: {error}", **({"numbers": numbers} if numbers is not None else {})}
    numbers = _last()
    return {"numbers": numbers} if numbers is not None else {"error": "nothing was stored"}


def _last() -> list[int] | None:
    for name, value in reversed(JOURNAL):
        if name in STORED and isinstance(value, list | tuple) and all(isinstance(v, int) for v in value):
            return list(value)
    recorded = [value for name, value in JOURNAL if name == "recorded"]
    return recorded or None


def main() -> None:
    engine, archive = sys.argv[1:3]
    asked = json.load(sys.stdin)
    sources = Sources(engine, archive)
    answer: dict[str, Any] = {}
    for architecture in sources.architectures:
        cls = sources.cls(architecture)
        if cls is None or not hasattr(cls, SETTERS[engine]):
            continue
        rows = [{"depth": depth, "ids": ids, **stored(engine, cls, depth, ids)} for depth, ids in asked]
        answer[architecture] = {"class": cls.__name__, "module": sources.architectures[architecture][0], "rows": rows}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
