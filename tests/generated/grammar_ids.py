"""How people choose layers: the part of the grammar that gives a list of ids.

Each form says what stands at the top of the module, what at the start of the function, in which files, and the
expression that the function uses. `N` in a local line stands for the expression that gives the number of layers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple


class Names(NamedTuple):
    """Names that people give to the same things."""

    ids: str
    local: str
    model: str
    hidden: str
    layer: str
    counter: str
    kept: str
    slot: str
    function: str
    state: str


def names(draw: Random) -> Names:
    """A set of names that do not collide."""
    return Names(
        ids=draw.choice(["AUX_LAYERS", "CAPTURE_LAYERS", "LAYER_IDS", "TAPS", "IDS", "TARGET_LAYERS", "WANTED"]),
        local=draw.choice(["wanted_layers", "layer_list", "picks", "layers_to_take"]),
        model=draw.choice(["model", "target", "target_model", "verifier", "teacher", "base_model"]),
        hidden=draw.choice(["h", "hidden_states", "x", "hidden", "hs"]),
        layer=draw.choice(["layer", "block", "decoder_layer", "blk", "mod"]),
        counter=draw.choice(["i", "idx", "layer_idx", "layer_id", "n", "k"]),
        kept=draw.choice(["kept", "aux_hidden_states", "captured", "taps", "collected", "features", "out"]),
        slot=draw.choice(["slot", "counter", "saved", "pos"]),
        function=draw.choice(["collect", "capture", "dump_states", "extract", "run_target", "get_features"]),
        state=draw.choice(["state", "t", "tap", "item", "s"]),
    )


@dataclass
class Ids:
    """A choice of layers. `kind` is "sequence", "set" or "mapping" (id -> slot); `count` the number of ids."""

    form: str
    expression: str
    count: int
    kind: str = "sequence"
    imports: list[str] = field(default_factory=list)
    module: list[str] = field(default_factory=list)
    local: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)


def some_ids(draw: Random, count: int | None = None) -> list[int]:
    """Some ids that every depth of the grammar has (at least 36 layers), with room for offsets of two."""
    return sorted(draw.sample(range(2, 31), count or draw.choice([3, 3, 3, 3, 2, 4, 5])))


def _literal(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    text = draw.choice([str(ids), str(tuple(ids))])
    return Ids("literal", n.ids, len(ids), module=[f"{n.ids} = {text}"])


def _unsorted(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    draw.shuffle(ids)
    return Ids("unsorted", n.ids, len(ids), module=[f"{n.ids} = {ids}"])


def _inline(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    return Ids("inline", str(tuple(ids)), len(ids))


def _set(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    draw.shuffle(ids)
    text = "{" + ", ".join(map(str, ids)) + "}"
    module = draw.choice([f"{n.ids} = {text}", f"{n.ids} = frozenset({text})", f"{n.ids} = set({ids})"])
    return Ids("set", n.ids, len(ids), "set", module=[module])


def _sorted_set(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    given = [*ids, draw.choice(ids)]
    draw.shuffle(given)
    text = draw.choice([f"sorted(set({given}))", f"list(dict.fromkeys({given}))", f"sorted(frozenset({tuple(given)}))"])
    return Ids("sorted(set)", n.ids, len(ids), module=[f"{n.ids} = {text}"])


def _csv(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    text = draw.choice([",", ", "]).join(map(str, ids))
    parse = draw.choice(
        [
            'tuple(map(int, "{}".split(",")))',
            '[int(part) for part in "{}".split(",")]',
            '[int(p.strip()) for p in "{}".split(",") if p.strip()]',
            'list(map(int, "{}".replace(",", " ").split()))',
        ]
    )
    return Ids("csv", n.ids, len(ids), module=[f"{n.ids} = {parse.format(text)}"])


def _dataclass(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    default = draw.choice([f"list[int] = field(default_factory=lambda: {ids})", f"tuple[int, ...] = {tuple(ids)}"])
    module = [
        "@dataclass",
        "class Options:",
        "    steps: int = 3",
        f"    layers: {default}",
        "",
        "",
        "OPTIONS = Options()",
    ]
    return Ids(
        "dataclass", "OPTIONS.layers", len(ids), imports=["from dataclasses import dataclass, field"], module=module
    )


def _named_tuple(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    module = [
        "class Options(NamedTuple):",
        f"    layers: tuple[int, ...] = {tuple(ids)}",
        "    steps: int = 3",
        "",
        "",
        f"{n.ids} = Options(steps=5).layers",
    ]
    return Ids("named tuple", n.ids, len(ids), imports=["from typing import NamedTuple"], module=module)


def _class_attribute(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    module = ["class Settings:", f"    layers = {draw.choice([ids, tuple(ids)])}", '    folder = "dump"']
    return Ids("class attribute", draw.choice(["Settings.layers", "Settings().layers"]), len(ids), module=module)


def _namespace(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    text = draw.choice([f"SimpleNamespace(layers={ids}, steps=3)", f'{{"layers": {ids}, "steps": 3}}'])
    used = "CFG.layers" if text.startswith("Simple") else draw.choice(['CFG["layers"]', 'CFG.get("layers", [])'])
    return Ids("namespace", used, len(ids), imports=["from types import SimpleNamespace"], module=[f"CFG = {text}"])


def _formula(draw: Random, n: Names) -> Ids:
    text = draw.choice(
        [
            "[2, N // 2, N - 3]",
            "(1, N // 2 - 1, N - 4)",
            "[N // 4, N // 2, 3 * N // 4]",
            "{2, N // 2, N - 3}",
            "[1, int(N * 0.5), int(N * 0.9)]",
            "sorted({2, N // 2, N - 3})",
            "[2, N >> 1, max(3, N - 3)]",
        ]
    )
    return Ids("formula", n.local, 3, "set" if text[0] == "{" else "sequence", local=[f"{n.local} = {text}"])


def _function(draw: Random, n: Names) -> Ids:
    body = draw.choice(
        [
            ["    return [2, depth // 2, depth - 3]"],
            ["    step = (depth - 4) // 2", "    return [1 + step * slot for slot in range(3)]"],
            ["    if depth < 8:", "        return [1, 2, 3]", "    return [1, depth // 2 - 1, depth - 4]"],
            [
                "    first, last = 1, depth - 3",
                "    span = last - first",
                "    return [int(round(first + slot * span / 2)) for slot in range(3)]",
            ],
        ]
    )
    module = ["def default_layers(depth):", *body]
    return Ids("function", n.local, 3, module=module, local=[f"{n.local} = default_layers(N)"])


def _range(draw: Random, n: Names) -> Ids:
    text, count = draw.choice(
        [
            ("range(2, 31, 14)", 3),
            ("range(1, 34, 16)", 3),
            ("list(range(3, 33, 12))", 3),
            ("range(30, 1, -12)", 3),
            ("range(2, 6)", 4),
        ]
    )
    return Ids("range", n.ids, count, module=[f"{n.ids} = {text}"])


def _depth_range(draw: Random, n: Names) -> Ids:
    text = draw.choice(
        [
            "list(range(2, N - 2, (N - 5) // 2))[:3]",
            "[*range(1, N, N // 3)][:3]",
            "list(range(N))[2 : N - 1 : N // 3][:3]",
        ]
    )
    return Ids("range of N", n.local, 3, local=[f"{n.local} = {text}"])


def _linspace(draw: Random, n: Names) -> Ids:
    text = draw.choice(
        [
            "[int(v) for v in np.linspace(2, N - 3, 3)]",
            "np.linspace(1, N - 4, 3).round().astype(int).tolist()",
            "[round(v) for v in np.linspace(1, N - 3, num=4).tolist()]",
            "torch.linspace(2, N - 3, steps=3).round().int().tolist()",
            "[round(1 + slot * (N - 4) / 2) for slot in range(3)]",
            "sorted({round(v) for v in np.linspace(1, N - 3, 5)})",
        ]
    )
    count = 4 if "num=4" in text else 5 if ", 5)" in text else 3
    return Ids(
        "linspace", n.local, count, imports=["import numpy as np", "import torch"], local=[f"{n.local} = {text}"]
    )


def _offset(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    text = draw.choice(
        [
            "[v + 1 for v in BASE]",
            "tuple(v - 1 for v in BASE)",
            "[BASE[0], *(v + 2 for v in BASE[1:])]",
            "list(map(lambda v: v + 1, BASE))",
            "[v + OFFSET for v in BASE]",
            "{v + 1 for v in BASE}",
        ]
    )
    return Ids(
        "offset",
        n.ids,
        len(ids),
        "set" if text[0] == "{" else "sequence",
        module=[f"BASE = {ids}", "OFFSET = 1", f"{n.ids} = {text}"],
    )


def _appended(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw, draw.choice([2, 3, 4]))
    text = draw.choice(
        ["[*BASE, N - 1]", "BASE + [N - 1]", "list(BASE) + [N - 2]", "sorted([N - 2, *BASE])", "(*BASE, N - 1)"]
    )
    return Ids("appended", n.local, len(ids) + 1, module=[f"BASE = {ids}"], local=[f"{n.local} = {text}"])


def _built(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw, 3)
    module = draw.choice(
        [
            [f"{n.ids} = []", f"{n.ids}.append({ids[0]})", f"{n.ids}.extend({ids[1:]})"],
            [f"{n.ids} = {ids[:1]}", f"{n.ids} += {ids[1:]}"],
            [f"{n.ids} = {[ids[2], ids[0], ids[1]]}", f"{n.ids}.sort()"],
            [f"{n.ids} = set()", f"for _layer in {tuple(ids)}:", f"    {n.ids}.add(_layer)"],
            [f"LOW, MID, HIGH = {ids[0]}, {ids[1]}, {ids[2]}", f"{n.ids} = (LOW, MID, HIGH)"],
            [f"{n.ids} = {ids[:2]}", f"{n.ids}.insert(1, {ids[2]})"],
        ]
    )
    return Ids("built", n.ids, 3, "set" if module[0].endswith("set()") else "sequence", module=module)


def _chosen(draw: Random, n: Names) -> Ids:
    """One of two lists, by something that is known or that only has a default."""
    ids, other = some_ids(draw, 3), some_ids(draw, 3)
    module = draw.choice(
        [
            ["SMALL = False", f"{n.ids} = {other} if SMALL else {ids}"],
            [f"{n.ids} = None or {ids}"],
            [f"PRESETS = {{'wide': {ids}, 'narrow': {other}}}", f"{n.ids} = PRESETS['wide']"],
            [f"PRESETS = {{'wide': {ids}, 'narrow': {other}}}", f"{n.ids} = PRESETS.get('deep', {ids})"],
            [
                "try:",
                f"    {n.ids} = [int(v) for v in '{','.join(map(str, ids))}'.split(',')]",
                "except ValueError:",
                f"    {n.ids} = {other}",
            ],
            [
                "def preset(layers=None):",
                "    if layers is None:",
                f"        layers = {ids}",
                "    return layers",
                "",
                f"{n.ids} = preset()",
            ],
            [
                f"def preset(name, *, default={tuple(ids)}):",
                f"    return default if name != 'narrow' else {other}",
                "",
                f"{n.ids} = preset('wide')",
            ],
        ]
    )
    return Ids("chosen", n.ids, 3, module=module)


def _array(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    text = draw.choice(
        [
            f"np.array({ids}).tolist()",
            f"torch.tensor({ids}).tolist()",
            f"[*map(int, {[str(i) for i in ids]})]",
            f"list(np.asarray({ids}))",
            f"[{ids[0]}] + list({tuple(ids[1:])})",
            f"list(zip(*enumerate({ids})))[1]",
        ]
    )
    return Ids("array", n.ids, len(ids), imports=["import numpy as np", "import torch"], module=[f"{n.ids} = {text}"])


def _enumeration(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw, 3)
    module = [
        "class Tap(enum.IntEnum):",
        *(f"    {name} = {i}" for name, i in zip(("LOW", "MID", "HIGH"), ids, strict=True)),
    ]
    text = draw.choice(["[Tap.LOW, Tap.MID, Tap.HIGH]", "[int(tap) for tap in Tap]", "[tap.value for tap in Tap]"])
    return Ids("enumeration", n.ids, 3, imports=["import enum"], module=[*module, "", "", f"{n.ids} = {text}"])


def _mapping(draw: Random, n: Names) -> Ids:
    ids = some_ids(draw)
    if draw.random() < 0.3:
        draw.shuffle(ids)
    pairs = ", ".join(f"{layer}: {slot}" for slot, layer in enumerate(ids))
    module = draw.choice(
        [
            [f"{n.ids} = {{{pairs}}}"],
            [f"{n.ids} = {{layer: slot for slot, layer in enumerate({ids})}}"],
            [f"{n.ids} = dict(zip({ids}, range({len(ids)})))"],
            [f"{n.ids} = {{}}", f"for _slot, _layer in enumerate({tuple(ids)}):", f"    {n.ids}[_layer] = _slot"],
        ]
    )
    return Ids("mapping", n.ids, len(ids), "mapping", module=module)


FORMS: list[Callable[[Random, Names], Ids]] = [
    _literal,
    _unsorted,
    _inline,
    _set,
    _sorted_set,
    _csv,
    _dataclass,
    _named_tuple,
    _class_attribute,
    _namespace,
    _formula,
    _function,
    _range,
    _depth_range,
    _linspace,
    _offset,
    _appended,
    _built,
    _mapping,
    _chosen,
    _array,
    _enumeration,
]
