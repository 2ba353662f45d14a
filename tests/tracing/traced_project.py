"""A small project, and the example of the repository, for tests of drawings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from eaglelint.tracing.run import Traced

EXAMPLE = Path(__file__).parents[2] / "examples" / "kimi-k25-wiring"

Trace = Callable[[Mapping[str, str]], Traced]

#: A head on an SGLang server; the code that fed its training is in dump.py.
PROJECT = {
    "drafter/config.json": """\
        {
          "architectures": ["LlamaForCausalLMEagle3"],
          "draft_vocab_size": 32000,
          "eagle_config": {"use_aux_hidden_state": true, "eagle_aux_hidden_state_layer_ids": [2, 17, 32]}
        }
        """,
    "target/config.json": """\
        {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "num_hidden_layers": 36, "hidden_size": 4096}
        """,
    "requirements.txt": "sglang==0.5.14\n",
    "serve.sh": """\
        python3 -m sglang.launch_server --model-path target --speculative-algorithm EAGLE3 \\
          --speculative-draft-model-path drafter
        """,
    "dump.py": """\
        # Training data of an EAGLE-3 drafter.
        import torch
        from transformers import AutoModelForCausalLM

        model = AutoModelForCausalLM.from_pretrained("target")
        out = model(ids, output_hidden_states=True)
        taken = {"low": out.hidden_states[2], "mid": out.hidden_states[18], "high": out.hidden_states[33]}
        torch.save(taken, "states.pt")
        states = torch.load("states.pt")
        aux = torch.cat([states["low"], states["mid"], states["high"]], dim=-1)
        """,
}
