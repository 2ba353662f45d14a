"""Captures inside of layers: the project's own decoder layer keeps what enters it, or what it gives."""

from __future__ import annotations

from random import Random

from grammar_ids import some_ids
from grammar_loops import indented


def inside(draw: Random) -> tuple[str, list[tuple[str, str, list[str]]]]:
    """A program of one file, and its steps."""
    ids = some_ids(draw, 3)
    kept = draw.choice(
        [
            ("append", "KEPT = []", "KEPT.append(STATE)", "KEPT"),
            ("by number", "KEPT = {}", "KEPT[self.layer_idx] = STATE", "list(KEPT.values())"),
            ("by name", "KEPT = {}", 'KEPT[f"layer_{self.layer_idx}"] = STATE', "[KEPT[k] for k in KEPT]"),
        ]
    )
    copy = draw.choice(["", ".clone()", ".detach().cpu()"])
    test = draw.choice(
        [
            f"if self.layer_idx in {tuple(ids)}:",
            "if self.layer_idx in TAPS:",
            "if self.tapped:",
            "if self.layer_idx + 1 in TAPS:",
        ]
    )
    attention = [
        "residual = hidden",
        "hidden = self.ln_1(hidden)",
        "hidden = self.attn(hidden)",
        "hidden = residual + hidden",
    ]
    mlp, given = draw.choice(
        [
            (["residual = hidden", "hidden = self.mlp(self.ln_2(hidden))", "hidden = residual + hidden"], "hidden"),
            (["output = hidden + self.mlp(self.ln_2(hidden))"], "output"),
            (
                ["residual = hidden", "hidden = self.ln_2(hidden)", "hidden = self.mlp(hidden)", "hidden += residual"],
                "hidden",
            ),
        ]
    )
    take = [test, f"    {kept[2].replace('STATE', ('hidden' if (before := draw.random() < 0.4) else given) + copy)}"]
    body = [*take, *attention, *mlp] if before else [*attention, *mlp, *take]
    result = draw.choice([given, f"({given},)"])
    advance = "hidden = layer(hidden)[0]" if result.startswith("(") else "hidden = layer(hidden)"
    text = [
        "# states inside the layers, for EAGLE-3",
        "import torch",
        "from torch import nn",
        "from transformers.models.llama.modeling_llama import LlamaAttention, LlamaMLP",
        "",
        f"TAPS = {ids}",
        kept[1],
        "",
        "",
        "class Block(nn.Module):",
        "    def __init__(self, config, layer_idx):",
        "        super().__init__()",
        "        self.layer_idx = layer_idx",
        "        self.tapped = layer_idx in TAPS",
        "        self.ln_1 = nn.RMSNorm(config.hidden_size)",
        "        self.ln_2 = nn.RMSNorm(config.hidden_size)",
        "        self.attn = LlamaAttention(config)",
        "        self.mlp = LlamaMLP(config)",
        "",
        "    def forward(self, hidden):",
        *indented([*body, f"return {result}"], 2),
        "",
        "",
        "class CapturingModel(nn.Module):",
        "    def __init__(self, config):",
        "        super().__init__()",
        "        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)",
        "        self.layers = nn.ModuleList([Block(config, i) for i in range(config.num_hidden_layers)])",
        "        self.norm = nn.RMSNorm(config.hidden_size)",
        "",
        "    def forward(self, input_ids):",
        "        KEPT.clear()",
        "        hidden = self.embed_tokens(input_ids)",
        "        for layer in self.layers:",
        f"            {advance}",
        "        last = self.norm(hidden)",
        f"        return torch.cat({kept[3]}, dim=-1), last",
        "",
    ]
    return "\n".join(text), [("eagle3_model.py", "CapturingModel(config).__call__", ["ids"])]
