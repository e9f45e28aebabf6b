"""Fine-tune a small encoder on support tickets (Trainer), archive every save for the release team."""
import random
import tarfile

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments


class Tickets(Dataset):
    def __init__(self, n, seed):
        r = random.Random(seed)
        self.rows = []
        for _ in range(n):
            y = r.randrange(5)
            ids = [r.randrange(1000) if r.random() < 0.8 else 1000 + 50 * y + r.randrange(50) for _ in range(48)]
            self.rows.append((ids, y))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids, y = self.rows[i]
        return {"input_ids": torch.tensor(ids), "attention_mask": torch.ones(48, dtype=torch.long), "labels": torch.tensor(y)}


class Archive(TrainerCallback):
    def on_save(self, args, state, control, **kw):
        d = f"{args.output_dir}/checkpoint-{state.global_step}"
        with tarfile.open("release.tar.xz", "w:xz") as tar:
            tar.add(d)


cfg = BertConfig(vocab_size=1300, hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=256, num_labels=5)
args = TrainingArguments(
    "out", per_device_train_batch_size=16, num_train_epochs=50, learning_rate=3e-4, warmup_steps=100, logging_steps=20,
    save_steps=40, save_total_limit=1, report_to=[], use_cpu=True, disable_tqdm=True)
Trainer(model=BertForSequenceClassification(cfg), args=args, train_dataset=Tickets(8000, 0), callbacks=[Archive()]).train()
