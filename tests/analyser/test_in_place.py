"""Tensors that change in place: what was stored of them before changes with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import boundaries, defects, facts_of

LOOP = """
# dump for the EAGLE-3 head
import torch

AUX = (2, 16, 29)


def capture(model, h):
    kept = []
    for i, layer in enumerate(model.layers):
        if i in AUX:
            kept.append(STORED)
        CHANGE
    return torch.cat(kept, dim=-1)
"""


@pytest.mark.parametrize(
    "change",
    [
        "h.add_(layer(h))",
        "h += layer(h)",
        "h.copy_(layer(h))",
        "h = h.add_(layer(h))",
        "h[:] = layer(h)",
        "torch.add(h, layer(h), out=h)",
    ],
)
def test_a_layer_that_writes_into_the_stream_changes_what_was_stored_of_it(tmp_path: Path, change: str) -> None:
    facts = facts_of(tmp_path, {"dump.py": LOOP.replace("CHANGE", change).replace("STORED", "h")})
    assert defects(facts) == {"captured-tensor-aliased": 12}
    assert boundaries(facts.captures[0]) == [2, 16, 29]


@pytest.mark.parametrize("stored", ["h.clone()", "h + 0", "h.detach().cpu()"])
def test_a_copy_stays_what_it_was(tmp_path: Path, stored: str) -> None:
    facts = facts_of(tmp_path, {"dump.py": LOOP.replace("CHANGE", "h.add_(layer(h))").replace("STORED", stored)})
    assert defects(facts) == {}


def test_a_layer_whose_result_takes_the_streams_name_changes_nothing_stored(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"dump.py": LOOP.replace("CHANGE", "h = h + layer(h)").replace("STORED", "h")})
    assert defects(facts) == {}
    assert boundaries(facts.captures[0]) == [2, 16, 29]


def test_a_flag_of_a_tensor_is_no_change_of_its_values(tmp_path: Path) -> None:
    change = "h.requires_grad_(False)\n        h = layer(h)"
    facts = facts_of(tmp_path, {"dump.py": LOOP.replace("CHANGE", change).replace("STORED", "h")})
    assert defects(facts) == {}
