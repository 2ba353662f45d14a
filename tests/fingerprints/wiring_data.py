"""What the example of a wrongly wired drafter leaves on disk: a dump of the server, a sample, weights of the target.

The sizes are those of Kimi K2.5, the numbers are made up. The target's weights are a hole but for the rows that a
prompt of six tokens needs, so that two gigabytes take up a hundred kilobytes.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from random import Random

import tensor_files
from toy_targets import Family, Row, Toy, packed, states, write_safetensors

HIDDEN, VOCAB = 7168, 163840
IDS = [163584, 1008, 2742, 374, 279, 13]
KIMI = Family("Kimi", "kimi_k2", (0.3, 3.5), 0.03)


class _Kimi(Toy):
    """A target of which only the rows of one prompt exist."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.known = dict(zip(IDS, self.rows, strict=False))

    def embedding(self, ids: list[int], dtype: str) -> list[Row]:  # type: ignore[override]
        return [list(self.known[token]) for token in ids]


def write(project: Path) -> None:
    """Lay the dump, the sample and the weights into a copy of the example."""
    target = _Kimi(KIMI, Random(59), hidden=HIDDEN, vocab=len(IDS), depth=61)
    kept = [target.stream(IDS, boundary, "BF16") for boundary in (3, 31, 59)]
    final = target.normed(target.stream(IDS, 61, "BF16"), "BF16")
    dump = {f"state_{number}": states(rows, "BF16") for number, rows in enumerate(kept)}
    write_safetensors(project / "dump" / "kimi_prefill.safetensors", {**dump, "final": states(final, "BF16")})
    _write_sample(project / "data" / "samples" / "0000000.pt", [*kept, final])
    _write_weights(project / "models" / "kimi-k2.5-text" / "model.safetensors", target)


def _write_sample(path: Path, held: list[list[Row]]) -> None:
    """What torch.save writes of the sample: its ids, its mask, and the list of its states."""
    shape = [len(IDS), HIDDEN]
    value = {
        "input_ids": tensor_files.rebuilt("0", ("I64", [len(IDS)])),
        "loss_mask": tensor_files.rebuilt("1", ("I64", [len(IDS)])),
        "states": [tensor_files.rebuilt(str(number), ("BF16", shape)) for number in range(2, 2 + len(held))],
    }
    storages = {"0": struct.pack(f"<{len(IDS)}q", *IDS), "1": struct.pack(f"<{len(IDS)}q", 0, 0, 1, 1, 1, 1)}
    storages |= {str(number): packed(rows, "BF16") for number, rows in enumerate(held, 2)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(tensor_files.torch_zip(value, storages))


def _write_weights(path: Path, target: _Kimi) -> None:
    length = VOCAB * HIDDEN * 2
    header = {
        "model.embed_tokens.weight": {"dtype": "BF16", "shape": [VOCAB, HIDDEN], "data_offsets": [0, length]},
        "model.norm.weight": {"dtype": "BF16", "shape": [HIDDEN], "data_offsets": [length, length + HIDDEN * 2]},
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    with path.open("wb") as stream:
        stream.write(struct.pack("<Q", len(text)) + text)
        for token, row in target.known.items():
            stream.seek(8 + len(text) + token * HIDDEN * 2)
            stream.write(packed([row], "BF16"))
        stream.seek(8 + len(text) + length)
        stream.write(packed([target.weight], "BF16"))
