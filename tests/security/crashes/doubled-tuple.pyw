import torch
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
out = model(**batch, output_hidden_states=True)
x = (1,)
for i in range(60):
    x += x
y = out.hidden_states[x[0]]
