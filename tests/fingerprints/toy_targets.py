"""Toy targets of eight families, and the states that such a target would have: plain Python, no model, no libraries.

The streams are made up, but as real ones are: they grow from layer to layer, the first token has a massive activation,
and what is stored is rounded to the type of the dump. Whatever a test needs beside that it makes itself.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

Row = list[float]


@dataclass(frozen=True)
class Family:
    """What a family does: the weight of its norms around `weight`, `added` to it, and the factor of its embedding."""

    name: str
    model_type: str
    weight: tuple[float, float]
    embedding: float
    added: float = 0.0
    scaled: bool = False
    prefix: str = "model."
    nested: bool = False
    dtype: str = "BF16"


FAMILIES = (
    Family("Llama", "llama", (0.8, 2.6), 0.02),
    Family("Qwen", "qwen3", (2.0, 9.0), 0.03),
    Family("DeepSeek", "deepseek_v3", (0.5, 4.0), 0.05),
    Family("Gemma", "gemma3_text", (-0.5, 18.0), 0.04, added=1.0, scaled=True),
    Family("gpt-oss", "gpt_oss", (4.0, 14.0), 0.6),
    Family("GLM", "glm4_moe", (0.9, 3.0), 0.02),
    Family("MiniMax", "minimax_m2", (1.0, 6.0), 0.5, dtype="F32"),
    Family("Kimi", "kimi_k2", (0.3, 3.5), 0.03, prefix="language_model.model.", nested=True),
)  # fmt: skip


def rounded(value: float, dtype: str) -> float:
    """A number as a type holds it (round to nearest, ties to even)."""
    if dtype == "F16":
        return float(struct.unpack("<e", struct.pack("<e", max(-65504.0, min(65504.0, value))))[0])
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if dtype == "BF16":
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0])


def packed(rows: Sequence[Sequence[float]], dtype: str) -> bytes:
    """The bytes of rows that were rounded to a type."""
    flat = [value for row in rows for value in row]
    if dtype == "BF16":
        wide = struct.pack(f"<{len(flat)}f", *flat)
        return b"".join(wide[at + 2 : at + 4] for at in range(0, len(wide), 4))
    return struct.pack(f"<{len(flat)}{'e' if dtype == 'F16' else 'f'}", *flat)


@dataclass
class Toy:
    """One target of a family."""

    family: Family
    random: Random
    hidden: int = 48
    vocab: int = 64
    depth: int = 12
    rows: list[Row] = field(default_factory=list)
    weight: Row = field(default_factory=list)

    def __post_init__(self) -> None:
        low, high = self.family.weight
        deviation, dtype = self.family.embedding, self.family.dtype
        self.rows = [
            [rounded(self.random.gauss(0, deviation), dtype) for _ in range(self.hidden)] for _ in range(self.vocab)
        ]
        self.weight = [rounded(self.random.uniform(low, high), dtype) for _ in range(self.hidden)]

    def embedding(self, ids: Sequence[int], dtype: str) -> list[Row]:
        """Boundary 0, as the family makes it of the rows."""
        factor = rounded(math.sqrt(self.hidden), self.family.dtype) if self.family.scaled else 1.0
        return [[rounded(value * factor, dtype) for value in self.rows[token]] for token in ids]

    def stream(self, ids: Sequence[int], boundary: int, dtype: str) -> list[Row]:
        """A later boundary: what the layers add is of the size of the final norm's weight at the end."""
        size = (0.4 + 2.6 * self.random.random()) * boundary / self.depth
        base = sum(abs(one + self.family.added) for one in self.weight) / self.hidden
        found = []
        for place, row in enumerate(self.embedding(ids, "F32")):
            own = size * base * self.random.lognormvariate(0, 0.25)
            state = [value + self.random.gauss(0, own) for value in row]
            if place == 0:
                state[self.hidden // 3] += 40 * own
            found.append([rounded(value, dtype) for value in state])
        return found

    def normed(self, states: Sequence[Row], dtype: str) -> list[Row]:
        """Those states after the final norm."""
        found = []
        for state in states:
            size = math.sqrt(sum(value * value for value in state) / self.hidden + 1e-6)
            scaled = [rounded(value / size, self.family.dtype) for value in state]
            weights = [one + self.family.added for one in self.weight]
            found.append([rounded(a * b, dtype) for a, b in zip(scaled, weights, strict=True)])
        return found

    def write(self, folder: Path) -> None:
        """Its config and weights."""
        folder.mkdir(parents=True, exist_ok=True)
        config: dict[str, Any] = {
            "model_type": self.family.model_type, "hidden_size": self.hidden, "vocab_size": self.vocab,
            "num_hidden_layers": self.depth, "rms_norm_eps": 1e-6, "architectures": [f"{self.family.name}ForCausalLM"],
        }  # fmt: skip
        if self.family.nested:
            config = {
                "model_type": "kimi_k25",
                "architectures": ["KimiK25ForConditionalGeneration"],
                "text_config": config,
            }
        (folder / "config.json").write_text(json.dumps(config, indent=2))
        prefix = self.family.prefix
        write_safetensors(
            folder / "model.safetensors",
            {
                f"{prefix}embed_tokens.weight": (self.family.dtype, [self.vocab, self.hidden], self.rows),
                f"{prefix}norm.weight": (self.family.dtype, [self.hidden], [self.weight]),
                "mm_projector.norm.weight": ("F32", [4], [[1.0] * 4]),
            },
        )


def write_safetensors(path: Path, tensors: dict[str, tuple[str, list[int], Any]]) -> None:
    """A file of tensors as (type, shape, rows); whole numbers as `("I64", shape, numbers)`."""
    header: dict[str, Any] = {}
    body = b""
    for name, (dtype, shape, rows) in tensors.items():
        piece = struct.pack(f"<{len(rows)}q", *rows) if dtype == "I64" else packed(rows, dtype)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(piece)]}
        body += piece
    text = json.dumps(header, separators=(",", ":")).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def states(rows: Sequence[Row], dtype: str) -> tuple[str, list[int], Any]:
    """States as a tensor of [tokens, hidden]."""
    return dtype, [len(rows), len(rows[0])], rows
