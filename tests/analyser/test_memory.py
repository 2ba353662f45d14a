"""Nothing of a project stays in memory when its analysis is over."""

from __future__ import annotations

import gc
from pathlib import Path

import libcst as cst

from eaglelint.analyser import memory
from eaglelint.analyser.read import analyse
from eaglelint.facts import Facts
from eaglelint.project import Source

CODE = """
import torch
def forward(self, hidden_states, aux_hidden_states):
    for i, kept_layer in enumerate(self.layers):
        if i in (2, 18, 33):
            aux_hidden_states.append(hidden_states)
        hidden_states = kept_layer(hidden_states)
    return torch.cat(aux_hidden_states, dim=-1)
"""


def test_trees_are_let_go_of() -> None:
    source = Source("eagle3.py", "python", Path("eagle3.py"), CODE.encode())
    assert list(analyse([source], Facts()))
    gc.collect()
    assert not [thing for thing in gc.get_objects() if type(thing) is cst.Name and thing.value == "kept_layer"]


def test_an_analysis_that_is_broken_off_leaves_nothing_frozen() -> None:
    source = Source("eagle3.py", "python", Path("eagle3.py"), CODE.encode())
    facts = analyse([source], Facts())
    next(facts)
    memory.settle()
    assert gc.get_freeze_count()
    facts.close()
    assert not gc.get_freeze_count()
