"""How people take states of a whole model: entries of `hidden_states`."""

from __future__ import annotations

from collections.abc import Callable

from grammar_loops import Walk, indented

# ---- Hugging Face --------------------------------------------------------------------------------------------------


def _plain_index(w: Walk) -> list[str]:
    index = w.draw.choice(["j", "j + 1", "j - 1", "1 + j", "j - len(every)", "-j", "j + OFFSET"])
    lines = ["OFFSET = 1"] if "OFFSET" in index else []
    return [*lines, f"for j in {w.ids.expression}:", *indented(w.store(f"every[{index}]", "j"))]


def _sliced_index(w: Walk) -> list[str]:
    source = w.draw.choice(["every[1:]", "every[:-1]", "every[1:-1]", "every[:40]", "list(every)[1:]"])
    return [f"inner = {source}", f"for j in {w.ids.expression}:", *indented(w.store("inner[j]", "j"))]


def _enumerated(w: Walk) -> list[str]:
    source = w.draw.choice(
        [
            "enumerate(every)",
            "enumerate(every[1:])",
            "enumerate(every, start=-1)",
            "enumerate(every, -1)",
            "zip(range(len(every)), every)",
            "enumerate(every[1:], start=1)",
        ]
    )
    return [
        f"for j, {w.names.state} in {source}:",
        *indented([f"if j in {w.ids.expression}:", *indented(w.store(w.names.state, "j"))]),
    ]


def _picked(w: Walk) -> list[str]:
    ids = w.ids.expression
    pick, count = w.draw.choice(
        [
            (f"list(map(lambda j: every[j], {ids}))", w.ids.count),
            (f"[every[j] for j in {ids}]", w.ids.count),
            (f"tuple(every[j + 1] for j in {ids})", w.ids.count),
            (f"operator.itemgetter(*{ids})(every)", w.ids.count),
            (f"[s for j, s in enumerate(every) if j in {ids}]", w.ids.count),
            (f"[every[j].squeeze(0) for j in reversed(sorted({ids}))]", w.ids.count),
            ("[every[5], every[len(every) // 2], every[-4]]", 3),
            ("every[3:33:10]", 3),
            ("(every[2], *every[10:12])", 3),
            ("[every[-1 - k] for k in (30, 20, 3)]", 3),
        ]
    )
    w.ids.count = count
    return [f"picked = {pick}", f"for j, {w.names.state} in enumerate(picked):", *indented(w.store(w.names.state, "j"))]


HF: list[Callable[[Walk], list[str]]] = [_plain_index, _plain_index, _sliced_index, _enumerated, _picked, _picked]


def entries(w: Walk, kind: str) -> list[str]:
    """Entries of `every`; a container that takes its slots from the ids needs a form that goes by the ids."""
    return w.draw.choice([form for form in HF if kind != "slots" or form is not _picked])(w)
