"""How people take states while a model runs: hooks, forwards that are replaced, modules around layers."""

from __future__ import annotations

from random import Random

from grammar_loops import Walk, indented


def _output_of(draw: Random, style: str, name: str = "output") -> str:
    options = [f"{name}[0] if isinstance({name}, tuple) else {name}"]
    if style == "tuple":
        options += [f"{name}[0]", f"{name}[0]"]
    elif style == "stream":
        options += [name, name]
    return draw.choice(options)


def _reach(draw: Random, layers: str, model: str) -> tuple[list[str], str]:
    """How a layer `j` is found: statements before, and the expression."""
    return draw.choice(
        [
            ([], f"{layers}[j]"),
            ([], f"{layers}[j]"),
            ([], f"{layers}[j]"),
            ([], f'{model}.get_submodule(f"model.layers.{{j}}")'),
            ([f"modules = dict({model}.named_modules())"], 'modules[f"model.layers.{j}"]'),
            ([f'inner = getattr({model}, "model", {model})'], "inner.layers[j]"),
        ]
    )


def hooks(w: Walk, style: str, model: str) -> list[str]:
    """Statements after which running the model stores what its layers see."""
    draw = w.draw
    reach, layer_of = _reach(draw, w.layers, model)
    if draw.random() < 0.25:
        return [*reach, *draw.choice([_wrapped, _module, _named])(w, style, model, layer_of)]
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
    return [*reach, *_registered(w, draw.choice(forms), layer_of, register, given, value)]


def _registered(w: Walk, form: str, layer_of: str, register: str, given: str, value: str) -> list[str]:
    """Hooks of a form, registered on the layers of the ids."""
    ids = w.ids.expression
    if form == "keywords":
        return [
            "def keep(module, args, kwargs, number):",
            *indented(w.store("args[0]", "number")),
            "",
            f"for j in {ids}:",
            f"    {layer_of}.{register}(lambda m, a, k, j=j: keep(m, a, k, j), with_kwargs=True)",
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
        return [*factory, f"for j in {ids}:", f"    {layer_of}.{register}(make(j))"]
    if form == "comprehension":
        return [*factory, f"handles = [{layer_of}.{register}(make(j)) for j in {ids}]"]
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
            f"    {layer_of}.{register}(functools.partial(keep, j))",
        ]
    if form == "default":
        return [
            f"for j in {ids}:",
            f"    def hook({given}, number=j):",
            *indented(w.store(value, "number"), 2),
            "",
            f"    {layer_of}.{register}(hook)",
        ]
    if form == "late":
        return [
            f"for j in {ids}:",
            f"    def hook({given}):",
            *indented(w.store(value, "j"), 2),
            "",
            f"    {layer_of}.{register}(hook)",
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
            f"    {layer_of}.{register}(Keep(j))",
        ]
    keep = [f"def keep(number, {given}):", *indented(w.store(value, "number")), ""]
    return [*keep, f"for j in {ids}:", f"    {layer_of}.{register}(lambda {given}, j=j: keep(j, {given}))"]


def _wrapped(w: Walk, style: str, model: str, layer_of: str) -> list[str]:
    """Layers whose forward is replaced by one that stores and calls the old one."""
    draw, ids = w.draw, w.ids.expression
    body = draw.choice(
        [
            ["output = original(*args, **kwargs)", *w.store(_output_of(draw, style), "number"), "return output"],
            [*w.store("args[0]", "number"), "return original(*args, **kwargs)"],
        ]
    )
    return [
        "def wrap(layer, number):",
        "    original = layer.forward",
        "",
        "    def forward(*args, **kwargs):",
        *indented(body, 2),
        "",
        "    layer.forward = forward",
        "",
        f"for j in {ids}:",
        f"    wrap({layer_of}, j)",
    ]


def _module(w: Walk, style: str, model: str, layer_of: str) -> list[str]:
    """Layers that are put inside a module that stores."""
    draw, ids = w.draw, w.ids.expression
    body = draw.choice(
        [
            [*w.store("hidden", "self.number"), "return self.inner(hidden, *args, **kwargs)"],
            [
                "output = self.inner(hidden, *args, **kwargs)",
                *w.store(_output_of(draw, style), "self.number"),
                "return output",
            ],
        ]
    )
    return [
        "class Tap(torch.nn.Module):",
        "    def __init__(self, inner, number):",
        "        super().__init__()",
        "        self.inner = inner",
        "        self.number = number",
        "",
        "    def forward(self, hidden, *args, **kwargs):",
        *indented(body, 2),
        "",
        f"for j in {ids}:",
        f"    {w.layers}[j] = Tap({w.layers}[j], j)",
    ]


def _named(w: Walk, style: str, model: str, layer_of: str) -> list[str]:
    """Hooks on the modules whose names are those of the layers."""
    draw, ids = w.draw, w.ids.expression
    make = [
        "def make(number):",
        "    def hook(module, args, output):",
        *indented(w.store(_output_of(draw, style), "number"), 2),
        "",
        "    return hook",
        "",
    ]
    loop = draw.choice(
        [
            [
                f"wanted = {{f'model.layers.{{j}}': j for j in {ids}}}",
                f"for name, module in {model}.named_modules():",
                "    if name in wanted:",
                "        module.register_forward_hook(make(wanted[name]))",
            ],
            [
                f"for name, module in {model}.named_modules():",
                '    found = re.fullmatch(r"model\\.layers\\.(\\d+)", name)',
                f"    if found and int(found.group(1)) in {ids}:",
                "        module.register_forward_hook(make(int(found.group(1))))",
            ],
            [
                f"for j in {ids}:",
                f"    for name, module in {model}.named_modules():",
                '        if name == f"model.layers.{j}":',
                "            module.register_forward_hook(make(j))",
            ],
        ]
    )
    return [*make, *loop]
