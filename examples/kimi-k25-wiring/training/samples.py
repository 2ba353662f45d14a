"""Samples for training the EAGLE-3 drafter: what it is fed, and the state that it learns to predict."""

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch.utils.data import Dataset


class DrafterSamples(Dataset):
    """One item a conversation; the last of the stored states is the target's own, the others are concatenated."""

    def __init__(self, folder="data/samples", longest=4096):
        self.files = sorted(Path(folder).glob("*.safetensors"))
        self.longest = longest

    def __len__(self):
        return len(self.files)

    def __getitem__(self, number):
        sample = load_file(self.files[number])
        *aux, last = sample["states"][:, : self.longest]
        return {
            "input_ids": sample["input_ids"][: self.longest],
            "loss_mask": sample["loss_mask"][: self.longest],
            "aux_hidden_states": torch.cat(aux, dim=-1),
            "target_hidden_states": last,
        }
