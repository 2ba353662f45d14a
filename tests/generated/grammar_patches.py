"""Patches of an engine's model file: the capture is code inside a string, a heredoc or a diff.

The engine's file is not in the project that is analysed; running the variant patches a stand-in of it for real.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from random import Random

from grammar_ids import some_ids
from grammar_loops import indented

PATH = "engine/sglang/srt/models/llama.py"
_ENGINE = """\
from torch import nn
import torch
from sglang.srt.models.llama import LlamaDecoderLayer


class LlamaModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([LlamaDecoderLayer(config, i) for i in range(config.num_hidden_layers)])
        self.norm = nn.RMSNorm(config.hidden_size)
        self.start_layer, self.end_layer = 0, config.num_hidden_layers

    def forward(self, input_ids, positions, forward_batch=None, input_embeds=None):
        if input_embeds is None:
            hidden_states = self.embed_tokens(input_ids)
        else:
            hidden_states = input_embeds
        residual = None
        for i in range(self.start_layer, self.end_layer):
            layer = self.layers[i]
            hidden_states, residual = layer(positions, hidden_states, forward_batch, residual)
        hidden_states, _ = self.norm(hidden_states, residual)
        return hidden_states
"""
_START = "        residual = None\n"
_TAKE = "            layer = self.layers[i]\n"
_CALL = "            hidden_states, residual = layer(positions, hidden_states, forward_batch, residual)\n"
_END = "        hidden_states, _ = self.norm(hidden_states, residual)\n"


@dataclass
class Patch:
    """A patch project: what the analyser sees, what is run, and the steps."""

    form: str
    files: dict[str, str]
    run_files: dict[str, str]
    steps: list[tuple[str, str, list[str]]]


def patch(draw: Random) -> Patch:
    """One project."""
    edits = _edits(draw)
    patched = _ENGINE
    for old, new in edits:
        assert old in patched
        patched = patched.replace(old, new, 1)
    trainer = {
        "eagle3_train.py": "\n".join(
            [
                "# training of the EAGLE-3 head",
                "import torch",
                "",
                "",
                "def load_columns():",
                *indented(_reader(draw, "aux_{" in patched or "aux_%" in patched)),
                "",
            ]
        )
    }
    form = draw.choice(
        ["replace", "replace", "pairs", "dedent", "fields", "pieces", "anchor", "heredoc", "diff", "short diff"]
    )
    steps: list[tuple[str, str, list[str]]] = [
        (PATH, "LlamaModel(config).__call__", ["ids", "positions"]),
        ("eagle3_train.py", "load_columns", []),
    ]
    if "diff" in form:
        lines = difflib.unified_diff(
            _ENGINE.splitlines(True),
            patched.splitlines(True),
            "a/" + PATH[7:],
            "b/" + PATH[7:],
            n=0 if form == "short diff" else 3,
        )
        return Patch(form, {"eagle3.patch": "".join(lines), **trainer}, {PATH: patched, **trainer}, steps)
    script = "\n".join(
        [
            "# patches the engine for EAGLE-3",
            "import textwrap",
            "from pathlib import Path",
            "",
            f'TARGET = Path("{PATH}")',
            *_script(draw, form, edits),
            "",
        ]
    )
    run_files = {PATH: _ENGINE, "patch_engine.py": script, **trainer}
    if form == "heredoc":
        shell = f"#!/bin/bash\nset -e\n# EAGLE-3 dump\npython3 - <<'PATCH'\n{script}PATCH\n"
        return Patch(form, {"patch_engine.sh": shell, **trainer}, run_files, [("patch_engine.py", "", []), *steps])
    return Patch(form, {"patch_engine.py": script, **trainer}, run_files, [("patch_engine.py", "", []), *steps])


def _edits(draw: Random) -> list[tuple[str, str]]:
    """Pairs of old and new code: where the list starts, the loop, and where states are written."""
    ids = some_ids(draw, 3)
    chosen = draw.choice([str(tuple(ids)), "{" + ", ".join(map(str, ids)) + "}", str(ids)])
    full = draw.choice(
        [
            "hidden_states + residual if residual is not None else hidden_states",
            "hidden_states if residual is None else hidden_states + residual",
        ]
    )
    copy = draw.choice(["", ".clone()", ".detach().cpu()", ".to(torch.bfloat16)"])
    before = draw.random() < 0.6
    test = (
        f"            if i in {chosen}:\n" if before or draw.random() < 0.5 else f"            if i + 1 in {chosen}:\n"
    )
    value = f"({full}){copy}" if before else draw.choice([f"(hidden_states + residual){copy}", f"({full}){copy}"])
    if draw.random() < 0.4:
        write = draw.choice(
            [f'torch.save({value}, f"dump/aux_{{n_saved}}.pt")', f'torch.save({value}, "dump/aux_%d.pt" % n_saved)']
        )
        store = f"{test}                {write}\n                n_saved += 1\n"
        start = (_START, _START + "        n_saved = 0\n")
        end: list[tuple[str, str]] = []
    else:
        store = f"{test}                aux_hidden_states.append({value})\n"
        start = (_START, _START + "        aux_hidden_states = []\n")
        end = [
            (_END, _END + '        torch.save({"aux": aux_hidden_states, "last": hidden_states}, "dump/part_0.pt")\n')
        ]
    where = (_TAKE, draw.choice([store + _TAKE, _TAKE + store])) if before else (_CALL, _CALL + store)
    return [start, where, *end]


def _reader(draw: Random, slots: bool) -> list[str]:
    if slots:
        return [
            'parts = [torch.load(f"dump/aux_{k}.pt") for k in range(3)]',
            draw.choice(["return torch.cat(parts, dim=-1)", "return torch.cat(parts[::-1], dim=-1)"]),
        ]
    return [
        'item = torch.load("dump/part_0.pt")',
        draw.choice(
            [
                'return torch.cat(item["aux"], dim=-1)',
                'low, mid, high = item["aux"]\n    return torch.cat([high, mid, low], -1)',
            ]
        ),
    ]


def _quoted(text: str, triple: bool = True) -> str:
    return f"'''{text}'''" if triple else repr(text)


def _script(draw: Random, form: str, edits: list[tuple[str, str]]) -> list[str]:
    """The statements of a patch script that make these edits."""
    if form in ("replace", "heredoc"):
        lines = ["source = TARGET.read_text()"]
        for number, (old, new) in enumerate(edits):
            lines += [
                f"OLD_{number} = {_quoted(old)}",
                f"NEW_{number} = {_quoted(new)}",
                f"assert OLD_{number} in source",
                f"source = source.replace(OLD_{number}, NEW_{number}, 1)",
            ]
        return [*lines, "TARGET.write_text(source)"]
    if form == "pairs":
        pairs = [f"    ({_quoted(old, False)},\n     {_quoted(new)})," for old, new in edits]
        loop = draw.choice(
            [
                ["for old, new in EDITS:", "    source = source.replace(old, new, 1)"],
                [
                    "for pair in EDITS:",
                    "    if pair[0] not in source:",
                    "        raise SystemExit('anchor not found')",
                    "    source = source.replace(pair[0], pair[1])",
                ],
            ]
        )
        return [
            "EDITS = [",
            *pairs,
            "]",
            "with open(TARGET) as handle:",
            "    source = handle.read()",
            *loop,
            'with open(TARGET, "w") as handle:',
            "    handle.write(source)",
        ]
    lines = ["source = TARGET.read_text()"]
    for number, (old, new) in enumerate(edits):
        if form == "dedent":
            base = len(old) - len(old.lstrip())
            inner = "".join("    " + line[base:] for line in new.splitlines(True))
            lines += [
                f"NEW_{number} = textwrap.indent(textwrap.dedent('''\\\n{inner}'''), ' ' * {base})",
                f"source = source.replace({_quoted(old, False)}, NEW_{number})",
            ]
        elif form == "fields":
            text = new.replace("{", "{{").replace("}", "}}").replace("aux_hidden_states", "{NAME}")
            lines += ['NAME = "aux_hidden_states"', f"source = source.replace({_quoted(old, False)}, f'''{text}''', 1)"]
        elif form == "pieces":
            pieces = [f"    {line!r}" for line in new.splitlines(True)]
            lines += [
                f"NEW_{number} = (",
                *pieces,
                ")",
                f"source = source.replace({_quoted(old, False)}, NEW_{number}, 1)",
            ]
        else:
            more = new.replace(old, "", 1)
            after = new.startswith(old)
            joined = "ANCHOR + MORE" if after else "MORE + ANCHOR"
            lines += [
                f"ANCHOR = {_quoted(old, False)}",
                f"MORE = {_quoted(more)}",
                f"source = source.replace(ANCHOR, {joined}, 1)",
            ]
    return [*lines, "TARGET.write_text(source)"]
