import random

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Tickets(Dataset):
    """Support tickets, already tokenised."""

    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = []
        for _ in range(n):
            label = rng.randrange(3)
            ids = [rng.randrange(10, 400) if rng.random() < 0.8 else 400 + label * 20 + rng.randrange(20) for _ in range(48)]
            if rng.random() < 0.08:
                label = rng.randrange(3)
            self.rows.append({"input_ids": torch.tensor(ids), "attention_mask": torch.ones(48, dtype=torch.long), "labels": label})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def accuracy(pred):
    return {"accuracy": float((pred.predictions.argmax(-1) == pred.label_ids).mean())}


if __name__ == "__main__":
    model = BertForSequenceClassification(BertConfig(
        vocab_size=500, hidden_size=96, num_hidden_layers=2, num_attention_heads=4, intermediate_size=192,
        max_position_embeddings=64, num_labels=3))
    args = TrainingArguments(
        output_dir="out", use_cpu=True, per_device_train_batch_size=8, gradient_accumulation_steps=2, max_steps=12000,
        learning_rate=2e-4, warmup_steps=200, lr_scheduler_type="cosine", logging_steps=20, eval_strategy="steps", eval_steps=200,
        save_steps=400, save_total_limit=2, report_to=[], dataloader_num_workers=0)
    Trainer(model=model, args=args, train_dataset=Tickets(20000, 1), eval_dataset=Tickets(300, 2), compute_metrics=accuracy).train()
