"""Further ways of states to the columns: records, datasets, listings of folders, orders that a format makes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from grammar_saving import Flow, joined

_WORDS = ["low", "mid", "high", "upper", "top"]


def _zipped(draw: Random, states: str, count: int) -> Flow:
    words = tuple(_WORDS[:count])
    read = draw.choice(
        [
            f"return torch.cat([item[name] for name in {words}], dim=-1)",
            "return torch.cat(list(item.values()), dim=-1)",
            f"return torch.cat([item[name] for name in sorted({words})], dim=-1)",
            f"return torch.cat([item.pop(name) for name in {words[::-1]}], -1)",
        ]
    )
    return Flow(
        [f'torch.save(dict(zip({words}, {states})), "dump/part_0.pt")'],
        "None",
        ['item = torch.load("dump/part_0.pt")', read],
    )


def _unpacked(draw: Random, states: str, count: int) -> Flow:
    words = ", ".join(_WORDS[:count])
    return Flow(
        [f'torch.save((*{states}, LAST), "dump/part_0.pt")'],
        "None",
        [f'{words}, final = torch.load("dump/part_0.pt")', f"return torch.cat([{words}], dim=-1)"],
    )


def _listed(draw: Random, states: str, count: int) -> Flow:
    listing = draw.choice(
        [
            'sorted(glob.glob("dump/aux_*.pt"))',
            'sorted(Path("dump").glob("aux_*.pt"))',
            '[os.path.join("dump", name) for name in sorted(os.listdir("dump"))]',
            'sorted(Path("dump").glob("aux_*.pt"), key=lambda p: int(p.stem.split("_")[1]))',
            'sorted(glob.glob("dump/*.pt"), reverse=True)',
        ]
    )
    return Flow(
        [f"for k, one in enumerate({states}):", '    torch.save(one, f"dump/aux_{k}.pt")'],
        "None",
        joined(draw, f"[torch.load(path) for path in {listing}]", count),
        imports=["import glob", "import os", "from pathlib import Path"],
    )


def _values(draw: Random, states: str, count: int) -> Flow:
    """Tensors of a safetensors file come back in the order of their names."""
    words = _WORDS[:count]
    pairs = ", ".join(f'"{word}": parts[{k}]' for k, word in enumerate(words))
    read = draw.choice(
        [
            ['item = load_file("dump/part.safetensors")', "return torch.cat(list(item.values()), dim=-1)"],
            ['item = load_file("dump/part.safetensors")', "return torch.cat([item[k] for k in item], dim=-1)"],
            [
                'with safe_open("dump/part.safetensors", framework="pt") as item:',
                "    return torch.cat([item.get_tensor(k) for k in item.keys()], dim=-1)",
            ],
        ]
    )
    return Flow(
        [f"parts = {states}", f'save_file({{{pairs}}}, "dump/part.safetensors")'],
        "None",
        read,
        imports=["from safetensors.torch import load_file, save_file", "from safetensors import safe_open"],
    )


def _arrays(draw: Random, states: str, count: int) -> Flow:
    read = draw.choice(
        [
            "return np.concatenate([item[name] for name in item.files], axis=-1)",
            "return np.concatenate(list(item.values()), axis=-1)",
            f'return np.concatenate([item[f"h{{k}}"] for k in range({count})], -1)',
        ]
    )
    return Flow(
        [f"parts = {states}", 'np.savez("dump/part_0.npz", **{f"h{k}": p.numpy() for k, p in enumerate(parts)})'],
        "None",
        ['item = np.load("dump/part_0.npz")', read],
        imports=["import numpy as np"],
    )


def _single_arrays(draw: Random, states: str, count: int) -> Flow:
    return Flow(
        [f"for k, one in enumerate({states}):", '    np.save(f"dump/aux_{k}.npy", one.float().numpy())'],
        "None",
        [f'return np.concatenate([np.load(f"dump/aux_{{k}}.npy") for k in range({count})], axis=-1)'],
        imports=["import numpy as np"],
    )


def _stacked_array(draw: Random, states: str, count: int) -> Flow:
    read = draw.choice(
        [
            "return np.concatenate(list(item), axis=-1)",
            f"return np.concatenate([item[k] for k in range({count})], axis=-1)",
            f"return np.concatenate([item[{count} - 1 - k] for k in range({count})], axis=-1)",
        ]
    )
    return Flow(
        [f'np.save("dump/stack.npy", np.stack({states}, axis=0))'],
        "None",
        ['item = np.load("dump/stack.npy")', read],
        imports=["import numpy as np"],
    )


def _record(draw: Random, states: str, count: int) -> Flow:
    words = _WORDS[:count]
    kind, decorator = draw.choice([("", "@dataclasses.dataclass"), ("(typing.NamedTuple)", "")])
    cls = [
        *([decorator] if decorator else []),
        f"class Record{kind}:",
        *(f"    {word}: object" for word in words),
        "",
        "",
    ]
    made = draw.choice([f"Record(*{states})", f"Record(**dict(zip({tuple(words)}, {states})))"])
    order = words if draw.random() < 0.7 else words[::-1]
    return Flow(
        [f"record = {made}", f"return torch.cat([{', '.join(f'record.{word}' for word in order)}], dim=-1)"],
        imports=["import dataclasses", "import typing"],
        module=cls,
    )


def _samples(draw: Random, states: str, count: int) -> Flow:
    return Flow(
        [
            "samples = []",
            f'samples.append({{"input_ids": input_ids, "aux": {states}}})',
            'torch.save(samples, "dump/samples.pt")',
        ],
        "None",
        [
            "rows = []",
            'for sample in torch.load("dump/samples.pt"):',
            '    rows.append(torch.cat(sample["aux"], dim=-1))',
            "return rows",
        ],
    )


def _dataset(draw: Random, states: str, count: int) -> Flow:
    cls = [
        "class Samples:",
        "    def __init__(self, paths):",
        "        self.paths = paths",
        "",
        "    def __len__(self):",
        "        return len(self.paths)",
        "",
        "    def __getitem__(self, number):",
        "        item = torch.load(self.paths[number])",
        "        aux = torch.cat(item['states'], dim=-1)",
        "        return {'aux': aux, 'last': item['last']}",
    ]
    return Flow(
        [f'torch.save({{"states": {states}, "last": LAST}}, "dump/part_0.pt")'],
        "None",
        [*cls, "", 'samples = Samples(["dump/part_0.pt"])', "return samples[0]['aux']"],
    )


def _reordered(draw: Random, states: str, count: int) -> Flow:
    words = _WORDS[:count]
    order = draw.sample(words, count)
    return Flow(
        [f"fused = torch.cat({states}, dim=-1)", 'torch.save(fused, "dump/fused.pt")'],
        "None",
        [
            'fused = torch.load("dump/fused.pt")',
            f"{', '.join(words)} = fused.chunk({count}, dim=-1)",
            f"return torch.cat([{', '.join(order)}], dim=-1)",
        ],
    )


def _split_stack(draw: Random, states: str, count: int) -> Flow:
    """All states in one tensor, the final one last: cut off by a slice."""
    cut = draw.choice(["[:, :-1]", f"[:, :{count}]", "[:, 0:-1]"])
    return Flow(
        [
            f"rows = torch.stack([s.squeeze(0) if s.ndim == 3 else s for s in [*{states}, LAST]], dim=1)",
            'torch.save({"hidden_states": rows}, "dump/part_0.pt")',
        ],
        "None",
        ['rows = torch.load("dump/part_0.pt")["hidden_states"]', f"return rows{cut}.flatten(1)"],
    )


#: Forms of this module: from the expression of a list of states and their number.
FORMS: list[Callable[[Random, str, int], Flow]] = [
    _zipped,
    _unpacked,
    _listed,
    _values,
    _arrays,
    _single_arrays,
    _stacked_array,
    _record,
    _samples,
    _dataset,
    _reordered,
    _split_stack,
]
