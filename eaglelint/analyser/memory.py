"""What is kept while a project is analysed, and let go of after it: answers about nodes, and the trees themselves."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

_caches: list[Any] = []


def remembered(function: _Function) -> _Function:
    """A function of a node of which the answers are kept until `forget`: as long as its tree is in use."""
    made: Any = lru_cache(maxsize=50_000)(function)
    _caches.append(made)
    return made  # type: ignore[no-any-return]


def settle() -> None:
    """Collect garbage, and look for it no more among what is alive now: the trees of a project are a million nodes."""
    gc.collect()
    if not gc.get_freeze_count():
        gc.freeze()


def forget() -> None:
    """The analysis is over: let go of the trees."""
    for cache in _caches:
        cache.cache_clear()
    gc.unfreeze()
