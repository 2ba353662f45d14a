"""Whether code has to do with drafters at all, and what a concatenation in it is for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from eaglelint.analyser.recorder import Recorder
from eaglelint.analyser.scope import ModuleScope
from eaglelint.facts import Step

#: Words of which one stands in code that has to do with drafters and their training data.
_RELATED = (
    *("eagle", "draft", "aux", "verifier", "specul", "capture", "dump", "dflash", "dspark", "teacher"),
    "loss_mask",  # kept beside states, it is part of a training sample
)
#: Concatenated states that are stored beside their tokens are a training sample too, whatever the script is called.
_SAMPLE = (("input_ids",), (".cat(", ".concat(", "concatenate(", ".hstack("), ("torch.save", "np.save", "save_file("))
#: Words of which one stands in code that feeds a drafter.
_DRAFTING = ("eagle", "draft", "specul", "verifier", "aux_hidden", "dflash", "dspark")
_RUNTIME = re.compile(r"bench|accept|runtime|runner|infer|serv|decod|speculat|demo|eval", re.IGNORECASE)
_TRAINING = re.compile(
    r"train|data|feature|collect|dump|extract|sample|batch|loss|distil|online|cache|fit|gather", re.IGNORECASE
)


def related(scope: ModuleScope) -> bool:
    """Whether code speaks of drafters or their data at all, or stores samples for one."""
    if scope.mentions(*_RELATED) or any(word in scope.path.lower() for word in _RELATED):
        return True
    return all(scope.mentions(*words) for words in _SAMPLE)


def drafting(scope: ModuleScope) -> bool:
    """Whether code speaks of drafters themselves: many features of a model are taken for other ends as well."""
    return scope.mentions(*_DRAFTING) or any(word in scope.path.lower() for word in _DRAFTING)


def related_by(runs: list[tuple[int, Recorder]], scope: ModuleScope, steps: Iterable[Step]) -> bool:
    """Whether code, or code that its states came through, speaks of drafters or their data."""
    if related(scope):
        return True
    scopes = runs[0][1].scopes
    return any(related(scopes[path]) for path in {step.where.path for step in steps} if path in scopes)


def purpose(scope: ModuleScope, function: str) -> str:
    """What a concatenation is for, by the names around it: "runtime", "training" or "unknown"."""
    around = f"{scope.path} {function}"
    if _RUNTIME.search(around) and not re.search(r"train", around, re.IGNORECASE):
        return "runtime"
    if _TRAINING.search(around) or scope.mentions(
        "optimizer", "backward()", "loss", "torch.save", "dataset", "safetensors"
    ):
        return "training"
    return "unknown"
