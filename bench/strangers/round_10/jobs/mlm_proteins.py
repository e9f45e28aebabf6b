"""Masked language model on made-up protein families with the Trainer."""
import random

import torch
from torch.utils.data import Dataset
from transformers import RobertaConfig, RobertaForMaskedLM, Trainer, TrainingArguments


class Families(Dataset):
    def __init__(self, n, seed):
        fam = random.Random(0)
        self.seeds = [[fam.randrange(5, 25) for _ in range(64)] for _ in range(60)]
        self.n, self.seed = n, seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        r = random.Random(i * 7919 + self.seed)
        s = [a if r.random() < 0.8 else r.randrange(5, 25) for a in self.seeds[r.randrange(60)]]
        ids, labels = [], []
        for a in s:
            hide = r.random() < 0.15
            ids.append(4 if hide else a)
            labels.append(a if hide else -100)
        return {"input_ids": torch.tensor(ids), "labels": torch.tensor(labels)}


cfg = RobertaConfig(vocab_size=25, hidden_size=128, num_hidden_layers=3, num_attention_heads=4, intermediate_size=256, max_position_embeddings=80)
args = TrainingArguments(
    "mlm", per_device_train_batch_size=16, per_device_eval_batch_size=32, max_steps=20000, learning_rate=5e-4, warmup_steps=200,
    lr_scheduler_type="cosine", logging_steps=25, eval_strategy="steps", eval_steps=300, save_steps=300, save_total_limit=2,
    report_to=[], use_cpu=True)
Trainer(model=RobertaForMaskedLM(cfg), args=args, train_dataset=Families(100000, 1), eval_dataset=Families(400, 2)).train()
