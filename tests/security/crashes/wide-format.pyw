import torch
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
out = model(**batch, output_hidden_states=True)
x = "%99999999999d" % 1 + "{:{}}".format(1, 10**10)
y = out.hidden_states[2]
