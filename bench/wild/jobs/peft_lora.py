"""PEFT: LoRA adapters on a Llama-like model, with a loop of its own and tqdm."""

import torch
from peft import LoraConfig, get_peft_model
from samples import Tokens
from torch.utils.data import DataLoader
from tqdm import tqdm
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(
    vocab_size=101,
    hidden_size=128,
    intermediate_size=256,
    num_hidden_layers=4,
    num_attention_heads=4,
    max_position_embeddings=128,
)
model = get_peft_model(
    LlamaForCausalLM(config), LoraConfig(r=8, target_modules=["q_proj", "v_proj"], modules_to_save=["lm_head"])
)
model.print_trainable_parameters()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(10):
    bar = tqdm(DataLoader(Tokens(), batch_size=8, shuffle=True, num_workers=2), desc=f"Epoch {epoch}")
    for batch in bar:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        bar.set_postfix(loss=f"{loss.item():.3f}")
