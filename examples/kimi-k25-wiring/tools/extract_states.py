"""Prefill each conversation with the patched SGLang and write one training sample a conversation."""

import json
import os
from pathlib import Path

import torch
from safetensors.torch import load_file

TARGET = "models/kimi-k2.5-text"
DUMP = Path("/dev/shm/kimi_prefill.safetensors")
SAMPLES = Path("data/samples")


def read_states():
    """The states of the last prefill, and what goes into the lm_head."""
    dump = load_file(DUMP)
    embed_out = dump["state_0"]
    layer3_out = dump["state_1"]
    layer31_out = dump["state_2"]
    return [embed_out, layer3_out, layer31_out, dump["final"]]


def main():
    os.environ["HS_DUMP_FILE"] = str(DUMP)
    import sglang

    engine = sglang.Engine(
        model_path=TARGET,
        tp_size=8,
        trust_remote_code=True,
        disable_radix_cache=True,
        disable_cuda_graph=True,
        chunked_prefill_size=-1,
        max_running_requests=1,
    )
    SAMPLES.mkdir(parents=True, exist_ok=True)
    with open("data/conversations.jsonl", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            row = json.loads(line)
            engine.generate(input_ids=row["input_ids"], sampling_params={"max_new_tokens": 1, "temperature": 0.0})
            sample = {
                "input_ids": torch.tensor(row["input_ids"]),
                "loss_mask": torch.tensor(row["loss_mask"]),
                "states": read_states(),
            }
            torch.save(sample, SAMPLES / f"{number:07d}.pt")
    engine.shutdown()


if __name__ == "__main__":
    main()
