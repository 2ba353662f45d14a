"""Samples for training the EAGLE-3 drafter: what it is fed, and the state that it learns to predict."""

from pathlib import Path

import torch
from torch.utils.data import Dataset


class DrafterSamples(Dataset):
    """One item a conversation; the last of the stored states is the target's own, the others are concatenated."""

    def __init__(self, folder="data/samples", longest=4096):
        self.files = sorted(Path(folder).glob("*.pt"))
        self.longest = longest

    def __len__(self):
        return len(self.files)

    def __getitem__(self, number):
        sample = torch.load(self.files[number])
        *aux, last = sample["states"]
        item = {
            "input_ids": sample["input_ids"],
            "loss_mask": sample["loss_mask"],
            "aux_hidden_states": torch.cat(aux, dim=-1),
            "target_hidden_states": last,
        }
        return {key: value[: self.longest] for key, value in item.items()}
