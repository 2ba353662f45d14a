"""Further forms in which people write the same captures."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import boundaries, defects, facts_of

TARGET = """
# EAGLE-3 dump
import operator
import torch
from contextlib import contextmanager
from torch.utils.checkpoint import checkpoint
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
layers = model.model.layers
WANTED = [2, 18, 33]
"""
FORMS = {
    "methods-on-one-line": (
        """
class Tap:
    def __init__(self): self.out = []
    def __call__(self, module, args): self.out.append(args[0].clone())

tap = Tap()
for i in WANTED: layers[i].register_forward_pre_hook(tap)

def run(ids):
    model(ids)
    return torch.cat(tap.out, dim=-1)
""",
        [2, 18, 33],
    ),
    "setitem-as-a-function": (
        """
kept = {}
for i in WANTED:
    layers[i].register_forward_hook(lambda m, a, out, i=i: operator.setitem(kept, i, out[0]))

def run(ids):
    model(ids)
    return torch.cat([kept[i] for i in WANTED], dim=-1)
""",
        [3, 19, 34],
    ),
    "setitem-as-a-method": (
        """
kept = {}
for i in WANTED:
    layers[i].register_forward_hook(lambda m, a, out, i=i: kept.__setitem__(i, out[0]))

def run(ids):
    model(ids)
    return torch.cat([kept[i] for i in WANTED], dim=-1)
""",
        [3, 19, 34],
    ),
    "context-manager": (
        """
@contextmanager
def tapped(ids):
    kept = {}
    hooks = [layers[i].register_forward_hook(lambda m, a, out, i=i: kept.update({i: out})) for i in ids]
    try:
        yield kept
    finally:
        for hook in hooks:
            hook.remove()

def run(ids):
    with tapped(WANTED) as kept:
        model(ids)
    return torch.cat([kept[i] for i in sorted(kept)], dim=-1)
""",
        [3, 19, 34],
    ),
    "checkpointed-layers": (
        """
def run(h):
    aux = []
    for i, layer in enumerate(layers):
        if i in WANTED:
            aux.append(h)
        h = checkpoint(layer, h, use_reentrant=False)
    return torch.cat(aux, dim=-1)
""",
        [2, 18, 33],
    ),
    "indexed-stack": (
        """
def run(ids):
    states = torch.stack(model(ids, output_hidden_states=True).hidden_states)
    return torch.cat(list(states[WANTED]), dim=-1)
""",
        [2, 18, 33],
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_gives_its_boundaries(tmp_path: Path, form: str) -> None:
    code, wanted = FORMS[form]
    facts = facts_of(tmp_path, {"dump.py": TARGET + code})
    assert [boundaries(a) for a in facts.assemblies] == [wanted]
    assert defects(facts) == {}


EDITS = '''
# EAGLE-3 dump in SGLang
import re

path = "sglang/srt/models/qwen2.py"
text = open(path).read()
text = text.replace("        residual = None\\n", """        residual = None
        dumped, wanted = [], (2, 18, 33)
""")
text = re.sub(r"            layer = self.layers\\[i\\]\\n", lambda found: """            if i in wanted:
                dumped.append(STORED)
            layer = self.layers[i]
""", text)
open(path, "w").write(text)
'''


@pytest.mark.parametrize(
    ("stored", "wrong"),
    [("hidden_states.clone()", True), ("hidden_states if residual is None else hidden_states + residual", False)],
    ids=["branch", "sum"],
)
def test_a_residual_that_another_edit_shows_belongs_to_the_loop(tmp_path: Path, stored: str, wrong: bool) -> None:
    facts = facts_of(tmp_path, {"patch_sglang.py": EDITS.replace("STORED", stored)})
    assert ("residual-not-added" in defects(facts)) is wrong
    assert [b for c in facts.captures for b in boundaries(c)] == [2, 18, 33]
