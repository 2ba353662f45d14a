"""Let the installed SGLang keep the hidden states of each prefill: what an EAGLE-3 drafter is trained on.

    python tools/patch_sglang.py           patch the DeepSeek-family model of SGLang (Kimi K2.5 is of it)
    python tools/patch_sglang.py --undo    put the file back

With HS_DUMP_FILE set, the states of the last prefill stand in that file: state_0, state_1, state_2 and final.
"""

import importlib.util
import os
import re
import shutil
import sys
from pathlib import Path

LOGGER = "logger = logging.getLogger(__name__)\n"

SETTINGS = '''
_HS_DUMP_FILE = os.environ.get("HS_DUMP_FILE")
_HS_DUMP_CAPTURE_LAYERS = {3, 31, 59}
'''

# The layer loop of DeepseekV2Model.forward stands between these lines. Ours keeps to one pipeline stage.
LOOP_BEGINS = "        aux_hidden_states = []\n        for i in range(normal_start_layer, normal_end_layer):\n"
LOOP_ENDS = "        if normal_end_layer != self.end_layer:\n"

LOOP = '''\
        aux_hidden_states = []
        hs_dump = {}
        for i, layer in enumerate(self.layers):
            if _HS_DUMP_FILE and i in _HS_DUMP_CAPTURE_LAYERS:
                stream = hidden_states if residual is None else hidden_states + residual
                hs_dump[f"state_{len(hs_dump)}"] = stream.detach().cpu().contiguous()
            hidden_states, residual = layer(
                positions,
                hidden_states,
                forward_batch,
                residual,
                zero_allocator,
                gemm_output_zero_allocator,
                llama_4_scaling,
            )

'''

NORM = "                    hidden_states, _ = self.norm(hidden_states, residual)\n"

SAVE = '''\
                if _HS_DUMP_FILE and hs_dump and get_attention_tp_rank() == 0:
                    from safetensors.torch import save_file

                    hs_dump["final"] = hidden_states.detach().cpu().contiguous()
                    save_file(hs_dump, _HS_DUMP_FILE)
'''


def with_dump(source: str) -> str:
    """The model file with our loop in place of SGLang's, and with the states saved after the final norm."""
    for mark in (LOGGER, LOOP_BEGINS, LOOP_ENDS, NORM):
        if source.count(mark) != 1:
            sys.exit(f"not the model file of SGLang 0.5.9: {source.count(mark)} times {mark.strip()!r}")
    source = source.replace(LOGGER, LOGGER + SETTINGS)
    loop = re.escape(LOOP_BEGINS) + ".*?(?=" + re.escape(LOOP_ENDS) + ")"
    source = re.sub(loop, LOOP, source, flags=re.DOTALL)
    return source.replace(NORM, NORM + SAVE)


def installed_model() -> Path:
    spec = importlib.util.find_spec("sglang")
    if spec is None or spec.origin is None:
        sys.exit("SGLang is not installed here")
    return Path(os.path.dirname(spec.origin), "srt", "models", "deepseek_v2.py")


def main() -> None:
    model = installed_model()
    original = model.with_name("deepseek_v2.py.unpatched")
    if "--undo" in sys.argv[1:]:
        shutil.move(original, model)
        return
    patched = with_dump(model.read_text())
    shutil.copy2(model, original)
    model.write_text(patched)


if __name__ == "__main__":
    main()
