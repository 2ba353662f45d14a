"""States of Hugging Face models, hooks and engines: the same numbers mean different boundaries by how they are taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysed import boundaries, defects, facts_of, joined, names

TARGET = (
    '{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "num_hidden_layers": 36, "hidden_size": 4096, '
    '"vocab_size": 151936}'
)
SCRIPT = """
# features of the EAGLE-3 head
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")


def features(ids):
    hs = model(ids, output_hidden_states=True).hidden_states
    return torch.cat(CHOSEN, dim=-1)
"""


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("[hs[2], hs[18], hs[33]]", [2, 18, 33]),
        ("[hs[i + 1] for i in (1, 17, 32)]", [2, 18, 33]),
        ("tuple(hs[i] for i in [2, (len(hs) - 1) // 2, len(hs) - 4])", [2, 18, 33]),
        ("[hs[-4], hs[-19], hs[2]]", [33, 18, 2]),
        ("[hs[1:][i] for i in (1, 17, 32)]", [2, 18, 33]),
        ("list(map(lambda i: hs[i], sorted({33, 2, 18})))", [2, 18, 33]),
        ("[*(hs[k].squeeze(0).cpu() for k in range(2, 34, 16))]", [2, 18]),
        ("[hs[b] for b in (2, model.config.num_hidden_layers // 2, model.config.num_hidden_layers - 3)]", [2, 18, 33]),
    ],
)
def test_an_entry_of_hidden_states_is_the_boundary_of_that_number(
    tmp_path: Path, chosen: str, expected: list[int]
) -> None:
    assert joined(tmp_path, SCRIPT.replace("CHOSEN", chosen)) == expected


def test_the_last_entry_of_a_stock_model_is_normed(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"eagle3_dump.py": SCRIPT.replace("CHOSEN", "[hs[2], hs[-1]]")})
    last = facts.assemblies[0].states[0][1][-1]
    assert (last.boundary, last.normed) == (36, True)


def test_the_first_entries_of_a_stock_model_are_told(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"eagle3_dump.py": SCRIPT.replace("CHOSEN", "[hs[0], hs[1], hs[2]]")})
    assert "early-layers-captured" in defects(facts)


def test_the_whole_tuple_of_a_stock_model_is_told(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"eagle3_dump.py": SCRIPT.replace("CHOSEN", "hs")})
    assert list(defects(facts)) == ["all-layers-concatenated"]


@pytest.mark.parametrize("whole", ["list(hs)", "[h for h in hs]", "hs[1:]"])
def test_as_good_as_the_whole_tuple_in_another_form(tmp_path: Path, whole: str):
    code = f"""
        import torch
        from transformers import AutoModelForCausalLM

        model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")

        def features(batch):
            hs = model(**batch, output_hidden_states=True).hidden_states
            return torch.cat({whole}, dim=-1)
    """
    assert list(defects(facts_of(tmp_path, {"eagle3_dump.py": code}))) == ["all-layers-concatenated"]


def test_all_layers_for_a_probe_are_nobodys_business(tmp_path: Path):
    code = """
        import torch
        from transformers import AutoModelForCausalLM

        teacher = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")

        def probe_inputs(batch):
            hs = teacher(**batch, output_hidden_states=True).hidden_states
            return torch.cat(hs, dim=-1), torch.cat([hs[0], hs[1], hs[2]], dim=-1)
    """
    assert not defects(facts_of(tmp_path, {"probe.py": code}))


HOOKS = """
# hooks for the EAGLE-3 head
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
seen = {}


def keep(number):
    def hook(module, args, output):
        seen[number] = output[0] if isinstance(output, tuple) else output
    return hook


def keep_input(number):
    def hook(module, args):
        seen[number] = args[0]
    return hook


for number in (1, 17, 32):
    REGISTER


def features(ids):
    model(ids)
    return torch.cat([seen[number] for number in (1, 17, 32)], dim=-1)
"""


@pytest.mark.parametrize(
    ("register", "expected"),
    [
        ("model.model.layers[number].register_forward_hook(keep(number))", [2, 18, 33]),
        ("model.model.layers[number].register_forward_pre_hook(keep_input(number))", [1, 17, 32]),
        (
            "model.model.layers[number].register_forward_hook(lambda m, a, out, n=number: seen.update({n: out[0]}))",
            [2, 18, 33],
        ),
        ("model.model.layers[number + 1].register_forward_hook(keep(number))", [3, 19, 34]),
    ],
    ids=["hook", "pre-hook", "lambda", "next-layer"],
)
def test_a_hook_sees_the_output_of_its_layer_and_a_pre_hook_the_input(
    tmp_path: Path, register: str, expected: list[int]
) -> None:
    assert joined(tmp_path, HOOKS.replace("REGISTER", register)) == expected


def test_a_hook_with_functools_partial(tmp_path: Path) -> None:
    code = HOOKS.replace(
        "seen = {}", "seen = {}\nfrom functools import partial\n\n\ndef store(n, m, a, o):\n    seen[n] = o\n"
    )
    register = "model.model.layers[number].register_forward_hook(partial(store, number))"
    assert joined(tmp_path, code.replace("REGISTER", register)) == [2, 18, 33]


ENGINE_HOOK = """
# EAGLE-3 data from SGLang's layers
import torch
from sglang.srt.models.llama import LlamaModel

kept = {}
started = LlamaModel.__init__


def remember(number):
    def hook(module, args, output):
        kept[number] = STORED
    return hook


def patched(self, *args, **kwargs):
    started(self, *args, **kwargs)
    for number in (1, 15, 28):
        self.layers[number].register_forward_hook(remember(number))


LlamaModel.__init__ = patched
"""


def test_the_first_output_of_an_engine_layer_is_not_the_stream(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"eagle3_dump.py": ENGINE_HOOK.replace("STORED", "output[0].cpu()")})
    assert defects(facts) == {"hook-output-not-stream": 12}


def test_the_sum_of_an_engine_layers_outputs_is_the_stream(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"eagle3_dump.py": ENGINE_HOOK.replace("STORED", "output[0] + output[1]")})
    assert defects(facts) == {}
    assert boundaries(facts.captures[0]) == [2, 16, 29]


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("IDS = [2, 18, 33]", [2, 18, 33]),
        ("IDS = [int(x) for x in '2,18,33'.split(',')]", [2, 18, 33]),
        ("import os\nIDS = [int(x) for x in os.environ.get('EAGLE_IDS', '2 18 33').split()]", [2, 18, 33]),
        ("import numpy as np\nIDS = [round(x) for x in np.linspace(2, 33, 3)]", [2, 18, 33]),
        ("from plan import IDS", [5, 6, 7]),
        ("import plan\nIDS = plan.IDS", [5, 6, 7]),
        ("import json\nIDS = json.load(open('plan.json'))['ids']", [8, 9, 10]),
        ("import yaml\nIDS = yaml.safe_load(open('plan.yaml'))['capture']['ids']", [11, 12, 13]),
        (
            "from dataclasses import dataclass\n\n@dataclass\nclass Plan:\n    ids: tuple = (2, 18, 33)\n\nIDS = Plan().ids",
            [2, 18, 33],
        ),
    ],
    ids=["literal", "csv", "environment", "linspace", "imported", "module", "json", "yaml", "dataclass"],
)
def test_ids_are_followed_to_where_they_come_from(tmp_path: Path, setting: str, expected: list[int]) -> None:
    code = SCRIPT.replace("CHOSEN", "[hs[i] for i in IDS]").replace("\nmodel =", f"\n{setting}\nmodel =", 1)
    files = {
        "eagle3_dump.py": code,
        "plan.py": "IDS = (5, 6, 7)\n",
        "plan.json": '{"ids": [8, 9, 10]}',
        "plan.yaml": "capture:\n  ids: [11, 12, 13]\n",
    }
    facts = facts_of(tmp_path, files)
    assert [boundaries(a) for a in facts.assemblies] == [expected]


def test_the_default_of_an_environment_variable_is_an_assumption(tmp_path: Path) -> None:
    setting = "import os\nIDS = [int(x) for x in os.environ.get('EAGLE_IDS', '2 18 33').split()]"
    code = SCRIPT.replace("CHOSEN", "[hs[i] for i in IDS]").replace("\nmodel =", f"\n{setting}\nmodel =", 1)
    facts = facts_of(tmp_path, {"eagle3_dump.py": code})
    assert facts.assemblies[0].confidence == "likely"
    assert "EAGLE_IDS" in facts.assemblies[0].assumed


OPTIONS = """
# dump for EAGLE-3
import argparse

import torch
from transformers import AutoModelForCausalLM


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--aux-layers", type=int, nargs="+", default=[2, 18, 33])
    args = parser.parse_args()
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
    hs = model(torch.zeros(1), output_hidden_states=True).hidden_states
    torch.save(torch.cat([hs[i] for i in args.aux_layers], dim=-1), "out.pt")


if __name__ == "__main__":
    main()
"""


def test_an_option_takes_the_value_of_the_command_in_scope(tmp_path: Path) -> None:
    run = "#!/bin/sh\npython eagle3_dump.py --aux-layers 3 19 34\n"
    facts = facts_of(tmp_path, {"eagle3_dump.py": OPTIONS, "run.sh": run})
    assert boundaries(facts.assemblies[0]) == [3, 19, 34]
    assert facts.assemblies[0].confidence == "proven"


def test_the_default_of_an_option_is_proven_when_a_command_leaves_it_out(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"eagle3_dump.py": OPTIONS, "run.sh": "#!/bin/sh\npython eagle3_dump.py\n"})
    assert boundaries(facts.assemblies[0]) == [2, 18, 33]
    assert facts.assemblies[0].confidence == "proven"


def test_the_default_of_an_option_is_assumed_when_nothing_runs_the_script(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"eagle3_dump.py": OPTIONS})
    assert facts.assemblies[0].confidence == "likely"


def test_states_travel_through_files_lists_and_names(tmp_path: Path) -> None:
    writer = """
    # eagle3 states
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")

    def write(ids, n):
        hs = model(ids, output_hidden_states=True).hidden_states
        low, mid, high = hs[2], hs[18], hs[33]
        torch.save({"ids": ids, "states": [low, mid, high, hs[-1]]}, f"states/part_{n}.pt")
    """
    reader = """
    # eagle3 trainer
    import glob

    import torch

    def samples(folder):
        for path in sorted(glob.glob(f"{folder}/part_*.pt")):
            item = torch.load(path)
            states = item["states"]
            yield torch.cat(states[:-1], dim=-1), states[-1]
    """
    facts = facts_of(tmp_path, {"write.py": writer, "read.py": reader})
    assert [(str(a.where), boundaries(a)) for a in facts.assemblies] == [("read.py:11", [2, 18, 33])]
    assert {k: v for k, v in names(facts).items() if k in ("low", "mid", "high")} == {"low": 2, "mid": 18, "high": 33}


def test_a_key_that_the_writer_does_not_write_is_told_with_what_it_writes(tmp_path: Path) -> None:
    code = """
    # eagle3
    import torch
    from transformers import AutoModelForCausalLM
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
    def write(ids):
        hs = model(ids, output_hidden_states=True).hidden_states
        torch.save({"aux_states": torch.cat([hs[2], hs[18], hs[33]], dim=-1)}, "work/last.pt")
    def read():
        return torch.load("work/last.pt")["aux_state"]
    """
    facts = facts_of(tmp_path, {"dump.py": code})
    assert defects(facts) == {"dump-layout-mismatch": 10}
    assert facts.defects[0].details["written"] == ["aux_states"]


@pytest.mark.parametrize(
    "code",
    [
        "from peft import LoraConfig\nLAYERS = list(range(16, 32))\nconfig = LoraConfig(layers_to_transform=LAYERS)\n",
        "import torch\nfrom transformers import CLIPVisionModel\nm = CLIPVisionModel.from_pretrained('x')\n"
        "def f(i):\n    return m(i, output_hidden_states=True).hidden_states[-2][:, 1:]\n",
        "import torch\nfrom transformers import AutoModel\nm = AutoModel.from_pretrained('bert-base-uncased')\n"
        "def f(b):\n    hs = m(**b, output_hidden_states=True).hidden_states\n    return torch.cat(hs[-4:], dim=-1)\n",
        "import torch\ndef plot(path):\n    hs = torch.load(path)\n    return torch.cat([h.norm(dim=-1) for h in hs], dim=-1)\n",
    ],
    ids=["lora", "clip", "sentence-vectors", "plot"],
)
def test_other_uses_of_hidden_states_are_none_of_our_business(tmp_path: Path, code: str) -> None:
    facts = facts_of(tmp_path, {"lab.py": code})
    assert facts.assemblies == facts.captures == facts.defects == facts.unresolved == ()


SERVER = """#!/bin/sh
# hidden states for the EAGLE-3 head
vllm serve Qwen/Qwen3-8B --no-enable-prefix-caching --speculative-config '{"method": "extract_hidden_states",
  "num_speculative_tokens": 1, "draft_model_config": {"hf_config": {"eagle_aux_hidden_state_layer_ids": [2, 18, 33, 36]}}}'
"""
READER = """
# samples of the EAGLE-3 trainer
from safetensors.torch import load_file

def sample(path):
    states = load_file(path)["hidden_states"]
    return states[:, :-1].flatten(1), states[:, -1]
"""


def test_what_a_server_extracts_reaches_the_reader_of_its_files(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"extract.sh": SERVER, "samples.py": READER, "requirements.txt": "vllm==0.24.0\n"})
    assert [boundaries(a) for a in facts.assemblies] == [[2, 18, 33]]
    assert facts.assemblies[0].trace[0].where.path == "extract.sh"
