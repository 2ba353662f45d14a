"""Small projects around one head: its config, its weights, an engine release and a server, checked as a whole."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tensor_files

from eaglelint.findings import Finding
from eaglelint.run import check
from eaglelint.settings import Settings

CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "hidden_size": 8, "intermediate_size": 16,
    "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4, "vocab_size": 32,
    "draft_vocab_size": 8, "tie_word_embeddings": False, "torch_dtype": "bfloat16", "max_position_embeddings": 2048,
    "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 5, 8], "use_aux_hidden_state": True},
}  # fmt: skip
TARGET = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8, "num_hidden_layers": 12,
    "vocab_size": 32, "torch_dtype": "bfloat16", "max_position_embeddings": 2048,
}  # fmt: skip
LAYER = {
    "self_attn.q_proj.weight": "BF16 [8, 16]", "self_attn.k_proj.weight": "BF16 [4, 16]",
    "self_attn.v_proj.weight": "BF16 [4, 16]", "self_attn.o_proj.weight": "BF16 [8, 8]",
    "mlp.gate_proj.weight": "BF16 [16, 8]", "mlp.up_proj.weight": "BF16 [16, 8]",
    "mlp.down_proj.weight": "BF16 [8, 16]", "input_layernorm.weight": "BF16 [8]", "hidden_norm.weight": "BF16 [8]",
    "post_attention_layernorm.weight": "BF16 [8]",
}  # fmt: skip
D2T = "I64 [8] = 0 0 0 0 4 4 9 9"
T2D = "BOOL [32] = " + " ".join("1" if token in (0, 1, 2, 3, 8, 9, 15, 16) else "0" for token in range(32))
SGLANG = (
    "python3 -m sglang.launch_server --model-path target --speculative-algorithm EAGLE3 "
    "--speculative-draft-model-path head --speculative-num-steps 3 --speculative-eagle-topk 1 "
    "--speculative-num-draft-tokens 4\n"
)
VLLM = """vllm serve target \
  --speculative-config '{"method": "eagle3", "model": "head", "num_speculative_tokens": 3}'
"""


def head(prefix: str = "midlayer.", **changes: str | None) -> dict[str, str]:
    """The tensors of a whole head; `fc__weight="BF16 [8, 16]"` changes or adds one, None takes it away."""
    tensors = {"fc.weight": "BF16 [8, 24]", **{f"{prefix}{name}": text for name, text in LAYER.items()}}
    tensors |= {"norm.weight": "BF16 [8]", "lm_head.weight": "BF16 [8, 8]", "d2t": D2T, "t2d": T2D}
    for name, text in changes.items():
        name = name.replace("__", ".")
        if text is None:
            del tensors[name]
        else:
            tensors[name] = text
    return tensors


def findings(
    folder: Path,
    *,
    config: Mapping[str, Any] | None = None,
    without: tuple[str, ...] = (),
    tensors: Mapping[str, str] | None = None,
    files: Mapping[str, bytes] | None = None,
    pin: str = "sglang==0.5.17",
    target: Mapping[str, Any] | None = None,
    serve: bool = True,
    name: str = "model.safetensors",
) -> list[Finding]:
    """What is reported above info for a project; `tensors` are those of head/model.safetensors, None for no file."""
    engine = re.split("[=<>]", pin)[0]
    own = {key: value for key, value in {**CONFIG, **(config or {})}.items() if key not in without}
    if engine == "vllm" and "eagle_config" in own and "eagle_config" not in (config or {}):
        del own["eagle_config"]
        own["eagle_aux_hidden_state_layer_ids"] = [2, 6, 9]
    if engine == "vllm" and own["architectures"] == CONFIG["architectures"]:
        own["architectures"] = ["Eagle3LlamaForCausalLM"]  # the name that all releases know
    written: dict[str, bytes] = {"head/config.json": json.dumps(own, indent=2).encode()}
    written["target/config.json"] = json.dumps({**TARGET, **(target or {})}, indent=2).encode()
    if tensors is not None:
        written[f"head/{name}"] = tensor_files.described(name, tensors)
    if pin:
        written["requirements.txt"] = pin.encode()
    if serve and pin:
        written["serve.sh"] = (SGLANG if engine == "sglang" else VLLM).encode()
    written |= files or {}
    for path, content in written.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    result = check([str(folder)], Settings())
    assert not result.tracebacks, result.tracebacks
    return [finding for finding in result.findings if finding.severity != "info"]


def codes(found: list[Finding]) -> list[str]:
    """The rules that speak, in the order of the report."""
    return [finding.rule for finding in found]
