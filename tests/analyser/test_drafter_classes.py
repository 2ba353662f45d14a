"""Classes that are drafters: what their own names mean, and which of them still speak of the target."""

from __future__ import annotations

from pathlib import Path

from analysed import facts_of, names

HEAD = """
# training of an EAGLE-3 head
import torch
from torch import nn
from transformers import AutoModelForCausalLM


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.PART = nn.Linear(3 * width, width, bias=False)

    def mask(self, inputs_embeds):
        return torch.ones(inputs_embeds.shape[:2])

    def forward(self, last, layer3_out):
        return self.mask(last) * self.PART(layer3_out)


def step(ids):
    target = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
    hs = target(ids, output_hidden_states=True).hidden_states
    return Model(4096)(hs[18], hs[33])
"""


def test_a_drafters_own_names_say_nothing_of_the_targets_states(tmp_path: Path) -> None:
    assert names(facts_of(tmp_path, {"train.py": HEAD.replace("PART", "fc")})) == {"layer3_out": 33}


def test_the_same_names_elsewhere_do(tmp_path: Path) -> None:
    found = names(facts_of(tmp_path, {"train.py": HEAD.replace("PART", "probe")}))
    assert found == {"inputs_embeds": 18, "last": 18, "layer3_out": 33}


def test_a_data_set_for_a_drafter_is_no_drafter(tmp_path: Path):
    code = """
        import torch
        from transformers import AutoModelForCausalLM

        class EagleSamples(torch.utils.data.Dataset):
            def __getitem__(self, ids):
                target = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
                *aux, last = target(ids, output_hidden_states=True).hidden_states[::18]
                return {"aux_hidden_states": torch.cat(aux, dim=-1), "target": last}

        EagleSamples()[0]
    """
    assert "last" in names(facts_of(tmp_path, {"samples.py": code}))
