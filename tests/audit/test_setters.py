"""The audit runs an engine's own setters with stubs: what they store, through wrappers, flags and inherited classes."""

from __future__ import annotations

from pathlib import Path

LLAMA = """
import torch
from torch import nn
from sglang.srt.distributed import get_pp_group

class LlamaModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layers = make_layers(config.num_hidden_layers)
        self.layers_to_capture = []

class LlamaForCausalLM(nn.Module):
    def __init__(self, config, quant_config=None):
        super().__init__()
        self.config = config
        self.pp_group = get_pp_group()
        self.model = self._init_model(config)
        self.capture_aux_hidden_states = False

    def _init_model(self, config: LlamaConfig, kind: type = torch.nn.Linear):
        return LlamaModel(config)

    def set_eagle3_layers_to_capture(self, layer_ids: Optional[List[int]] = None):
        if not self.pp_group.is_last_rank:
            return
        self.capture_aux_hidden_states = True
        if layer_ids is None:
            num_layers = self.config.num_hidden_layers
            self.model.layers_to_capture = [2, num_layers // 2, num_layers - 3]
        else:
            self.model.layers_to_capture = [val + 1 for val in layer_ids]

class Phi3ForCausalLM(LlamaForCausalLM):
    pass

EntryClass = [LlamaForCausalLM, Phi3ForCausalLM]
"""

WRAPPER = """
from sglang.srt.models.llama import LlamaForCausalLM

class FlaggedModel:
    def __init__(self, config):
        self.layers = make_layers(config)

    def set_eagle3_layers_to_capture(self, layers_to_capture):
        self.layers_to_capture = layers_to_capture
        for layer_id in self.layers_to_capture:
            setattr(self.layers[layer_id], "_is_layer_to_capture", True)

class SeeingForConditionalGeneration:
    def __init__(self, config, text_cls=LlamaForCausalLM):
        self.language_model = text_cls(config.text_config)

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        if hasattr(self.language_model, "set_eagle3_layers_to_capture"):
            self.language_model.set_eagle3_layers_to_capture(layer_ids)

class Flagged(SeeingForConditionalGeneration):
    body_cls = FlaggedModel

    def __init__(self, config):
        super().__init__(config)
        self.model = self.body_cls(config)

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.model.set_eagle3_layers_to_capture(list(layer_ids))

class Deaf:
    def set_eagle3_layers_to_capture(self, layer_ids=None):
        pass

class Other:
    pass

EntryClass = [SeeingForConditionalGeneration, Flagged, Deaf, Other]
"""


def rows(answer: dict, architecture: str) -> list[tuple[object, object]]:
    return [(row.get("numbers"), row.get("error")) for row in answer[architecture]["rows"]]


def test_the_numbers_that_a_setter_stores(setters):
    answer = setters("sglang", {"sglang/srt/models/llama.py": LLAMA}, (36, None), (36, [1, 17, 32]), (48, None))
    assert set(answer) == {"LlamaForCausalLM", "Phi3ForCausalLM"}
    for architecture in answer:
        assert rows(answer, architecture) == [([2, 18, 33], None), ([2, 18, 33], None), ([2, 24, 45], None)]


def test_wrappers_flags_and_setters_that_do_nothing(setters):
    files = {"sglang/srt/models/llama.py": LLAMA, "sglang/srt/models/seeing.py": WRAPPER}
    answer = setters("sglang", files, (36, [1, 35]))
    assert rows(answer, "SeeingForConditionalGeneration") == [([2, 36], None)]
    assert rows(answer, "Flagged") == [([1, 35], None)]
    assert rows(setters("sglang", files, (36, [1, 36])), "Flagged") == [
        ([1, 36], "IndexError: list index out of range")
    ]
    assert rows(answer, "Deaf") == [(None, "nothing was stored")]
    assert "Other" not in answer


OWN_LAYERS = """
class Decoder:
    def __init__(self, config):
        self.layers = make_layers(config)

    def __len__(self):
        return len(self.layers)

class OwnModel:
    def __init__(self, config):
        self.layers = Decoder(config)

class OwnForCausalLM:
    def __init__(self, config):
        self.model = OwnModel(config)

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.model.layers_to_capture = [len(self.model.layers) - 3]

EntryClass = OwnForCausalLM
"""


def test_models_whose_layers_are_a_module_of_their_own(setters):
    answer = setters("sglang", {"sglang/srt/models/own.py": OWN_LAYERS}, (36, None))
    assert rows(answer, "OwnForCausalLM") == [([33], None)]


VLLM = {
    "vllm/model_executor/models/registry.py": (
        '_MODELS = {"LlamaForCausalLM": ("llama", "LlamaForCausalLM"), "Seeing": ("seeing", "Seeing")}\n'
    ),
    "vllm/model_executor/models/interfaces.py": '''
class EagleModelMixin:
    aux_hidden_state_layers: tuple[int, ...] = ()

    def _set_aux_hidden_state_layers(self, layers):
        self.aux_hidden_state_layers = tuple(sorted(set(layers)))
        from vllm.distributed.parallel_state import get_pp_group
        if get_pp_group().world_size < 2:
            return
        raise RuntimeError("several ranks")

class SupportsEagle3(Protocol):
    def set_aux_hidden_state_layers(self, layers: tuple[int, ...]) -> None:
        parent_ref = self
        if hasattr(self, "language_model"):
            parent_ref = self.language_model
        holder = getattr(parent_ref, "model", parent_ref)
        assert isinstance(holder, EagleModelMixin), "no mixin"
        holder._set_aux_hidden_state_layers(layers)

    def get_eagle3_default_aux_hidden_state_layers(self) -> tuple[int, ...]:
        num_layers = len(getattr(self, "language_model", self).model.layers)
        return (2, num_layers // 2, num_layers - 3)
''',
    "vllm/model_executor/models/llama.py": '''
from .interfaces import EagleModelMixin, SupportsEagle3

@support_torch_compile
class LlamaModel(nn.Module, EagleModelMixin):
    def __init__(self, *, vllm_config):
        self.start_layer, self.end_layer, self.layers = make_layers(1)

class LlamaForCausalLM(nn.Module, SupportsEagle3):
    def __init__(self, *, vllm_config):
        self.model = LlamaModel(vllm_config=vllm_config)
''',
    "vllm/model_executor/models/seeing.py": '''
from .interfaces import SupportsEagle3

class Seeing(nn.Module, SupportsEagle3):
    def __init__(self, *, vllm_config):
        self.language_model = init_vllm_registered_model(vllm_config=vllm_config)
''',
}  # fmt: skip


def test_vllm_classes_by_its_registry(setters):
    answer = setters("vllm", VLLM, (36, None), (36, [33, 2, 2]))
    for architecture in ("LlamaForCausalLM", "Seeing"):
        assert rows(answer, architecture) == [([2, 18, 33], None), ([2, 33], None)]


def test_nothing_of_the_engine_is_executed_but_setters_and_they_reach_nothing(setters, tmp_path: Path):
    mark = tmp_path / "mark"
    evil = f"""
open({str(mark)!r}, "w").close()
import os
os.system("touch {mark}")

class Evil:
    touched = open({str(mark)!r}, "w")

    def __init__(self, path=open({str(mark)!r}, "w")):
        open({str(mark)!r}, "w")

    def set_eagle3_layers_to_capture(self, layer_ids=None, file=open({str(mark)!r}, "w")):
        self.layers_to_capture = [1]
        import os
        os.system("touch {mark}")
        open({str(mark)!r}, "w")

EntryClass = Evil
"""
    answer = setters("sglang", {"sglang/srt/models/evil.py": evil}, (36, None))
    assert rows(answer, "Evil") == [([1], "NameError: name 'open' is not defined")]
    assert not mark.exists()


def test_files_that_can_not_be_parsed_are_left_out(setters):
    files = {"sglang/srt/models/llama.py": LLAMA, "sglang/srt/models/odd.py": "EntryClass = (\n"}
    assert set(setters("sglang", files, (36, None))) == {"LlamaForCausalLM", "Phi3ForCausalLM"}
