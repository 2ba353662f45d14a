"""How people take states of a whole model: entries of `hidden_states`, and hooks on layers."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

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


# ---- hooks ---------------------------------------------------------------------------------------------------------


def _output_of(draw: Random, style: str, name: str = "output") -> str:
    options = [f"{name}[0] if isinstance({name}, tuple) else {name}"]
    if style == "tuple":
        options += [f"{name}[0]", f"{name}[0]"]
    elif style == "stream":
        options += [name, name]
    return draw.choice(options)


def hooks(w: Walk, style: str) -> list[str]:
    """Hooks on layers that store what they see when the model runs; the model runs afterwards."""
    draw, ids = w.draw, w.ids.expression
    pre = draw.random() < 0.35
    value = "args[0]" if pre else _output_of(draw, style)
    register = "register_forward_pre_hook" if pre else "register_forward_hook"
    given = "module, args" if pre else "module, args, output"
    forms = [
        "factory",
        "factory",
        "comprehension",
        "lambda",
        "partial",
        "default",
        "enumerate",
        "object",
        "keywords" if pre else "factory",
    ]
    if "ID" not in "".join(w.store("", "ID")):
        forms.append("late")  # the hooks share the last id, so that only their order counts
    form = draw.choice(forms)
    if form == "keywords":
        return [
            "def keep(module, args, kwargs, number):",
            *indented(w.store("args[0]", "number")),
            "",
            f"for j in {ids}:",
            f"    {w.layers}[j].{register}(lambda m, a, k, j=j: keep(m, a, k, j), with_kwargs=True)",
        ]
    factory = [
        "def make(number):",
        f"    def hook({given}):",
        *indented(w.store(value, "number"), 2),
        "",
        "    return hook",
        "",
    ]
    if form == "factory":
        return [*factory, f"for j in {ids}:", f"    {w.layers}[j].{register}(make(j))"]
    if form == "comprehension":
        return [*factory, f"handles = [{w.layers}[j].{register}(make(j)) for j in {ids}]"]
    if form == "enumerate":
        return [
            *factory,
            f"for j, {w.names.layer} in enumerate({w.layers}):",
            f"    if j in {ids}:",
            f"        {w.names.layer}.{register}(make(j))",
        ]
    if form == "partial":
        return [
            f"def keep(number, {given}):",
            *indented(w.store(value, "number")),
            "",
            f"for j in {ids}:",
            f"    {w.layers}[j].{register}(functools.partial(keep, j))",
        ]
    if form == "default":
        return [
            f"for j in {ids}:",
            f"    def hook({given}, number=j):",
            *indented(w.store(value, "number"), 2),
            "",
            f"    {w.layers}[j].{register}(hook)",
        ]
    if form == "late":
        return [
            f"for j in {ids}:",
            f"    def hook({given}):",
            *indented(w.store(value, "j"), 2),
            "",
            f"    {w.layers}[j].{register}(hook)",
        ]
    if form == "object":
        return [
            "class Keep:",
            "    def __init__(self, number):",
            "        self.number = number",
            "",
            f"    def __call__(self, {given}):",
            *indented(w.store(value, "self.number"), 2),
            "",
            f"for j in {ids}:",
            f"    {w.layers}[j].{register}(Keep(j))",
        ]
    keep = [f"def keep(number, {given}):", *indented(w.store(value, "number")), ""]
    return [*keep, f"for j in {ids}:", f"    {w.layers}[j].{register}(lambda {given}, j=j: keep(j, {given}))"]
