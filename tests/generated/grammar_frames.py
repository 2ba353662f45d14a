"""The function that captures: a function, a method, a patched forward, a model of the project's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from grammar_ids import Names


@dataclass
class Frame:
    """The function that captures: its header, the lines around it, and expressions for the parts of the target."""

    before: list[str]
    header: str
    indent: int
    decoder: str
    model: str
    depths: list[str]
    after: list[str] = field(default_factory=list)
    steps: list[tuple[str, str, list[str]]] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)
    call: str = ""


def frame(draw: Random, n: Names, family: str, style: str) -> Frame:
    forms = ["function", "function", "script", "class", "nested"]
    if family == "loop":
        forms += ["patched", "own"] if style != "tuple" else ["patched"]
        if style != "fused":
            forms.append("method")
    form = draw.choice(forms)
    m = n.model
    decoder = f"{m}.model"
    depths = [f"{m}.config.num_hidden_layers", f"len({decoder}.layers)"]
    dump = "eagle3_dump.py"
    if form == "function":
        return Frame(
            [],
            f"def {n.function}({m}, input_ids, positions=None):",
            1,
            decoder,
            m,
            depths,
            steps=[(dump, n.function, ["model", "ids", "positions"])],
            call=f"{n.function}({m}, input_ids)",
        )
    if form == "script":
        load = f'{m} = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")'
        return Frame(
            [load, 'tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen3-8B")'],
            f"def {n.function}(input_ids, positions=None):",
            1,
            decoder,
            m,
            depths,
            after=['if __name__ == "__main__":', '    batch = tokenizer("some text", return_tensors="pt")', "    CALL"],
            steps=[(dump, "", [])],
            imports=["from transformers import AutoModelForCausalLM, AutoTokenizer"],
            call=f"{n.function}(batch.input_ids, None)",
        )
    if form == "class":
        before = ["class Collector:", f"    def __init__(self, {m}):", f"        self.{m} = {m}", ""]
        return Frame(
            before,
            f"    def {n.function}(self, input_ids, positions=None):",
            2,
            f"self.{decoder}",
            f"self.{m}",
            [f"self.{d}" if not d.startswith("len") else f"len(self.{decoder}.layers)" for d in depths],
            steps=[(dump, f"Collector(model).{n.function}", ["ids"])],
            call=f"Collector({m}).{n.function}(input_ids)",
        )
    if form == "nested":
        return Frame(
            [f"def build({m}):"],
            f"    def {n.function}(input_ids, positions=None):",
            2,
            decoder,
            m,
            depths,
            after=[f"    return {n.function}", "", "", f"def main({m}, input_ids):", "    CALL"],
            steps=[(dump, "main", ["model", "ids"])],
            call=f"build({m})(input_ids)",
        )
    self_depths = ["len(self.layers)", "self.config.num_hidden_layers"]
    arguments = "self, input_ids, positions=None, forward_batch=None"
    if form == "method":
        return Frame(
            [],
            f"def patched({arguments}):",
            1,
            "self",
            "self",
            self_depths,
            after=[
                "",
                "",
                f"def install({m}):",
                f"    {m}.model.forward = types.MethodType(patched, {m}.model)",
                "",
                "",
                f"def main({m}, input_ids):",
                f"    install({m})",
                f"    return {m}.model.forward(input_ids)",
            ],
            steps=[(dump, "main", ["model", "ids"])],
            imports=["import types"],
        )
    module = "sglang.srt.models.llama" if style == "fused" else "transformers.models.llama.modeling_llama"
    if form == "patched":
        return Frame(
            [],
            f"def capturing_forward({arguments}):",
            1,
            "self",
            "self",
            self_depths,
            after=["", "", "LlamaModel.forward = capturing_forward"],
            steps=[(dump, "LlamaModel().__call__", ["ids"])],
            imports=[f"from {module} import LlamaModel"],
        )
    return _own(draw, n, style, arguments, module)


def _own(draw: Random, n: Names, style: str, arguments: str, module: str) -> Frame:
    """A model of the project's own, with layers from a library or its own."""
    layer = "LlamaDecoderLayer"
    before: list[str] = []
    if style == "stream" and draw.random() < 0.6:
        layer = "Block"
        before = [
            "class Block(nn.Module):",
            "    def __init__(self, config, layer_idx):",
            "        super().__init__()",
            "        self.layer_idx = layer_idx",
            "        self.ln_1 = nn.RMSNorm(config.hidden_size)",
            "        self.ln_2 = nn.RMSNorm(config.hidden_size)",
            "        self.attn = LlamaAttention(config)",
            "        self.mlp = LlamaMLP(config)",
            "",
            "    def forward(self, hidden):",
            "        residual = hidden",
            "        hidden = self.attn(self.ln_1(hidden))",
            "        hidden = residual + hidden",
            "        return hidden + self.mlp(self.ln_2(hidden))",
            "",
            "",
        ]
    before += [
        "class CapturingModel(nn.Module):",
        "    def __init__(self, config):",
        "        super().__init__()",
        "        self.config = config",
        "        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)",
        f"        self.layers = nn.ModuleList([{layer}(config, i) for i in range(config.num_hidden_layers)])",
        "        self.norm = nn.RMSNorm(config.hidden_size)",
        "        self.start_layer, self.end_layer = 0, config.num_hidden_layers",
        "",
    ]
    return Frame(
        before,
        f"    def forward({arguments}):",
        2,
        "self",
        "self",
        ["len(self.layers)", "self.config.num_hidden_layers"],
        steps=[("eagle3_dump.py", "CapturingModel(config).__call__", ["ids"])],
        imports=["from torch import nn", f"from {module} import LlamaAttention, LlamaDecoderLayer, LlamaMLP"],
    )
