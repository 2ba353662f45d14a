"""Which files are parsed: capture code and what reads its output, but not every file that says hidden_states."""

from __future__ import annotations

import pytest

from eaglelint.analyser import gate

CAPTURES = {
    "an engine's setter": "runner.model.set_eagle3_layers_to_capture([1, 16, 28])",
    "a hook": "model.layers[number].register_forward_hook(keep(number))",
    "a pre-hook": "layer.register_forward_pre_hook(keep)",
    "the states of Hugging Face": "out = model(ids, output_hidden_states=True)",
    "vLLM's extraction": "speculative_config={'method': 'extract_hidden_states'}",
    "ids in a config": "ids = config['eagle_config']['eagle_aux_hidden_state_layer_ids']",
    "a dump switched by the environment": "if os.environ.get('HS_DUMP_DIR'):",
    "a loop of one's own": "for i, block in enumerate(model.layers):\n    if i in TAPS:\n        kept.append(x)",
    "a tap in a patch": "x = hidden_states + residual\n",
    "states of a modified model": "chosen += (hidden_states,)",
    "a dump": "torch.save({'hidden_states': hs}, path)",
    "a reader": "states = torch.load(path)['hidden_states']",
    "a reader that says only aux": "raw = torch.load(path)\nx = torch.cat(raw['aux'], dim=-1)",
    "a reader of npz": "with np.load(p) as f:\n    return np.concatenate([f[n] for n in states])",
    "a reader of safetensors": "d = load_file(p)\nreturn d['hidden_states'][:, :-1]",
    "a benchmark": "# acceptance length of the EAGLE-3 head",
    "a launch": "llm = LLM(model=TARGET, speculative_config=SPEC)",
    "the arguments of a launch": "args = EngineArgs(model=TARGET, speculative_config=SPEC)",
    "a launch by SGLang": "engine = sgl.Engine(model_path=m, speculative_algorithm='EAGLE')",
    "a launch as words": "cmd = ['python', '-m', 'sglang.launch_server', '--speculative-algorithm', a]",
}


@pytest.mark.parametrize("code", CAPTURES.values(), ids=CAPTURES.keys())
def test_code_that_takes_or_reads_states_is_read(code: str) -> None:
    assert gate.relevant(f"import torch\n{code}\n".encode())


OTHERS = {
    "a model file": "hidden_states = self.mlp(hidden_states)\nreturn torch.cat([a, b])",
    "graph capture": "def capture(self):\n    self.cuda_graph.capture_begin()",
    "EAGLE-1": "if self.spec_algorithm.is_eagle():\n    hidden_states = batch.hidden_states",
    "a bird": "EAGLES = 3",
    "a loader of weights": "state = load_file(p)\nmodel.load_state_dict(state)",
    "an engine without speculation": "engine = sgl.Engine(model_path=m)",
    "options without an engine": "parser.add_argument('--speculative-algorithm')",
    "nothing": "",
}


@pytest.mark.parametrize("code", OTHERS.values(), ids=OTHERS.keys())
def test_other_code_is_not_read(code: str) -> None:
    assert not gate.relevant(code.encode(), "srt/models/llama.py")


def test_the_name_of_a_file_can_say_what_it_is() -> None:
    code = b"fused = torch.cat(outs.states, dim=-1)\n"
    assert gate.relevant(code, "train/EAGLE3_batch.py")
    assert not gate.relevant(code, "train/batch.py")


def test_what_is_central_is_relevant() -> None:
    central = [code for code in CAPTURES.values() if gate.central(code.encode())]
    assert 5 <= len(central) < len(CAPTURES) // 2 + 1
    assert not any(gate.central(code.encode()) for code in OTHERS.values())


@pytest.mark.parametrize(
    "text",
    [
        "# Eagle-3 capture",
        "LlamaForCausalLMEagle3",
        "--speculative-algorithm EAGLE3",
        "layers_to_capture = [",
        "eagle_3",
    ],
)
def test_a_file_that_speaks_of_eagle3(text: str) -> None:
    assert gate.evidence(text.encode())
    assert gate.evidence(text.encode("utf-16"))


@pytest.mark.parametrize("text", ["", "EAGLE", "eagle2", "def f(:", "hidden_states", "output_hidden_states=True"])
def test_a_file_that_does_not(text: str) -> None:
    assert not gate.evidence(text.encode(), "model.py")


def test_evidence_in_the_name_of_a_file() -> None:
    assert gate.evidence(b"\xff\xfe\x00", "apply_eagle3_capture.py")
