"""Layer loops: which boundary a stored tensor is follows from where it is stored, not from what ids are called."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import boundaries, defects, facts_of, joined

HEAD = "import torch\n"


def loop(body: str, setup: str = "IDS = (2, 16, 29)") -> str:
    return (
        f"# EAGLE-3 capture\n{HEAD}{setup}\n\n\ndef forward(self, ids, positions):\n"
        "    h = self.embed_tokens(ids)\n    kept = []\n" + body + "    return self.norm(h), torch.cat(kept, dim=-1)\n"
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "    for i, layer in enumerate(self.layers):\n        if i in IDS:\n            kept.append(h)\n        h = layer(h)\n",
            [2, 16, 29],
        ),
        (
            "    for i, layer in enumerate(self.layers):\n        h = layer(h)\n        if i in IDS:\n            kept.append(h)\n",
            [3, 17, 30],
        ),
        (
            "    for i, layer in enumerate(self.layers):\n        h = layer(h)\n        if i + 1 in IDS:\n            kept.append(h)\n",
            [2, 16, 29],
        ),
        (
            "    for i, layer in enumerate(self.layers, start=1):\n        h = layer(h)\n        if i in IDS:\n            kept.append(h)\n",
            [2, 16, 29],
        ),
        (
            "    for i in range(len(self.layers)):\n        if i == 2 or i == 16 or i == 29:\n            kept.append(h)\n"
            "        h = self.layers[i](h)\n",
            [2, 16, 29],
        ),
        (
            "    for i in range(len(self.layers)):\n        if i not in IDS:\n            h = self.layers[i](h)\n            continue\n"
            "        kept.append(h)\n        h = self.layers[i](h)\n",
            [2, 16, 29],
        ),
        (
            "    for i, layer in enumerate(self.layers[:30]):\n        if i in IDS:\n            kept += [h]\n        h = layer(h)\n",
            [2, 16, 29],
        ),
    ],
    ids=["before", "after", "after-plus-one", "counted-from-one", "ladder", "continue", "slice"],
)
def test_the_place_of_the_store_decides(tmp_path: Path, body: str, expected: list[int]) -> None:
    assert joined(tmp_path, loop(body)) == expected


def test_ids_that_depend_on_the_depth_are_kept_as_a_function_of_it(tmp_path: Path) -> None:
    body = (
        "    n = len(self.layers)\n    for i, layer in enumerate(self.layers):\n"
        "        if i in (2, n // 2, n - 3):\n            kept.append(h)\n        h = layer(h)\n"
    )
    facts = facts_of(tmp_path, {"eagle3_dump.py": loop(body)})
    table = {depth: [s.boundary for s in states] for depth, states in facts.assemblies[0].states}
    assert table[36] == [2, 18, 33]
    assert table[61] == [2, 30, 58]


FUSED = """
    # EAGLE-3 capture
    import torch

    IDS = {3, 31, 59}

    def forward(self, positions, hidden_states, forward_batch):
        residual = None
        kept = []
        for i in range(self.start_layer, self.end_layer):
            if i in IDS:
                kept.append(STORED)
            hidden_states, residual = self.layers[i](positions, hidden_states, forward_batch, residual)
        hidden_states, _ = self.norm(hidden_states, residual)
        return hidden_states, kept
"""


def test_the_branch_alone_is_not_the_stream(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"eagle3_dump.py": FUSED.replace("STORED", "hidden_states")})
    assert defects(facts) == {"residual-not-added": 12}


@pytest.mark.parametrize(
    "stored",
    [
        "hidden_states + residual",
        "hidden_states if residual is None else hidden_states + residual",
        "(hidden_states + residual).clone()",
        "residual + hidden_states",
    ],
)
def test_the_sum_with_the_residual_is_the_stream(tmp_path: Path, stored: str) -> None:
    facts = facts_of(tmp_path, {"eagle3_dump.py": FUSED.replace("STORED", stored)})
    assert defects(facts) == {}
    assert boundaries(facts.captures[0]) == [3, 31, 59]


def test_a_reference_that_is_changed_in_place_later_is_told(tmp_path: Path) -> None:
    body = (
        "    for i, layer in enumerate(self.layers):\n        if i in IDS:\n            kept.append(h)\n"
        "        h += layer(h)\n"
    )
    facts = facts_of(tmp_path, {"eagle3_dump.py": loop(body)})
    assert "captured-tensor-aliased" in defects(facts)


def test_a_clone_is_safe_from_changes_in_place(tmp_path: Path) -> None:
    body = (
        "    for i, layer in enumerate(self.layers):\n        if i in IDS:\n            kept.append(h.clone())\n"
        "        h += layer(h)\n"
    )
    facts = facts_of(tmp_path, {"eagle3_dump.py": loop(body)})
    assert defects(facts) == {}
    assert boundaries(facts.assemblies[0]) == [2, 16, 29]


def test_an_unknown_set_is_no_capture_but_a_question(tmp_path: Path) -> None:
    body = "    for i, layer in enumerate(self.layers):\n        if i in self.wanted:\n            kept.append(h)\n        h = layer(h)\n"
    facts = facts_of(tmp_path, {"eagle3_dump.py": loop(body)})
    assert facts.assemblies == ()
    assert [u.missing for u in facts.unresolved] == ["self.wanted"]


def test_a_switch_that_nothing_sets_counts_as_on(tmp_path: Path) -> None:
    body = (
        "    slot = 0\n    for i, layer in enumerate(self.layers):\n        if self.dumping and i in IDS:\n"
        "            torch.save(h, f'aux_{slot}.pt')\n            slot += 1\n        h = layer(h)\n"
    )
    facts = facts_of(tmp_path, {"eagle3_dump.py": loop(body)})
    assert {label.name: label.states[0][1][0].boundary for label in facts.labels if label.kind == "file"} == {
        "aux_0": 2,
        "aux_1": 16,
        "aux_2": 29,
    }


def test_counters_of_one_pipeline_rank_are_told(tmp_path: Path) -> None:
    body = (
        "    from itertools import islice\n"
        "    for i, layer in enumerate(islice(self.layers, self.start_layer, self.end_layer)):\n"
        "        if i in IDS:\n            kept.append(h)\n        h = layer(h)\n"
    )
    facts = facts_of(tmp_path, {"eagle3_dump.py": loop(body)})
    assert "rank-relative-layer-index" in defects(facts)


def test_counters_that_start_at_the_first_layer_of_the_rank_are_global(tmp_path: Path) -> None:
    body = (
        "    from itertools import islice\n"
        "    own = islice(self.layers, self.start_layer, self.end_layer)\n"
        "    for i, layer in enumerate(own, start=self.start_layer):\n"
        "        if i in IDS:\n            kept.append(h)\n        h = layer(h)\n"
    )
    facts = facts_of(tmp_path, {"eagle3_dump.py": loop(body)})
    assert defects(facts) == {}


def test_an_id_beyond_the_loop_is_unreachable(tmp_path: Path) -> None:
    body = (
        "    n = len(self.layers)\n    for i, layer in enumerate(self.layers):\n"
        "        if i in (2, n // 2, n - 3, n):\n            kept.append(h)\n        h = layer(h)\n"
    )
    facts = facts_of(tmp_path, {"eagle3_dump.py": loop(body)})
    assert "unreachable-layer" in defects(facts)


def test_the_last_boundary_taken_after_the_loop_is_reached(tmp_path: Path) -> None:
    body = (
        "    n = len(self.layers)\n    wanted = (2, n // 2, n - 3, n)\n    for i, layer in enumerate(self.layers):\n"
        "        if i in wanted:\n            kept.append(h)\n        h = layer(h)\n"
        "    if n in wanted:\n        kept.append(h)\n"
    )
    facts = facts_of(tmp_path, {"eagle3_dump.py": loop(body)})
    assert defects(facts) == {}
    assert boundaries(facts.assemblies[0], 36) == [2, 18, 33, 36]
