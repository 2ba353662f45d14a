"""Where states go and how they come back: the part of the grammar from a container to columns side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from grammar_ids import Ids, Names


@dataclass
class Kept:
    """A container of states and how a state gets into it. `kind`: "list", "ids" (by id), "keys" (by text), "files"."""

    kind: str
    start: list[str]
    add: list[str]
    name: str
    imports: list[str] = field(default_factory=list)
    rebinds: str = ""

    def store(self, expression: str, chosen: str) -> list[str]:
        """The statements that keep a state for an id."""
        return [line.replace("STATE", expression).replace("NUMBER", chosen) for line in self.add]


def container(draw: Random, n: Names, ids: Ids, nested: bool) -> Kept:
    """A container. `nested`: stores happen in functions inside the one that makes it, which can not count."""
    forms = ["append", "append", "append", "id", "id", "text", "slot", "plus"]
    if ids.kind == "mapping":
        forms += ["mapped", "mapped"]
    if not nested:
        forms += ["file", "file", "tuple"]
    form = draw.choice(forms)
    if form in ("append", "tuple", "plus"):
        add = {
            "append": f"{n.kept}.append(STATE)",
            "tuple": f"{n.kept} = (*{n.kept}, STATE)",
            "plus": f"{n.kept}.extend([STATE])",
        }
        return Kept(
            "list",
            [f"{n.kept} = {'()' if form == 'tuple' else '[]'}"],
            [add[form]],
            n.kept,
            rebinds=n.kept if form == "tuple" else "",
        )
    if form == "id":
        return Kept("ids", [f"{n.kept} = {{}}"], [f"{n.kept}[NUMBER] = STATE"], n.kept)
    if form == "text":
        key = draw.choice(['f"layer_{NUMBER}"', "str(NUMBER)", '"hidden_%d" % (NUMBER)', 'f"hs.{NUMBER}"'])
        return Kept("keys", [f"{n.kept} = {{}}"], [f"{n.kept}[{key}] = STATE"], n.kept)
    if form == "slot":
        return Kept("keys", [f"{n.kept} = {{}}"], [f'{n.kept}[f"aux_{{len({n.kept})}}"] = STATE'], n.kept)
    if form == "mapped":
        return Kept("slots", [f"{n.kept} = {{}}"], [f"{n.kept}[{ids.expression}[NUMBER]] = STATE"], n.kept)
    path = draw.choice(
        [
            f'f"dump/aux_{{{n.slot}}}.pt"',
            f'os.path.join("dump", f"aux_{{{n.slot}}}.pt")',
            f'Path("dump") / f"aux_{{{n.slot}}}.pt"',
        ]
    )
    return Kept(
        "files",
        [f"{n.slot} = 0"],
        [f"torch.save(STATE, {path})", f"{n.slot} += 1"],
        n.kept,
        ["import os", "from pathlib import Path"],
        n.slot,
    )


@dataclass
class Flow:
    """What happens after the capture: lines in the capturing function, and functions or a file that read it back.

    `returns` is what the capturing function gives; `reader` a function that joins, `argument` what it is given.
    """

    lines: list[str] = field(default_factory=list)
    returns: str = "None"
    reader: list[str] = field(default_factory=list)
    argument: str = ""
    imports: list[str] = field(default_factory=list)
    module: list[str] = field(default_factory=list)


def joined(draw: Random, states: str, count: int) -> list[str]:
    """Statements that end with the states of a list side by side."""
    dim = draw.choice(["dim=-1", "-1", "dim=-1"])
    form = draw.choice(
        ["cat", "cat", "cat", "tuple", "explicit", "reversed", "backwards", "comprehension", "stack", "unpack", "grown"]
    )
    cat = draw.choice(["torch.cat", "torch.cat", "torch.concat"])
    if form == "cat":
        return [f"return {cat}({states}, {dim})"]
    if form == "tuple":
        return [f"return {cat}(tuple({states}), {dim})"]
    if form == "explicit":
        order = list(range(count)) if draw.random() < 0.7 else list(reversed(range(count)))
        return [f"chosen = {states}", f"return {cat}([{', '.join(f'chosen[{k}]' for k in order)}], {dim})"]
    if form == "reversed":
        return [f"return {cat}(list(reversed({states})), {dim})"]
    if form == "backwards":
        return [f"return {cat}(({states})[::-1], {dim})"]
    if form == "comprehension":
        return [f"return {cat}([s.float() for s in {states}], {dim})"]
    if form == "stack":
        return [f"return torch.stack({states}, dim=-2).flatten(-2)"]
    if form == "grown":
        return [
            f"rows = {states}",
            "joined = rows[0]",
            "for row in rows[1:]:",
            f"    joined = {cat}([joined, row], {dim})",
            "return joined",
        ]
    parts = ["low", "mid", "high", "upper", "top"][:count]
    return [f"{', '.join(parts)} = {states}", f"return {cat}(({', '.join(parts)}), {dim})"]


def as_list(draw: Random, kept: Kept, ids: Ids) -> str:
    """A list of the states of a container, in one of the orders that people take."""
    if kept.kind == "list":
        return draw.choice([kept.name, f"list({kept.name})"])
    if kept.kind == "ids":
        return draw.choice(
            [
                f"list({kept.name}.values())",
                f"[{kept.name}[j] for j in sorted({kept.name})]",
                f"[s for _, s in sorted({kept.name}.items(), key=lambda pair: pair[0])]",
                f"[{kept.name}[j] for j in {kept.name}]",
            ]
        )
    if kept.kind == "slots":
        return draw.choice([f"[{kept.name}[k] for k in range({ids.count})]", f"list({kept.name}.values())"])
    return draw.choice(
        [
            f"list({kept.name}.values())",
            f"[{kept.name}[k] for k in {kept.name}]",
            f"[s for k, s in {kept.name}.items()]",
        ]
    )


def flow(draw: Random, n: Names, kept: Kept, ids: Ids) -> Flow:
    """A way from the container to the columns."""
    count = ids.count
    if kept.kind == "files":
        paths = draw.choice(
            [
                [f'parts = [torch.load(f"dump/aux_{{k}}.pt") for k in range({count})]'],
                [
                    "parts = []",
                    f"for k in range({count}):",
                    '    parts.append(torch.load(os.path.join("dump", f"aux_{k}.pt")))',
                ],
                [f"parts = [{', '.join(f'torch.load({_quoted(k)})' for k in range(count))}]"],
            ]
        )
        return Flow(reader=[*paths, *joined(draw, "parts", count)], imports=["import os"])
    forms = [
        "direct",
        "direct",
        "direct",
        "argument",
        "argument",
        "torch",
        "dict",
        "npz",
        "safetensors",
        "slots",
        "whole",
        "last",
        "pickle",
        "stack",
    ]
    form = draw.choice(forms)
    states = as_list(draw, kept, ids)
    if form == "direct":
        return Flow(lines=joined(draw, states, count))
    if form == "argument":
        inner = Kept(kept.kind, [], [], "given")
        return Flow(returns=kept.name, reader=joined(draw, as_list(draw, inner, ids), count), argument="given")
    if form == "whole":
        inner = Kept(kept.kind, [], [], "item")
        return Flow(
            [f'torch.save({kept.name}, "dump/part_0.pt")'],
            "None",
            ['item = torch.load("dump/part_0.pt")', *joined(draw, as_list(draw, inner, ids), count)],
        )
    return _through_a_file(draw, n, form, states, count)


def _quoted(slot: int) -> str:
    return f'"dump/aux_{slot}.pt"'


def _through_a_file(draw: Random, n: Names, form: str, states: str, count: int) -> Flow:
    if form == "torch":
        key = draw.choice(["aux", "hidden_states", "features", "target_states"])
        return Flow(
            [f'torch.save({{"{key}": {states}, "step": 3}}, "dump/part_0.pt")'],
            "None",
            ['item = torch.load("dump/part_0.pt", map_location="cpu")', *joined(draw, f'item["{key}"]', count)],
        )
    if form == "last":
        rest = draw.choice(["hs[:-1]", f"hs[:{count}]", "hs[0:-1]"])
        return Flow(
            [f"everything = [*{states}, LAST]", 'torch.save({"states": everything}, "dump/part_0.pt")'],
            "None",
            ['hs = torch.load("dump/part_0.pt")["states"]', *joined(draw, rest, count)],
        )
    if form == "slots":
        return Flow(
            [f"for k, {n.state} in enumerate({states}):", f'    torch.save({n.state}, f"dump/aux_{{k}}.pt")'],
            "None",
            [f'parts = [torch.load(f"dump/aux_{{k}}.pt") for k in range({count})]', *joined(draw, "parts", count)],
        )
    if form == "pickle":
        return Flow(
            ['with open("dump.pkl", "wb") as handle:', f"    pickle.dump({states}, handle)"],
            "None",
            [
                'with open("dump.pkl", "rb") as handle:',
                "    parts = pickle.load(handle)",
                *joined(draw, "parts", count),
            ],
            imports=["import pickle"],
        )
    if form == "stack":
        return Flow(
            [f'torch.save(torch.stack({states}, dim=0), "dump/stack.pt")'],
            "None",
            [
                'parts = torch.load("dump/stack.pt")',
                *draw.choice(
                    [
                        ["return torch.cat(list(parts), dim=-1)"],
                        ["return torch.cat(parts.unbind(0), dim=-1)"],
                        [f"return torch.cat([parts[k] for k in range({count})], dim=-1)"],
                    ]
                ),
            ],
        )
    names = ["low", "mid", "high", "upper", "top"][:count]
    order = names if draw.random() < 0.75 else names[::-1]
    if form == "dict":
        pairs = ", ".join(f'"{name}": parts[{k}]' for k, name in enumerate(names))
        return Flow(
            [f"parts = {states}", f'torch.save({{{pairs}}}, "dump/part_0.pt")'],
            "None",
            [
                'item = torch.load("dump/part_0.pt")',
                f"return torch.cat([{', '.join(f'''item[{name!r}]''' for name in order)}], dim=-1)",
            ],
        )
    if form == "npz":
        pairs = ", ".join(f"{name}=parts[{k}].numpy()" for k, name in enumerate(names))
        given, wanted = draw.choice(
            [
                (pairs, order),
                ("*parts", [f"arr_{k}" for k in range(count)]),
                ('**{f"h{k}": p for k, p in enumerate(parts)}', [f"h{k}" for k in range(count)]),
            ]
        )
        return Flow(
            [f"parts = {states}", f'np.savez("dump/part_0.npz", {given})'],
            "None",
            [
                'item = np.load("dump/part_0.npz")',
                f"return np.concatenate([{', '.join(f'''item[{name!r}]''' for name in wanted)}], axis=-1)",
            ],
            imports=["import numpy as np"],
        )
    save = f'save_file({{f"aux_{{k}}": p.contiguous() for k, p in enumerate({states})}}, "dump/part.safetensors")'
    read = draw.choice(
        [
            [
                'item = load_file("dump/part.safetensors")',
                f'return torch.cat([item[f"aux_{{k}}"] for k in range({count})], dim=-1)',
            ],
            [
                'with safe_open("dump/part.safetensors", framework="pt") as item:',
                f'    return torch.cat([item.get_tensor(f"aux_{{k}}") for k in range({count})], dim=-1)',
            ],
            [
                'item = load_file("dump/part.safetensors")',
                f"return torch.cat([{', '.join(f'''item['aux_{k}']''' for k in range(count))}], dim=-1)",
            ],
        ]
    )
    return Flow(
        [save],
        "None",
        read,
        imports=["from safetensors.torch import load_file, save_file", "from safetensors import safe_open"],
    )
