"""Which files are worth parsing: literal byte search, so that a whole engine can lie in a project.

Words such as `hidden_states`, `capture` or `eagle` alone are in a quarter of an engine's files and say nothing. What
selects a file is an identifier that only capture code has, or words that only together mean that states of a target are
taken, stored, read back or asked of a server.
"""

from __future__ import annotations

#: Identifiers of engines' capture code and of configs that choose layers.
_CENTRAL = (
    b"layers_to_capture",
    b"aux_hidden_state",
    b"set_eagle3",
    b"register_forward_hook",
    b"register_forward_pre_hook",
    b"extract_hidden_states",
    b"eagle_aux",
    b"eagle_config",
    b"HS_DUMP",
    b"hs_dump",
)

#: Further identifiers of code that takes states or chooses layers.
_MARKERS = (
    *_CENTRAL,
    b"output_hidden_states",
    b"all_hidden_states",
    b"hidden_states_path",
    b"target_layer_ids",
    b"aux_layer",
    b"capture_layer",
)

#: How a loop over decoder layers keeps what runs through it.
_LOOPS = (
    b".layers):",
    b".append(hidden",
    b".append(residual",
    b"(hidden_states,)",
    b"hidden_states + residual",
    b"residual is None else",
)

_LOADS = (b"torch.load", b"np.load", b"numpy.load", b"load_file(", b"safe_open")
_SAVES = (b"torch.save", b"np.save", b"numpy.save", b"save_file(")
_JOINS = (b"torch.cat", b"torch.concat", b"torch.hstack", b"concatenate(", b"np.hstack")
_DRAFTS = (b"eagle", b"EAGLE", b"Eagle", b"draft", b"specul")
_STATES = (b"hidden_state", b"aux", b"states", b"feature", b"layer_")

_ENGINES = (
    b"Engine(",
    b"EngineArgs(",
    b" LLM(",
    b"=LLM(",
    b".LLM(",
    b"launch_server",
    b"vllm serve",
    b'"serve"',
    b"'serve'",
)
_OPTIONS = (b"speculative_", b"speculative-", b"return_hidden_states", b"return-hidden-states")

#: Names of EAGLE-3 itself, in lower case.
_NAMES = (b"eagle3", b"eagle-3", b"eagle_3", b"eagle 3")

#: What speaks of EAGLE-3 without naming it.
_EVIDENCE = (b"layers_to_capture", b"aux_hidden_state", b"eagle_config", b"eagle_aux", b"extract_hidden_states")


def relevant(data: bytes, path: str = "") -> bool:
    """Whether a Python file may take, store, read, join or serve the states of a target.

    True for one file in sixteen of an engine, and for nearly all of a project that trains or feeds a drafter.
    """
    if _any(_MARKERS, data) or _any(_LOOPS, data):
        return True
    loads = _any(_LOADS, data)
    if b"hidden_state" in data and (loads or _any(_SAVES, data)):
        return True
    if loads and _any(_STATES, data) and (_any(_JOINS, data) or _any(_DRAFTS, data)):
        return True
    if _any(_OPTIONS, data) and _any(_ENGINES, data):
        return True
    return _named(data) or _any(_NAMES, path.lower().encode(errors="replace"))


def central(data: bytes) -> bool:
    """Whether a Python file has an identifier that only capture code has: one file in forty of an engine.

    For projects in which too much is `relevant` to be read in a bearable time.
    """
    return _any(_CENTRAL, data)


def evidence(data: bytes, path: str = "") -> bool:
    """Whether a file of any kind speaks of EAGLE-3 at all, so that it matters when it can not be read."""
    if b"\0" in data:
        data = data.replace(b"\0", b"")  # UTF-16 has a zero byte beside each ASCII character
    return _any(_EVIDENCE, data) or _named(data) or _any(_NAMES, path.lower().encode(errors="replace"))


def _any(words: tuple[bytes, ...], data: bytes) -> bool:
    return any(word in data for word in words)


def _named(data: bytes) -> bool:
    """Whether EAGLE-3 is named in any mixture of cases."""
    return (b"agle" in data or b"AGLE" in data) and _any(_NAMES, data.lower())
