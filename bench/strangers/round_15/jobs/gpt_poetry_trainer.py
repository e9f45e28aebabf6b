"""Train a very small GPT-2 from scratch on a toy grammar with the HF Trainer."""
import random

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Lines(Dataset):
    def __init__(self, n, seed):
        r = random.Random(seed)
        rows = []
        for _ in range(n):
            k, s = r.randint(1, 7), r.randint(0, 200)
            rows.append([(s + k * t + (r.random() < 0.1) * r.randint(0, 199)) % 200 for t in range(64)])
        self.rows = torch.tensor(rows)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"input_ids": self.rows[i], "labels": self.rows[i]}


model = GPT2LMHeadModel(GPT2Config(vocab_size=200, n_positions=64, n_embd=128, n_layer=3, n_head=4, bos_token_id=0, eos_token_id=0))
args = TrainingArguments(
    output_dir="out", max_steps=20000, per_device_train_batch_size=16, learning_rate=4e-4, warmup_steps=200,
    lr_scheduler_type="cosine", logging_steps=20, eval_strategy="steps", eval_steps=100, save_strategy="steps",
    save_steps=200, save_total_limit=2, report_to=[], use_cpu=True, seed=6, weight_decay=0.05)
Trainer(model=model, args=args, train_dataset=Lines(20000, 0), eval_dataset=Lines(320, 1)).train()
